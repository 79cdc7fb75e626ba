// SPDX-License-Identifier: GPL-2.0-or-later
// device_gres(): extended resources by type.
#include "nodeset/device_gres.hpp"

#include <algorithm>
#include <array>

#include "base/strings.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

constexpr std::array kGpuResources{"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe"};
constexpr std::string_view kMigPrefix = "nvidia.com/mig-";
constexpr std::int64_t kMilli = 1000;

}  // namespace

bool is_mig_resource(std::string_view name) { return name.starts_with(kMigPrefix); }

bool is_gpu_resource(std::string_view name) {
  return is_mig_resource(name) || std::find(kGpuResources.begin(), kGpuResources.end(), name) != kGpuResources.end();
}

Result<std::string> device_gres(const std::map<std::string, std::int64_t>& limits, const DeviceGresOptions& options) {
  std::map<std::string, std::int64_t> counts;  // by type
  std::int64_t all = options.claimed;
  if (options.claimed != 0) counts[options.type] = options.claimed;
  for (const auto& [name, milli] : limits) {
    const bool is_mig = is_mig_resource(name);
    if (milli == 0 || (name != options.resource && !is_gpu_resource(name))) continue;
    if (milli % kMilli != 0) return Error(Errc::invalid, name + ": must be an integer");
    counts[is_mig ? name.substr(kMigPrefix.size()) : options.type] += milli / kMilli;
    all += milli / kMilli;
  }
  if (all > kMaxGpus) {
    return Error(Errc::invalid, format("a node has at most %lld GPUs", static_cast<long long>(kMaxGpus)));
  }
  if (counts.size() > 1 && counts.contains("")) {
    return Error(Errc::invalid,
                 "whole GPUs beside MIG devices need spec.gresType: Slurm mixes no GPUs with and "
                 "without a type");
  }
  std::string gres;
  for (const auto& [type, count] : counts) {
    if (!gres.empty()) gres += ',';
    gres += "gpu:" + (type.empty() ? "" : type + ":") + std::to_string(count);
  }
  return gres;
}

bool is_gres_type(std::string_view text) {
  const auto is_letter = [](char c) { return is_alphanumeric(c) && (c < '0' || c > '9'); };
  return !text.empty() && text.size() <= kMaxLabel && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '_' || c == '-' || c == '.'; });
}

bool is_resource_name(std::string_view text) {
  constexpr std::size_t kMax = 253;
  const std::vector<std::string_view> parts = split(text, '/');
  return parts.size() == 2 && text.size() <= kMax && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
             return is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
           });
         });
}

std::string with_gres(std::string_view extra_conf, std::string_view gres) {
  std::string words;
  bool added = false;
  for (const std::string_view word : split(extra_conf, ' ')) {
    if (word.empty()) continue;
    if (!words.empty()) words += ' ';
    words += word;
    if (!to_lower(word).starts_with("gres=")) continue;
    words.append(",").append(gres);
    added = true;
  }
  if (added) return words;
  if (!words.empty()) words += ' ';
  return words.append("Gres=").append(gres);
}

}  // namespace slurmk8s
