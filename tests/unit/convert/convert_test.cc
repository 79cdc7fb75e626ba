// SPDX-License-Identifier: GPL-2.0-or-later
// convert: NodeSets and chart values of Slinky; docs/admin/from-slinky.md has the same tables.
#include "convert/convert.hpp"

#include <cstdio>

#include "convert/chart_values.hpp"
#include "convert/yaml_writer.hpp"
#include "json/yaml.hpp"
#include "convert/slinky_fields.hpp"

#include "support/cmocka.hpp"
#include "support/source_file.hpp"

namespace slurmk8s {
namespace {

Conversion converted(const std::string& yaml) {
  const auto documents = parse_yaml_documents(yaml);
  assert_ok(documents);
  Conversion conversion;
  convert_documents(*documents, conversion);
  return conversion;
}

std::string yaml_of(const Conversion& conversion) {
  std::string text;
  for (const Json& nodeset : conversion.nodesets) {
    const auto yaml = dump_yaml(nodeset);
    assert_ok(yaml);
    text += "---\n" + *yaml;
  }
  return text;
}

std::string notes_of(const Conversion& conversion) {
  std::string text;
  for (const ConvertNote& note : conversion.notes) {
    text += note.where + ": " + to_string(note.kind) + ": " + note.what + "\n";
  }
  return text;
}

/** A Slinky NodeSet "gpu" that converts without a note, with `spec` beside: lines of two blanks. */
std::string nodeset_with(const std::string& spec) {
  return "apiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\nmetadata: {name: gpu, namespace: batch}\nspec:\n" + spec;
}
const char* const kSized = "  slurmd: {image: i, resources: {limits: {cpu: 8, memory: 4Gi}}}\n";

void a_plain_nodeset_has_no_notes(void**) {
  const Conversion conversion = converted(nodeset_with(std::string(kSized) + "  replicas: 3\n  ordinalPadding: 2\n"));
  assert_text(notes_of(conversion), "");
  assert_false(conversion.is_partial());
  assert_text(yaml_of(conversion),
              "---\napiVersion: slurm-k8s.io/v1alpha1\nkind: NodeSet\nmetadata:\n  name: gpu\n  namespace: batch\n"
              "spec:\n"
              "  replicas: 3\n  ordinalPadding: 2\n  slurmd:\n    image: i\n    resources:\n      limits:\n"
              "        cpu: 8\n"
              "        memory: 4Gi\n");
}

// As Slinky's chart creates it.
void an_object_of_a_cluster(void**) {
  const Conversion conversion = converted(R"(
apiVersion: v1
kind: Service
metadata: {name: workers}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata:
  name: slurm-worker-gpu
  namespace: batch
  uid: 12-34
  labels: {app.kubernetes.io/managed-by: Helm, team: hpc}
  annotations: {note: text, meta.helm.sh/release-name: slurm}
spec:
  controllerRef: {name: slurm}
  replicas: 4
  scalingMode: StatefulSet
  slurmd:
    image: r.example/slinkyproject/slurmd:1
    args: [-vvv]
    env: [{name: SLURMD_CONF, value: x}, {name: MINE, value: "yes"}]
    resources: {limits: {cpu: 8, memory: 64Gi}}
  logfile: {image: tail}
  ssh: {enabled: false}
  extraConf: Features=a100 Port=7000 Weight=10
  partition: {enabled: true, config: MaxTime=1-0 SuspendTime=9}
  template:
    metadata:
      labels: {app.kubernetes.io/name: slurmd, team: hpc}
      annotations: {topology.slinky.slurm.net/spec: a}
    spec:
      hostname: gpu-
      restartPolicy: Never
      tolerations: [{key: gpu}]
      containers: [{name: slurmd, env: [{name: SLURM_K8S_POD, value: x}]}, {name: mine, env: [{name: SLURM_K8S_POD}]}]
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%}}
  pinToNode: false
  workloadDisruptionProtection: true
  newField: 1
status: {replicas: 4}
)");
  assert_text(yaml_of(conversion), R"(---
apiVersion: slurm-k8s.io/v1alpha1
kind: NodeSet
metadata:
  name: gpu
  namespace: batch
  labels:
    team: hpc
  annotations:
    note: text
spec:
  replicas: 4
  slurmd:
    image: r.example/slinkyproject/slurmd:1
    args:
    - "-vvv"
    env:
    - name: MINE
      value: "yes"
    resources:
      limits:
        cpu: 8
        memory: 64Gi
  template:
    metadata:
      labels:
        team: hpc
    spec:
      tolerations:
      - key: gpu
      containers:
      - name: slurmd
        env: []
      - name: mine
        env:
        - name: SLURM_K8S_POD
  extraConf: Features=a100 Weight=10
  partition:
    enabled: true
    config: MaxTime=1-0
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: "25%"
  pinToNode: false
  workloadDisruptionProtection: true
)");
  const std::string at = "nodeset slurm-worker-gpu: ";
  const std::string of_template = at + "spec.template.";
  assert_text(notes_of(conversion),
              "document 1 (Service workers): not converted: no NodeSet\n" + at +
                  "metadata.name: not needed: slurm-worker-gpu: the NodeSet is named gpu, as Slurm's nodes are\n" + at +
                  "metadata.uid: not needed: the API server sets it\n" + at +
                  "metadata.labels[\"app.kubernetes.io/managed-by\"]: "
                  "not needed: says how Slinky's object was installed\n" +
                  at +
                  "metadata.annotations[\"meta.helm.sh/release-name\"]: "
                  "not needed: says how Slinky's object was installed\n" +
                  at + "spec.controllerRef: not needed: the NodeSets of a namespace belong to its one Slurm cluster\n" +
                  at + "spec.scalingMode: not needed: StatefulSet: as without it\n" + at +
                  "spec.slurmd.image: to be completed: r.example/slinkyproject/slurmd:1: an image of slurm-k8s, whose "
                  "entrypoint knows which node it is\n" +
                  at + "spec.slurmd.env[0]: not converted: SLURMD_CONF: slurm-k8s sets this variable\n" + at +
                  "spec.logfile: not needed: slurmd logs to its container's standard error\n" + at +
                  "spec.ssh: not needed: as without it\n" + at +
                  "spec.extraConf: not converted: Port=7000: Port is not supported here\n" + at +
                  "spec.partition.config: not converted: SuspendTime=9: SuspendTime is not supported here\n" +
                  of_template +
                  "metadata.labels[\"app.kubernetes.io/name\"]: not converted: slurm-k8s sets it for every pod "
                  "of a node\n" +
                  of_template +
                  "metadata.annotations[\"topology.slinky.slurm.net/spec\"]: not converted: only slurm-operator "
                  "reads it\n" +
                  of_template + "spec.restartPolicy: not needed: Never: as without it\n" + of_template +
                  "spec.containers[0].env[0]: not converted: SLURM_K8S_POD: slurm-k8s sets this variable\n" + at +
                  "spec.newField: not converted: unknown: no field of Slinky's that slurm-k8s knows\n" + at +
                  "status: not needed: the sidecar writes its own\n");
  assert_true(conversion.is_partial());
}

void values_of_the_chart(void**) {
  const Conversion conversion = converted(R"(
imagePullSecrets: [{name: pull}]
imagePullPolicy: Always
namespaceOverride: batch
priorityClass: {enabled: true, create: true, name: high}
nodesetDefaults:
  slurmd: {image: {repository: r.example/slurmd, tag: 1}, resources: {limits: {cpu: "2", memory: 2Gi}}}
  pinToNode: true
  podSpec: {nodeSelector: {a: b}}
nodesets:
  small: {replicas: null, extraConfMap: {Features: [x, y], Weight: 3, Gres: null}}
  off: {enabled: false}
  big:
    enabled: true
    replicas: 2
    extraConf: Weight=1
    extraConfMap: {Weight: 2}
    slurmd: {image: {digest: "sha256:0"}, imagePullPolicy: Never}
    metadata: {labels: {team: hpc, slurm-k8s.io/node: x}}
    partition: {enabled: true, configMap: {State: UP, AllowGroups: [a, b]}}
    podSpec: {hostname: other, imagePullSecrets: [{name: own}], priorityClassName: low, nodeSelector: null}
controller: {}
)");
  assert_text(yaml_of(conversion), R"(---
apiVersion: slurm-k8s.io/v1alpha1
kind: NodeSet
metadata:
  name: small
  namespace: batch
spec:
  slurmd:
    image: r.example/slurmd:1
    imagePullPolicy: Always
    resources:
      limits:
        cpu: "2"
        memory: 2Gi
  template:
    spec:
      nodeSelector:
        a: b
      imagePullSecrets:
      - name: pull
      priorityClassName: high
  extraConf: Features=x,y Weight=3
  pinToNode: true
---
apiVersion: slurm-k8s.io/v1alpha1
kind: NodeSet
metadata:
  name: big
  namespace: batch
spec:
  replicas: 2
  slurmd:
    image: r.example/slurmd@sha256:0
    imagePullPolicy: Never
    resources:
      limits:
        cpu: "2"
        memory: 2Gi
  template:
    metadata:
      labels:
        team: hpc
    spec:
      imagePullSecrets:
      - name: own
      - name: pull
      priorityClassName: low
  extraConf: Weight=1
  pinToNode: true
  partition:
    enabled: true
    config: State=UP AllowGroups=a,b
)");
  assert_text(notes_of(conversion),
              "nodesets.off.enabled: not needed: false: this NodeSet is left out\n"
              "nodesets.big.podSpec.hostname: not needed: Slinky's chart replaces it by the NodeSet's key\n"
              "nodesets.big.enabled: not needed: a NodeSet with `false` is left out\n"
              "nodesets.big.extraConfMap: not needed: without effect beside extraConf\n"
              "nodesets.big.metadata.labels[\"slurm-k8s.io/node\"]: "
              "not converted: slurm-k8s sets it for every pod of a node\n"
              "priorityClass.create: not converted: the class must be there\n"
              "controller: not converted: no part of a NodeSet: see convert --values\n");
}

// One field, and the note of it.
void single_fields(void**) {
  const struct {
    const char* spec;
    bool partial;
    const char* note;
  } cases[] = {
      {"  replicas: null\n", false, ""},
      {"  scalingMode: DaemonSet\n", false, ""},
      {"  scalingMode: DaemonSet\n  replicas: 3\n", false, "spec.replicas: not needed: without effect with"},
      {"  scalingMode: StatefulSet\n", false, "spec.scalingMode: not needed: StatefulSet"},
      {"  scalingMode: ReplicaSet\n", true, "spec.scalingMode: not converted: ReplicaSet: must be StatefulSet or"},
      {"  ordinalPadding: 7\n", true,
       "nodeset gpu: to be completed: spec.ordinalPadding: Invalid value: 7: must be 0 to 5"},
      {"  oversubscribeNode: false\n", true,
       "spec.oversubscribeNode: not converted: false: nodes may share a Kubernetes node"},
      {"  oversubscribeNode: true\n", false, "spec.oversubscribeNode: not needed: true"},
      {"  updateStrategy: {type: OnDelete}\n", false, ""},
      {"  updateStrategy: {type: Never}\n", true,
       "completed: spec.updateStrategy.type: Unsupported value: \"Never\": supported values: \"RollingUpdate\""},
      {"  updateStrategy: {scheduledUpdate: {duration: 1h}}\n", true, "scheduledUpdate: not converted"},
      {"  updateStrategy: later\n", true, "spec.updateStrategy: not converted: later: must be an object"},
      {"  updateStrategy: {kind: x}\n", true, "spec.updateStrategy.kind: not converted: unknown"},
      {"  volumeClaimTemplates: []\n", false, ""},
      {"  volumeClaimTemplates: [{metadata: {name: scratch}, spec: {}}]\n", false, ""},
      {"  volumeClaimTemplates: [{metadata: {name: scratch}}]\n", true,
       "to be completed: spec.volumeClaimTemplates[0].spec: Required value"},
      {"  partition: {enabled: false}\n", false, ""},
      {"  partition: {enabled: true, config: MaxTime=soon}\n", true,
       "spec.partition.config: not converted: MaxTime=soon: must be a time such as"},
      {"  ssh: {enabled: true}\n", true, "spec.ssh: not converted"},
      {"  ssh: {extraSshdConfig: x}\n", false, "spec.ssh: not needed"},
      {"  minReadySeconds: 0\n", false, "spec.minReadySeconds: not needed: 0"},
      {"  minReadySeconds: 5\n", true, "spec.minReadySeconds: not converted: 5"},
      {"  slurmd.image: x\n", true, "spec[\"slurmd.image\"]: not converted: unknown"},
      {"  extraConf: Topology=$T\n", true, "spec.extraConf: not converted: Topology=$T: variables are not expanded"},
      {"  extraConf: CoresPerSocket=4 ThreadsPerCore=2\n", false, ""},
      {"  extraConf: CoresPerSocket=3\n", true, "CoresPerSocket and ThreadsPerCore must divide"},
      {"  extraConf: Weight\n", true, "spec.extraConf: not converted: Weight: must be KEY=VALUE"},
      {"  template: {spec: {hostname: gpu}}\n", true, "hostname: not converted: nodes are named gpu-0, not gpu0"},
      {"  template: {spec: {automountServiceAccountToken: false}}\n", false, "not needed: false: as without it"},
      {"  template: {spec: {enableServiceLinks: true}}\n", true, "enableServiceLinks: not converted: true"},
      {"  template: {metadata: {name: x}}\n", true, "spec.template.metadata.name: not converted: unknown"},
      {"  template: {metadata: {labels: x}}\n", true,
       "spec.template.metadata.labels: not converted: x: must be an object"},
  };
  for (const auto& c : cases) {
    const Conversion conversion = converted(nodeset_with(std::string(kSized) + c.spec));
    print_message("%s", c.spec);
    assert_contains(notes_of(conversion), c.note);
    if (*c.note == '\0') assert_text(notes_of(conversion), "");
    assert_int_equal(conversion.is_partial(), c.partial);
    assert_int_equal(conversion.nodesets.size(), 1);
  }
}

void missing_fields_are_reported(void**) {
  const std::string at = "nodeset gpu: to be completed: ";
  assert_text(notes_of(converted(nodeset_with("  replicas: 1\n"))),
              at + "spec.slurmd.image: Required value\n" + at + "spec.slurmd.resources.limits.cpu: Required value\n" +
                  at + "spec.slurmd.resources.limits.memory: Required value\n");
  // Up to the first other error.
  assert_text(
      notes_of(converted(nodeset_with("  slurmd: {image: i, resources: {limits: {cpu: x}}}\n"))),
      at + "spec.slurmd.resources.limits.cpu: Invalid value: \"x\": must be a quantity such as 500m, 2 or 16Gi\n");
  assert_text(notes_of(converted(nodeset_with("  slurmd: {image: i, resources: y}\n"))),
              at + "spec.slurmd.resources.limits.cpu: Required value\n");
  assert_text(notes_of(converted(nodeset_with("  slurmd: {image: i, resources: null}\n"))),
              at + "spec.slurmd.resources.limits.cpu: Required value\n" + at +
                  "spec.slurmd.resources.limits.memory: Required value\n");
  const Conversion twice = converted(nodeset_with(kSized) + "---\n" + nodeset_with(kSized));
  assert_text(notes_of(twice), "nodeset gpu: to be completed: another name: there is already a NodeSet batch/gpu\n");
}

void documents_of_other_kinds(void**) {
  const struct {
    const char* yaml;
    bool recognized;
    const char* note;
  } cases[] = {
      {"", false, ""},
      {"a: 1\n", false, "document 1: not converted: neither an object nor values with nodesets"},
      {"[1]\n", false, "document 1: not converted: neither"},
      {"---\n---\nkind: Pod\napiVersion: v1\n", false, "document 2 (Pod): not converted: no NodeSet"},
      {"kind: NodeSet\napiVersion: slinky.slurm.net/v1alpha1\n", false,
       "document 1 (NodeSet): not converted: slinky.slurm.net/v1alpha1: only slinky.slurm.net/v1beta1 is known"},
      {"nodesets: [{name: debug}]\n", true, "nodesets: not converted: must be an object"},
      {"nodesets: {a: 5}\n", true, "nodesets.a: not converted: 5: must be an object"},
      {"nodesets:\n", true, ""},
      {"kind: List\napiVersion: v1\nitems: [{kind: Pod, apiVersion: v1, metadata: {name: p}}]\n", false,
       "document 1 (Pod p): not converted: no NodeSet"},
  };
  for (const auto& c : cases) {
    const Conversion conversion = converted(c.yaml);
    assert_int_equal(conversion.recognized, c.recognized);
    assert_int_equal(conversion.nodesets.size(), 0);
    assert_contains(notes_of(conversion), c.note);
    if (*c.note == '\0') assert_text(notes_of(conversion), "");
  }
  const Conversion list = converted(
      "kind: List\napiVersion: v1\nitems:\n- {kind: NodeSet, apiVersion: slinky.slurm.net/v1beta1, "
      "metadata: {name: gpu}, "
      "spec: {slurmd: {image: i, resources: {limits: {cpu: 1, memory: 1Gi}}}}}\n");
  assert_int_equal(list.nodesets.size(), 1);
  assert_text(notes_of(list), "");
}

void the_result_converts_to_itself(void**) {
  const std::string spec = std::string(kSized) + "  extraConf: Weight=1\n  replicas: 3\n";
  const std::string first = yaml_of(converted(nodeset_with(spec)));
  const Conversion again = converted(first);
  assert_true(again.recognized);
  assert_text(notes_of(again), "");
  assert_text(yaml_of(again), first);
}

// ---- values of the whole chart --------------------------------------------------------------------------------------

Conversion converted_values(const std::string& yaml) {
  const auto documents = parse_yaml_documents(yaml);
  assert_ok(documents);
  Conversion conversion;
  conversion.as_values = true;
  convert_documents(*documents, conversion);
  return conversion;
}

// tests/chart/convert.sh gives the result to our chart.
void values_become_values(void**) {
  const Conversion conversion = converted_values(read_source("tests/chart/convert/slinky.yaml"));
  const auto expected = parse_yaml_documents(read_source("tests/chart/convert/converted.yaml"));
  assert_ok(expected);
  assert_text(conversion.values.dump(), expected->front().dump());
  assert_true(conversion.recognized);
  assert_int_equal(conversion.nodesets.size(), 0);
  std::string lost;
  for (const ConvertNote& note : conversion.notes) {
    if (note.kind != ConvertNote::Kind::unneeded) lost += note.where + " ";
  }
  assert_text(lost, "tomorrow loginsets.other ");
}

// Each key of the input is in the result, or has a note.
void single_values(void**) {
  const struct {
    const char* yaml;
    const char* values;
    const char* note;
  } cases[] = {
      {"controller: {extraConf: A=1}", R"({"controller":{"extraConf":"A=1"}})", ""},
      {"controller: {extraConf: null, podSpec: {}, metadata: null}", "{}", ""},
      {"controller: {persistence: {enabled: false}}", R"({"controller":{"persistence":{"enabled":false}}})", ""},
      {"nodesets: {}\nrestapi: {replicas: 2}", R"({"rest":{"replicas":2,"enabled":true}})", ""},
      {"nodesets: {}\nrestapi: {enabled: false, replicas: 2}", R"({"rest":{"enabled":false,"replicas":2}})", ""},
      {"controller: 5", "{}", "controller: not converted: 5: must be an object"},
      {"controller: {later: 5}", "{}", "controller.later: not converted: unknown"},
      {"controller: {a.b: 5}", "{}", "controller[\"a.b\"]: not converted: unknown"},
      {"controller: {ha: {enabled: true, backups: 2}}", "{}", "controller.ha.backups: not converted: 2: at most one"},
      {"controller: {ha: {enabled: false, backups: 2}}", "{}", "controller.ha.enabled: not needed: false: as without"},
      {"controller: {external: true, externalConfig: {host: h}}", R"({"controller":{"external":true}})",
       "controller.externalConfig: not converted: see hybrid.md"},
      {"controller: {external: false, externalConfig: {host: h}}", R"({"controller":{"external":false}})", ""},
      {"nodesets: {}\nnameOverride: n", R"({"nameOverride":"n"})", ""},
      {"nodesets: {}\nextraObjects: [{kind: Pod}]", R"({"extraObjects":[{"kind":"Pod"}]})", ""},
      {"controller: {service: {port: 6817, nodePort: 30817}}", R"({"controller":{"service":{"nodePort":30817}}})",
       "controller.service.port: not needed: 6817: as without it"},
      {"controller: {service: {port: 7000}}", "{}", "controller.service.port: not converted: 7000: slurmctld's own"},
      {"nodesets: {}\nslurmKey: {secretRef: {name: k, key: other}}", R"({"slurmKey":{"existingSecret":"k"}})",
       "slurmKey.secretRef.key: not converted: other: the key in the Secret must be `slurm.key`"},
      {"nodesets: {}\naccounting: {enabled: false, storageConfig: {host: mariadb}}",
       R"({"accounting":{"enabled":false}})", ""},
      {"nodesets: {a: {enabled: false}}", R"({"nodesets":{"compute":null}})",
       "nodesets.a.enabled: not needed: false: this"},
      {"nodesets: {}\naccounting: {enabled: true}", R"({"accounting":{"enabled":true}})",
       "clusterName: to be completed: Slinky's default is NAMESPACE_RELEASE, ours RELEASE"},
      {"nodesets: {}\nclusterName: slurm_slurm\naccounting: {enabled: true}",
       R"({"clusterName":"slurm_slurm","accounting":{"enabled":true}})", ""},
      {"nodesets: {}\nprologScripts: {b: two, a: one}",
       R"({"configFiles":{"b":"two","a":"one"},"controller":{"extraConf":"Prolog=b\nProlog=a"}})", ""},
      {"nodesets: {}\nprologScripts: {a: one}\nepilogScripts: {a: two}\nprologSlurmctldScripts: {b: three}",
       R"({"configFiles":{"a":"one","epilog-a":"two","b":"three"},"controller":{"extraConf":)"
       R"("Prolog=a\nEpilog=epilog-a\nPrologSlurmctld=/etc/slurm/b"}})",
       ""},
      {"nodesets: {}\nprologScriptRefs: [{name: p}]", R"({"configFilesFrom":[{"configMap":"p"}]})",
       "prologScriptRefs: to be completed: p: write Prolog=KEY for each key of this ConfigMap into "
       "controller.extraConf"},
      {"nodesets: {}\nepilogScriptRefs: [{name: a}, {name: b}]\nepilogSlurmctldScriptRefs: [{name: a}]",
       R"({"configFilesFrom":[{"configMap":"a"},{"configMap":"b"}]})",
       "epilogSlurmctldScriptRefs: to be completed: a: write EpilogSlurmctld=/etc/slurm/KEY for each key"},
      {"nodesets: {}\nprologSlurmctldScriptRefs: []\nepilogScriptRefs: null", "{}", ""},
      {"nodesets: {}\nprologScriptRefs: [{key: k}]", "{}",
       "prologScriptRefs: not converted: {\"key\":\"k\"}: must have a"},
      {"nodesets: {}\nprologScriptRefs: {name: p}", "{}",
       "prologScriptRefs: not converted: {\"name\":\"p\"}: must be a"},
      {"nodesets: {}\nvendor: {google: {a3ultra: [{nodePool: p}]}}", "{}", "vendor.google.a3ultra: not converted"},
      {"controller: {extraConf: A=1, extraConfMap: {B: 2}}", R"({"controller":{"extraConf":"A=1"}})",
       "controller.extraConfMap: not needed: without effect beside extraConf"},
      {"nodesets: {}\npartitions: {p: {config: X=1, configMap: {Y: 2}, weight: 3}}",
       R"({"partitions":{"main":null,"p":{"config":"X=1"}}})", "partitions.p.weight: not converted: unknown"},
      {"nodesets: {}\nsssd: {conf: x}", "{}", "sssd: not needed: there are no login pods"},
      {"loginsets: {a: {}}\nsssd: {conf: \"[domain/D]\\nid_provider=ldap\\nldap_uri=ldaps://d/\"}",
       R"({"login":{"enabled":true,"nslcd":{"conf":"uri ldaps://d/\n"}}})",
       "sssd.conf [domain/D]: not needed: id_provider"},
      {"loginsets: {a: {}}\nsssd: {conf: \"[sssd]\\n\"}", R"({"login":{"enabled":true}})",
       "sssd.conf: not converted: no domain of LDAP"},
      {"loginsets: {a: {}}\nsssd: {conf: x, secretRef: {name: s}}", R"({"login":{"enabled":true}})",
       "sssd.secretRef: to be completed: s: write sssd.conf of this Secret"},
      {"loginsets: {a: {}}\nsssd: {later: 1}", R"({"login":{"enabled":true}})", "sssd.later: not converted: unknown"},
      {"loginsets: {a: {replicas: 2}, b: {replicas: 2, enabled: true}}", R"({"login":{"enabled":true,"replicas":2}})",
       "loginsets.b: not converted: the chart has one set of login pods, and `login` is loginsets.a; other values than "
       "that one's: none"},
      {"loginsets: {a: {extraSshdConfig: x}, b: {replicas: 2}, c: {service: {port: 1}, extraSshdConfig: x}}",
       R"({"login":{"enabled":true,"extraSshdConfig":"x"}})",
       "loginsets.b: not converted: the chart has one set of login pods, and `login` is loginsets.a; other values than "
       "that one's: replicas, extraSshdConfig\nloginsets.c: not converted: the chart has one set of login pods, and "
       "`login` is loginsets.a; other values than that one's: service\n"},
      {"loginsets: {a: {extraSshdConfig: AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys}}",
       R"({"login":{"enabled":true,"extraSshdConfig":"AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys"}})",
       "loginsets.a.extraSshdConfig: to be completed: remove sss_ssh_authorizedkeys"},
      {"loginsets: {a: {rootSshAuthorizedKeys: k}}", R"({"login":{"enabled":true}})",
       "loginsets.a.rootSshAuthorizedKeys: not converted: k: root cannot log in"},
      {"loginsetDefaults: {enabled: false}\nloginsets: {a: {}}", "{}", "loginsets.a.enabled: not needed: false"},
  };
  for (const auto& c : cases) {
    const Conversion conversion = converted_values(c.yaml);
    print_message("%s\n", c.yaml);
    assert_true(conversion.recognized);
    assert_text(conversion.values.dump(), c.values);
    assert_contains(notes_of(conversion), c.note);
    if (*c.note == '\0') assert_text(notes_of(conversion), "");
  }
}

void objects_become_values(void**) {
  const Conversion conversion =
      converted_values(nodeset_with(std::string(kSized) + "  template: {metadata: {labels: "
                                                          "{a: b}}, spec: {hostNetwork: true}}\n"));
  assert_text(notes_of(conversion), "");
  assert_text(conversion.values.dump(),
              R"({"nodesets":{"compute":null,"gpu":{"slurmd":{"image":{"repository":"i"},"resources":{"limits":)"
              R"({"cpu":8,"memory":"4Gi"}}},"metadata":{"labels":{"a":"b"}},"podSpec":{"hostNetwork":true}}}})");
}

// ---- docs/admin/from-slinky.md --------------------------------------------------------------------------------------

std::string code(std::string_view text) { return text.empty() ? "" : "`" + std::string(text) + "`"; }

std::string table() {
  std::string text = "| field of a NodeSet | of the chart's `nodesets.NAME` | becomes | |\n|---|---|---|---|\n";
  for (const SlinkyField& row : slinky_fields()) {
    std::string becomes = !row.target.empty() ? code(row.target) : row.is_lost ? "**not converted**" : "not needed";
    if (!row.harmless.empty()) becomes += " (but " + code(row.harmless) + " loses nothing)";
    text += "| " + code(row.object) + " | " + code(row.value) + " | " + becomes;
    text += " | " + std::string(row.note) + " |\n";
  }
  text += "\n| value of the whole chart | becomes | |\n|---|---|---|\n";
  for (const SlinkyChartValue& row : slinky_chart_values()) {
    text += "| " + code(row.name) + " | " + code(row.target) + " | " + std::string(row.note) + " |\n";
  }
  return text;
}

std::string chart_table(const char* head, std::span<const SlinkyChartField> rows) {
  std::string text = std::string("| ") + head + " | becomes | |\n|---|---|---|\n";
  for (const SlinkyChartField& row : rows) {
    std::string becomes = !row.target.empty() ? code(row.target) : row.is_lost ? "**not converted**" : "not needed";
    if (!row.harmless.empty()) becomes += " (but " + code(row.harmless) + " loses nothing)";
    text += "| " + code(row.path) + " | " + becomes + " | " + std::string(row.note) + " |\n";
  }
  return text;
}

void the_documentation_has_the_chart(void**) {
  const std::string tables = chart_table("value of Slinky's chart", slinky_chart_fields()) + "\n" +
                             chart_table("of `loginsets.NAME`", slinky_login_fields());
  const bool has_tables = read_source("docs/admin/from-slinky.md").find(tables) != std::string::npos;
  if (!has_tables) std::fprintf(stderr, "docs/admin/from-slinky.md must have:\n%s", tables.c_str());
  assert_true(has_tables);
}

void the_documentation_has_the_tables(void**) {
  const bool has_tables = read_source("docs/admin/from-slinky.md").find(table()) != std::string::npos;
  // cmocka would cut it short.
  if (!has_tables) std::fprintf(stderr, "docs/admin/from-slinky.md must have:\n%s", table().c_str());
  assert_true(has_tables);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_plain_nodeset_has_no_notes),  SLURMK8S_TEST(an_object_of_a_cluster),
      SLURMK8S_TEST(values_of_the_chart),           SLURMK8S_TEST(single_fields),
      SLURMK8S_TEST(missing_fields_are_reported),   SLURMK8S_TEST(documents_of_other_kinds),
      SLURMK8S_TEST(the_result_converts_to_itself), SLURMK8S_TEST(the_documentation_has_the_tables),
      SLURMK8S_TEST(values_become_values),          SLURMK8S_TEST(single_values),
      SLURMK8S_TEST(objects_become_values),         SLURMK8S_TEST(the_documentation_has_the_chart),
  };
  return cmocka_run_group_tests_name("sidecar_convert", tests, nullptr, nullptr);
}
