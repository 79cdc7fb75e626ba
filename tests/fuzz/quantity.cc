// SPDX-License-Identifier: GPL-2.0-or-later
// A quantity of Kubernetes that is taken is the number of its own text.
#include "fuzz/target.hpp"
#include "nodeset/quantity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto milli = parse_quantity_milli(as_text(data, size));
  if (!milli.ok()) {
    require(milli.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
  constexpr std::int64_t kMaxDigits = 999'999'999'999'999'999;  // as many as are read
  if (*milli > kMaxDigits) return 0;
  const auto again = parse_quantity_milli(std::to_string(*milli) + "m");
  require(again.ok() && *again == *milli, "another number the second time");
  return 0;
}
