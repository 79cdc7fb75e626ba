// SPDX-License-Identifier: GPL-2.0-or-later
// tmp_disk_mib().
#include "nodeset/tmp_disk.hpp"

#include <algorithm>
#include <string_view>

#include "nodeset/quantity.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kStorage = "ephemeral-storage";
constexpr std::int64_t kMilliOfMebi = std::int64_t{1000} * 1024 * 1024;
constexpr std::int64_t kMaxTmpDisk = 0x7fffffff;  // MiB: Slurm has 32 bits, the last ones for special values

bool mounts_tmp(const Json& container) {
  bool found = false;
  container["volumeMounts"].each([&](const Json& mount) {
    std::string_view path = mount["mountPath"].text();
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    found |= path == "/tmp";
  });
  return found;
}

}  // namespace

Result<std::uint32_t> tmp_disk_mib(const Json& slurmd_container) {
  if (mounts_tmp(slurmd_container)) return 0U;
  for (const char* list : {"requests", "limits"}) {
    const Json value = slurmd_container.at({"resources", list, kStorage});
    if (value.is_null()) continue;
    const std::int64_t milli =
        SLURMK8S_TRY(decode_quantity(value, std::string("spec.slurmd.resources.") + list + "." + kStorage));
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(milli / kMilliOfMebi, 0, kMaxTmpDisk));
  }
  return 0U;
}

}  // namespace slurmk8s
