// SPDX-License-Identifier: GPL-2.0-or-later
// However the bytes are cut, LineSplitter hands out the same lines: the first byte says how long the pieces are.
#include "http/line_splitter.hpp"

#include <vector>

#include "base/strings.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  constexpr std::size_t kMaxLine = 64;
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 17;
  const std::string_view bytes = as_text(data + 1, size - 1);

  std::vector<std::string> lines;
  http::LineSplitter splitter(kMaxLine);
  bool refused = false;
  for (std::size_t at = 0; at < bytes.size() && !refused; at += piece) {
    const auto keep = [&lines](std::string_view line) { lines.emplace_back(line); };
    refused = !splitter.feed(bytes.substr(at, piece), keep).ok();
  }

  const auto parts = split(bytes, '\n');
  std::vector<std::string> expected;
  bool too_long = false;
  for (std::size_t i = 0; i < parts.size() && !too_long; ++i) {
    too_long = parts[i].size() > kMaxLine;
    const bool ended = i + 1 < parts.size();
    if (!too_long && ended && !parts[i].empty()) expected.emplace_back(parts[i]);
  }
  require(refused == too_long, "a line over the cap was taken, or another refused");
  require(lines == expected, "other lines than those between the newlines");
  require(refused || splitter.partial() == !parts.back().empty(), "partial() is wrong");
  return 0;
}
