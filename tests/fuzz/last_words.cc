// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a log is one short line.
#include <algorithm>

#include "fuzz/target.hpp"
#include "nodeset/last_words.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string words = last_words(as_text(data, size));
  require(words.size() <= kMaxLastWords, "too long");
  require(std::none_of(words.begin(), words.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }),
          "a control character");
  require(words.empty() || words.starts_with("fatal:") || words.starts_with("error:"), "other words");
  return 0;
}
