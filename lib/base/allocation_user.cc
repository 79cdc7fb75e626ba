// SPDX-License-Identifier: GPL-2.0-or-later
// The user of an allocation as a variable.
#include "base/allocation_user.hpp"

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

std::string encode_allocation_user(const AllocationUser& user) {
  return std::string(kName) + format("%u:%u", user.user, user.group);
}

std::optional<AllocationUser> find_allocation_user(const char* const* environment, std::uint32_t count) {
  if (!environment) return std::nullopt;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view variable = environment[i] ? environment[i] : "";
    if (!variable.starts_with(kName)) continue;
    const std::vector<std::string_view> ids = split(variable.substr(kName.size()), ':');
    if (ids.size() != 2) return std::nullopt;
    const auto user = parse_id(ids[0]), group = parse_id(ids[1]);
    return user && group ? std::optional<AllocationUser>({*user, *group}) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace slurmk8s
