// SPDX-License-Identifier: GPL-2.0-or-later
// The engine on a Kubernetes and a Slurm in memory: requests, watches, answers and faults in every order. What the
// tests core_engine_*test share.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "event/timers.hpp"
#include "engine/engine.hpp"
#include "nodeset/names.hpp"
#include "slurm/reasons.hpp"

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {

using kube::FakeClient;
using kube::kNodeSets;
using kube::kPods;
using kube::Verb;

inline constexpr const char* kNamespace = "slurm";

/** Calls FakeSlurm, and answers when the test's loop comes to it. */
class FakeCaller final : public SlurmCaller {
 public:
  FakeCaller(Slurm& slurm, Timers& timers) : slurm_(slurm), timers_(timers) {}
  void call(Work work) override {
    timers_.after({}, [this, work] {
      Then then = work(slurm_);
      if (late) {
        answers_.push_back(std::move(then));
      } else {
        then();
      }
    });
  }

  /** True: slurmctld's answers are as old as it is long until arrive(). */
  bool late = false;
  void arrive() {
    late = false;
    for (const Then& then : std::exchange(answers_, {})) then();
  }

 private:
  std::vector<Then> answers_;
  Slurm& slurm_;
  Timers& timers_;
};

/** A machine that knows root alone. */
class FakeUsers final : public UserLookup {
 public:
  explicit FakeUsers(Timers& timers) : timers_(timers) {}
  void find(const std::set<std::string>& users, Done done) override {
    if (users.contains("root")) timers_.after({}, [done] { done({{"root", 0}}); });
  }

 private:
  Timers& timers_;
};

inline constexpr const char* kUnschedulable = R"({"phase":"Pending","conditions":[
    {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no room"}]})";
inline constexpr const char* kCreating = R"({"phase":"Pending","containerStatuses":[
    {"name":"slurmd","state":{"waiting":{"reason":"ContainerCreating"}}}]})";
inline constexpr const char* kNoImage = R"({"phase":"Pending","containerStatuses":[
    {"name":"slurmd","state":{"waiting":{"reason":"ErrImagePull","message":"not found"}}}]})";

struct World {
  FakeClock clock;
  Timers timers{clock};
  FakeClient api;
  FakeSlurm slurm;
  FakeCaller caller{slurm, timers};
  FakeUsers users{timers};
  Options options;
  CatalogKeeper::Publish publish;
  CatalogKeeper::FormerIds former_ids;
  int scheduler_woken = 0;
  std::vector<std::string> asked;  // to register
  double jitter = 1;               // of back-offs
  TimePoint ends_told_at{};        // slurmctld hears until then of jobs that ended while it was away
  std::unique_ptr<Engine> engine;

  World() {
    options.name_space = kNamespace;
    put_nodeset("compute", 8);
  }

  void put_nodeset(const char* name, int replicas, const std::string& more = {}) {
    auto object = Json::parse(R"({"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","spec":{"slurmd":
        {"image":"slurmd:1","resources":{"limits":{"cpu":"2","memory":"1Gi"}}})" +
                              more + "}}");
    Json nodeset = *object;
    nodeset.set("metadata", Json::object().set("name", name).set("namespace", kNamespace));
    Json spec = nodeset["spec"];
    spec.set("replicas", Json::integer(replicas));
    api.put(kNodeSets, kNamespace, nodeset);
  }

  void start() {
    engine = std::make_unique<Engine>(
        Engine::Parts{api, timers, clock, caller, options, publish, [this] { ++scheduler_woken; },
                      [this](const std::string& node) { asked.push_back(node); }, former_ids, &users, false,
                      [this] { return jitter; }, ends_told_at});
    engine->start();
    settle();
  }

  /** Everything that is due, until nothing is. */
  void settle() {
    for (int i = 0; i < 100; ++i) {
      const std::size_t delivered = api.deliver();
      const auto next = timers.until_next();
      if (delivered == 0 && (!next || next->count() > 0)) return;
      timers.run_due();
    }
  }
  void pass(std::chrono::milliseconds time) {
    // In small steps, so that what each timer starts is answered before the next one is due.
    for (auto left = time; left.count() > 0; left -= std::chrono::milliseconds(100)) {
      clock.advance(std::chrono::milliseconds(100));
      settle();
    }
  }

  /** The request alone: Slurm's records stay as they are, and nothing is answered yet. */
  void ask_up(const char* id, const std::vector<std::string>& nodes) {
    ResumeRequest request;
    request.id = id;
    request.nodes = nodes;
    engine->resume(request);
  }

  /** The engine sees nothing new, and so for as many tries. */
  void cut_watches(int tries) {
    for (const Verb verb : {Verb::watch, Verb::list}) {
      api.fail_next(verb, Error(Errc::unavailable, "connection refused"), tries);
    }
    api.end_watches(Error(Errc::unavailable, "cut"));
  }

  /** slurmctld waits for its slurmd. */
  SlurmNode& waited_for(const std::string& name) {
    SlurmNode& node = slurm.node(name);
    node.powered_down = node.powering_down = false;
    node.powering_up = node.not_responding = true;
    return node;
  }
  void resume(const char* id, std::vector<std::string> nodes, std::uint32_t job = 0) {
    for (const std::string& name : nodes) {
      waited_for(name).base = SlurmNode::Base::allocated;
    }
    ResumeRequest request;
    request.id = id;
    if (job != 0) {
      slurm.jobs[job].id = job;
      for (const std::string& name : nodes) request.jobs[name] = {job};
    }
    request.nodes = std::move(nodes);
    engine->resume(request);
    settle();
  }
  /** The pod's status changes to this JSON. */
  void hinder(const char* name, const char* status) {
    Json pod = api.find(kPods, kNamespace, name).clone();
    pod.set("status", *Json::parse(status));
    api.put(kPods, kNamespace, pod);
  }
  void registered(const char* name) {
    SlurmNode& node = slurm.node(name);
    node.powering_up = node.not_responding = false;
    node.boot_time = clock.wall();
  }
  /** slurmctld suspends the node, and tells us. */
  void suspend(const char* name) {
    SlurmNode& node = slurm.node(name);
    node.base = SlurmNode::Base::idle;
    node.powering_up = node.not_responding = node.powered_down = false;
    node.powering_down = true;
    engine->suspend({name});
    settle();
  }
  std::size_t posts() const {
    std::size_t count = 0;
    for (const FakeClient::Call& call : api.calls) count += call.verb == Verb::create && call.plural == "pods";
    return count;
  }
  std::string pods() const { return compress_hostlist(api.names(kPods, kNamespace)); }
  std::string request_of(const char* pod) const {
    return std::string(api.find(kPods, kNamespace, pod).at({"metadata", "annotations", kAnnotationRequest}).text());
  }
  std::string uid_of(const char* pod) const {
    return std::string(api.find(kPods, kNamespace, pod).at({"metadata", "uid"}).text());
  }
  void put_pod(const char* name, const char* request, const char* phase = "Running") {
    Json labels = Json::object().set(kLabelNode, name);
    Json annotations = Json::object().set(kAnnotationRequest, request);
    Json metadata = Json::object();
    metadata.set("name", name).set("labels", labels).set("annotations", annotations);
    Json pod = Json::object();
    pod.set("metadata", metadata).set("status", Json::object().set("phase", phase));
    api.put(kPods, kNamespace, pod);
  }
};

/** What has been logged since the test began. */
inline std::vector<std::string> logged;

/** One line for each. */
inline std::string joined(const std::vector<std::string>& calls) {
  std::string all;
  for (const std::string& call : calls) all += (all.empty() ? "" : "\n") + call;
  return all;
}

/** A World for each test. */
inline int set_up(void** state) {
  logged.clear();
  log_init([](LogLevel, const char* line) { logged.emplace_back(line); }, LogLevel::info);
  *state = new World;
  return 0;
}
inline int tear_down(void** state) {
  delete static_cast<World*>(*state);
  log_init(nullptr, LogLevel::info);
  return 0;
}
inline World& world_of(void** state) { return *static_cast<World*>(*state); }

/** slurmctld carries out the power-downs that it was asked for. */
inline void finish_power_downs(World& world) {
  world.slurm.pass_time();
  world.slurm.pass_time();
}

}  // namespace slurmk8s

#define ENGINE_TEST(fn) SLURMK8S_TEST_WITH(fn, ::slurmk8s::set_up, ::slurmk8s::tear_down)
