// SPDX-License-Identifier: GPL-2.0-or-later
// /proc of processes that name themselves as they like.
#include "fuzz/target.hpp"
#include "spank/memory_use.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view text = as_text(data, size);
  const std::size_t end = text.find('\0');
  const std::string_view status = text.substr(0, end);
  const std::string_view title = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  const auto process = parse_memory_process(7, status, title);
  if (process) {
    require(process->pid == 7, "another process");
    require(process->stepd || process->job == 0, "a job of what is no slurmstepd");
  }
  parse_shares(text);
  return 0;
}
