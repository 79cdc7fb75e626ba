// SPDX-License-Identifier: GPL-2.0-or-later
// A time that is read is written as a text that is read as the same time, to the microsecond.
#include "base/rfc3339.hpp"

#include <chrono>

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto time = parse_rfc3339(as_text(data, size));
  if (!time) return 0;
  const auto again = parse_rfc3339(rfc3339(*time));
  require(again.has_value(), "what was written is not read");
  require(*time - *again < std::chrono::microseconds(1) && *again <= *time, "another time");
  return 0;
}
