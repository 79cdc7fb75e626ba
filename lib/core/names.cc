// SPDX-License-Identifier: GPL-2.0-or-later
// Names of nodes: put together and taken apart.
#include "core/names.hpp"

#include "base/text.hpp"

namespace slurmk8s {

std::string node_name(std::string_view nodeset, std::int64_t ordinal, int padding) {
  return format("%.*s-%0*lld", static_cast<int>(nodeset.size()), nodeset.data(), padding,
                static_cast<long long>(ordinal));
}

bool is_dns_label(std::string_view text) {
  constexpr std::size_t kMost = 63;
  constexpr std::string_view kInside = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return !text.empty() && text.size() <= kMost && text.find_first_not_of(kInside) == std::string_view::npos &&
         text.front() != '-' && text.back() != '-';
}

std::optional<NodeName> parse_node_name(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const std::string_view digits = name.substr(dash + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> ordinal = parse_int(digits);
  if (!ordinal) return std::nullopt;
  return NodeName{.nodeset = name.substr(0, dash), .ordinal = *ordinal};
}

}  // namespace slurmk8s
