// SPDX-License-Identifier: GPL-2.0-or-later
// The user of an allocation as a variable.
#include "base/allocation_user.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kName = "SLURM_K8S_ALLOCATION_USER=";

/** Neither root's nor one of those that mean "none" to Slurm or to the kernel. */
std::optional<std::uint32_t> parse_id(std::string_view text) {
  const auto id = parse_int(text);
  if (!id || *id < 1 || *id > INT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*id);
}

}  // namespace

bool is_user_name(std::string_view name) {
  constexpr std::size_t kMaxLength = 256;
  const auto is_allowed = [](char c) {
    return c > ' ' && c < 0x7f && std::string_view(":,\"'=|").find(c) == std::string_view::npos;
  };
  return !name.empty() && name.size() <= kMaxLength && std::all_of(name.begin(), name.end(), is_allowed);
}

std::string encode_allocation_user(const AllocationUser& user) {
  return std::string(kName) + format("%u:%u", user.user, user.group) + (user.name.empty() ? "" : ":" + user.name);
}

std::optional<AllocationUser> find_allocation_user(const char* const* environment, std::uint32_t count) {
  if (!environment) return std::nullopt;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view variable = environment[i] ? environment[i] : "";
    if (!variable.starts_with(kName)) continue;
    const std::vector<std::string_view> words = split(variable.substr(kName.size()), ':');
    if (words.size() != 2 && words.size() != 3) return std::nullopt;
    const auto user = parse_id(words[0]), group = parse_id(words[1]);
    const bool has_name = words.size() == 3;
    if (!user || !group || (has_name && !is_user_name(words[2]))) return std::nullopt;
    return AllocationUser{*user, *group, has_name ? std::string(words[2]) : ""};
  }
  return std::nullopt;
}

}  // namespace slurmk8s
