// SPDX-License-Identifier: GPL-2.0-or-later
// The pod of a node. Users' texts are in labels and annotations only, where the NodeSet has placeholders for them; the
// rest comes from the administrator's NodeSet and from slurm-k8s.
#include "nodeset/pod_builder.hpp"

#include <span>
#include <utility>
#include <vector>

#include "nodeset/claim_builder.hpp"
#include "nodeset/confinement.hpp"
#include "nodeset/job_placeholders.hpp"
#include "nodeset/names.hpp"
#include "kube/overlay.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kKeyVolume = "slurm-key";
constexpr const char* kKeyFolder = "/run/slurm-k8s/key";
constexpr int kSlurmdPort = 6818;
/** Enough for slurmd to end its steps; Slurm ends a node's jobs before it powers the node down. */
constexpr int kGraceSeconds = 5;

Json env(std::string_view name, std::string_view value) {
  Json e = Json::object();
  e.set("name", name).set("value", value);
  return e;
}

Json env_from_field(std::string_view name, std::string_view field_path) {
  Json field = Json::object();
  field.set("fieldPath", field_path);
  Json from = Json::object();
  from.set("fieldRef", std::move(field));
  Json e = Json::object();
  e.set("name", name).set("valueFrom", std::move(from));
  return e;
}

/** Of container slurmd: "limits.cpu", in units of `divisor`, rounded up. */
Json env_from_resource(std::string_view name, std::string_view resource, std::string_view divisor = {}) {
  Json field = Json::object();
  field.set("resource", resource);
  if (!divisor.empty()) field.set("divisor", divisor);
  Json from = Json::object();
  from.set("resourceFieldRef", std::move(field));
  Json e = Json::object();
  e.set("name", name).set("valueFrom", std::move(from));
  return e;
}

/** Environment variables with slurmd's identity. */
Json identity_env(const NodeSet& nodeset, const PodIdentity& identity, const Options& options) {
  Json list = Json::array();
  list.push(env("SLURMD_NODENAME", identity.node));
  list.push(env("SLURMD_CONF_SERVER", options.conf_server));
  list.push(env("SLURMD_CONF", node_definition(nodeset)));
  if (!nodeset.device_gres.empty()) list.push(env("SLURMD_DEVICE_GRES", nodeset.device_gres));
  if (nodeset.has_bridge_devices) list.push(env("SLURM_K8S_BRIDGE_DEVICES", nodeset.device_gres));
  list.push(env("SLURM_K8S_NODESET", nodeset.name));
  list.push(env("SLURM_K8S_VARIANT", identity.order.variant));
  list.push(env_from_field("SLURM_K8S_POD", "metadata.name"));
  list.push(env_from_field("SLURM_K8S_NAMESPACE", "metadata.namespace"));
  list.push(env_from_field("SLURM_K8S_NODE", "spec.nodeName"));
  // Kubernetes 1.35 copies this label from the Kubernetes node; before, a NodeSet's template can set it.
  list.push(env_from_field("SLURM_K8S_ZONE", "metadata.labels['topology.kubernetes.io/zone']"));
  list.push(env_from_resource("SLURM_K8S_CPU_LIMIT", "limits.cpu"));
  list.push(env_from_resource("SLURM_K8S_MEMORY_LIMIT", "limits.memory"));
  if (nodeset.confinement != Confinement::none) {
    list.push(env("SLURMD_CONFINEMENT", confinement_name(nodeset.confinement)));
    list.push(env_from_resource("SLURMD_CPU_REQUEST", "requests.cpu", "1m"));
  }
  return list;
}

/** Capabilities that slurmd and jobs do not need: raw sockets, which can forge addresses, and device files. */
Json dropped_capabilities() { return Json::array().push("NET_RAW").push("MKNOD"); }

/** Lets users ping without NET_RAW, unless the pod uses the host's network. */
Json pod_security(const Json& pod_spec) {
  Json security = Json::object().set("seccompProfile", Json::object().set("type", "RuntimeDefault"));
  if (!pod_spec["hostNetwork"].boolean_or(false) && pod_spec["hostUsers"].boolean_or(true)) {
    Json pings = Json::object().set("name", "net.ipv4.ping_group_range").set("value", "0 2147483647");
    security.set("sysctls", Json::array().push(std::move(pings)));
  }
  return security;
}

/** Defaults, which the NodeSet may change. */
Json base_spec(const NodeSet& nodeset, const Options& options) {
  Json mount = Json::object();
  mount.set("name", kKeyVolume).set("mountPath", kKeyFolder).set("readOnly", Json::boolean(true));
  Json port = Json::object();
  port.set("name", "slurmd").set("containerPort", Json::integer(kSlurmdPort));
  Json container = Json::object();
  container.set("name", kSlurmdContainer)
      .set("securityContext", Json::object().set("capabilities", Json::object().set("drop", dropped_capabilities())))
      // Puts the end of slurmd's log into the pod's status when slurmd fails.
      .set("terminationMessagePolicy", "FallbackToLogsOnError")
      .set("ports", Json::array().push(std::move(port)))
      .set("volumeMounts", Json::array().push(std::move(mount)));

  Json secret = Json::object();
  secret.set("secretName", options.key_secret).set("defaultMode", Json::integer(0400));
  Json volume = Json::object();
  volume.set("name", kKeyVolume).set("secret", std::move(secret));

  // Slurm addresses nodes by short name: they resolve through the headless service.
  Json dns = Json::object();
  const std::string service = options.node_service + "." + nodeset.name_space;
  dns.set("searches", Json::array().push(service + ".svc." + options.cluster_domain));

  Json spec = Json::object();
  spec.set("containers", Json::array().push(std::move(container)))
      .set("volumes", Json::array().push(std::move(volume)))
      .set("dnsConfig", std::move(dns))
      .set("securityContext", pod_security(nodeset.pod_spec))
      .set("terminationGracePeriodSeconds", Json::integer(kGraceSeconds));
  // Otherwise a pod in the host's network asks the host's DNS, which does not know slurmctld's service.
  if (nodeset.pod_spec["hostNetwork"].boolean_or(false)) spec.set("dnsPolicy", "ClusterFirstWithHostNet");
  return spec;
}

/**
 * Over `spec`: set-uid programs of jobs get no root privileges, which could read Slurm's key, unless the NodeSet allows
 * it. Kubernetes rejects this setting together with `privileged` or CAP_SYS_ADMIN.
 */
Json escalation_overlay(const Json& spec) {
  Json containers = Json::array();
  spec["containers"].each([&containers](const Json& container) {
    const Json security = container["securityContext"];
    if (container["name"].text() != kSlurmdContainer || has_sys_admin(security)) return;
    if (!security["allowPrivilegeEscalation"].is_null()) return;
    Json restricted = Json::object().set("allowPrivilegeEscalation", Json::boolean(false));
    containers.push(Json::object().set("name", kSlurmdContainer).set("securityContext", std::move(restricted)));
  });
  return Json::object().set("containers", std::move(containers));
}

Json slurmd_overlay(const Json& overlay) {
  Json container = overlay.is_object() ? overlay.clone() : Json::object();
  container.set("name", kSlurmdContainer);
  Json spec = Json::object();
  spec.set("containers", Json::array().push(std::move(container)));
  return spec;
}

/** Requires this Kubernetes node, as a DaemonSet's controller does: in each of the template's terms, which are ORed. */
Json pinned_affinity(const Json& pod_spec, const std::string& kube_node) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  Json field = Json::object();
  field.set("key", "metadata.name").set("operator", "In").set("values", Json::array().push(kube_node));
  Json given = pod_spec.at({"affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  if (given.size() == 0) given = Json::array().push(Json::object());
  Json terms = Json::array();
  given.each([&](const Json& term) {
    Json pinned = term.clone();
    Json fields = pinned["matchFields"].is_array() ? pinned["matchFields"] : Json::array();
    pinned.set("matchFields", fields.push(field.clone()));
    terms.push(std::move(pinned));
  });
  Json required = Json::object().set("nodeSelectorTerms", std::move(terms));
  Json node_affinity = Json::object().set(kRequired, std::move(required));
  return Json::object().set("nodeAffinity", std::move(node_affinity));
}

/**
 * With the tolerations that a DaemonSet's controller adds: the pod cannot run elsewhere, and jobs on a Kubernetes node
 * that is not ready go on. Without the toleration of cordoned nodes, which must become empty.
 */
Json daemon_tolerations(const Json& given, bool host_network) {
  static constexpr std::array<std::pair<const char*, const char*>, 6> kAdded{{{"not-ready", "NoExecute"},
                                                                              {"unreachable", "NoExecute"},
                                                                              {"disk-pressure", "NoSchedule"},
                                                                              {"memory-pressure", "NoSchedule"},
                                                                              {"pid-pressure", "NoSchedule"},
                                                                              {"network-unavailable", "NoSchedule"}}};
  Json all = given.is_array() ? given.clone() : Json::array();
  for (const auto& [key, effect] : std::span(kAdded).first(host_network ? kAdded.size() : kAdded.size() - 1)) {
    Json toleration = Json::object();
    toleration.set("key", std::string("node.kubernetes.io/") + key).set("operator", "Exists").set("effect", effect);
    all.push(std::move(toleration));
  }
  return all;
}

Json fixed_spec(const NodeSet& nodeset, const PodIdentity& identity, const Options& options) {
  Json container = Json::object();
  container.set("name", kSlurmdContainer).set("env", identity_env(nodeset, identity, options));
  Json spec = Json::object();
  spec.set("containers", Json::array().push(std::move(container)))
      .set("hostname", identity.node)
      .set("subdomain", options.node_service)
      .set("restartPolicy", "Never")  // a slurmd that died took its jobs with it: Slurm decides what comes next
      .set("volumes", claim_volumes(nodeset, identity.node))
      .set("automountServiceAccountToken", Json::boolean(false))
      .set("enableServiceLinks", Json::boolean(false));
  if (std::string kube_node = kube_node_of(nodeset, identity.node); !kube_node.empty()) {
    spec.set("affinity", pinned_affinity(nodeset.pod_spec, kube_node));
  }
  if (nodeset.scaling_mode == ScalingMode::daemon_set) {
    spec.set("tolerations",
             daemon_tolerations(nodeset.pod_spec["tolerations"], nodeset.pod_spec["hostNetwork"].boolean_or(false)));
  }
  return spec;
}

Json metadata(const NodeSet& nodeset, const PodIdentity& identity) {
  Json fixed = Json::object();
  Json labels = Json::object();
  labels.set(kLabelApp, "slurmd")
      .set(kLabelManagedBy, "slurm-k8s")
      .set(kLabelNodeSet, nodeset.name)
      .set(kLabelNode, identity.node)
      .set(kLabelTemplate, nodeset.template_hash);
  if (!identity.order.variant.empty()) labels.set(kLabelVariant, identity.order.variant);
  Json annotations = Json::object();
  annotations.set(kAnnotationRequest, identity.request);
  if (!identity.jobs.empty()) annotations.set(kAnnotationJobs, identity.jobs);
  Json owner = owner_reference(nodeset).set("controller", Json::boolean(true));

  // A pod is created for a job: it is busy from the start.
  Json base =
      merge_overlay(Json::object(), nodeset.names_jobs ? expand_placeholders(nodeset.pod_metadata, identity.order.job)
                                                       : nodeset.pod_metadata);
  if (nodeset.protects_busy) base = merge_overlay(base, busy_marks(nodeset, true));
  fixed.set("name", identity.node)
      .set("namespace", nodeset.name_space)
      .set("labels", std::move(labels))
      .set("annotations", std::move(annotations))
      .set("ownerReferences", Json::array().push(std::move(owner)));
  return merge_overlay(base, fixed);
}

Json build(const NodeSet& nodeset, const PodIdentity& identity, const Options& options) {
  Json spec = merge_overlay(base_spec(nodeset, options), nodeset.pod_spec);
  spec = merge_overlay(spec, slurmd_overlay(nodeset.slurmd));
  spec = merge_overlay(spec, fixed_spec(nodeset, identity, options));
  spec = merge_overlay(spec, confinement_overlay(spec, nodeset.confinement));
  spec = merge_overlay(spec, escalation_overlay(spec));

  Json pod = Json::object();
  pod.set("apiVersion", "v1")
      .set("kind", "Pod")
      .set("metadata", metadata(nodeset, identity))
      .set("spec", std::move(spec));
  return pod;
}

}  // namespace

Json busy_marks(const NodeSet& nodeset, bool busy) {
  const auto mark = [busy](Json& marks, const char* key, const char* value) {
    marks.set(key, busy ? Json::string(value) : Json());
  };
  Json labels = Json::object();
  mark(labels, kLabelBusy, "true");
  Json annotations = Json::object();
  const Json own = nodeset.pod_metadata["annotations"];
  if (own[kAnnotationSafeToEvict].is_null()) mark(annotations, kAnnotationSafeToEvict, "false");
  if (own[kAnnotationDoNotDisrupt].is_null()) mark(annotations, kAnnotationDoNotDisrupt, "true");
  return Json::object().set("labels", std::move(labels)).set("annotations", std::move(annotations));
}

Json build_pod(const NodeSet& nodeset, const PodIdentity& identity, const Options& options) {
  if (const std::string& variant = identity.order.variant; nodeset.variants.contains(variant)) {
    return build(with_variant(nodeset, variant), identity, options);
  }
  return build(nodeset, identity, options);
}

}  // namespace slurmk8s
