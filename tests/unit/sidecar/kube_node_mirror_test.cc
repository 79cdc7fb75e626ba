// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/kube_node_mirror: a table of nodes, Kubernetes nodes and what is done.
#include "sidecar/kube_node_mirror.hpp"

#include <functional>

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using Change = std::function<void(SlurmNode&)>;

const KubeNodes kWell{{"m", {}}};
const KubeNodes kCordoned{{"m", {.cordoned = true}}};
const KubeNodes kNotReady{{"m", {.ready = false, .why_not_ready = "NodeStatusUnknown"}}};
const KubeNodes kTainted{{"m", {.taints = {{"maintenance", "", "NoSchedule"}}}}};
const KubeNodes kGone;

void up(SlurmNode& node) { node.powered_down = false; }
void busy(SlurmNode& node) { up(node), node.base = Base::mixed; }
void drained(SlurmNode& node, const char* reason) { node.draining = true, node.reason = reason; }
void drained_by_us(SlurmNode& node) { drained(node, "slurm-k8s: kubernetes node m is not ready: NodeStatusUnknown"); }

struct Row {
  const char* what;
  const KubeNodes& kube_nodes;
  Change change;
  const char* step;  ///< kind and reason
};

const Row kRows[] = {
    {"all is well, idle", kWell, up, ""},
    {"all is well, busy", kWell, busy, ""},
    {"cordoned, idle", kCordoned, up, "power_down slurm-k8s: kubernetes node m is cordoned"},
    {"cordoned, busy", kCordoned, busy, "drain slurm-k8s: kubernetes node m is cordoned"},
    {"cordoned, completing", kCordoned, [](SlurmNode& n) { up(n), n.completing = true; },
     "drain slurm-k8s: kubernetes node m is cordoned"},
    {"cordoned, a suspended job", kCordoned, [](SlurmNode& n) { up(n), n.has_suspended_job = true; },
     "drain slurm-k8s: kubernetes node m is cordoned"},
    {"cordoned, busy, drained by us", kCordoned, [](SlurmNode& n) { busy(n), drained_by_us(n); }, ""},
    {"cordoned, idle, drained by us", kCordoned, [](SlurmNode& n) { up(n), drained_by_us(n); },
     "power_down slurm-k8s: kubernetes node m is cordoned"},
    {"cordoned, idle, reserved", kCordoned, [](SlurmNode& n) { up(n), n.reserved = true; },
     "drain slurm-k8s: kubernetes node m is cordoned"},
    {"cordoned, idle, drained by somebody", kCordoned, [](SlurmNode& n) { up(n), drained(n, "disk"); }, ""},
    {"cordoned, powering up", kCordoned, [](SlurmNode& n) { busy(n), n.powering_up = true; }, ""},
    {"cordoned, powering down", kCordoned, [](SlurmNode& n) { up(n), n.powering_down = true; }, ""},
    {"cordoned, powered down while its pod goes", kCordoned, {}, ""},
    {"cordoned, down", kCordoned, [](SlurmNode& n) { up(n), n.base = Base::down; }, ""},
    {"tainted, busy", kTainted, busy, "drain slurm-k8s: kubernetes node m has the taint maintenance"},
    {"tainted, idle", kTainted, up, "power_down slurm-k8s: kubernetes node m has the taint maintenance"},
    {"not ready, idle", kNotReady, up, "drain slurm-k8s: kubernetes node m is not ready: NodeStatusUnknown"},
    {"not ready, busy", kNotReady, busy, "drain slurm-k8s: kubernetes node m is not ready: NodeStatusUnknown"},
    {"not ready, drained by us", kNotReady, [](SlurmNode& n) { busy(n), drained_by_us(n); }, ""},
    {"gone, busy", kGone, busy, "drain slurm-k8s: kubernetes node m is gone"},
    {"well again", kWell, [](SlurmNode& n) { busy(n), drained_by_us(n); }, "undrain"},
    {"well again, and silent meanwhile", kWell,
     [](SlurmNode& n) {
       busy(n), drained(n, "slurm-k8s: kubernetes node m is not ready: NodeStatusUnknown : Not responding");
     },
     "undrain"},
    {"well again, drained by slurmctld with an appended Reason", kWell,
     [](SlurmNode& n) { busy(n), drained(n, "slurm-k8s: kubernetes node m is cordoned : Low RealMemory"); }, ""},
    {"well again, drained by slurmctld after our drain was over", kWell,
     [](SlurmNode& n) { busy(n), drained(n, kReasonReleased); }, ""},
    {"well, drained since its pod doesn't go: the engine's", kWell,
     [](SlurmNode& n) { drained(n, "slurm-k8s: pod not deleted: still terminating"); }, ""},
    {"well again, drained by somebody", kWell, [](SlurmNode& n) { busy(n), drained(n, "disk"); }, ""},
    {"well again, drained for a scale-in", kWell, [](SlurmNode& n) { busy(n), drained(n, "slurm-k8s: scale-in"); }, ""},
};

std::string step_of(const SlurmNode& node, const PodFacts* pod, const KubeNodes& kube_nodes, const Json& tolerations) {
  const auto step = kube_node_step(node, pod, kube_nodes, tolerations);
  if (!step) return "";
  return step->reason.empty() ? to_string(step->kind) : to_string(step->kind) + (" " + step->reason);
}

void follows_the_table(void**) {
  const PodFacts pod{.kube_node = "m"};
  for (const Row& row : kRows) {
    SlurmNode node = FakeSlurm::cloud_node("c-0");
    if (row.change) row.change(node);
    const std::string step = step_of(node, &pod, row.kube_nodes, Json());
    if (step != row.step) fail_msg("%s: \"%s\"", row.what, step.c_str());
  }
}

void what_the_nodeset_tolerates_is_no_trouble(void**) {
  SlurmNode node = FakeSlurm::cloud_node("c-0");
  busy(node);
  const PodFacts pod{.kube_node = "m"};
  const auto tolerations = Json::parse(R"([{"key":"maintenance","operator":"Exists"}])");
  assert_string_equal(step_of(node, &pod, kTainted, *tolerations).c_str(), "");
}

void a_drain_is_taken_back_when_the_pod_left_the_kube_node(void**) {
  SlurmNode node = FakeSlurm::cloud_node("c-0");
  drained_by_us(node);  // powered down, but not by us: the drain has stayed
  assert_string_equal(step_of(node, nullptr, kNotReady, Json()).c_str(), "undrain");
  up(node);
  const PodFacts unscheduled;
  assert_string_equal(step_of(node, &unscheduled, kNotReady, Json()).c_str(), "undrain");
}

// A powered-down node whose pod has to go to Kubernetes node m: no job may wait for it there.
void a_pinned_node_waits_for_its_kube_node(void**) {
  const auto step = [](const KubeNodes& kube_nodes, const Change& change = {}) {
    SlurmNode node = FakeSlurm::cloud_node("c-0");
    if (change) change(node);
    const auto found = kube_node_step(node, nullptr, kube_nodes, Json(), "m");
    return found ? to_string(found->kind) + (" " + found->reason) : "";
  };
  assert_text(step(kWell), "");
  assert_text(step(kCordoned), "drain slurm-k8s: kubernetes node m is cordoned");
  assert_text(step(kTainted), "drain slurm-k8s: kubernetes node m has the taint maintenance");
  assert_text(step(kNotReady), "drain slurm-k8s: kubernetes node m is not ready: NodeStatusUnknown");
  assert_text(step(kCordoned, drained_by_us), "");
  assert_text(step(kWell, drained_by_us), "undrain ");
  assert_text(step(kCordoned, [](SlurmNode& n) { n.power_up_asked = true; }), "");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(follows_the_table),
      SLURMK8S_TEST(what_the_nodeset_tolerates_is_no_trouble),
      SLURMK8S_TEST(a_pinned_node_waits_for_its_kube_node),
      SLURMK8S_TEST(a_drain_is_taken_back_when_the_pod_left_the_kube_node),
  };
  return cmocka_run_group_tests_name("sidecar_kube_node_mirror", tests, nullptr, nullptr);
}
