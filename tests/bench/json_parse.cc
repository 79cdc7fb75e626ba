// SPDX-License-Identifier: GPL-2.0-or-later
// Processor time to read a list of pods, as the engine does after each start: make -C BUILD/tests bench/json_parse
// usage: json_parse [PODS [RUNS]]
// Prints for each run the milliseconds of Json::parse() alone, of cut_members() and Json::parse(), and of
// check_json_words() alone, which is a part of both. To compare two builds, run them by turns.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "json/cut.hpp"
#include "json/json.hpp"
#include "json/lexer.hpp"
#include "kube/resource.hpp"

namespace {

using namespace slurmk8s;

/** A pod of about 5 KB: what an API server returns of one that the engine has created. */
constexpr const char* kPod = R"({"metadata":{"name":"compute-%zu","namespace":"slurm",
"uid":"8d3c1c5e-2f0b-4a4b-9d58-6c1a5d0e%04zu","resourceVersion":"%zu","creationTimestamp":"2026-11-23T10:00:00Z",
"labels":{"app.kubernetes.io/managed-by":"slurm-k8s","app.kubernetes.io/name":"slurmd",
"slurm-k8s.io/node":"compute-%zu",
"slurm-k8s.io/nodeset":"compute","slurm-k8s.io/state":"idle","slurm-k8s.io/template-hash":"1-9f8e7d6c5b4a3f2e"},
"annotations":{"slurm-k8s.io/jobs":"12345","slurm-k8s.io/resume":"4fa1b2c3d4e5f607","note":"über \u00e4\n"},
"ownerReferences":[{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","name":"compute","controller":true,
"uid":"0c9f3b9e-7f43-4d4a-8c3b-3a2b1c0d9e8f"}],
"managedFields":[{"manager":"slurm-k8s","operation":"Update","apiVersion":"v1","time":"2026-11-23T10:00:00Z",
"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:slurm-k8s.io/jobs":{},
"f:slurm-k8s.io/resume":{}},"f:labels":{".":{},"f:app.kubernetes.io/managed-by":{},"f:slurm-k8s.io/node":{},
"f:slurm-k8s.io/nodeset":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"0c9f3b9e-7f43-4d4a-8c3b-3a2b1c0d9e8f\"}":{}}},
"f:spec":{"f:containers":{"k:{\"name\":\"slurmd\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"POD_CPUS\"}":{".":{},
"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{},"f:resources":{".":{},
"f:limits":{".":{},"f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:securityContext":{},
"f:volumeMounts":{}}},"f:dnsPolicy":{},"f:hostname":{},"f:restartPolicy":{},"f:subdomain":{},"f:volumes":{}}}}]},
"spec":{"volumes":[{"name":"config","configMap":{"name":"slurm-config","defaultMode":420}},{"name":"key","secret":
{"secretName":"slurm-key","defaultMode":256}},{"name":"token","projected":{"sources":[{"serviceAccountToken":
{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt"}}],"defaultMode":420}}],
"containers":[{"name":"slurmd","image":"registry.example/slurmd:24.11","command":["slurmd","-D","-N","compute"],
"env":[{"name":"POD_CPUS","value":"4"},{"name":"POD_MEMORY","value":"16384"},{"name":"POD_NAME","valueFrom":{"fieldRef":
{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"SLURM_CONTROLLER","value":"slurm-controller-0:6817"}],
"ports":[{"name":"slurmd","containerPort":6818,"protocol":"TCP"}],"resources":{"limits":{"cpu":"4","memory":"16Gi"},
"requests":{"cpu":"4","memory":"16Gi"}},"volumeMounts":[{"name":"config","mountPath":"/etc/slurm"},{"name":"key",
"mountPath":"/etc/slurm-key","readOnly":true},{"name":"token","mountPath":"/var/run/secrets/kubernetes.io"}],
"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent",
"securityContext":{"capabilities":{"add":["SYS_ADMIN","SYS_NICE"],"drop":["NET_RAW"]},"privileged":false}}],
"restartPolicy":"Never","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","nodeName":"worker-%zu",
"hostname":"compute-%zu","subdomain":"slurm-nodes","priority":0,"enableServiceLinks":false,"tolerations":[{"key":
"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":
"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},
"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":
"2026-11-23T10:00:01Z"},{"type":"Initialized","status":"True","lastTransitionTime":"2026-11-23T10:00:01Z"},{"type":
"ContainersReady","status":"True","lastTransitionTime":"2026-11-23T10:00:03Z"},{"type":"Ready","status":"True",
"lastTransitionTime":"2026-11-23T10:00:03Z"}],"hostIP":"10.0.0.7","podIP":"10.244.3.17","podIPs":[{"ip":"10.244.3.17"}],
"startTime":"2026-11-23T10:00:01Z","qosClass":"Guaranteed","containerStatuses":[{"name":"slurmd","ready":true,
"restartCount":0,"started":true,"state":{"running":{"startedAt":"2026-11-23T10:00:02Z"}},"containerID":
"containerd://0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0","image":"registry.example/slurmd:24.11",
"imageID":"registry.example/slurmd@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"}]}})";

/** Without line breaks, as an API server writes it. */
std::string pod_list(std::size_t pods) {
  std::string text = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"123456"},"items":[)";
  char pod[8192];
  for (std::size_t i = 0; i < pods; ++i) {
    std::snprintf(pod, sizeof pod, kPod, i, i % 10000, 100000 + i, i, i % 100, i);
    for (const char* c = pod; *c != '\0'; ++c) {
      if (*c != '\n') text += *c;
    }
    text += i + 1 < pods ? "," : "]}";
  }
  return text;
}

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <typename Fn>
double measure(const Fn& fn) {
  const double begin = processor_ms();
  if (!fn()) std::abort();
  return processor_ms() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t pods = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5000;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::string text = pod_list(pods);
  const std::string rest = cut_members(text, kube::kPods.unread);
  std::printf("%zu pods, %zu bytes, %zu when cut; ms of processor time\n", pods, text.size(), rest.size());
  std::printf("%8s %8s %8s %8s\n", "parse", "words", "cut+parse", "words");
  for (int run = 0; run < runs; ++run) {
    const double parse = measure([&] { return Json::parse(text).ok(); });
    const double words = measure([&] { return check_json_words(text).ok(); });
    const double cut_parse = measure([&] { return Json::parse(cut_members(text, kube::kPods.unread)).ok(); });
    const double rest_words = measure([&] { return check_json_words(rest).ok(); });
    std::printf("%8.1f %8.1f %9.1f %8.1f\n", parse, words, cut_parse, rest_words);
  }
}
