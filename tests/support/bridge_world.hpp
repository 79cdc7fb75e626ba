// SPDX-License-Identifier: GPL-2.0-or-later
// BridgeWorld: a bridge between a fake API server and a fake slurmctld, with two Slurm nodes, and the engine if
// a test wants it. One thread.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.hpp"
#include "bridge/bridge.hpp"
#include "bridge/names.hpp"
#include "control/control.hpp"
#include "nodeset/names.hpp"
#include "support/cmocka.hpp"
#include "support/fake_allocations.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"
#include "support/temporary_folder.hpp"

namespace slurmk8s {

/** Calls wait for turn(): what follows is never heard within a call. */
class FakeCaller final : public AllocationCaller {
 public:
  explicit FakeCaller(Allocations& slurm) : slurm_(slurm) {}
  void call(Work work) override {
    waiting_.push_back(std::move(work));
    most = std::max(most, waiting_.size());
  }
  void turn() {
    if (waiting_.empty() || is_stuck) return;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    work(slurm_)();
  }
  std::size_t most = 0;   ///< calls that waited at a time
  bool is_stuck = false;  ///< slurmctld does not answer

 private:
  Allocations& slurm_;
  std::deque<Work> waiting_;
};

inline std::vector<IdentityRule> bridge_rules() {
  IdentityRule rule;
  rule.name_space = "a";
  rule.uid = rule.gid = 2001;
  IdentityRule other;
  other.name_space = "team-b";
  other.uid = other.gid = 2002;
  return {rule, other};
}

/** Both are the same objects in Kubernetes. */
inline constexpr kube::Resource kWaitEvents{"v1", "events"};

struct BridgeWorld {
  kube::FakeClient client;
  FakeAllocations slurm;
  FakeCaller caller{slurm};
  FakeClock clock;
  AdminState admin{clock};
  std::unique_ptr<EventLoop> loop = std::move(EventLoop::open({std::shared_ptr<void>(), &clock})).value();
  Fence fence{[] { return true; }};
  FencedKubeWriter kube_writer{client, fence};
  const TemporaryFolder folder;
  std::string socket;                  ///< of the engine; empty: none
  std::size_t max_jobs = kMaxPodJobs;  ///< of the next restart()
  std::chrono::seconds launch_timeout{3600};
  std::chrono::seconds longest_grace{300};  ///< of the next restart()
  std::unique_ptr<Bridge> bridge;

  explicit BridgeWorld(bool has_engine = false) : socket(has_engine ? folder.path() + "/engine.sock" : "") {
    for (const char* node : {"c-0", "c-1"}) put_node(node, std::string("m") + node[2]);
    for (const char* node : {"m0", "m1"}) put_kube_node(node, node);
    restart();
  }
  /** As a new process would. */
  void restart() {
    bridge.reset();
    bridge = std::make_unique<Bridge>(BridgeParts{*loop, client, kube_writer, caller, admin},
                                      BridgeOptions{"slurm",
                                                    kBridgeScheduler,
                                                    bridge_rules(),
                                                    "1.2.3",
                                                    socket,
                                                    {{"high", {"urgent", {}}}},
                                                    {{"gpu.nvidia.com", "nvidia.com/gpu"}},
                                                    {{"slurm", "", "", true}},
                                                    launch_timeout,
                                                    max_jobs,
                                                    longest_grace});
    bridge->start();
  }
  void put_node(const std::string& node, const std::string& kube_node) {
    Json metadata = Json::object().set("name", node).set("labels", Json::object().set(kLabelNode, node));
    client.put(kube::kPods, "slurm",
               Json::object().set("metadata", metadata).set("spec", Json::object().set("nodeName", kube_node)));
  }
  /** `taint`: the key of one; empty: none. */
  void put_kube_node(const std::string& name, const std::string& rack, const std::string& taint = "",
                     const std::string& effect = "NoSchedule") {
    const Json labels = Json::object().set("rack", rack);
    Json taints = Json::array();
    if (!taint.empty()) taints.push(Json::object().set("key", taint).set("effect", effect));
    client.put(kube::kNodes, "",
               Json::object()
                   .set("metadata", Json::object().set("name", name).set("labels", labels))
                   .set("spec", Json::object().set("taints", taints)));
  }
  void put_pod(const char* name, const char* more = "", const char* spec = "") {
    client.put(kube::kPods, "a",
               *Json::parse(format(R"({"metadata": {"namespace": "a", "name": "%s"%s}, "spec": {"schedulerName":
                                      "slurm-k8s-bridge", %s
                                      "containers": [{"resources": {"requests": {"cpu": "1"}}}]}})",
                                   name, more, spec)));
  }
  /** A pod that is bound, since its job, the one of this id, has a node. */
  void run_pod(const char* name, std::uint32_t job, const char* node) {
    put_pod(name);
    run_for();
    slurm.start(job, {{node, 1}});
    run_for();
  }
  void end_pod(const char* name, const char* phase, int code = 0) {
    Json pod = client.find(kube::kPods, "a", name);
    pod.set("status", *Json::parse(format(R"({"phase": "%s", "containerStatuses":
                                             [{"state": {"terminated": {"exitCode": %d}}}]})",
                                          phase, code)));
    client.put(kube::kPods, "a", pod);
  }
  void run_for(std::chrono::milliseconds time = std::chrono::milliseconds(1500)) {
    constexpr std::chrono::milliseconds kStep{20};
    for (const TimePoint end = clock.now() + time; clock.now() < end; clock.advance(kStep)) {
      client.deliver();
      caller.turn();
      loop->turn(std::chrono::milliseconds(0));
    }
    client.deliver();
  }
  std::string kube_node(const char* pod) const {
    return std::string(client.find(kube::kPods, "a", pod).at({"spec", "nodeName"}).text());
  }
  std::string annotation(const char* pod, const char* key) const {
    return std::string(client.find(kube::kPods, "a", pod).at({"metadata", "annotations", key}).text());
  }
  /** "SlurmPending: Slurm job 1: Resources" */
  std::string condition(const char* pod, std::string_view type) const {
    std::string text;
    client.find(kube::kPods, "a", pod).at({"status", "conditions"}).each([&](const Json& one) {
      if (one["type"].text() != type) return;
      text = std::string(one["reason"].text()) + ": " + std::string(one["message"].text());
    });
    return text;
  }
  /** Notes of events, and messages of those that change. */
  std::string events(const char* reason) const {
    std::string text;
    for (const std::string& name : client.names(kWaitEvents, "a")) {
      const Json event = client.find(kWaitEvents, "a", name);
      if (event["reason"].text() == reason) text += std::string(event["message"].text()) + "\n";
    }
    for (const std::string& name : client.names(kube::kEvents, "a")) {
      const Json event = client.find(kube::kEvents, "a", name);
      if (event["reason"].text() == reason) text += std::string(event["note"].text()) + "\n";
    }
    return text;
  }
  std::string calls() const {
    std::string text;
    for (const std::string& call : slurm.calls) text += (text.empty() ? "" : ", ") + call;
    return text;
  }
  std::size_t bindings() const {
    return static_cast<std::size_t>(std::count_if(client.calls.begin(), client.calls.end(),
                                                  [](const auto& call) { return call.subresource == "binding"; }));
  }
};

/** The engine in slurmctld, on the bridge's own loop. */
struct FakeEngine {
  BridgeWorld& f;
  PodJobs jobs;  ///< as the bridge last said
  std::uint64_t messages = 0;
  ControlServer::Id bridge = 0;
  std::unique_ptr<ControlServer> server;

  explicit FakeEngine(BridgeWorld& fixture) : f(fixture) {
    const auto handle = [this](const Json& message, ControlServer::Id connection) {
      const PodJobsChange change = *decode_pod_jobs(message);
      if (change.is_all) jobs.clear();
      for (const std::uint32_t id : change.gone) jobs.erase(id);
      for (const auto& [id, where] : change.jobs) jobs[id] = where;
      messages = connection == bridge ? messages + 1 : 1;
      bridge = connection;
      server->keep(connection);
      return Json::object().set("ok", Json::boolean(true));
    };
    server = std::move(ControlServer::listen(f.socket, *f.loop, handle)).value();
  }
  /** Has slurmctld looked at the jobs. */
  void report() {
    PodJobsReport report{messages, {}};
    for (const auto& [id, nodes] : jobs) {
      report.running[id] = f.slurm.jobs.contains(id) && f.slurm.jobs.at(id).state == Allocation::State::running;
    }
    server->push(bridge, encode_report(report));
  }
  void run_for(std::chrono::milliseconds time) {
    for (const TimePoint end = f.clock.now() + time; f.clock.now() < end;) {
      f.run_for(std::chrono::milliseconds(100));
      if (bridge != 0) report();
    }
  }
};

/** Of a pod of the PodGroup that put_group() makes. */
inline constexpr const char* kMember = R"(, "labels": {"scheduling.x-k8s.io/pod-group": "g"})";
inline constexpr kube::Resource kPodGroups{"scheduling.x-k8s.io/v1alpha1", "podgroups"};

inline void put_group(BridgeWorld& f, int members) {
  f.client.put(kPodGroups, "a",
               *Json::parse(format(R"({"metadata": {"namespace": "a", "name": "g", "annotations":
                                      {"slurmjob.slinky.slurm.net/job-name": "both"}}, "spec": {"minMember": %d}})",
                                   members)));
}

}  // namespace slurmk8s
