// SPDX-License-Identifier: GPL-2.0-or-later
// The number in parentheses when there is one, else the one after '='.
#include "slurmctld/job_id.hpp"

#include "base/strings.hpp"

namespace slurmk8s {

std::uint32_t parse_job_id(std::string_view text) {
  constexpr std::string_view kPrefix = "JobId=";
  if (!text.starts_with(kPrefix)) return 0;
  std::string_view number = text.substr(kPrefix.size());
  const std::size_t open = number.find('(');
  if (open != std::string_view::npos) {
    if (number.back() != ')') return 0;
    number = number.substr(open + 1, number.size() - open - 2);
  }
  const auto id = parse_int(number);
  return id && *id > 0 && *id <= UINT32_MAX ? static_cast<std::uint32_t>(*id) : 0;
}

}  // namespace slurmk8s
