// SPDX-License-Identifier: GPL-2.0-or-later
// What becomes of pods and nodes when the engine's requests and answers are lost.
#include <cstdio>

#include "engine/engine.hpp"
#include "contract/faults.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s::contract {
namespace {

using kube::kPods;

// ---- engine ---------------------------------------------------------------------------------------------------------

class InlineCaller final : public SlurmCaller {
 public:
  InlineCaller(Slurm& slurm, Timers& timers) : slurm_(slurm), timers_(timers) {}
  void call(Work work) override {
    timers_.after({}, [this, work] { work(slurm_)(); });
  }

 private:
  Slurm& slurm_;
  Timers& timers_;
};

/** An engine on a session, with a slurmctld in memory, and a NodeSet that it follows. */
struct Cluster {
  SystemClock clock;
  Timers timers{clock};
  FakeSlurm slurm;
  InlineCaller caller{slurm, timers};
  Options options;
  std::unique_ptr<Engine> engine;

  explicit Cluster(Session& on) : on_(on) {
    options.name_space = name_space();
    options.conf_server = "slurmctld:6817";
    options.key_secret = "key";
    static_cast<void>(fate->remove(kube::kNodeSets, name_space(), "compute"));
    auto nodeset = Json::parse(R"({"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"compute"},
        "spec":{"replicas":4,"slurmd":{"image":"slurmd:1","resources":{"limits":{"cpu":"2","memory":"1Gi"}}}}})");
    assert_ok(fate->create(kube::kNodeSets, name_space(), *nodeset));
    engine = std::make_unique<Engine>(Engine::Parts{on.client(), timers, clock, caller, options});
    engine->start();
    assert_true(run_until([this] { return engine->ready(); }));
  }

  template <typename Done>
  bool run_until(Done done) {
    return on_.run_until([&] {
      timers.run_due();
      return done();
    });
  }
  void resume(const char* id, const char* name) {
    SlurmNode& node = slurm.node(name);
    node.powered_down = false;
    node.powering_up = node.not_responding = true;
    node.base = SlurmNode::Base::allocated;
    ResumeRequest request;
    request.id = id;
    request.nodes = {name};
    engine->resume(request);
  }
  bool settles(const char* name) {
    return run_until([&] { return engine->settled({name}); });
  }

 private:
  Session& on_;
};

std::string uid_of(const char* name) {
  const auto pod = fate->get(kPods, name_space(), name);
  return pod ? meta(*pod, "uid") : std::string();
}

void a_pod_is_made_once_when_the_answer_is_lost(void**) {
  Cluster cluster(*session);
  tell("stats", Json(), "DELETE");
  fault(R"({"method":"POST","path":"/pods$","action":"cut","bytes":0})");
  cluster.resume("r1", "compute-0");
  assert_true(cluster.run_until([&] { return !uid_of("compute-0").empty(); }));
  const std::string uid = uid_of("compute-0");
  assert_true(cluster.settles("compute-0"));
  assert_text(uid_of("compute-0"), uid);
  assert_int_equal(count("delete pods"), 0);
  assert_int_equal(cluster.slurm.calls.size(), 0);
}

void a_pod_is_gone_when_the_answer_to_its_delete_is_lost(void**) {
  Cluster cluster(*session);
  cluster.resume("r1", "compute-0");
  assert_true(cluster.settles("compute-0"));
  SlurmNode& node = cluster.slurm.node("compute-0");
  node.base = SlurmNode::Base::idle;
  node.powering_up = node.not_responding = false;
  node.powering_down = true;
  fault(R"({"method":"DELETE","path":"/pods/compute-0","action":"cut","bytes":0})");
  cluster.engine->suspend({"compute-0"});
  // "resume" ends the power-down: the engine knows that the pod is gone.
  assert_true(cluster.run_until([&] { return !cluster.slurm.calls.empty(); }));
  assert_text(cluster.slurm.calls[0], "resume compute-0");
  assert_text(uid_of("compute-0"), "");
}

void a_loss_is_seen_through_cuts_and_compaction(void**) {
  fault(R"({"path":"/pods.*watch=true","action":"cut","bytes":700,"times":0})");  // in the middle of any event
  Cluster cluster(*session);
  for (const char* name : {"compute-0", "compute-1"}) {
    cluster.resume("r1", name);
    assert_true(cluster.settles(name));
    SlurmNode& node = cluster.slurm.node(name);
    node.powering_up = node.not_responding = false;
    node.boot_time = cluster.clock.wall();
  }
  assert_ok(fate->remove(kPods, name_space(), "compute-0"));
  tell("compact", Json());
  assert_true(cluster.run_until([&] { return cluster.slurm.calls.size() >= 2; }));
  assert_text(cluster.slurm.calls[0], "down compute-0 slurm-k8s: pod is gone");
  assert_text(cluster.slurm.calls[1], "power_down compute-0");
}

void a_resume_outlives_an_expired_token(void**) {
  const std::string path = in_folder("token");
  write_file(path, "first\n");
  kube::Config by_file = config();
  by_file.token.clear();
  by_file.token_file = path;
  const Json admin = Json().set("admin-token", "admin");
  tell("tokens", admin.clone().set("first", "admin"));
  auto opened = Session::open(by_file);
  assert_ok(opened);
  Cluster cluster(**opened);
  tell("tokens", admin.clone().set("second", "admin"));
  cluster.resume("r1", "compute-0");
  assert_true(cluster.run_until([&] { return cluster.engine->metrics().api_errors > 0; }));
  assert_text(uid_of("compute-0"), "");
  write_file(path, "second\n");
  assert_true(cluster.settles("compute-0"));
  assert_int_equal(cluster.slurm.calls.size(), 0);
  tell("tokens", admin);
}

void throttling_holds_all_requests_back(void**) {
  Cluster cluster(*session);
  fault(R"({"method":"POST","path":"/pods$","action":"status","code":429,"retry_after":2,"body":""})");
  const auto begun = std::chrono::steady_clock::now();
  cluster.resume("r1", "compute-0");
  assert_true(cluster.run_until([&] { return cluster.engine->metrics().api_errors > 0; }));
  cluster.resume("r2", "compute-1");
  assert_true(cluster.settles("compute-1"));
  assert_true(std::chrono::steady_clock::now() - begun >= 1900ms);
  assert_true(cluster.settles("compute-0"));
}

}  // namespace

std::vector<CMUnitTest> engine_faults() {
  return {
      SLURMK8S_FAULT_TEST(a_pod_is_made_once_when_the_answer_is_lost),
      SLURMK8S_FAULT_TEST(a_pod_is_gone_when_the_answer_to_its_delete_is_lost),
      SLURMK8S_FAULT_TEST(a_loss_is_seen_through_cuts_and_compaction),
      SLURMK8S_FAULT_TEST(a_resume_outlives_an_expired_token),
      SLURMK8S_FAULT_TEST(throttling_holds_all_requests_back),
  };
}

}  // namespace slurmk8s::contract
