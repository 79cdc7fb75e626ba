// SPDX-License-Identifier: GPL-2.0-or-later
// What tests of rounds share: a Reconciler, a slurmctld in memory, a clock, and objects as the API server shows them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.hpp"
#include "sidecar/reconciler.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {

struct ReconcilerWorld {
  FakeSlurm slurm;
  FakeClock clock;
  int power_save_woken = 0;
  std::function<void()> on_wake;        ///< what slurmctld's power-save thread does at once
  std::vector<std::string> gres_confs;  ///< as they were written
  Status gres_conf_status;
  std::set<std::string> gres_conf_nodes;  ///< that have lines in the file
  std::string kept_unsettled;             ///< "+" or "-" for each time, and how many calls slurmctld had had
  Reconciler reconciler;
  std::int64_t generation = 0;

  explicit ReconcilerWorld(
      Jitter jitter = [] { return 0.5; }, bool unsettled = false)
      : reconciler(slurm, slurm, clock,
                   {.wake_power_save =
                        [this] {
                          ++power_save_woken;
                          if (on_wake) on_wake();
                        },
                    .write_gres_conf =
                        [this](const std::string& text) {
                          gres_confs.push_back(text);
                          return gres_conf_status;
                        },
                    .gres_conf_nodes = [this] { return gres_conf_nodes; },
                    .keep_unsettled =
                        [this](bool is_unsettled) {
                          kept_unsettled += format("%c%zu ", is_unsettled ? '+' : '-', slurm.calls.size());
                          return Status();
                        },
                    .unsettled = unsettled},
                   std::move(jitter)) {}

  Json object(const std::string& name, const std::string& spec) {
    return *Json::parse(
        format(R"({"metadata":{"namespace":"slurm","name":"%s","uid":"u-%s","generation":%lld},"spec":%s})",
               name.c_str(), name.c_str(), static_cast<long long>(++generation), spec.c_str()));
  }
  void scale(const std::string& name, int replicas, const char* cpu = "2") {
    reconciler.upsert(object(
        name, format(R"({"replicas":%d,"slurmd":{"image":"i","resources":{"limits":{"cpu":"%s","memory":"1000Mi"}}}})",
                     replicas, cpu)));
  }
  void kube_node(const char* name, int cpus) {
    reconciler.upsert_kube_node(*Json::parse(
        format(R"({"metadata":{"name":"%s"},"status":{"allocatable":{"cpu":%d,"memory":"1000Mi"}}})", name, cpus)));
  }
  /** The pod of a node, as the API server shows it. */
  bool pod(const std::string& node, const char* uid, int deletion_cost = 0, const char* phase = "Running") {
    return reconciler.upsert_pod(*Json::parse(
        format(R"({"metadata":{"name":"%s","uid":"%s","labels":{"slurm-k8s.io/node":"%s"},)"
               R"("annotations":{"controller.kubernetes.io/pod-deletion-cost":"%d"}},"status":{"phase":"%s"}})",
               node.c_str(), uid, node.c_str(), deletion_cost, phase)));
  }
  void scale_always(const std::string& name, int replicas) {
    reconciler.upsert(object(name, format(R"({"scalingMode":"Always","replicas":%d,"slurmd":{"image":"i",)"
                                          R"("resources":{"limits":{"cpu":"2","memory":"1000Mi"}}}})",
                                          replicas)));
  }
  /** Puts a NodeSet of scalingMode Always there, with an image and a status; returns the hash of its template. */
  std::string template_of(const std::string& name, int replicas, const char* image, const char* status = "{}") {
    Json nodeset = object(name, format(R"({"scalingMode":"Always","replicas":%d,"slurmd":{"image":"%s",)"
                                       R"("resources":{"limits":{"cpu":"2","memory":"1000Mi"}}}})",
                                       replicas, image));
    reconciler.upsert(nodeset.set("status", *Json::parse(status)));
    return reconciler.nodesets().at(name).spec->template_hash;
  }
  /** The node's slurmd has registered, in a pod of this template. True when the pod may change the plan. */
  bool come_up(const std::string& node, const std::string& hash) {
    slurm.node(node).powered_down = slurm.node(node).power_up_asked = false;
    return reconciler.upsert_pod(
        *Json::parse(format(R"({"metadata":{"name":"%s","uid":"u-%s","labels":{"slurm-k8s.io/node":"%s",)"
                            R"("slurm-k8s.io/template-hash":"%s"}}})",
                            node.c_str(), hash.c_str(), node.c_str(), hash.c_str())));
  }
  /** Rounds, a second apart. */
  void rounds(int count) {
    for (int i = 0; i < count; i++) {
      reconciler.round();
      clock.advance(std::chrono::seconds(1));
      slurm.pass_time();
    }
  }
  std::string ready(const std::string& name) const {
    const NodeSetState& state = reconciler.states().at(name);
    return (state.ready ? "True " : "False ") + state.reason + ": " + state.message;
  }
};

}  // namespace slurmk8s
