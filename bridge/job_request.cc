// SPDX-License-Identifier: GPL-2.0-or-later
// A workload as an AllocationRequest.
#include "bridge/job_request.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/strings.hpp"
#include "bridge/names.hpp"
#include "nodeset/device_gres.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/quantity.hpp"

namespace slurmk8s {
namespace {

constexpr std::int64_t kMib = 1 << 20;
constexpr std::uint32_t kMax = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t kMaxCpusPerTask = 65535;

/** FNV-1a, 64 bits: the same in each process, today and after an update. */
std::uint64_t hash_of(const std::vector<std::string>& words) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& word : words) {
    for (const char c : word + "\n") hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

Error invalid_annotation(const std::string& key, const std::string& value, const char* detail) {
  return Error(Errc::invalid, "annotation " + key + ": Invalid value: \"" + value + "\": " + detail);
}

Result<std::uint32_t> parse_count(const std::string& key, const std::string& value, std::uint32_t max = kMax) {
  const std::optional<std::int64_t> number = parse_int(value);
  if (number && *number >= 1 && *number <= max) return static_cast<std::uint32_t>(*number);
  return invalid_annotation(key, value, "must be a positive number");
}

/** As slurm-bridge, which takes any word but "false" for true; those that may mean false are refused here. */
Result<bool> parse_bool(const std::string& key, const std::string& value) {
  const std::string word = to_lower(trim(value));
  if (word == "false") return false;
  for (const char* yes : {"true", "yes", "1", ""}) {
    if (word == yes) return true;
  }
  return invalid_annotation(key, value, "must be true or false");
}

/** Whole CPUs out of a Kubernetes quantity, "500m": rounded up, as slurm-bridge does. */
Result<std::uint32_t> parse_cpus(const std::string& key, const std::string& value) {
  const Result<std::int64_t> milli = parse_quantity_milli(value);
  if (milli && *milli > 0 && *milli <= std::int64_t{kMaxCpusPerTask} * 1000) {
    return static_cast<std::uint32_t>((*milli + 999) / 1000);
  }
  return invalid_annotation(key, value, "must be a positive quantity of CPUs, such as 2 or 500m");
}

/** MiB out of a Kubernetes quantity of bytes, "4Gi", as slurm-bridge has it. */
Result<std::uint64_t> parse_memory(const std::string& key, const std::string& value) {
  const Result<std::int64_t> milli = parse_quantity_milli(value);
  if (milli && *milli >= kMib * 1000) return static_cast<std::uint64_t>((*milli / 1000 + kMib - 1) / kMib);
  return invalid_annotation(key, value, "must be a quantity of at least 1Mi, such as 4Gi: a number alone is bytes");
}

/** Of a time limit in Slurm's forms: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S. */
std::optional<std::int64_t> seconds_of(std::string_view text) {
  const auto number_of = [](std::string_view part) {
    const std::optional<std::int64_t> number = parse_int(part);
    return number && *number >= 0 && *number <= kMax ? number : std::nullopt;
  };
  std::int64_t seconds = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto days = number_of(text.substr(0, dash));
    if (!days) return std::nullopt;
    seconds = *days * 86400;
    text.remove_prefix(dash + 1);
  }
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  std::int64_t unit = dash != std::string_view::npos || parts.size() == 3 ? 3600 : 60;
  for (const std::string_view part : parts) {
    const auto number = number_of(part);
    if (!number) return std::nullopt;
    seconds += *number * unit;
    unit /= 60;
  }
  return seconds;
}

/** Of a duration as slurm-bridge takes it: "2h", "1h30m", "30s"; each unit once, the largest first. */
std::optional<std::int64_t> seconds_of_duration(std::string_view text) {
  constexpr std::pair<char, std::int64_t> kUnits[] = {{'h', 3600}, {'m', 60}, {'s', 1}};
  std::int64_t seconds = 0;
  for (const auto& [unit, size] : kUnits) {
    const std::size_t end = text.find(unit);
    if (end == std::string_view::npos) continue;
    const std::optional<std::int64_t> number = parse_int(text.substr(0, end));
    if (!number || *number < 0 || *number > kMax) return std::nullopt;
    seconds += *number * size;
    text.remove_prefix(end + 1);
  }
  return text.empty() ? std::optional(seconds) : std::nullopt;
}

/** A minute that has begun counts. */
Result<std::uint32_t> parse_minutes(const std::string& key, const std::string& value) {
  const std::optional<std::int64_t> slurms = seconds_of(value);
  const std::int64_t seconds = slurms ? *slurms : seconds_of_duration(value).value_or(0);
  const std::int64_t minutes = (seconds + 59) / 60;
  if (minutes >= 1 && minutes <= kMax) return static_cast<std::uint32_t>(minutes);
  return invalid_annotation(key, value,
                            "must be a number of minutes, a time as sbatch --time has it, or a duration such as 2h");
}

/** What a job asks for, until its sizes are known. */
struct Draft {
  AllocationRequest request;
  std::uint64_t memory_per_task_mib = 0;
  std::string gres_annotation;
};

using Setter = Status (*)(Draft& draft, const std::string& key, const std::string& value);

template <std::string AllocationRequest::*Member>
Status set_text(Draft& draft, const std::string& key, const std::string& value) {
  if (value.empty()) return invalid_annotation(key, value, "must not be empty");
  draft.request.*Member = value;
  return {};
}

template <std::uint32_t AllocationRequest::*Member>
Status set_count(Draft& draft, const std::string& key, const std::string& value) {
  draft.request.*Member = SLURMK8S_TRY(parse_count(key, value));
  return {};
}

Status set_minutes(Draft& draft, const std::string& key, const std::string& value) {
  draft.request.minutes = SLURMK8S_TRY(parse_minutes(key, value));
  return {};
}

Status set_priority(Draft& draft, const std::string& key, const std::string& value) {
  draft.request.priority = SLURMK8S_TRY(parse_count(key, value));
  return {};
}

Status set_cpus(Draft& draft, const std::string& key, const std::string& value) {
  draft.request.cpus_per_task = SLURMK8S_TRY(parse_cpus(key, value));
  return {};
}

Status set_exclusive(Draft& draft, const std::string& key, const std::string& value) {
  draft.request.exclusive = SLURMK8S_TRY(parse_bool(key, value));
  return {};
}

Status set_memory(Draft& draft, const std::string& key, const std::string& value) {
  draft.memory_per_task_mib = SLURMK8S_TRY(parse_memory(key, value));
  return {};
}

/** Judged beside the pods' GPUs: set_devices(). */
Status set_gres(Draft& draft, const std::string&, const std::string& value) {
  draft.gres_annotation = value;
  return {};
}

/** The identity has been judged: find_identity(). */
Status set_nothing(Draft&, const std::string&, const std::string&) { return {}; }

const std::map<std::string, Setter>& setters() {
  using Request = AllocationRequest;
  static const std::map<std::string, Setter> kSetters = {
      {"account", set_text<&Request::account>},
      {"constraints", set_text<&Request::features>},
      {"cpu-per-task", set_cpus},
      {"exclusive", set_exclusive},
      {"gres", set_gres},
      {"group-id", set_nothing},
      {"job-name", set_text<&Request::name>},
      {"licenses", set_text<&Request::licenses>},
      {"max-nodes", set_count<&Request::max_nodes>},
      {"mem-per-node", set_memory},
      {"min-nodes", set_count<&Request::min_nodes>},
      {"partition", set_text<&Request::partition>},
      {"pods-per-node", set_count<&Request::tasks_per_node>},
      {"priority", set_priority},
      {"qos", set_text<&Request::qos>},
      {"reservation", set_text<&Request::reservation>},
      {"timelimit", set_minutes},
      {"user-id", set_nothing},
      {"wckey", set_text<&Request::wckey>},
  };
  return kSetters;
}

/** One task has the size of the largest pod. */
void set_sizes(Draft& draft, const std::vector<const WorkloadPod*>& pods) {
  AllocationRequest& request = draft.request;
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;
  for (const WorkloadPod* pod : pods) {
    cpu_milli = std::max(cpu_milli, pod->cpu_milli);
    memory = std::max(memory, pod->memory_bytes);
    if (pod->minutes) request.minutes = std::max(request.minutes.value_or(0), *pod->minutes);
  }
  request.tasks = request.max_nodes = static_cast<std::uint32_t>(pods.size());
  request.cpus_per_task = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(cpu_milli / 1000 + (cpu_milli % 1000 != 0), 1, kMaxCpusPerTask));
  draft.memory_per_task_mib = static_cast<std::uint64_t>((memory + kMib - 1) / kMib);
}

/**
 * The annotation with the spelling of --gres, where it says no more than the type of `of_pods`; otherwise empty.
 * slurm-bridge passes on TRES, too: "gres/gpu=2", "gres/gpu:a100=2".
 */
std::string typed_gres(std::string annotation, const std::string& of_pods) {
  constexpr std::string_view kTres = "gres/";
  if (to_lower(annotation.substr(0, kTres.size())) == kTres) {
    annotation.erase(0, kTres.size());
    if (const std::size_t equals = annotation.find('='); equals != std::string::npos) annotation[equals] = ':';
  }
  const std::vector<std::string_view> words = split(annotation, ':');
  if (to_lower(words.front()) != "gpu") return {};
  std::string normal = "gpu" + annotation.substr(words.front().size());
  if (normal == of_pods) return normal;
  const bool is_typed = words.size() == 3 && is_gres_type(words[1]) && "gpu:" + std::string(words[2]) == of_pods;
  return is_typed ? normal : "";
}

/** On nodes that have such GPUs for pods: their features are the names of the resources. */
Status require_devices(const BridgeDevices& devices, std::string& features) {
  if (features.find_first_of("[]()*,:") != std::string::npos) {
    return invalid_annotation("constraints", features, "for pods with GPUs must be features with & or | between them");
  }
  if (features.find('|') != std::string::npos) features = "(" + features + ")";
  for (const auto& [name, milli] : devices) features += (features.empty() ? "" : "&") + name;
  return {};
}

/**
 * GPUs of each pod. The annotation may say their type alone: with another number Slurm would count others than the
 * kubelet gives.
 */
Status set_devices(Draft& draft, const std::vector<const WorkloadPod*>& pods, const BridgeDevices& claimed) {
  BridgeDevices devices;
  for (const WorkloadPod* pod : pods) {
    for (const auto& [name, milli] : pod->devices) {
      if (milli != 0) devices[name] = std::max(devices[name], milli);
    }
  }
  for (const auto& [name, milli] : claimed) devices[name] += milli;
  constexpr const char* kField = "spec.containers: resources.requests";
  if (has_several_kinds(devices)) {
    return forbidden_field(kField, "whole GPUs of two resources, or beside MIG devices, in one Slurm job");
  }
  const Result<std::string> of_pods = device_gres(devices, {});
  if (!of_pods) return of_pods.error().wrap(kField);
  draft.request.gres = *of_pods;
  if (!draft.gres_annotation.empty()) {
    draft.request.gres = typed_gres(draft.gres_annotation, *of_pods);
    if (draft.request.gres.empty()) {
      return invalid_annotation("gres", draft.gres_annotation,
                                "must be as many GPUs as the pod requests, such as gpu:a100:1 for nvidia.com/gpu: 1");
    }
  }
  return devices.empty() ? Status() : require_devices(devices, draft.request.features);
}

}  // namespace

std::string comment_of(const WorkloadRef& workload) { return std::string(kCommentPrefix) + to_string(workload); }

std::string build_job_comment(const WorkloadRef& workload, std::vector<std::string> uids) {
  std::sort(uids.begin(), uids.end());
  return comment_of(workload) + format(":%016llx", static_cast<unsigned long long>(hash_of(uids)));
}

std::string_view find_job_namespace(std::string_view comment) {
  constexpr std::size_t kDigits = 16;
  if (!comment.starts_with(kCommentPrefix)) return {};
  comment.remove_prefix(kCommentPrefix.size());
  const std::size_t colon = comment.rfind(':');
  if (colon == std::string_view::npos || comment.size() != colon + 1 + kDigits) return {};
  if (comment.find_first_not_of("0123456789abcdef", colon + 1) != std::string_view::npos) return {};
  if (std::count(comment.begin(), comment.begin() + static_cast<std::ptrdiff_t>(colon), '/') < 2) return {};
  return comment.substr(0, comment.find('/'));
}

bool is_job_annotation(const std::string& key) { return setters().contains(key); }

Result<AllocationRequest> build_job_request(const WorkloadRef& workload, const std::vector<const WorkloadPod*>& pods,
                                            const JobAnnotations& annotations, const IdentityRule& identity,
                                            const BridgeDevices& claimed) {
  Draft draft;
  AllocationRequest& request = draft.request;
  std::vector<std::string> uids;
  uids.reserve(pods.size());
  for (const WorkloadPod* pod : pods) uids.push_back(pod->uid);
  request.name = workload.name + (workload.part.empty() ? "" : "-" + workload.part);
  request.comment = build_job_comment(workload, uids);
  request.user = identity.uid;
  request.group = identity.gid;
  request.user_name = identity.user;
  request.account = identity.account;
  request.partition = identity.partition;
  request.qos = identity.qos;
  request.priority = identity.priority;
  set_sizes(draft, pods);
  const std::uint32_t cpus = request.cpus_per_task;
  const std::uint64_t memory_mib = draft.memory_per_task_mib;
  for (const auto& [key, value] : annotations) {
    const auto setter = setters().find(key);
    if (setter == setters().end()) return invalid_annotation(key, value, "unknown annotation");
    SLURMK8S_CHECK(setter->second(draft, key, value));
  }
  // Slurm would give away what the kubelet has given to the pod.
  constexpr const char* kTooSmall = "must be at least what a pod requests";
  if (request.cpus_per_task < cpus) {
    return invalid_annotation("cpu-per-task", std::to_string(request.cpus_per_task), kTooSmall);
  }
  if (draft.memory_per_task_mib < memory_mib) {
    return invalid_annotation("mem-per-node", std::to_string(draft.memory_per_task_mib) + "Mi", kTooSmall);
  }
  SLURMK8S_CHECK(set_devices(draft, pods, claimed));
  if (request.min_nodes > request.max_nodes) {
    return invalid_annotation("min-nodes", std::to_string(request.min_nodes), "more than max-nodes, or than pods");
  }
  request.memory_per_cpu_mib = (draft.memory_per_task_mib + request.cpus_per_task - 1) / request.cpus_per_task;
  return request;
}

}  // namespace slurmk8s
