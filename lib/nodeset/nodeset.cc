// SPDX-License-Identifier: GPL-2.0-or-later
// decode_nodeset() and what derives from a NodeSet.
#include "nodeset/nodeset.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/strings.hpp"
#include "base/words.hpp"
#include "nodeset/bridge_devices.hpp"
#include "nodeset/device_gres.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/gres.hpp"
#include "nodeset/job_placeholders.hpp"
#include "nodeset/names.hpp"
#include "nodeset/quantity.hpp"
#include "nodeset/tmp_disk.hpp"
#include "kube/overlay.hpp"
#include "slurm/records.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxVariants = 32;
constexpr std::size_t kMaxNames = 256;  // users or accounts of a variant, and characters of each
constexpr std::size_t kMaxExtraConf = 2048;

bool equal_ignoring_case(std::string_view a, std::string_view b) { return to_lower(a) == to_lower(b); }

// An integer within bounds; `fallback` when it is absent.
Result<std::int64_t> decode_integer(const Json& value, const std::string& field, std::int64_t fallback,
                                    std::int64_t min, std::int64_t max) {
  if (value.is_null()) return fallback;
  if (!value.is_integer()) return invalid_field(field, value, "must be an integer");
  const std::int64_t number = value.integer_or(fallback);
  if (number < min || number > max) {
    return invalid_field(field, value,
                         format("must be %lld to %lld", static_cast<long long>(min), static_cast<long long>(max)));
  }
  return number;
}

Result<bool> decode_boolean(const Json& value, const std::string& field, bool fallback) {
  if (!value.is_null() && !value.is_boolean()) return invalid_field(field, value, "must be true or false");
  return value.boolean_or(fallback);
}

Status check_type(const Json& value, const std::string& field, bool as_array = false) {
  if (value.is_null() || (as_array ? value.is_array() : value.is_object())) return {};
  return invalid_field(field, value.type_name(), as_array ? "must be an array" : "must be an object");
}

// template.metadata.labels and annotations: objects of strings.
Status check_strings(const Json& value, const std::string& field) {
  SLURMK8S_CHECK(check_type(value, field));
  Status status;
  value.each([&](std::string_view key, const Json& member) {
    if (status.ok() && !member.is_string()) {
      status = invalid_field(field + "." + std::string(key), member, "must be a string");
    }
  });
  return status;
}

// The slurmd container of the pod template; null when it has none.
Result<Json> find_slurmd_container(const Json& pod_spec) {
  const Json containers = pod_spec["containers"];
  SLURMK8S_CHECK(check_type(containers, "spec.template.spec.containers", true));
  Json found;
  for (std::size_t i = 0; i < containers.size(); i++) {
    const Json container = containers[i];
    const std::string field = format("spec.template.spec.containers[%zu]", i);
    if (!container.is_object()) return invalid_field(field, container.type_name(), "must be an object");
    const Json name = container["name"];
    if (!name.is_string() || name.text().empty()) return required_field(field + ".name");
    if (name.text() == kSlurmdContainer) found = container;
  }
  return found;
}

// The keys of a node's definition that spec.extraConf may have. slurmctld aborts on an invalid value of some others
// (Port, BcastAddr, TRESWeights); slurm-k8s sets the rest: names, state and sizes.
constexpr std::array kExtraKeys{"CoreSpecCount", "CoresPerSocket", "CpuBind",    "CPUSpecList",
                                "Gres",          "MemSpecLimit",   "Parameters", "RestrictedCoresPerGPU",
                                "SuspendTime",   "ThreadsPerCore", "TmpDisk",    "Topology",
                                "Weight"};

// One "Key=Value" of extraConf. Features are added to the NodeSet's own; `per_socket` is multiplied by the counts of
// which CPUs must be a multiple.
Status add_extra_word(std::string_view word, NodeSet& nodeset, std::int64_t& per_socket) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size()) {
    return Error(Errc::invalid, "must be KEY=VALUE");
  }
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (equal_ignoring_case(key, "Feature") || equal_ignoring_case(key, "Features")) {
    nodeset.features += "," + std::string(value);
    return {};
  }
  const auto is_key = [key](const char* known) { return equal_ignoring_case(key, known); };
  if (std::none_of(kExtraKeys.begin(), kExtraKeys.end(), is_key)) {
    return Error(Errc::invalid, std::string(key) + " is not supported here");
  }
  if (is_key("CoresPerSocket") || is_key("ThreadsPerCore")) {
    const std::optional<std::int64_t> count = parse_int(value);
    if (!count || *count < 1 || *count > kMaxCpus)
      return Error(Errc::invalid, format("must be a number from 1 to %lld", static_cast<long long>(kMaxCpus)));
    per_socket *= *count;
  }
  if (is_key("Gres")) {
    if (!nodeset.gres_names.empty()) return Error(Errc::invalid, "must have one Gres");
    SLURMK8S_CHECK(check_gres(value));
    nodeset.gres_names = gres_names(value);
  }
  if (!nodeset.extra_conf.empty()) nodeset.extra_conf += ' ';
  nodeset.extra_conf += word;
  return {};
}

Status decode_extra_conf(const Json& value, NodeSet& nodeset) {
  const std::string field = "spec.extraConf";
  nodeset.features = nodeset.name;
  if (value.is_null()) return {};
  if (!value.is_string()) return invalid_field(field, value, "must be a string");
  if (value.text().size() > kMaxExtraConf) return too_long_field(field, kMaxExtraConf);
  for (const char c : value.text()) {
    if (c < ' ' || c > '~' || c == '#' || c == '"' || c == '\'' || c == '\\') {
      return invalid_field(field, value, "must be one line of printable characters without quotes, '#' and '\\'");
    }
  }
  std::int64_t per_socket = 1;
  for (const std::string_view word : split(value.text(), ' ')) {
    if (word.empty()) continue;
    const Status status = add_extra_word(word, nodeset, per_socket);
    if (!status.ok()) return invalid_field(field, word, status.error().message());
  }
  // Of external nodes the numbers of CPUs are made so.
  if (nodeset.has_pods() && nodeset.size.cpus % per_socket != 0) {
    return invalid_field(
        field, value, format("CoresPerSocket and ThreadsPerCore must divide the %u CPUs of a node", nodeset.size.cpus));
  }
  nodeset.cpu_multiple = static_cast<std::uint32_t>(std::min(per_socket, kMaxCpus + 1));  // more than any node has
  return {};
}

Status decode_partition(const Json& value, NodeSet& nodeset) {
  SLURMK8S_CHECK(check_type(value, "spec.partition"));
  const Json config = value["config"];
  if (!config.is_null() && !config.is_string()) {
    return invalid_field("spec.partition.config", config, "must be a string");
  }
  Result<PartitionOptions> options = parse_partition_options(config.text());
  if (!options.ok()) return invalid_field("spec.partition.config", config, options.error().message());
  const bool enabled = SLURMK8S_TRY(decode_boolean(value["enabled"], "spec.partition.enabled", false));
  if (enabled) nodeset.partition = *std::move(options);
  return {};
}

// CPUs and RealMemory from the limits of the slurmd container.
Status decode_sizes(const Json& spec, const Json& container, NodeSet& nodeset) {
  const auto limit = [&](const char* name) {
    const Json own = nodeset.slurmd.at({"resources", "limits", name});
    return own.is_null() ? container.at({"resources", "limits", name}) : own;
  };
  const DecodedSize decoded =
      SLURMK8S_TRY(decode_size({limit("cpu"), limit("memory"), spec["memoryReserve"], nodeset.has_pods()}));
  nodeset.size = decoded.size;
  nodeset.memory_reserve = decoded.memory_reserve;
  return {};
}

// spec.slurmd and spec.template, and the sizes that come from them.
Status decode_template(const Json& spec, NodeSet& nodeset) {
  nodeset.slurmd = spec["slurmd"];
  SLURMK8S_CHECK(check_type(nodeset.slurmd, "spec.slurmd"));
  SLURMK8S_CHECK(check_type(spec["template"], "spec.template"));
  nodeset.pod_metadata = spec.at({"template", "metadata"});
  SLURMK8S_CHECK(check_type(nodeset.pod_metadata, "spec.template.metadata"));
  SLURMK8S_CHECK(check_strings(nodeset.pod_metadata["labels"], "spec.template.metadata.labels"));
  SLURMK8S_CHECK(check_strings(nodeset.pod_metadata["annotations"], "spec.template.metadata.annotations"));
  nodeset.names_jobs |= SLURMK8S_TRY(find_placeholders(nodeset.pod_metadata, "spec.template.metadata"));
  nodeset.pod_spec = spec.at({"template", "spec"});
  SLURMK8S_CHECK(check_type(nodeset.pod_spec, "spec.template.spec"));

  const Json container = SLURMK8S_TRY(find_slurmd_container(nodeset.pod_spec));
  const Json image = nodeset.slurmd["image"].is_null() ? container["image"] : nodeset.slurmd["image"];
  if (image.is_null() && nodeset.has_pods()) return required_field("spec.slurmd.image");
  if (!image.is_null() && (!image.is_string() || trim(image.text()).empty())) {
    return invalid_field("spec.slurmd.image", image, "must be the name of an image");
  }
  return decode_sizes(spec, container, nodeset);
}

// The limits of the slurmd container in thousandths, without those that are not in a node record.
Result<std::map<std::string, std::int64_t>> find_limits(const NodeSet& nodeset) {
  std::map<std::string, std::int64_t> limits;
  const Json container = SLURMK8S_TRY(find_slurmd_container(nodeset.pod_spec));
  const Json merged = merge_overlay(container.at({"resources", "limits"}), nodeset.slurmd.at({"resources", "limits"}));
  Status status;
  merged.each([&](std::string_view name, const Json& value) {
    const auto milli = decode_quantity(value, "slurmd.resources.limits." + std::string(name));
    if (!milli && status) status = milli.error();
    if (milli && name != "ephemeral-storage") limits[std::string(name)] = *milli;
  });
  SLURMK8S_CHECK(status);
  return limits;
}

// Whether the slurmd container has resource claims (DRA).
Result<bool> has_resource_claims(const NodeSet& nodeset) {
  const Json container = SLURMK8S_TRY(find_slurmd_container(nodeset.pod_spec));
  return merge_overlay(container, nodeset.slurmd).at({"resources", "claims"}).size() != 0;
}

// spec.claimedGpus: how many a claim gives is up to the driver, and the claim's template is not ours to read.
Result<std::int64_t> decode_claimed_gpus(const Json& value, const NodeSet& nodeset) {
  const std::string field = "spec.claimedGpus";
  const std::int64_t count = SLURMK8S_TRY(decode_integer(value, field, 0, 0, kMaxGpus));
  if (count != 0 && !SLURMK8S_TRY(has_resource_claims(nodeset))) {
    return forbidden_field(field, "may not be set without spec.slurmd.resources.claims");
  }
  return count;
}

// Adds the GPUs of limits and claims, or those of bridgeDevices, to the definition, as if they were in extraConf. Those
// that are in extraConf count more.
Status take_devices(const Json& spec, NodeSet& nodeset) {
  const Json type = spec["gresType"];
  const Json resource = spec["gpuResource"];
  if (!type.is_null() && !is_gres_type(type.text())) {
    return invalid_field("spec.gresType", type,
                         "must be a letter, then at most 62 letters, digits, '_', '-' and '.', such as a100");
  }
  if (!resource.is_null() && !is_resource_name(resource.text())) {
    return invalid_field("spec.gpuResource", resource,
                         "must be the name of an extended resource, such as example.com/gpu");
  }
  nodeset.claimed_gpus = SLURMK8S_TRY(decode_claimed_gpus(spec["claimedGpus"], nodeset));
  const auto limits = SLURMK8S_TRY(find_limits(nodeset));
  auto gres = device_gres(limits, {std::string(type.text()), std::string(resource.text()), nodeset.claimed_gpus});
  if (!gres) return gres.error().wrap("spec.slurmd.resources.limits");
  const auto devices = SLURMK8S_TRY(decode_bridge_devices(spec["bridgeDevices"]));
  if (!devices.empty()) {  // Slurm could not tell whose a GPU is
    if (!gres->empty()) {
      return forbidden_field("spec.bridgeDevices",
                             "may not be set with GPUs in spec.slurmd.resources.limits or spec.claimedGpus");
    }
    if (nodeset.gres_names.contains("gpu")) {
      return forbidden_field("spec.bridgeDevices", "may not be set with a gpu in Gres of spec.extraConf");
    }
    gres = device_gres(devices, {std::string(type.text())});
    if (!gres) return gres.error().wrap("spec.bridgeDevices");
    nodeset.has_bridge_devices = true;
    for (const auto& [name, milli] : devices) nodeset.features += "," + name;
  }
  if (gres->empty() || nodeset.gres_names.contains("gpu")) return {};
  nodeset.device_gres = *gres;
  nodeset.extra_conf = with_gres(nodeset.extra_conf, *gres);
  nodeset.gres_names.insert("gpu");
  return {};
}

// Valid as a label and as a feature of Slurm.
bool is_variant_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxLabel && is_alphanumeric(name.front()) && is_alphanumeric(name.back()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

Result<std::set<std::string>> decode_names(const Json& list, const std::string& field) {
  SLURMK8S_CHECK(check_type(list, field, true));
  if (list.size() > kMaxNames) return too_many_items(field, list.size(), kMaxNames);
  Status status;
  std::set<std::string> names;
  list.each([&](const Json& name) {
    if (!name.is_string() || name.text().empty()) status = invalid_field(field, name, "must be a name");
    if (name.text().size() > kMaxNames) status = too_long_field(field, kMaxNames);
    names.emplace(name.text());
  });
  SLURMK8S_CHECK(status);
  return names;
}

// Applies the patch to the NodeSet's template. A node record has one size for all variants.
Result<Variant> decode_variant(const Json& spec, const Json& value, NodeSet& nodeset) {
  Variant variant;
  variant.access.users = SLURMK8S_TRY(decode_names(value["allowedUsers"], "allowedUsers"));
  for (const std::string& account : SLURMK8S_TRY(decode_names(value["allowedAccounts"], "allowedAccounts"))) {
    variant.access.accounts.insert(to_lower(account));
  }
  const Json patch = value["patch"];
  SLURMK8S_CHECK(check_type(patch, "patch"));
  Status status;
  patch.each([&](std::string_view key, const Json& part) {
    const std::string field = "patch." + std::string(key);
    if (key != "slurmd" && key != "template")
      status = forbidden_field(field, "only slurmd and template can be patched");
    if (status) status = check_type(part, field);
  });
  SLURMK8S_CHECK(status);

  NodeSet patched = nodeset;
  Json patched_spec = Json::object();
  patched_spec.set("memoryReserve", spec["memoryReserve"])
      .set("slurmd", merge_overlay(spec["slurmd"], patch["slurmd"]))
      .set("template", merge_overlay(spec["template"], patch["template"]));
  SLURMK8S_CHECK(decode_template(patched_spec, patched));
  const auto before = SLURMK8S_TRY(find_limits(nodeset));
  const auto after = SLURMK8S_TRY(find_limits(patched));
  if (before != after) {
    return forbidden_field("patch.slurmd.resources.limits",
                           "must be those of the NodeSet, since its node records have one size "
                           "whatever their variant; another size is another NodeSet");
  }
  if (nodeset.claimed_gpus != 0 && !SLURMK8S_TRY(has_resource_claims(patched))) {
    return forbidden_field("patch.slurmd.resources.claims", "may not be empty with spec.claimedGpus");
  }
  nodeset.names_jobs |= patched.names_jobs;
  variant.slurmd = patched.slurmd;
  variant.pod_metadata = patched.pod_metadata;
  variant.pod_spec = patched.pod_spec;
  return variant;
}

/** Of spec, or of one of its variants. */
Status decode_spare_replicas(const Json& value, const std::string& field, const std::string& variant,
                             NodeSet& nodeset) {
  const std::int64_t count = SLURMK8S_TRY(decode_integer(value, field, 0, 0, kMaxReplicas));
  if (count == 0) return {};
  if (nodeset.keeps_up()) return forbidden_field(field, "may be set with scalingMode OnDemand only");
  nodeset.spare_replicas.emplace(variant, count);
  return {};
}

Status decode_variants(const Json& spec, NodeSet& nodeset) {
  const Json list = spec["variants"];
  SLURMK8S_CHECK(check_type(list, "spec.variants", true));
  if (list.size() > kMaxVariants) return too_many_items("spec.variants", list.size(), kMaxVariants);
  const std::string own = nodeset.features;
  for (std::size_t i = 0; i < list.size(); i++) {
    const std::string field = format("spec.variants[%zu]", i);
    if (!list[i].is_object()) return invalid_field(field, list[i].type_name(), "must be an object");
    const std::string name(list[i]["name"].text());
    if (!is_variant_name(name)) {
      return invalid_field(field + ".name", name,
                           "must be at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends");
    }
    if (has_word(own, name)) {
      return invalid_field(field + ".name", name, "must not be a feature of all nodes of the NodeSet");
    }
    Result<Variant> variant = decode_variant(spec, list[i], nodeset);
    if (!variant) return variant.error().wrap("variant " + name).wrap("spec.variants");
    if (!nodeset.variants.emplace(name, *std::move(variant)).second) {
      return duplicate_field(field + ".name", name);
    }
    SLURMK8S_CHECK(decode_spare_replicas(list[i]["spareReplicas"], field + ".spareReplicas", name, nodeset));
    nodeset.features += "," + name;
  }
  return {};
}

// Adds TmpDisk to the definition, unless extraConf has one: what the pod has, whichever variant it is of.
Status take_tmp_disk(NodeSet& nodeset) {
  for (const std::string_view word : split(nodeset.extra_conf, ' ')) {
    if (equal_ignoring_case(word.substr(0, word.find('=')), "TmpDisk")) return {};
  }
  const auto size_of = [](const Json& pod_spec, const Json& slurmd) -> Result<std::uint32_t> {
    const Json container = SLURMK8S_TRY(find_slurmd_container(pod_spec));
    return tmp_disk_mib(merge_overlay(container, slurmd));
  };
  std::uint32_t mib = SLURMK8S_TRY(size_of(nodeset.pod_spec, nodeset.slurmd));
  for (const auto& [name, variant] : nodeset.variants) {
    mib = std::min(mib, SLURMK8S_TRY(size_of(variant.pod_spec, variant.slurmd)));
  }
  if (mib == 0) return {};
  if (!nodeset.extra_conf.empty()) nodeset.extra_conf += ' ';
  nodeset.extra_conf += format("TmpDisk=%u", mib);
  return {};
}

void hash_templates(NodeSet& nodeset) {
  for (auto& [name, variant] : nodeset.variants) {
    variant.template_hash = hash_template(template_parts(with_variant(nodeset, name)));
  }
  nodeset.template_hash = hash_template(template_parts(nodeset));
}

/** Its variants are known. */
Status decode_spares(const Json& spec, NodeSet& nodeset) {
  SLURMK8S_CHECK(decode_spare_replicas(spec["spareReplicas"], "spec.spareReplicas", "", nodeset));
  nodeset.spare_schedules = SLURMK8S_TRY(decode_spare_schedules(spec));
  if (!nodeset.spare_schedules.empty() && nodeset.keeps_up()) {
    return forbidden_field("spec.spareSchedules", "may be set with scalingMode OnDemand only");
  }
  for (std::size_t i = 0; i < nodeset.spare_schedules.size(); i++) {
    const std::string& variant = nodeset.spare_schedules[i].variant;
    if (variant.empty() || nodeset.variants.contains(variant)) continue;
    return not_found_field(format("spec.spareSchedules[%zu].variant", i), variant);
  }
  return {};
}

/** Fields of pods would have no effect. Those that a user would rely on are refused. */
Status check_external(const NodeSet& nodeset) {
  constexpr const char* kNoPods = "may not be set with scalingMode External, whose nodes have no pods";
  if (nodeset.has_pods()) return {};
  if (!nodeset.variants.empty()) return forbidden_field("spec.variants", kNoPods);
  if (!nodeset.claims.templates.empty()) return forbidden_field("spec.volumeClaimTemplates", kNoPods);
  if (nodeset.confinement != Confinement::none) return forbidden_field("spec.confinement", kNoPods);
  return {};
}

Status decode_spec(const Json& spec, NodeSet& nodeset) {
  if (!spec.is_object()) return required_field("spec");
  nodeset.replicas = SLURMK8S_TRY(decode_integer(spec["replicas"], "spec.replicas", 1, 0, kMaxReplicas));
  nodeset.ordinal_padding =
      static_cast<int>(SLURMK8S_TRY(decode_integer(spec["ordinalPadding"], "spec.ordinalPadding", 0, 0, 5)));
  nodeset.unschedulable_grace = std::chrono::seconds(
      SLURMK8S_TRY(decode_integer(spec["unschedulableGracePeriodSeconds"], "spec.unschedulableGracePeriodSeconds",
                                  nodeset.unschedulable_grace.count(), 0, 86400)));
  const Json mode = spec["scalingMode"];
  if (mode.text() == "Always") nodeset.scaling_mode = ScalingMode::always;
  if (mode.text() == "DaemonSet") nodeset.scaling_mode = ScalingMode::daemon_set;
  if (mode.text() == "External") nodeset.scaling_mode = ScalingMode::external;
  if (!mode.is_null() && mode.text() != "OnDemand" && !nodeset.keeps_up()) {
    return unsupported_field("spec.scalingMode", mode, {"OnDemand", "Always", "DaemonSet", "External"});
  }
  const bool counts_nodes = !nodeset.is_per_kube_node();
  // 1 is the default, set by the API server.
  if (!counts_nodes && nodeset.replicas != 1) {
    return forbidden_field("spec.replicas", "may not be set with scalingMode DaemonSet or External");
  }
  const std::size_t length =
      node_name(nodeset.name, std::max<std::int64_t>(0, nodeset.replicas - 1), nodeset.ordinal_padding).size();
  if (counts_nodes && length > kMaxLabel) {
    return invalid_field(
        "metadata.name", nodeset.name,
        format("must be shorter: node names have %zu characters, and a host name has at most %zu", length, kMaxLabel));
  }

  nodeset.protects_busy =
      SLURMK8S_TRY(decode_boolean(spec["workloadDisruptionProtection"], "spec.workloadDisruptionProtection", true));

  nodeset.pins_nodes = SLURMK8S_TRY(decode_boolean(spec["pinToNode"], "spec.pinToNode", false));
  if (!counts_nodes && nodeset.pins_nodes)
    return forbidden_field("spec.pinToNode", "may not be set with scalingMode DaemonSet or External");

  nodeset.confinement = SLURMK8S_TRY(decode_confinement(spec));
  SLURMK8S_CHECK(decode_template(spec, nodeset));
  SLURMK8S_CHECK(decode_partition(spec["partition"], nodeset));
  nodeset.claims = SLURMK8S_TRY(decode_claims(spec));
  nodeset.update = SLURMK8S_TRY(decode_update_strategy(spec));
  SLURMK8S_CHECK(decode_extra_conf(spec["extraConf"], nodeset));
  SLURMK8S_CHECK(take_devices(spec, nodeset));
  SLURMK8S_CHECK(decode_variants(spec, nodeset));
  SLURMK8S_CHECK(decode_spares(spec, nodeset));
  SLURMK8S_CHECK(take_tmp_disk(nodeset));
  SLURMK8S_CHECK(check_external(nodeset));
  hash_templates(nodeset);
  return {};
}

}  // namespace

Result<NodeSet> decode_nodeset(const Json& object) {
  NodeSet nodeset;
  const Json metadata = object["metadata"];
  nodeset.name_space = metadata["namespace"].text();
  nodeset.name = metadata["name"].text();
  nodeset.uid = metadata["uid"].text();
  nodeset.generation = metadata["generation"].integer_or(0);

  const std::string object_name = "nodeset " + nodeset.name_space + "/" + nodeset.name;
  if (nodeset.name.empty()) return required_field("nodeset: metadata.name");
  if (!is_dns_label(nodeset.name)) {
    return invalid_field(object_name + ": metadata.name", nodeset.name,
                         "must be lower-case letters, digits and '-', as a host name");
  }
  const Status status = decode_spec(object["spec"], nodeset);
  if (!status.ok()) return status.error().wrap(object_name);
  if (nodeset.pins_nodes) {
    object.at({"status", "ordinalToNode"}).each([&](std::string_view ordinal, const Json& kube_node) {
      nodeset.pins.emplace(ordinal, kube_node.text());
    });
  }
  return nodeset;
}

NodeSet with_variant(const NodeSet& nodeset, std::string_view variant) {
  NodeSet result = nodeset;
  const auto found = nodeset.variants.find(variant);
  if (found == nodeset.variants.end()) return result;
  result.slurmd = found->second.slurmd;
  result.pod_metadata = found->second.pod_metadata;
  result.pod_spec = found->second.pod_spec;
  result.template_hash = found->second.template_hash;
  return result;
}

std::string static_features(const NodeSet& nodeset) {
  Words words = words_of(nodeset.features);
  std::erase_if(words, [&](const std::string& feature) { return nodeset.variants.contains(feature); });
  return join_words(words);
}

std::string find_variant(const NodeSet& nodeset, std::string_view active_features) {
  for (const std::string_view feature : split(active_features, ',')) {
    if (nodeset.variants.contains(feature)) return std::string(feature);
  }
  return {};
}

VariantCatalog::Entry catalog_entry(const NodeSet& nodeset) {
  VariantCatalog::Entry entry;
  for (const std::string& feature : words_of(static_features(nodeset))) entry.features.insert(feature);
  for (const auto& [name, variant] : nodeset.variants) entry.variants[name] = variant.access;
  return entry;
}

Json owner_reference(const NodeSet& nodeset) {
  Json owner = Json::object();
  owner.set("apiVersion", "slurm-k8s.io/v1alpha1")
      .set("kind", "NodeSet")
      .set("name", nodeset.name)
      .set("uid", nodeset.uid);
  return owner;
}

std::string daemon_node_name(const NodeSet& nodeset, std::string_view kube_node) {
  return nodeset.name + "-" + encode_kube_node(kube_node);
}

std::string kube_node_of(const NodeSet& nodeset, std::string_view node) {
  if (nodeset.pins_nodes) {
    const auto parsed = parse_node_name(node);
    const auto pin = parsed ? nodeset.pins.find(std::to_string(parsed->ordinal)) : nodeset.pins.end();
    return pin == nodeset.pins.end() ? std::string() : pin->second;
  }
  if (!nodeset.is_per_kube_node() || node.size() <= nodeset.name.size()) return {};
  return decode_kube_node(node.substr(nodeset.name.size() + 1)).value_or(std::string());
}

std::optional<std::string> owner_name(std::string_view node, const FindNodeSet& find) {
  for (std::size_t dash = node.size(); dash > 0;) {
    dash = node.rfind('-', dash - 1);
    if (dash == std::string_view::npos) break;
    std::string name(node.substr(0, dash));
    const Result<NodeSet>* nodeset = find(name);
    if (nodeset == nullptr) continue;
    const auto parsed = parse_node_name(node);
    const bool is_ordinal = parsed && parsed->nodeset == name;
    const bool counts_nodes = nodeset->ok() && !(*nodeset)->is_per_kube_node();
    if (is_ordinal || (!counts_nodes && decode_kube_node(node.substr(dash + 1)))) return name;
  }
  return std::nullopt;
}

bool is_made_for(const SlurmNode& record, std::string_view nodeset) {
  const std::string_view name = record.name;
  if (!name.starts_with(nodeset) || !name.substr(nodeset.size()).starts_with('-')) return false;
  return has_word(record.features, nodeset) && decode_kube_node(name.substr(nodeset.size() + 1)).has_value();
}

std::string node_definition(const NodeSet& nodeset, const NodeSize& size) {
  std::string line =
      format("CPUs=%u RealMemory=%llu", size.cpus, static_cast<unsigned long long>(size.real_memory_mib));
  if (!nodeset.extra_conf.empty()) line += " " + nodeset.extra_conf;
  return line;
}

std::string node_definition(const NodeSet& nodeset) { return node_definition(nodeset, nodeset.size); }

TemplateParts template_parts(const NodeSet& nodeset) {
  return {nodeset.pod_metadata,     nodeset.pod_spec,         nodeset.slurmd,
          node_definition(nodeset), nodeset.claims.templates, confinement_name(nodeset.confinement)};
}

std::string revision_of(const NodeSet& nodeset) {
  if (nodeset.variants.empty()) return nodeset.template_hash;
  std::string hashes = nodeset.template_hash;
  for (const auto& [name, variant] : nodeset.variants) hashes += "\n" + name + " " + variant.template_hash;
  return hash_revision(hashes);
}

}  // namespace slurmk8s
