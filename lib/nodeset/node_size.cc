// SPDX-License-Identifier: GPL-2.0-or-later
// decode_size(): one limit after the other.
#include "nodeset/node_size.hpp"

#include <algorithm>
#include <limits>

#include "base/strings.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/quantity.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kCpuLimit = "spec.slurmd.resources.limits.cpu";
constexpr const char* kMemoryLimit = "spec.slurmd.resources.limits.memory";
constexpr const char* kDefaultReserve = "64Mi";
constexpr std::int64_t kMebi = 1024 * 1024;

Result<std::uint32_t> decode_cpus(const Json& limit) {
  const std::int64_t milli = SLURMK8S_TRY(decode_quantity(limit, kCpuLimit));
  if (milli == 0) return invalid_field(kCpuLimit, limit, "must be greater than 0");
  if (milli / 1000 > kMaxCpus) {
    return invalid_field(kCpuLimit, limit,
                         format("must be less than or equal to %lld", static_cast<long long>(kMaxCpus)));
  }
  return static_cast<std::uint32_t>(std::max<std::int64_t>(1, milli / 1000));
}

Result<std::uint64_t> decode_memory(const Json& limit, std::int64_t reserve) {
  const std::int64_t bytes = SLURMK8S_TRY(decode_quantity(limit, kMemoryLimit)) / 1000;
  if (bytes - reserve < kMebi) {
    return invalid_field(kMemoryLimit, limit, "must be at least 1Mi more than spec.memoryReserve");
  }
  return static_cast<std::uint64_t>((bytes - reserve) / kMebi);
}

}  // namespace

Result<DecodedSize> decode_size(const SizeFields& fields) {
  DecodedSize decoded{.size = {kMaxCpus, std::numeric_limits<std::int64_t>::max() / kMebi}};
  if (fields.has_pods || !fields.cpu_limit.is_null()) {
    decoded.size.cpus = SLURMK8S_TRY(decode_cpus(fields.cpu_limit));
  }
  const Json reserve = fields.memory_reserve.is_null() ? Json::string(kDefaultReserve) : fields.memory_reserve;
  decoded.memory_reserve = SLURMK8S_TRY(decode_quantity(reserve, "spec.memoryReserve")) / 1000;
  if (fields.has_pods || !fields.memory_limit.is_null()) {
    decoded.size.real_memory_mib = SLURMK8S_TRY(decode_memory(fields.memory_limit, decoded.memory_reserve));
  }
  return decoded;
}

}  // namespace slurmk8s
