// SPDX-License-Identifier: GPL-2.0-or-later
// The tables.
#include "convert/slinky_fields.hpp"

namespace slurmk8s {
namespace {

constexpr bool kLost = true;
constexpr bool kUnneeded = false;
constexpr bool kCarried = false;

constexpr std::string_view kByServer = "the API server sets it";

constexpr SlinkyField kFields[] = {
    {"metadata.name", "", "metadata.name", kCarried, "",
     "the nodes' prefix: `template.spec.hostname` without its `-` where there is one, else the name; of the chart's "
     "values the key"},
    {"metadata.namespace", "", "metadata.namespace", kCarried, "", ""},
    {"metadata.labels", "", "metadata.labels", kCarried, "", "without those of Helm and of slurm-operator"},
    {"metadata.annotations", "", "metadata.annotations", kCarried, "",
     "without those of Helm, kubectl and slurm-operator"},
    {"metadata.creationTimestamp", "", "", kUnneeded, "", kByServer},
    {"metadata.generation", "", "", kUnneeded, "", kByServer},
    {"metadata.managedFields", "", "", kUnneeded, "", kByServer},
    {"metadata.resourceVersion", "", "", kUnneeded, "", kByServer},
    {"metadata.uid", "", "", kUnneeded, "", kByServer},
    {"metadata.finalizers", "", "", kUnneeded, "", "slurm-operator's; slurm-k8s uses none"},
    {"metadata.ownerReferences", "", "", kLost, "", "the owner is an object of the other cluster"},
    {"status", "", "", kUnneeded, "", "the sidecar writes its own"},
    {"", "enabled", "", kUnneeded, "", "a NodeSet with `false` is left out"},
    {"spec.controllerRef", "", "", kUnneeded, "", "the NodeSets of a namespace belong to its one Slurm cluster"},
    {"spec.replicas", "replicas", "spec.replicas", kCarried, "",
     "the number of Slurm nodes: their pods exist while Slurm has them powered up; not with `scalingMode: DaemonSet`"},
    {"spec.scalingMode", "scalingMode", "spec.scalingMode", kCarried, "",
     "`StatefulSet` is the default; nodes of a `DaemonSet` are named NAME-KUBERNETESNODE, not like the Kubernetes "
     "node"},
    {"spec.ordinalPadding", "ordinalPadding", "spec.ordinalPadding", kCarried, "", "at most 5"},
    {"spec.slurmd.image", "slurmd.image", "spec.slurmd.image", kCarried, "",
     "must be an image of slurm-k8s, whose entrypoint knows which node it is"},
    {"spec.slurmd.name", "slurmd.name", "", kUnneeded, "", "the container is always `slurmd`"},
    {"spec.slurmd.env", "slurmd.env", "spec.slurmd.env", kCarried, "", "without the variables that slurm-k8s sets"},
    {"spec.slurmd.*", "slurmd.*", "spec.slurmd.*", kCarried, "",
     "`resources.limits` must have cpu and memory: they are the node's size"},
    {"spec.template.metadata.labels", "metadata.labels", "spec.template.metadata.labels", kCarried, "",
     "without those that slurm-k8s sets, and those of Helm and slurm-operator"},
    {"spec.template.metadata.annotations", "metadata.annotations", "spec.template.metadata.annotations", kCarried, "",
     "as labels"},
    {"spec.template.spec.hostname", "", "metadata.name", kCarried, "",
     "see there; nodes are always named NAME-0, NAME-1 …"},
    {"", "podSpec.hostname", "", kUnneeded, "", "Slinky's chart replaces it by the NodeSet's key"},
    {"spec.template.spec.subdomain", "podSpec.subdomain", "", kLost, "", kSetByUs},
    {"spec.template.spec.restartPolicy", "podSpec.restartPolicy", "", kLost, "Never", kSetByUs},
    {"spec.template.spec.automountServiceAccountToken", "podSpec.automountServiceAccountToken", "", kLost, "false",
     kSetByUs},
    {"spec.template.spec.enableServiceLinks", "podSpec.enableServiceLinks", "", kLost, "false", kSetByUs},
    {"spec.template.spec.containers", "podSpec.containers", "spec.template.spec.containers", kCarried, "",
     "as `slurmd.env`"},
    {"spec.template.spec.*", "podSpec.*", "spec.template.spec.*", kCarried, "", ""},
    {"spec.extraConf", "extraConf", "spec.extraConf", kCarried, "", "without the parameters that a NodeSet can't have"},
    {"", "extraConfMap", "spec.extraConf", kCarried, "", "as in Slinky's chart only without `extraConf`"},
    {"spec.partition.enabled", "partition.enabled", "spec.partition.enabled", kCarried, "",
     "slurm.conf needs ReconfigFlags=KeepPartInfo (of our chart: `slurm.runtimePartitions`)"},
    {"spec.partition.config", "partition.config", "spec.partition.config", kCarried, "",
     "parameters that slurm-k8s doesn't know are reported"},
    {"", "partition.configMap", "spec.partition.config", kCarried, "", "only without `config`"},
    {"spec.volumeClaimTemplates", "volumeClaimTemplates", "spec.volumeClaimTemplates", kCarried, "",
     "the service account needs rights for claims (of our chart: `rbac.volumeClaims`); claims that Slinky made stay"},
    {"spec.persistentVolumeClaimRetentionPolicy", "persistentVolumeClaimRetentionPolicy",
     "spec.persistentVolumeClaimRetentionPolicy", kCarried, "", ""},
    {"spec.updateStrategy.type", "updateStrategy.type", "spec.updateStrategy.type", kCarried, "",
     "a `ScheduledUpdate` needs a maintenance reservation: see `updateStrategy.scheduledUpdate`"},
    {"spec.updateStrategy.rollingUpdate", "updateStrategy.rollingUpdate", "spec.updateStrategy.rollingUpdate", kCarried,
     "", ""},
    {"spec.updateStrategy.scheduledUpdate", "updateStrategy.scheduledUpdate", "", kLost, "",
     "make the reservation yourself, whenever you want: `scontrol create reservation Flags=MAINT,IGNORE_JOBS "
     "Nodes=… StartTime=… Duration=… Users=root`"},
    {"spec.revisionHistoryLimit", "revisionHistoryLimit", "", kUnneeded, "", "there are no revisions"},
    {"spec.minReadySeconds", "minReadySeconds", "", kLost, "", "a node serves as soon as its slurmd has registered"},
    {"spec.pinToNode", "pinToNode", "spec.pinToNode", kCarried, "", "the pins themselves are not converted"},
    {"spec.taintKubeNodes", "taintKubeNodes", "", kLost, "", "Kubernetes nodes are not tainted"},
    {"spec.workloadDisruptionProtection", "workloadDisruptionProtection", "spec.workloadDisruptionProtection", kCarried,
     "", "true unless it is given, as in Slinky"},
    {"spec.pruneSlurmNodeRecords", "pruneSlurmNodeRecords", "", kUnneeded, "",
     "node records go with `replicas` and with the NodeSet"},
    {"spec.oversubscribeNode", "oversubscribeNode", "", kLost, "true",
     "nodes may share a Kubernetes node: one for each needs a podAntiAffinity in `template.spec.affinity`"},
    {"spec.ssh", "ssh", "", kLost, kSlinkyDisabled, "there is no sshd in the pods of nodes"},
    {"spec.logfile", "logfile", "", kUnneeded, "", "slurmd logs to its container's standard error"},
};

constexpr SlinkyChartValue kChartValues[] = {
    {"imagePullPolicy", "spec.slurmd.imagePullPolicy", "unless the NodeSet has one"},
    {"imagePullSecrets", "spec.template.spec.imagePullSecrets", "after the NodeSet's own"},
    {"namespaceOverride", "metadata.namespace", ""},
    {"priorityClass", "spec.template.spec.priorityClassName", "when `enabled`; the class itself isn't made"},
};

}  // namespace

std::span<const SlinkyField> slinky_fields() { return kFields; }
std::span<const SlinkyChartValue> slinky_chart_values() { return kChartValues; }

}  // namespace slurmk8s
