// SPDX-License-Identifier: GPL-2.0-or-later
// The engine on a Kubernetes and a Slurm in memory: requests, watches, answers and faults in every order.
#include <string>

#include "base/log.hpp"
#include "base/timers.hpp"
#include "core/engine.hpp"
#include "core/names.hpp"
#include "core/reasons.hpp"
#include "core/worker.hpp"
#include "kube/fake_client.hpp"

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;
using kube::FakeClient;
using kube::kNodeSets;
using kube::kPods;
using kube::Verb;

namespace {

constexpr const char* kNamespace = "slurm";

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

constexpr const char* kUnschedulable = R"({"phase":"Pending","conditions":[
    {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no room"}]})";
constexpr const char* kCreating = R"({"phase":"Pending","containerStatuses":[
    {"name":"slurmd","state":{"waiting":{"reason":"ContainerCreating"}}}]})";
constexpr const char* kNoImage = R"({"phase":"Pending","containerStatuses":[
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
  int scheduler_woken = 0;
  std::unique_ptr<Engine> engine;

  World() {
    options.name_space = kNamespace;
    put_nodeset("compute", 8);
  }

  void put_nodeset(const char* name, int replicas, const std::string& more = {}) {
    auto object = Json::parse(R"({"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","spec":{"slurmd":
        {"image":"slurmd:1","resources":{"limits":{"cpu":"2","memory":"1Gi"}}})" + more + "}}");
    Json nodeset = *object;
    nodeset.set("metadata", Json::object().set("name", name).set("namespace", kNamespace));
    Json spec = nodeset["spec"];
    spec.set("replicas", Json::integer(replicas));
    api.put(kNodeSets, kNamespace, nodeset);
  }

  void start() {
    engine = std::make_unique<Engine>(Engine::Parts{api, timers, clock, caller, options, publish, [this] { ++scheduler_woken; },
                                                    &users});
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

std::vector<std::string> logged;

std::string joined(const std::vector<std::string>& calls) {
  std::string all;
  for (const std::string& call : calls) all += (all.empty() ? "" : "\n") + call;
  return all;
}

int set_up(void** state) {
  logged.clear();
  log_init([](LogLevel, const char* line) { logged.emplace_back(line); }, LogLevel::info);
  *state = new World;
  return 0;
}
int tear_down(void** state) {
  delete static_cast<World*>(*state);
  log_init(nullptr, LogLevel::info);
  return 0;
}
World& world_of(void** state) { return *static_cast<World*>(*state); }

void resume_and_suspend(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-3"});
  assert_text(world.pods(), "compute-[0,3]");
  assert_text(world.request_of("compute-3"), "r1");
  world.engine->suspend({"compute-0", "compute-7"});
  world.settle();
  assert_text(world.pods(), "compute-3");
  assert_int_equal(world.api.count(Verb::remove), 1);  // compute-7 had no pod
  assert_true(world.api.calls.back().uid.size() > 0);
}

constexpr const char* kVariants = R"(,"variants":[{"name":"v1","patch":{"slurmd":{"image":"slurmd:v1"}}},
    {"name":"v2","patch":{"slurmd":{"image":"slurmd:v2"}}}])";

std::string image_of(World& world, const char* pod) {
  return std::string(world.api.find(kPods, kNamespace, pod)["spec"]["containers"][0]["image"].text());
}

void a_job_chooses_its_pod(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 12, kVariants);
  world.start();
  world.slurm.node("gpu-0").active_features = "gpu,v2";
  world.slurm.node("gpu-1").active_features = "gpu";
  world.resume("r1", {"gpu-0", "gpu-1"});
  assert_text(image_of(world, "gpu-0"), "slurmd:v2");
  assert_text(image_of(world, "gpu-1"), "slurmd:1");
  const Json labels = world.api.find(kPods, kNamespace, "gpu-0").at({"metadata", "labels"});
  assert_text(labels[kLabelVariant].text(), "v2");
  assert_false(world.api.find(kPods, kNamespace, "gpu-1").at({"metadata", "labels"}).has(kLabelVariant));

  // Many share one request.
  std::vector<std::string> many;
  for (int i = 2; i < 12; i++) many.push_back("gpu-" + std::to_string(i));
  for (const std::string& name : many) world.slurm.node(name).active_features = "v1";
  const int loads = world.slurm.loads;
  world.resume("r2", many);
  assert_int_equal(world.slurm.loads, loads + 1);
  for (const std::string& name : many) assert_text(image_of(world, name.c_str()), "slurmd:v1");
}

void no_pod_is_made_before_its_variant_is_known(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 4, kVariants);
  world.start();
  world.slurm.node("gpu-0").active_features = "v1";
  world.slurm.fail_loads = true;
  world.slurm.failures.assign(1, Error(Errc::timeout, "no answer"));
  world.resume("r1", {"gpu-0"});
  assert_text(world.pods(), "");
  world.pass(std::chrono::seconds(1));
  assert_text(image_of(world, "gpu-0"), "slurmd:v1");

  // The answer is for a request that another one has overtaken.
  world.slurm.node("gpu-1").active_features = "v1";
  world.caller.late = true;
  world.resume("r2", {"gpu-1"});
  world.slurm.node("gpu-1").active_features = "v2";
  world.ask_up("r3", {"gpu-1"});
  world.caller.arrive();
  world.settle();
  assert_text(image_of(world, "gpu-1"), "slurmd:v2");
  assert_text(world.request_of("gpu-1"), "r3");
}

void a_resume_that_was_missed_gets_its_variant(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 4, kVariants);
  SlurmNode& node = world.slurm.node("gpu-0");
  node.powered_down = false;
  node.powering_up = node.not_responding = true;
  node.base = SlurmNode::Base::allocated;
  node.active_features = "gpu,v2";
  world.start();
  assert_text(image_of(world, "gpu-0"), "slurmd:v2");
}

void a_pod_tells_of_its_job(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 4, R"x(,"template":{"metadata":{"labels":{"account":"$(JOB_ACCOUNT)"}}})x");
  world.start();
  world.slurm.jobs[7] = {.id = 7, .account = "physics"};
  world.resume("r1", {"gpu-0"}, 7);
  world.resume("r2", {"gpu-1"}, 8);  // gone already
  world.resume("r3", {"gpu-2"});
  const auto account = [&](const char* pod) {
    return std::string(world.api.find(kPods, kNamespace, pod).at({"metadata", "labels", "account"}).text());
  };
  assert_text(account("gpu-0"), "physics");
  assert_text(account("gpu-1"), "");
  assert_text(account("gpu-2"), "");
}

void plugins_are_told_of_variants(void** state) {
  World& world = world_of(state);
  std::vector<std::string> published;
  world.publish = [&](const VariantCatalog* catalog) {
    published.push_back(catalog ? catalog->encode()["nodesets"].dump() : "none");
  };
  world.put_nodeset("gpu", 4, R"(,"variants":[{"name":"v1","allowedUsers":["root"]}])");
  world.start();
  // Complete the first time, and once more with the uid of root.
  assert_int_equal(published.size(), 2);
  assert_text(published[0], R"({"compute":{"features":["compute"],"variants":{}},)"
                            R"("gpu":{"features":["gpu"],"variants":{"v1":{"users":["root"],"accounts":[]}}}})");
  world.put_nodeset("gpu", 5, R"(,"variants":[{"name":"v1","allowedUsers":["root"]}])");
  world.settle();
  assert_int_equal(published.size(), 2);
  world.put_nodeset("gpu", 5, R"(,"variants":3)");  // an older one's nodes are still there
  world.settle();
  assert_int_equal(published.size(), 2);
  world.put_nodeset("gpu", 5, "");
  world.settle();
  assert_int_equal(published.size(), 3);
  world.engine.reset();
  assert_text(published.back(), "none");
}

void plugins_are_told_of_features_outside_of_nodesets(void** state) {
  World& world = world_of(state);
  std::string records;
  world.publish = [&](const VariantCatalog* catalog) {
    if (catalog) records = catalog->encode()["records"].dump();
  };
  for (const char* node : {"metal-0", "metal-1"}) world.slurm.node(node).features = "metal,ib";
  world.start();
  assert_text(records, R"(["metal,ib"])");
}

void a_suspend_is_one_line_in_the_log(void** state) {
  World& world = world_of(state);
  world.start();
  logged.clear();
  world.engine->suspend({"compute-0", "compute-1", "compute-2", "compute-3"});
  assert_int_equal(logged.size(), 1);
  assert_text(logged[0], "suspend: 4 nodes: compute-[0-3]");
  std::vector<std::string> scattered;
  for (int i = 0; i < 4000; i += 2) scattered.push_back("compute-" + std::to_string(i));
  world.engine->suspend(scattered);
  assert_contains(logged.back(), "suspend: 2000 nodes: compute-[0,2,");
  assert_true(logged.back().size() < 300);
}

constexpr const char* kClaims =
    R"(,"volumeClaimTemplates":[{"metadata":{"name":"scratch"},"spec":{"resources":{"requests":{"storage":"1Gi"}}}}])";

void a_node_keeps_its_claim(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.resume("r1", {"compute-0"});
  assert_text(world.api.names(kube::kVolumeClaims, kNamespace).at(0), "scratch-compute-0");
  assert_text(world.pods(), "compute-0");
  const std::string uid(world.api.find(kube::kVolumeClaims, kNamespace, "scratch-compute-0").at({"metadata", "uid"}).text());
  world.registered("compute-0");
  world.suspend("compute-0");
  assert_text(world.pods(), "");
  world.resume("r2", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r2");
  assert_text(world.api.find(kube::kVolumeClaims, kNamespace, "scratch-compute-0").at({"metadata", "uid"}).text(), uid);
}

void a_claim_that_is_refused_is_the_reason(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota: storage"));
  world.resume("r1", {"compute-0"});
  assert_text(world.pods(), "");
  assert_contains(joined(world.slurm.calls), "pod: create: claim scratch-compute-0: exceeded quota: storage");
}

void a_claim_that_is_going_is_waited_for(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.api.put(kube::kVolumeClaims, kNamespace,
                *Json::parse(R"({"metadata":{"name":"scratch-compute-0","deletionTimestamp":"2026-01-01T00:00:00Z"}})"));
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(2));
  assert_text(world.pods(), "");
  world.api.erase(kube::kVolumeClaims, kNamespace, "scratch-compute-0");
  world.pass(std::chrono::seconds(5));
  assert_text(world.pods(), "compute-0");
}

void a_suspend_while_claims_are_made(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.ask_up("r1", {"compute-0"});
  world.engine->suspend({"compute-0"});
  world.settle();
  assert_int_equal(world.posts(), 0);
  assert_true(world.engine->settled({"compute-0"}));
}

void a_request_is_idempotent(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.resume("r1", {"compute-0"});
  assert_int_equal(world.api.count(Verb::create), 1);
  world.engine->suspend({"compute-0"});
  world.engine->suspend({"compute-0"});
  world.settle();
  assert_int_equal(world.api.count(Verb::remove), 1);
}

void an_older_pod_is_replaced(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_pod("compute-0", "r0");  // a node that was up before, as Slurm's saved state doesn't know
  world.settle();
  const std::string before = world.uid_of("compute-0");
  world.resume("r1", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r1");
  assert_true(world.uid_of("compute-0") != before);
}

// Its slurmd came up after the request, when the API server was away for longer than ResumeTimeout: a job runs there.
void an_older_pod_that_serves_stays(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_pod("compute-0", "r0");
  world.settle();
  const std::string pod = world.uid_of("compute-0");
  world.ask_up("r1", {"compute-0"});
  world.slurm.node("compute-0").powered_down = false;
  world.slurm.node("compute-0").base = SlurmNode::Base::allocated;
  world.registered("compute-0");
  world.pass(std::chrono::seconds(40));
  assert_text(world.uid_of("compute-0"), pod);
  assert_int_equal(world.api.count(Verb::remove), 0);

  world.api.erase(kPods, kNamespace, "compute-0");  // it is this request's pod now: its loss is one
  world.pass(std::chrono::seconds(2));
  assert_contains(joined(world.slurm.calls), "down compute-0");
}

// The API server hung with our DELETE in hand, and carried it out when slurmctld had launched a job there.
void an_older_pod_that_served_when_it_went(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_pod("compute-0", "r0");
  world.settle();
  world.api.fail_next(Verb::remove, Error(Errc::timeout, "no answer"), 1);
  world.resume("r1", {"compute-0"}, 7);
  world.registered("compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(2));
  assert_contains(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone");
  assert_int_equal(world.posts(), 0);
}

void a_silent_slurmctld_is_asked_again_about_an_older_pod_that_went(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_pod("compute-0", "r0");
  world.settle();
  world.api.fail_next(Verb::remove, Error(Errc::timeout, "no answer"), 1);
  world.resume("r1", {"compute-0"});
  world.slurm.fail_loads = true;
  world.slurm.failures.push_back(Error(Errc::timeout, "slurmctld: no answer"));
  world.api.erase(kPods, kNamespace, "compute-0");
  world.settle();
  assert_text(world.pods(), "");
  world.pass(std::chrono::seconds(2));
  assert_text(world.request_of("compute-0"), "r1");
}

void a_silent_slurmctld_keeps_an_older_pod(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_pod("compute-0", "r0");
  world.settle();
  world.slurm.fail_loads = true;
  world.slurm.failures.push_back(Error(Errc::timeout, "slurmctld: no answer"));
  world.resume("r1", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r0");
  world.pass(std::chrono::seconds(2));
  assert_text(world.request_of("compute-0"), "r1");
}

void an_older_pod_that_the_watch_has_not_shown(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.end_watches(Status());
  world.put_pod("compute-0", "r0");
  world.resume("r1", {"compute-0"});  // 409, look, delete, create
  assert_text(world.request_of("compute-0"), "r1");
}

void a_create_whose_answer_was_lost(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.lose_answers(Verb::create, Error(Errc::timeout, "no answer"));
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(2));
  assert_text(world.request_of("compute-0"), "r1");
  assert_int_equal(world.api.count(Verb::remove), 0);
}

/** The node's record as slurmctld's saved state has it when its slurmd had registered. */
SlurmNode& was_up(World& world, const char* name) {
  SlurmNode& node = world.slurm.node(name);
  node.powered_down = false;
  node.address = "10.1.2.3";
  return node;
}

void looks_are_close_together_after_a_start(void** state) {
  World& world = world_of(state);
  world.start();
  const std::pair<int, int> looks[] = {{0, 1}, {2, 2}, {4, 3}, {8, 4}, {16, 5}, {32, 6}, {50, 6}, {62, 7}, {93, 8}};
  int now = 0;
  for (const auto& [second, count] : looks) {
    world.pass(std::chrono::seconds(second - now));
    now = second;
    assert_int_equal(world.slurm.loads, count);
  }
}

void slurmctld_schedules_after_a_start(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-0");
  world.start();
  world.pass(std::chrono::seconds(40));
  assert_int_equal(world.slurm.scheduled, 1);
  assert_int_equal(world.slurm.calls.size(), 0);
}

void a_state_older_than_the_suspend(void** state) {
  World& world = world_of(state);
  was_up(world, "compute-0");
  world.start();
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0");
  assert_int_equal(world.slurm.harmed.size(), 0);  // before a job got it
}

void a_state_older_than_the_suspend_without_addresses(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-0").powered_down = false;  // Slurm 22.05 doesn't keep the address
  world.start();
  assert_int_equal(world.slurm.calls.size(), 0);
  world.slurm.node("compute-0").base = SlurmNode::Base::allocated;
  world.pass(std::chrono::seconds(2));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0");
}

// The node's record was saved when its job got it, the job's record when it had ended.
void a_state_with_a_node_of_a_job_that_has_ended(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-0").base = SlurmNode::Base::allocated;
  world.slurm.node("compute-1").base = SlurmNode::Base::allocated;
  world.slurm.nodes_of_jobs = {"compute-[1-2]"};
  world.start();
  world.pass(std::chrono::seconds(8));
  assert_int_equal(world.slurm.calls.size(), 0);
  world.pass(std::chrono::seconds(40));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: allocated without a job\npower_down compute-0");
  world.slurm.pass_time();
  assert_true(world.slurm.node("compute-0").base == SlurmNode::Base::idle);
  assert_true(world.slurm.node("compute-1").base == SlurmNode::Base::allocated);
}

void records_that_are_nobodys_loss_are_left_alone(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-0").powered_down = false;  // just made
  SlurmNode& other = world.slurm.node("login");        // of no NodeSet
  other.powered_down = false;
  other.base = SlurmNode::Base::allocated;
  SlurmNode& machine = was_up(world, "compute-1");     // no pod is to be expected
  machine.cloud = false;
  machine.base = SlurmNode::Base::allocated;
  world.start();
  world.pass(std::chrono::seconds(70));
  assert_int_equal(world.slurm.calls.size(), 0);
  assert_int_equal(world.api.count(Verb::get), 0);
}

void a_pod_that_only_the_watch_misses_is_no_loss(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.end_watches(Status());
  world.put_pod("compute-0", "r0");
  was_up(world, "compute-0").base = SlurmNode::Base::allocated;
  world.caller.late = true;
  world.clock.advance(std::chrono::seconds(2));
  world.timers.run_due();  // asks slurmctld
  world.timers.run_due();
  world.api.fail_next(Verb::watch, Error(Errc::unavailable, "down"), 100);
  world.api.fail_next(Verb::list, Error(Errc::unavailable, "down"), 100);
  world.caller.arrive();
  world.pass(std::chrono::seconds(20));
  assert_int_equal(world.slurm.calls.size(), 0);
  assert_true(world.api.count(Verb::get) > 0);
  assert_text(world.pods(), "compute-0");
}

void a_loss_is_not_told_while_the_api_server_is_away(void** state) {
  World& world = world_of(state);
  was_up(world, "compute-0").base = SlurmNode::Base::allocated;
  world.api.fail_next(Verb::get, Error(Errc::unavailable, "connection refused"), 3);
  world.start();
  assert_int_equal(world.slurm.calls.size(), 0);
  world.pass(std::chrono::seconds(16));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0");
}

void a_restart_finds_an_ended_pod(void** state) {
  World& world = world_of(state);
  was_up(world, "compute-0").base = SlurmNode::Base::allocated;
  world.put_pod("compute-0", "r0", "Failed");
  world.start();
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod ended: Failed\npower_down compute-0");
  assert_text(world.pods(), "");
}

void a_restart_ends_a_suspend_whose_pods_are_gone(void** state) {
  World& world = world_of(state);
  was_up(world, "compute-0").powering_down = true;
  world.start();
  world.pass(std::chrono::seconds(1));
  assert_text(joined(world.slurm.calls), "resume compute-0");
}

void a_restart_in_a_suspend_deletes_the_pods_that_are_left(void** state) {
  World& world = world_of(state);
  was_up(world, "compute-0").powering_down = true;
  for (const char* pod : {"compute-0", "compute-2"}) world.put_pod(pod, "r0");  // 2: no record
  world.start();
  assert_text(world.pods(), "");
  assert_int_equal(world.slurm.harmed.size(), 0);
}

// scontrol update state=power_down, or power_down_asap: slurmctld suspends the node when its jobs are over.
void a_node_that_is_asked_down_keeps_its_pod_for_its_job(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"}, 7);
  for (const char* name : {"compute-0", "compute-1"}) {
    world.registered(name);
    world.slurm.node(name).power_down_asked = world.slurm.node(name).draining = true;
  }
  world.pass(std::chrono::seconds(120));
  assert_text(world.pods(), "compute-[0-1]");
  assert_int_equal(world.slurm.calls.size(), 0);

  world.api.erase(kPods, kNamespace, "compute-1");
  world.settle();
  assert_text(joined(world.slurm.calls), "down compute-1 slurm-k8s: pod is gone\npower_down compute-1");
  world.suspend("compute-0");
  assert_text(world.pods(), "");
}

SlurmNode& wait_for_resume(World& world, const char* name) {
  SlurmNode& node = world.slurm.node(name);
  node.powered_down = false;
  node.powering_up = node.not_responding = true;
  node.base = SlurmNode::Base::allocated;
  return node;
}

void a_resume_that_never_reached_us_is_made_up_for(void** state) {
  World& world = world_of(state);
  world.start();
  world.pass(std::chrono::seconds(100));
  wait_for_resume(world, "compute-2");
  world.pass(std::chrono::seconds(30) + kResumeGrace + std::chrono::seconds(1));
  assert_text(world.pods(), "compute-2");
}

void a_resume_on_its_way_is_not_made_up_for(void** state) {
  World& world = world_of(state);
  world.start();
  wait_for_resume(world, "compute-2");
  world.pass(std::chrono::seconds(4));
  assert_text(world.pods(), "");
  world.resume("r1", {"compute-2"});
  assert_text(world.request_of("compute-2"), "r1");
  world.pass(std::chrono::seconds(40));
  assert_int_equal(world.posts(), 1);
}

void a_resume_that_comes_late_does_not_end_its_job(void** state) {
  World& world = world_of(state);
  wait_for_resume(world, "compute-2");
  world.start();
  world.registered("compute-2");
  const std::string pod = world.uid_of("compute-2");
  world.slurm.calls.clear();
  world.ask_up("r1", {"compute-2"});
  world.settle();
  world.pass(std::chrono::seconds(40));
  assert_text(world.uid_of("compute-2"), pod);
  assert_int_equal(world.api.count(Verb::remove), 0);
  world.resume("r2", {"compute-2"});  // and the next one is another
  assert_text(world.request_of("compute-2"), "r2");
}

void a_node_that_is_held_back_is_not_resumed_by_a_look(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
  world.resume("r1", {"compute-0"});
  assert_true(world.slurm.node("compute-0").powering_up);  // as in slurmctld: DOWN, and still powering up
  world.pass(PowerUpHealth::kFirstHold - std::chrono::seconds(1));
  assert_int_equal(world.posts(), 1);
}

void the_first_look_may_take_long(void** state) {
  World& world = world_of(state);
  wait_for_resume(world, "compute-2");
  world.slurm.fail_loads = true;
  for (int i = 0; i < 13; ++i) world.slurm.failures.push_back(Error(Errc::timeout, "no answer"));
  world.start();
  world.pass(std::chrono::seconds(14));
  assert_text(world.pods(), "compute-2");
}

/** Asks slurmctld now, and keeps its answer. */
void begin_a_look(World& world) {
  world.caller.late = true;
  world.pass(std::chrono::seconds(31));
}

void a_look_that_is_older_than_a_resume(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-0");
  world.start();
  world.pass(std::chrono::seconds(70));
  begin_a_look(world);                // powered down …
  world.resume("r1", {"compute-0"});  // … and now a job is being configured
  world.caller.arrive();
  world.settle();
  world.pass(std::chrono::seconds(5));
  assert_text(world.request_of("compute-0"), "r1");
  assert_int_equal(world.api.count(Verb::remove), 0);
  assert_int_equal(world.slurm.harmed.size(), 0);
}

void a_look_that_is_older_than_a_power_up(void** state) {
  World& world = world_of(state);
  world.start();
  world.pass(std::chrono::seconds(70));
  was_up(world, "compute-0");
  begin_a_look(world);                  // up, without a pod …
  wait_for_resume(world, "compute-0");  // … and now a job is being configured, whose resume is on its way
  world.slurm.calls.clear();
  world.caller.arrive();
  world.settle();
  world.pass(std::chrono::seconds(2));
  assert_int_equal(world.slurm.harmed.size(), 0);
  assert_int_equal(world.slurm.calls.size(), 0);
  assert_text(world.pods(), "compute-0");
}

void a_report_that_is_older_than_a_resume(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.caller.late = true;
  world.slurm.node("compute-0").powered_down = true;  // "nobody has a use for it" …
  world.api.erase(kPods, kNamespace, "compute-0");
  world.settle();
  world.resume("r2", {"compute-0"});  // … but a new job
  world.caller.arrive();
  world.settle();
  world.pass(std::chrono::seconds(2));
  assert_text(world.request_of("compute-0"), "r2");
  assert_int_equal(world.slurm.harmed.size(), 0);
}

void nothing_before_the_comparison(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-0", "r0");
  world.slurm.node("compute-0");  // powered down: its pod is older than Slurm's state
  world.start();
  assert_text(world.pods(), "");
}

void a_resume_lost_with_slurmctld(void** state) {
  World& world = world_of(state);
  SlurmNode& node = world.slurm.node("compute-2");
  node.powered_down = false;
  node.powering_up = node.not_responding = true;
  world.start();
  assert_text(world.pods(), "compute-2");
}

void pods_of_running_nodes_are_kept_over_a_restart(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-0", "r0");
  world.slurm.node("compute-0").powered_down = false;
  world.registered("compute-0");
  world.start();
  world.pass(std::chrono::seconds(70));
  assert_text(world.request_of("compute-0"), "r0");
  assert_int_equal(world.api.count(Verb::remove), 0);
  assert_int_equal(world.slurm.calls.size(), 0);
}

// Their slurmds registered with a slurmctld that was killed before it saved that.
void slurmds_that_registered_with_a_former_slurmctld(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-2", "compute-3", "compute-4", "compute-5", "compute-6"}) {
    world.put_pod(name, "r0");
  }
  for (const char* name : {"compute-0", "compute-1", "compute-2", "compute-3", "compute-5", "compute-6"}) {
    world.waited_for(name).base = SlurmNode::Base::allocated;
  }
  world.waited_for("compute-4");
  // The first hasn't begun, since its second node is still to come; nor has the last, whose second node registers with
  // this slurmctld; the other one may have.
  world.slurm.nodes_of_jobs = {"compute-[0-1]", "compute-[2-3]", "compute-[5-6]"};
  const std::string begun = world.uid_of("compute-2");
  const std::string first = world.uid_of("compute-0");
  const std::string idle = world.uid_of("compute-4");
  const std::string last = world.uid_of("compute-5");
  world.start();
  world.registered("compute-6");
  world.pass(std::chrono::seconds(25));
  assert_int_equal(world.api.count(Verb::remove), 0);  // slurmd may be slow
  world.pass(std::chrono::seconds(10));
  assert_text(world.pods(), "compute-[0-6]");
  assert_string_not_equal(world.uid_of("compute-5").c_str(), last.c_str());
  assert_string_not_equal(world.uid_of("compute-0").c_str(), first.c_str());
  assert_string_not_equal(world.uid_of("compute-4").c_str(), idle.c_str());
  assert_text(world.uid_of("compute-2"), begun);
  assert_text(world.request_of("compute-0"), "r0");
  world.pass(std::chrono::seconds(120));
  assert_int_equal(world.api.count(Verb::remove), 3);  // once each

  world.slurm.nodes_of_jobs.clear();  // the other one has ended
  world.pass(std::chrono::seconds(35));
  assert_int_equal(world.api.count(Verb::remove), 5);
  assert_int_equal(world.slurm.calls.size(), 0);
}

void slurmds_that_were_only_slow(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-0", "r0");
  world.put_pod("compute-1", "r0", "Pending");
  world.put_pod("compute-2", "r0");
  for (const char* name : {"compute-0", "compute-1", "compute-2"}) world.waited_for(name);
  // It registers between the look that finds it unheard and the answer about jobs.
  world.slurm.on_load_jobs = [&world] { world.registered("compute-2"); };
  world.start();
  world.registered("compute-0");
  world.pass(std::chrono::seconds(120));
  assert_int_equal(world.api.count(Verb::remove), 0);
}

// Until slurmctld's clock is again what it was its timers stand still, and it takes no slurmd that it has asked for.
void a_clock_that_is_set_back(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"}, 7);
  world.registered("compute-0");
  world.resume("r2", {"compute-1", "compute-2"}, 8);
  world.slurm.begins = {{9, std::chrono::seconds(3600)}, {10, std::chrono::seconds(4000)}};  // 10: as its user wants
  world.clock.set_wall(std::chrono::seconds(-3600));
  world.slurm.failures.push_back(Error(Errc::timeout, "slurm: no answer"));
  world.pass(std::chrono::seconds(6));
  assert_int_equal(world.slurm.calls.size(), 1);
  world.pass(std::chrono::seconds(60));
  assert_int_equal(world.slurm.calls.size(), 6);
  assert_text(world.slurm.calls[1], "down compute-[1-2] slurm-k8s: slurmctld's clock was set back by 3600 s");
  assert_text(world.slurm.calls[2], "power_down compute-[1-2]");
  assert_text(world.slurm.calls[3], "begin 8");
  assert_text(world.slurm.calls[4], "begin 9");
  assert_text(world.slurm.calls[5], "start anew");
}

void a_clock_that_is_set_back_where_slurmctld_can_not_start_anew(void** state) {
  World& world = world_of(state);
  world.start();
  world.clock.set_wall(std::chrono::seconds(-3600));
  world.slurm.failures.push_back(Error(Errc::invalid, "slurm: before 23.11 only a restart does that"));
  world.pass(std::chrono::seconds(60));
  assert_int_equal(world.slurm.calls.size(), 1);
}

void a_clock_that_is_set_ahead_or_back_a_little(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  for (const int seconds : {3600, 3580, 7200}) {
    world.clock.set_wall(std::chrono::seconds(seconds));
    world.pass(std::chrono::seconds(10));
  }
  assert_int_equal(world.slurm.calls.size(), 0);
}

void a_pod_deleted_under_a_node_in_use(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.settle();
  assert_int_equal(world.slurm.calls.size(), 2);
  assert_text(world.slurm.calls[0], "down compute-0 slurm-k8s: pod is gone");
  assert_text(world.slurm.calls[1], "power_down compute-0");
  assert_text(world.pods(), "");
}

/** Job 7 runs on the node, and is requeued when slurmctld is told that the node is lost. */
void run_job_7(World& world, const char* node) {
  const std::time_t now = std::chrono::system_clock::to_time_t(world.clock.wall());
  world.slurm.runs = {{7, 0, 0, now - 60, node}};
  SlurmJob& job = world.slurm.jobs[7];
  job.id = 7;
  job.pending = true;
  job.restarts = 1;
  job.submitted = now;
  job.begin = now + 31;
}

void the_job_of_a_lost_node_begins_again(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  run_job_7(world, "compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::milliseconds(1500));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0\nbegin 7");
  assert_int_equal(world.scheduler_woken, 1);
}

void an_error_after_the_requeue_does_not_cost_slurms_delay(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  run_job_7(world, "compute-0");
  world.slurm.failures = {Error(Errc::timeout, "of the answer to DOWN")};
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::milliseconds(100));
  world.slurm.runs.clear();  // it is requeued
  world.pass(std::chrono::milliseconds(2500));
  assert_int_equal(std::count(world.slurm.calls.begin(), world.slurm.calls.end(), "begin 7"), 1);
}

void the_job_of_a_lost_node_keeps_slurms_delay(void** state) {
  World& world = world_of(state);
  world.options.fast_requeue = false;
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  run_job_7(world, "compute-0");
  world.put_pod("compute-0", "r1", "Failed");
  world.pass(std::chrono::milliseconds(1500));
  for (const std::string& call : world.slurm.calls) assert_false(call.starts_with("begin"));
}

void a_pod_that_ended_under_a_node_in_use(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.put_pod("compute-0", "r1", "Failed");
  world.settle();
  assert_contains(world.slurm.calls[0], "down compute-0 slurm-k8s: pod ended: Failed");
  assert_text(world.pods(), "");  // what is left of it goes too
}

void a_pod_deleted_before_slurmd_registered(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  const std::string before = world.uid_of("compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.settle();
  assert_int_equal(world.slurm.calls.size(), 0);
  assert_text(world.pods(), "compute-0");
  assert_true(world.uid_of("compute-0") != before);
}

void a_refused_pod_has_its_cause_in_slurm(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota: pods=4"));
  world.resume("r1", {"compute-0", "compute-1"});
  assert_text(world.slurm.calls[0], "down compute-0 slurm-k8s: pod: create: exceeded quota: pods=4");
  assert_text(world.pods(), "compute-1");
}

void a_node_that_can_not_start_is_held_back(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
  world.resume("r1", {"compute-0"}, 12);
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod: create: exceeded quota");
  assert_text(world.slurm.comments[12], "slurm-k8s: node compute-0: pod: create: exceeded quota");
  world.pass(PowerUpHealth::kFirstHold - std::chrono::seconds(1));
  assert_int_equal(world.slurm.calls.size(), 1);
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.calls.back(), "power_down compute-0");
}

void an_administrators_comment_stays(void** state) {
  World& world = world_of(state);
  world.start();
  world.slurm.jobs[12].admin_comment = "{\"account\":\"chemistry\"}";
  world.resume("r1", {"compute-0", "compute-1"}, 12);
  for (const char* pod : {"compute-0", "compute-1"}) world.hinder(pod, kUnschedulable);
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.node("compute-0").comment, "slurm-k8s: waiting: unschedulable: no room");
  world.put_pod("compute-0", "r1");
  world.pass(std::chrono::seconds(2));
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.jobs[12].admin_comment, "{\"account\":\"chemistry\"}");
  assert_int_equal(world.slurm.comment_writes, 0);
}

void what_a_pod_waits_for_is_told(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"}, 12);
  for (const char* pod : {"compute-0", "compute-1"}) world.hinder(pod, kUnschedulable);
  world.pass(std::chrono::seconds(2));
  assert_text(joined(world.slurm.calls), "update compute-[0-1] slurm-k8s: waiting: unschedulable: no room");
  assert_text(world.slurm.comments[12], "slurm-k8s: waiting: compute-[0-1]: unschedulable: no room");
  world.put_pod("compute-0", "r1");
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.node("compute-0").comment, "");
  assert_text(world.slurm.node("compute-1").comment, "slurm-k8s: waiting: unschedulable: no room");
}

// Each time slurmctld copies all records.
void what_thousands_of_pods_wait_for_is_told_less_often(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 3001);
  world.start();
  std::vector<std::string> nodes;
  for (int i = 0; i < 3000; ++i) nodes.push_back("compute-" + std::to_string(i));
  world.resume("r1", nodes);
  for (const std::string& node : nodes) world.hinder(node.c_str(), kUnschedulable);
  world.pass(std::chrono::seconds(2));
  assert_text(joined(world.slurm.calls), "update compute-[0-2999] slurm-k8s: waiting: unschedulable: no room");
  world.resume("r2", {"compute-3000"});
  world.hinder("compute-3000", kUnschedulable);
  world.pass(std::chrono::seconds(3));
  assert_text(world.slurm.node("compute-3000").comment, "");
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.node("compute-3000").comment, "slurm-k8s: waiting: unschedulable: no room");
}

void events_tell_of_a_nodeset(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
  world.resume("r1", {"compute-0", "compute-1", "compute-2"}, 12);
  world.registered("compute-1");
  world.api.erase(kPods, kNamespace, "compute-1");
  world.pass(std::chrono::seconds(2));
  std::string all;
  for (const std::string& name : world.api.names(kube::kEvents, kNamespace)) {
    const Json event = world.api.find(kube::kEvents, kNamespace, name);
    assert_text(event.at({"regarding", "name"}).text(), "compute");
    all += std::string(event["type"].text()) + " " + std::string(event["reason"].text()) + " " +
           std::string(event["note"].text()) + "\n";
  }
  assert_contains(all, "Normal PowerUp compute-[0-2] (3): for job 12\n");
  assert_contains(all, "Warning PowerUpFailed compute-0 (1): pod: create: exceeded quota\n");
  assert_contains(all, "Warning NodeLost compute-1 (1): pod is gone\n");
  world.pass(std::chrono::seconds(30));
  assert_int_equal(world.api.names(kube::kEvents, kNamespace).size(), 3);
}

void a_slow_image_is_told_a_fast_one_not(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"});
  for (const char* pod : {"compute-0", "compute-1"}) world.hinder(pod, kCreating);
  world.pass(std::chrono::seconds(2));
  world.put_pod("compute-0", "r1");
  world.pass(std::chrono::seconds(4));
  assert_text(joined(world.slurm.calls), "update compute-1 slurm-k8s: waiting: images are pulled and containers made");
}

void an_image_that_can_not_be_pulled_fails_in_seconds(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"});
  world.hinder("compute-1", kNoImage);
  world.pass(kStartGrace + std::chrono::seconds(1));
  assert_contains(joined(world.slurm.calls), "down compute-1 slurm-k8s: ErrImagePull: not found");
  assert_text(world.pods(), "compute-0");
}

void an_unschedulable_pod_is_waited_for_as_long_as_the_nodeset_says(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, R"(,"unschedulableGracePeriodSeconds":60)");
  world.start();
  world.resume("r1", {"compute-0"});
  world.hinder("compute-0", kUnschedulable);
  world.pass(std::chrono::seconds(55));
  assert_text(world.pods(), "compute-0");
  world.pass(std::chrono::seconds(10));
  assert_text(world.pods(), "");
  assert_text(world.slurm.node("compute-0").reason, "slurm-k8s: unschedulable: no room");
}

void a_daemon_sets_node_is_made_on_its_machine(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 1, R"(,"scalingMode":"DaemonSet")");
  world.start();
  world.resume("r1", {"gpu-m1--x", "compute-1"});
  const Json pod = world.api.find(kPods, kNamespace, "gpu-m1--x");
  assert_text(pod.at({"metadata", "labels", "slurm-k8s.io/nodeset"}).text(), "gpu");
  assert_contains(pod.at({"spec", "affinity"}).dump(), R"("values":["m1.x"])");
  assert_true(world.api.find(kPods, kNamespace, "compute-1").at({"spec", "affinity"}).is_null());
}

void a_daemon_set_is_protected_with_all_its_nodes(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 1, R"(,"scalingMode":"DaemonSet")");
  for (const char* node : {"gpu-a--x", "gpu-b", "gpu-7"}) world.slurm.node(node).features = "gpu";
  world.slurm.node("gpu-mine").features = "other";
  world.start();
  for (int i = 0; i < 3; ++i) {
    world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
    world.resume(("r" + std::to_string(i)).c_str(), {"gpu-m" + std::to_string(i)});
    if (i < 2) world.pass(std::chrono::seconds(6));
  }
  assert_text(world.slurm.calls.back(), "drain gpu-7,gpu-a--x,gpu-b slurm-k8s: protected: pod: create: exceeded quota");
}

void a_nodeset_that_fails_again_and_again_is_protected(void** state) {
  World& world = world_of(state);
  for (const char* node : {"compute-5", "compute-6"}) world.slurm.node(node);
  world.slurm.node("compute-7").draining = true;
  world.slurm.node("compute-7").reason = "an administrator's";
  world.start();
  for (int i = 0; i < 3; ++i) {
    world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
    world.resume(("r" + std::to_string(i)).c_str(), {"compute-" + std::to_string(i)});
    if (i < 2) world.pass(std::chrono::seconds(6));
  }
  assert_text(world.slurm.calls.back(), "drain compute-[5-6] slurm-k8s: protected: pod: create: exceeded quota");
  world.pass(std::chrono::seconds(45));
  assert_contains(joined(world.slurm.calls), "\nundrain compute-[5-6]");
  assert_true(world.slurm.node("compute-7").draining);
}

void a_restart_gives_nodes_back(void** state) {
  World& world = world_of(state);
  const auto down = [&](const char* name, const char* reason) -> SlurmNode& {
    SlurmNode& node = world.slurm.node(name);
    node.base = SlurmNode::Base::down;
    node.reason = reason;
    node.powered_down = false;
    return node;
  };
  down("compute-0", "slurm-k8s: exceeded quota");
  down("compute-1", "ResumeTimeout reached").powered_down = true;
  down("compute-2", "broken disk");
  SlurmNode& drained = world.slurm.node("compute-3");
  drained.draining = true;
  drained.reason = "slurm-k8s: protected: exceeded quota";
  SlurmNode& noted = world.slurm.node("compute-4");
  noted.comment = "slurm-k8s: waiting: unschedulable";
  world.slurm.node("compute-5").not_responding = true;
  world.start();
  world.pass(std::chrono::seconds(15));
  const std::string calls = joined(world.slurm.calls);
  assert_contains(calls, "power_down compute-[0-1]");
  assert_contains(calls, "power_down compute-5");
  assert_contains(calls, "undrain compute-3");
  assert_text(world.slurm.node("compute-2").reason, "broken disk");
  assert_true(world.slurm.node("compute-2").base == SlurmNode::Base::down);
  assert_text(noted.comment, "");
}

void a_restart_unprotects_a_nodeset_in_one_go(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 50);
  for (int i = 0; i < 50; ++i) {
    SlurmNode& node = world.slurm.node("compute-" + std::to_string(i));
    node.draining = true;
    node.reason = "slurm-k8s: protected: exceeded quota";
  }
  world.start();
  world.pass(std::chrono::milliseconds(500));
  assert_text(joined(world.slurm.calls), "undrain compute-[0-49]");
  assert_int_equal(world.slurm.loads, 2);  // the comparison, and the look before the undrain
}

void a_suspend_ends_when_the_pods_are_gone(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"});
  for (const char* name : {"compute-0", "compute-1", "compute-2"}) {
    SlurmNode& node = world.slurm.node(name);
    node.base = SlurmNode::Base::idle;
    node.powering_up = node.not_responding = node.powered_down = false;
    node.powering_down = true;
  }
  world.slurm.node("compute-1").draining = true;  // by an administrator: resuming would take that back
  world.engine->suspend({"compute-0", "compute-1", "compute-2"});
  world.pass(std::chrono::seconds(1));
  assert_text(joined(world.slurm.calls), "resume compute-[0,2]");
}

void a_mass_suspend_is_told_in_few_calls(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 200);
  world.start();
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("compute-" + std::to_string(i));
  world.resume("r1", names);
  world.api.slow_deletion = true;
  for (const std::string& name : names) world.registered(name.c_str());
  for (const std::string& name : names) world.suspend(name.c_str());
  const int loads = world.slurm.loads;
  for (const std::string& name : names) {  // 2 s
    world.api.erase(kPods, kNamespace, name);
    world.clock.advance(std::chrono::milliseconds(10));
    world.settle();
  }
  world.pass(std::chrono::milliseconds(600));
  assert_true(world.slurm.loads - loads <= 12);
  for (const std::string& name : names) assert_true(world.slurm.node(name).powered_down);

  // One node alone isn't kept waiting.
  world.pass(std::chrono::seconds(2));
  world.api.slow_deletion = false;
  world.resume("r2", {"compute-0"});
  world.registered("compute-0");
  world.suspend("compute-0");
  world.pass(std::chrono::milliseconds(100));
  assert_true(world.slurm.node("compute-0").powered_down);
}

void nodes_that_no_nodeset_owns(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"stray-0", "login"});
  world.pass(kOwnerGrace + std::chrono::seconds(1));
  assert_int_equal(world.slurm.calls.size(), 2);
  std::string all;
  for (const std::string& call : world.slurm.calls) all += call + "\n";
  assert_contains(all, "down stray-0 slurm-k8s: no nodeset in namespace slurm owns node stray-0");
  assert_contains(all, "down login slurm-k8s: no nodeset in namespace slurm owns node login");
  assert_int_equal(world.api.count(Verb::create), 0);
}

void a_job_that_was_there_before_the_scale_in_gets_its_node(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_nodeset("compute", 2);
  world.resume("r1", {"compute-1", "compute-7"});
  assert_text(world.pods(), "compute-[1,7]");
}

void a_nodeset_may_come_after_the_resume(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"late-0"});
  world.put_nodeset("late", 1);
  world.pass(kOwnerGrace + std::chrono::seconds(1));
  assert_text(world.pods(), "late-0");
  assert_int_equal(world.slurm.calls.size(), 0);
}

void faults_are_waited_out(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 4);
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(10));
  assert_text(world.pods(), "compute-0");
  world.api.fail_next(Verb::remove, Error(Errc::internal, "etcd"), 1);
  world.api.fail_next(Verb::remove, Error(Errc::unavailable, "etcd"), 3);
  world.suspend("compute-0");
  world.pass(std::chrono::seconds(15));
  assert_text(world.pods(), "");
}

void throttling_pauses_all_requests(void** state) {
  World& world = world_of(state);
  world.start();
  world.options.max_requests = 1;
  world.api.fail_next(Verb::create, Error(Errc::throttled, "too many", std::chrono::seconds(3)));
  world.resume("r1", {"compute-0"});
  world.resume("r2", {"compute-1"});
  const std::size_t during = world.api.count(Verb::create);
  world.pass(std::chrono::seconds(5));
  assert_int_equal(during, 1);
  assert_text(world.pods(), "compute-[0-1]");
}

void no_retry_after_silences_the_engine_for_hours(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::throttled, "too many", std::chrono::hours(6)));
  world.resume("r1", {"compute-0"});
  world.resume("r2", {"compute-1"});
  assert_true(world.engine->gauges().paused);
  assert_int_equal(world.engine->metrics().api_pauses, 1);
  world.pass(std::chrono::seconds(2));
  std::string notes;
  for (const std::string& name : world.api.names(kube::kEvents, kNamespace)) {
    notes += std::string(world.api.find(kube::kEvents, kNamespace, name)["note"].text()) + "\n";
  }
  assert_contains(notes, "the API server takes no requests: next try in 60 s (Retry-After: 21600 s)");
  world.pass(Executor::kLongestPause);
  assert_false(world.engine->gauges().paused);
  assert_text(world.pods(), "compute-[0-1]");
}

void requests_in_flight_are_bounded(void** state) {
  World& world = world_of(state);
  world.put_nodeset("big", 1000);
  world.options.max_requests = 4;
  world.start();
  std::vector<std::string> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back("big-" + std::to_string(i));
  world.ask_up("r1", nodes);
  int most = 0;
  do most = std::max(most, static_cast<int>(world.engine->gauges().in_flight));
  while (world.api.step());
  world.settle();
  assert_int_equal(most, 4);
  assert_text(world.pods(), "big-[0-999]");
  assert_true(world.engine->settled(nodes));
}

void a_silent_slurmctld_does_not_hold_resumes_back(void** state) {
  World& world = world_of(state);
  world.slurm.fail_loads = true;
  for (int i = 0; i < 100; ++i) world.slurm.failures.push_back(Error(Errc::timeout, "no answer"));
  world.start();
  world.resume("r1", {"compute-0"});
  const std::string before = world.pods();
  world.pass(std::chrono::seconds(11));
  assert_text(before, "");
  assert_text(world.pods(), "compute-0");
}

void suspended_while_it_is_being_made(void** state) {
  World& world = world_of(state);
  world.start();
  world.ask_up("r1", {"compute-0"});  // the POST is under way
  world.engine->suspend({"compute-0"});
  world.settle();
  assert_text(world.pods(), "");
}

/** slurmctld carries out the power-downs that it was asked for. */
void finish_power_downs(World& world) {
  world.slurm.pass_time();
  world.slurm.pass_time();
}

/** slurmctld gives up nodes that are powering up: DOWN and powered down; ResumeFailProgram may reach us or not. */
void give_up(World& world, const char* name, bool tells) {
  SlurmNode& node = world.slurm.node(name);
  node.base = SlurmNode::Base::down;
  node.reason = "ResumeTimeout reached";
  node.powering_up = node.not_responding = false;
  node.powered_down = true;
  if (tells) world.engine->suspend({name});
  world.pass(std::chrono::seconds(45));
  finish_power_downs(world);
}

void a_nodeset_is_not_to_blame_for_an_api_server_that_is_away(void** state) {
  World& world = world_of(state);
  for (const char* node : {"compute-6", "compute-7"}) world.slurm.node(node);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 100000);
  const std::pair<const char*, bool> nodes[] = {
      {"compute-0", true}, {"compute-1", false}, {"compute-2", true}, {"compute-3", false}};
  for (const auto& [name, tells] : nodes) {
    world.resume(name, {name});
    world.pass(std::chrono::seconds(60));
    give_up(world, name, tells);
  }
  assert_text(joined(world.slurm.calls), "power_down compute-0\npower_down compute-1\npower_down compute-2\npower_down compute-3");
}

void a_nodeset_is_not_to_blame_for_a_pod_that_nobody_could_start(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-7");
  world.start();
  for (const char* name : {"compute-0", "compute-1", "compute-2"}) {
    world.resume(name, {name});  // its pod is made, but the API server goes before the scheduler has seen it
    world.cut_watches(100000);
    world.pass(std::chrono::seconds(60));
    give_up(world, name, true);
  }
  assert_text(joined(world.slurm.calls), "power_down compute-0\npower_down compute-1\npower_down compute-2");
}

void nodes_whose_pods_never_register_are_their_nodesets_fault(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-7");
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 3);
  for (const char* name : {"compute-0", "compute-1", "compute-2"}) {
    world.resume(name, {name});
    world.pass(std::chrono::seconds(60));
    give_up(world, name, true);
  }
  assert_contains(joined(world.slurm.calls), "compute-[0-1,7] slurm-k8s: protected: ResumeTimeout reached");
}

void an_excuse_is_for_one_attempt(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-7");
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 100000);
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(5));
  give_up(world, "compute-0", true);
  world.api.forgive();
  for (int i = 0; i < 3; ++i) {
    world.resume(("s" + std::to_string(i)).c_str(), {"compute-0"});
    world.pass(std::chrono::seconds(60));
    give_up(world, "compute-0", true);
    world.pass(std::chrono::seconds(60));
    finish_power_downs(world);
  }
  assert_contains(joined(world.slurm.calls), "drain compute-7 slurm-k8s: protected: ResumeTimeout reached");
}

void refused_until_an_administrator_mends_the_role(void** state) {
  World& world = world_of(state);
  world.start();
  for (const char* request : {"r1", "r2"}) {
    world.api.fail_next(Verb::create, Error(Errc::forbidden, "pods is forbidden: no role"));
    world.resume(request, {"compute-0"}, 12);
    assert_text(world.slurm.node("compute-0").reason, "slurm-k8s: pod: create: pods is forbidden: no role");
    assert_text(world.slurm.comments[12], "slurm-k8s: node compute-0: pod: create: pods is forbidden: no role");
    world.pass(std::chrono::seconds(25));
    assert_text(world.slurm.calls.back(), "power_down compute-0");
    finish_power_downs(world);
  }
  const std::size_t calls = world.slurm.calls.size();
  world.resume("r3", {"compute-0"}, 12);
  world.registered("compute-0");
  world.pass(std::chrono::seconds(40));
  assert_text(world.request_of("compute-0"), "r3");
  assert_int_equal(world.slurm.calls.size(), calls);
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
  world.resume("r4", {"compute-1"});
  world.pass(PowerUpHealth::kFirstHold + std::chrono::seconds(1));  // a first failure again
  assert_text(world.slurm.calls.back(), "power_down compute-1");
}

void an_expired_token_is_waited_out(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unauthorized, "Unauthorized"), 4);
  world.resume("r1", {"compute-0"});
  assert_text(world.pods(), "");
  world.pass(std::chrono::seconds(10));
  assert_text(world.request_of("compute-0"), "r1");
  assert_int_equal(world.slurm.calls.size(), 0);
}

void a_delete_whose_answer_was_lost(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.api.fail_next(Verb::watch, Error(Errc::unavailable, "cut"), 3);
  world.api.end_watches(Error(Errc::unavailable, "cut"));  // so that only the next try can tell
  world.api.lose_answers(Verb::remove, Error(Errc::unavailable, "connection reset"));
  world.suspend("compute-0");
  world.pass(std::chrono::seconds(5));
  assert_text(world.pods(), "");
  assert_text(joined(world.slurm.calls), "resume compute-0");
  assert_int_equal(world.engine->gauges().pods_running + world.engine->gauges().pods_deleting, 0);
}

void a_delete_whose_answer_was_lost_while_the_pod_ends(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.api.slow_deletion = true;
  world.api.lose_answers(Verb::remove, Error(Errc::timeout, "no answer"));
  world.suspend("compute-0");
  world.pass(std::chrono::seconds(5));
  assert_int_equal(world.api.count(Verb::remove), 1);  // the watch has shown that it goes
  assert_int_equal(world.slurm.calls.size(), 0);
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(1));
  assert_text(joined(world.slurm.calls), "resume compute-0");
}

void a_create_whose_answer_was_lost_and_the_watch_is_away(void** state) {
  World& world = world_of(state);
  world.start();
  world.cut_watches(100);
  world.settle();
  world.api.lose_answers(Verb::create, Error(Errc::unavailable, "connection reset"));
  world.ask_up("r1", {"compute-0"});
  world.pass(std::chrono::seconds(3));
  assert_true(world.engine->settled({"compute-0"}));
  assert_text(world.request_of("compute-0"), "r1");
  assert_int_equal(world.posts(), 2);  // the second is told that it is there
  assert_int_equal(world.api.count(Verb::remove), 0);
  assert_int_equal(world.slurm.calls.size(), 0);
}

void a_look_that_fails_after_a_conflict(void** state) {
  World& world = world_of(state);
  world.start();
  world.cut_watches(5);
  world.put_pod("compute-0", "r1");  // by slurm-k8s-resume itself, say
  world.put_pod("compute-1", "r0");
  world.api.fail_next(Verb::get, Error(Errc::unavailable, "HTTP 500: etcd is tired"), 4);
  const std::string ours = world.uid_of("compute-0");
  world.resume("r1", {"compute-0", "compute-1"});
  world.pass(std::chrono::seconds(20));
  assert_text(world.uid_of("compute-0"), ours);
  assert_text(world.request_of("compute-1"), "r1");
  assert_int_equal(world.api.count(Verb::remove), 1);
  assert_int_equal(world.slurm.calls.size(), 0);
}

void a_deletion_that_the_watch_never_tells(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"});
  world.registered("compute-0");
  world.registered("compute-1");
  world.api.fail_next(Verb::watch, Error(Errc::unavailable, "cut"), 1);
  world.api.end_watches(Error(Errc::unavailable, "cut"));
  world.settle();
  world.api.erase(kPods, kNamespace, "compute-0");
  world.api.forget_history();  // the watch's version is gone: 410
  world.pass(std::chrono::seconds(3));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0");
  assert_text(world.pods(), "compute-1");
}

void a_pod_that_went_before_the_watch_showed_it(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::watch, Error(Errc::unavailable, "cut"), 1);
  world.api.end_watches(Error(Errc::unavailable, "cut"));
  world.settle();
  world.resume("r1", {"compute-0"});  // only the POST's answer shows the pod
  world.registered("compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.api.forget_history();
  world.pass(std::chrono::seconds(31));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0");
}

void a_watch_that_is_cut_before_an_event_is_through(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");         // the event …
  world.api.end_watches(Error(Errc::unavailable, "cut"));  // … doesn't arrive
  world.pass(std::chrono::seconds(3));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0");
}

void throttling_makes_everything_wait(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r0", {"compute-4"});
  world.registered("compute-4");
  world.api.fail_next(Verb::create, Error(Errc::throttled, "too many", std::chrono::seconds(20)));
  world.resume("r1", {"compute-0"});
  const std::size_t posts = world.posts();
  world.resume("r2", {"compute-1", "compute-2"});
  world.suspend("compute-4");
  world.pass(std::chrono::seconds(19));
  assert_int_equal(world.posts(), posts);
  assert_int_equal(world.api.count(Verb::remove), 0);
  world.pass(std::chrono::seconds(2));
  assert_text(world.pods(), "compute-[0-2]");
}

void a_pod_of_somebody_else_has_the_name(void** state) {
  World& world = world_of(state);
  world.start();
  Json pod = Json::object();
  pod.set("metadata", Json::object().set("name", "compute-0")).set("status", Json::object().set("phase", "Running"));
  world.api.put(kPods, kNamespace, pod);
  const std::string theirs = world.uid_of("compute-0");
  world.resume("r1", {"compute-0"}, 12);
  const char* reason = "slurm-k8s: pod: create: pod slurm/compute-0 is there and is somebody else's: it has no label "
                       "slurm-k8s.io/node=compute-0";
  assert_text(world.slurm.node("compute-0").reason, reason);
  assert_contains(world.slurm.comments[12], "somebody else's");
  world.pass(std::chrono::seconds(70));
  world.engine->suspend({"compute-0"});
  world.pass(std::chrono::seconds(70));
  assert_text(world.uid_of("compute-0"), theirs);
  assert_int_equal(world.api.count(Verb::remove), 0);
}

void a_pod_with_copied_labels_is_nobodys(void** state) {
  World& world = world_of(state);
  Json pod = Json::object();
  Json labels = Json::object().set(kLabelNode, "compute-0");
  pod.set("metadata", Json::object().set("name", "debug-0").set("labels", labels));
  world.api.put(kPods, kNamespace, pod);
  world.start();
  world.pass(std::chrono::seconds(70));
  assert_text(world.pods(), "debug-0");
}

// A pod that does not go: its machine is lost, or its object has a finalizer.

constexpr const char* kNotDeleted = "slurm-k8s: pod not deleted: still terminating";

/** compute-0 was up, and is suspended; its pod stays. */
void suspend_a_pod_that_stays(World& world) {
  world.start();
  world.resume("r1", {"compute-0"}, 7);
  world.registered("compute-0");
  world.api.slow_deletion = true;
  world.suspend("compute-0");
}

/** slurmctld carries out the power-downs that it was asked for, and tells us. */
void carry_out_power_down(World& world, const char* node) {
  world.slurm.pass_time();
  world.engine->suspend({node});
  world.settle();
}

void a_pod_that_goes_in_time_is_no_trouble(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.pass(std::chrono::seconds(9));
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(30));
  assert_text(joined(world.slurm.calls), "resume compute-0");  // the end of its power-down
}

void a_pod_that_does_not_go_drains_its_node(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.pass(std::chrono::seconds(12));
  assert_text(world.slurm.calls[0], std::string("drain compute-0 ") + kNotDeleted);
  world.slurm.pass_time();  // SuspendTimeout
  world.pass(std::chrono::seconds(60));
  assert_int_equal(world.slurm.calls.size(), 2);
  assert_text(world.slurm.node("compute-0").comment, "slurm-k8s: waiting: pod still terminating");
  assert_true(world.slurm.node("compute-0").draining);

  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(2));
  carry_out_power_down(world, "compute-0");
  world.pass(std::chrono::seconds(2));
  const SlurmNode& node = world.slurm.node("compute-0");
  assert_true(node.powered_down && !node.draining && !node.not_responding && !node.going_down());
  assert_text(node.comment, "");
  assert_false(is_drain_reason(node.reason));
  world.resume("r2", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r2");
}

void a_pod_that_goes_before_suspend_timeout_frees_its_drained_node(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.pass(std::chrono::seconds(12));
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(1));
  assert_true(world.slurm.node("compute-0").powered_down && !world.slurm.node("compute-0").draining);
  world.pass(std::chrono::seconds(31));
  carry_out_power_down(world, "compute-0");  // it was "not responding"
  world.pass(std::chrono::seconds(2));
  const SlurmNode& node = world.slurm.node("compute-0");
  assert_true(node.powered_down && !node.draining && !node.not_responding && !node.going_down());
}

void a_job_on_a_node_whose_pod_does_not_go_is_requeued_in_seconds(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.pass(std::chrono::seconds(7));
  world.resume("r2", {"compute-0", "compute-1"}, 9);
  world.pass(std::chrono::seconds(8));
  const std::string calls = joined(world.slurm.calls);
  assert_contains(calls, std::string("down compute-0 ") + kNotDeleted + "\npower_down compute-0");
  assert_contains(world.slurm.comments[9], "pod still terminating");
  assert_int_equal(world.slurm.harmed.count("compute-1"), 0);
  assert_int_equal(world.posts(), 2);  // those of r1, and compute-1's
  carry_out_power_down(world, "compute-0");
  world.pass(std::chrono::seconds(15));
  assert_true(world.slurm.node("compute-0").draining);
  assert_int_equal(world.engine->gauges().held_nodes, 0);
  assert_int_equal(world.engine->gauges().protected_nodesets, 0);
}

void what_a_former_pod_keeps_waiting_is_told(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.resume("r2", {"compute-0"}, 9);
  world.pass(std::chrono::seconds(8));
  assert_text(world.slurm.node("compute-0").comment, "slurm-k8s: waiting: pod still terminating");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(5));
  assert_text(world.request_of("compute-0"), "r2");
  assert_text(world.slurm.node("compute-0").comment, "");
  assert_int_equal(world.slurm.harmed.size(), 0);
}

void a_drain_that_somebody_took_back_comes_again_while_the_pod_is_there(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.pass(std::chrono::seconds(20));
  world.slurm.node("compute-0").draining = false;
  world.pass(std::chrono::seconds(32));
  assert_true(world.slurm.node("compute-0").draining);
}

void a_running_job_outlives_a_silent_kubelet(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"}, 7);
  world.registered("compute-0");
  Json pod = world.api.find(kPods, kNamespace, "compute-0").clone();
  Json metadata = pod["metadata"];
  metadata.set("deletionTimestamp", "2026-01-01T00:00:00Z");
  metadata.set("deletionGracePeriodSeconds", Json::integer(5));
  world.api.put(kPods, kNamespace, pod);  // evicted by a taint
  world.pass(std::chrono::seconds(60));
  assert_text(world.slurm.calls[0], std::string("drain compute-0 ") + kNotDeleted);
  assert_int_equal(world.slurm.harmed.size(), 0);
  world.slurm.node("compute-0").base = SlurmNode::Base::idle;  // its job was requeued
  world.slurm.set_down_itself("compute-0", "Not responding");
  world.pass(std::chrono::seconds(40));
  assert_contains(joined(world.slurm.calls), std::string("down compute-0 ") + kNotDeleted + "\npower_down compute-0");
  carry_out_power_down(world, "compute-0");
  world.pass(std::chrono::seconds(5));
  assert_true(world.slurm.node("compute-0").draining);
}

void a_watch_that_does_not_tell_of_the_end_drains_nothing(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.cut_watches(100000);
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(20));
  assert_text(joined(world.slurm.calls), "resume compute-0");
}

void a_restart_knows_nodes_whose_pods_did_not_go(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-1"}) {
    world.slurm.node(name).draining = true;
    world.slurm.node(name).reason = kNotDeleted;
  }
  world.put_pod("compute-0", "r1");
  world.api.slow_deletion = true;
  world.start();
  world.pass(std::chrono::seconds(60));
  assert_text(joined(world.slurm.calls), std::string("power_down compute-1 ") + kReasonReleased +
                                             "\nupdate compute-0 slurm-k8s: waiting: pod still terminating");
  assert_true(world.slurm.node("compute-0").draining);
}

void a_mass_of_pods_that_do_not_go_is_told_in_few_calls(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 500);
  world.start();
  std::vector<std::string> nodes;
  for (int i = 0; i < 500; ++i) nodes.push_back("compute-" + std::to_string(i));
  world.resume("r1", nodes);
  for (const std::string& node : nodes) world.registered(node.c_str());
  world.api.slow_deletion = true;
  for (const std::string& node : nodes) {
    world.slurm.node(node).base = SlurmNode::Base::idle;
    world.slurm.node(node).powering_down = true;
  }
  world.engine->suspend(nodes);
  world.pass(std::chrono::seconds(20));
  int drains = 0;
  for (const std::string& call : world.slurm.calls) drains += call.starts_with("drain");
  assert_in_range(drains, 1, 5);
}

// Reasons that slurmctld has appended to, or kept.

void a_node_that_resume_timeout_gave_up_serves_again_whatever_reason_it_had(void** state) {
  World& world = world_of(state);
  int i = 0;
  for (const bool keeps : {false, true}) {
    for (const char* reason : {"", "disk check", "slurm-k8s: kubernetes node m1 is cordoned", kReasonReleased}) {
      world.slurm.keeps_reasons = keeps;
      const std::string name = "compute-" + std::to_string(i++);
      world.slurm.node(name).reason = reason;
      world.slurm.set_down_itself(name, "ResumeTimeout reached");
    }
  }
  world.slurm.node("other").reason = "broken disk";
  world.slurm.node("other").base = SlurmNode::Base::down;
  world.start();
  world.pass(std::chrono::seconds(60));
  std::string calls;
  for (const std::string& call : world.slurm.calls) calls += call.starts_with("power_down") ? call + "\n" : "";
  assert_text(calls, "power_down compute-[0-7]\n");
}

void a_silent_node_is_no_failed_power_up(void** state) {
  World& world = world_of(state);
  for (const bool keeps : {false, true}) {
    world.slurm.keeps_reasons = keeps;
    SlurmNode& node = world.slurm.node(keeps ? "compute-0" : "compute-1");
    node.powered_down = false;
    node.reason = "slurm-k8s: kubernetes node m1 is not ready: x";
    world.put_pod(node.name.c_str(), "r1");
    world.slurm.set_down_itself(node.name, "Not responding");
  }
  world.start();
  world.pass(std::chrono::seconds(60));
  assert_text(joined(world.slurm.calls), "");
}

void an_api_server_that_stays_away_is_asked_less_and_less_often(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 100000);
  std::vector<std::int64_t> pauses;
  for (const char* request : {"r1", "r2", "r3"}) {
    world.resume(request, {"compute-0"});
    world.pass(std::chrono::seconds(60));
    world.engine->suspend({"compute-0"});  // ResumeFailProgram
    world.slurm.node("compute-0").powering_up = false;
    world.slurm.set_down_itself("compute-0", "ResumeTimeout reached");
    world.slurm.calls.clear();
    const TimePoint before = world.clock.now();
    while (world.slurm.calls.empty() && world.clock.now() < before + std::chrono::minutes(5)) {
      world.pass(std::chrono::milliseconds(500));
    }
    pauses.push_back((world.clock.now() - before) / std::chrono::seconds(1));
    finish_power_downs(world);
    world.slurm.node("compute-0").reason.clear();
  }
  // Each begins at the next comparison, up to 30 s later.
  assert_in_range(pauses[0], 10, 41);
  assert_in_range(pauses[1], 20, 51);
  assert_in_range(pauses[2], 40, 71);
}

// A program that lost patience with the engine, and does the work of before.

void begin_directly(World& world) {
  Engine::Parts parts{world.api, world.timers, world.clock, world.caller, world.options};
  parts.stays = false;
  world.engine = std::make_unique<Engine>(parts);
  world.engine->start();
  world.settle();
}

void a_program_deletes_the_pod_that_was_to_go(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-0", "r1");
  world.slurm.node("compute-0").powering_down = true;
  begin_directly(world);
  world.engine->suspend({"compute-0"});
  world.settle();
  assert_text(world.pods(), "");
  assert_true(world.engine->settled({"compute-0"}));
}

void a_program_leaves_the_pod_of_a_later_resume_alone(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-0", "r1");
  world.slurm.node("compute-0").powering_down = true;
  begin_directly(world);
  world.cut_watches(100000);
  world.settle();
  world.api.erase(kPods, kNamespace, "compute-0");
  world.put_pod("compute-0", "r2");  // by the engine, for a resume that came since
  world.engine->suspend({"compute-0"});
  world.pass(std::chrono::seconds(10));
  assert_int_equal(world.api.count(Verb::remove), 1);
  assert_text(world.request_of("compute-0"), "r2");
  assert_true(world.engine->settled({"compute-0"}));
}

void a_program_that_comes_late_deletes_no_pod_of_a_node_that_was_resumed(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-1"}) world.put_pod(name, "r2");
  world.waited_for("compute-0");
  world.slurm.node("compute-1").powered_down = false;
  begin_directly(world);
  world.engine->suspend({"compute-0", "compute-1"});
  world.pass(std::chrono::seconds(5));
  assert_text(world.pods(), "compute-[0-1]");
  assert_true(world.engine->settled({"compute-0", "compute-1"}));
}

void what_hindered_a_pod_may_be_over(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, R"(,"unschedulableGracePeriodSeconds":30)");
  world.start();
  world.resume("r1", {"compute-0"});
  world.hinder("compute-0", kUnschedulable);
  world.settle();
  world.api.fail_next(Verb::watch, Error(Errc::unavailable, "away"), 100000);
  world.api.fail_next(Verb::list, Error(Errc::unavailable, "away"), 100000);
  world.api.fail_next(Verb::get, Error(Errc::unavailable, "away"), 5);
  world.api.end_watches(Error(Errc::unavailable, "away"));
  world.settle();
  world.put_pod("compute-0", "r1");  // a machine came; we are not told
  world.registered("compute-0");
  world.pass(std::chrono::seconds(70));
  assert_text(world.pods(), "compute-0");
  assert_int_equal(world.slurm.harmed.size(), 0);
  assert_text(world.slurm.node("compute-0").reason, "");
}

void a_suspend_that_suspend_timeout_has_ended(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.api.slow_deletion = true;
  world.suspend("compute-0");
  world.slurm.node("compute-0").powering_down = false;
  world.slurm.node("compute-0").powered_down = true;
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(1));
  assert_int_equal(world.slurm.scheduled, 1);  // a job may wait for it
  assert_int_equal(world.slurm.calls.size(), 0);
}

// A job may wait for the nodes; but each look goes through slurmctld's whole queue.
void the_scheduler_looks_when_nodes_are_down(void** state) {
  World& world = world_of(state);
  world.start();
  for (const char* node : {"compute-0", "compute-1", "compute-2"}) world.resume(node, {node});
  for (const char* node : {"compute-0", "compute-1", "compute-2"}) world.registered(node);
  assert_int_equal(world.scheduler_woken, 0);
  world.suspend("compute-0");
  world.pass(std::chrono::milliseconds(300));
  assert_true(world.slurm.node("compute-0").powered_down);
  assert_int_equal(world.scheduler_woken, 1);
  world.suspend("compute-1");
  world.pass(std::chrono::seconds(1));
  assert_int_equal(world.scheduler_woken, 1);
  world.suspend("compute-2");
  world.pass(std::chrono::seconds(1));
  assert_int_equal(world.scheduler_woken, 2);
}

/** One that has just started may not have read its configuration yet. */
void slurmctld_is_woken_when_it_has_answered(void** state) {
  World& world = world_of(state);
  world.caller.late = true;
  world.start();
  int woken = 0;
  Worker::Host host;
  host.wake_power_save = [&] { ++woken; };
  const Json wake = *Json::parse(R"({"op":"wake"})");
  assert_true(handle_control(*world.engine, host, wake)["ok"].boolean_or(false));
  assert_int_equal(woken, 0);
  world.caller.arrive();
  world.settle();
  assert_true(handle_control(*world.engine, host, wake)["ok"].boolean_or(false));
  assert_int_equal(woken, 1);
}

void control_messages(void** state) {
  World& world = world_of(state);
  world.start();
  int woken = 0;
  Worker::Host host;
  const auto answer = [&](const char* text) { return handle_control(*world.engine, host, *Json::parse(text)); };
  assert_true(answer(R"({"op":"wake"})")["ok"].boolean_or(false));  // a slurmctld that can't be woken
  host.wake_power_save = [&] { ++woken; };
  assert_true(answer(R"({"op":"wake"})")["ok"].boolean_or(false));
  assert_int_equal(woken, 1);
  assert_true(answer(R"({"op":"resume","id":"r1","nodes":"compute-[0-1]"})")["ok"].boolean_or(false));
  world.settle();
  assert_text(world.pods(), "compute-[0-1]");
  const Json status = answer(R"({"op":"status"})");
  assert_true(status["ready"].boolean_or(false));
  assert_int_equal(status.at({"pods", "pending"}).integer_or(-1), 2);
  assert_int_equal(status["pods_created"].integer_or(-1), 2);
  assert_contains(answer(R"({"op":"reboot"})")["error"].text(), "op:");
  assert_contains(answer("[]")["error"].text(), "op:");
}

}  // namespace

#define ENGINE_TEST(fn) SLURMK8S_TEST_WITH(fn, set_up, tear_down)

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(resume_and_suspend),
      ENGINE_TEST(a_job_chooses_its_pod),
      ENGINE_TEST(no_pod_is_made_before_its_variant_is_known),
      ENGINE_TEST(a_resume_that_was_missed_gets_its_variant),
      ENGINE_TEST(a_pod_tells_of_its_job),
      ENGINE_TEST(plugins_are_told_of_variants),
      ENGINE_TEST(plugins_are_told_of_features_outside_of_nodesets),
      ENGINE_TEST(a_suspend_is_one_line_in_the_log),
      ENGINE_TEST(a_node_keeps_its_claim),
      ENGINE_TEST(a_claim_that_is_refused_is_the_reason),
      ENGINE_TEST(a_claim_that_is_going_is_waited_for),
      ENGINE_TEST(a_suspend_while_claims_are_made),
      ENGINE_TEST(a_request_is_idempotent),
      ENGINE_TEST(an_older_pod_is_replaced),
      ENGINE_TEST(an_older_pod_that_served_when_it_went),
      ENGINE_TEST(a_silent_slurmctld_is_asked_again_about_an_older_pod_that_went),
      ENGINE_TEST(an_older_pod_that_serves_stays),
      ENGINE_TEST(a_silent_slurmctld_keeps_an_older_pod),
      ENGINE_TEST(an_older_pod_that_the_watch_has_not_shown),
      ENGINE_TEST(a_create_whose_answer_was_lost),
      ENGINE_TEST(looks_are_close_together_after_a_start),
      ENGINE_TEST(slurmctld_schedules_after_a_start),
      ENGINE_TEST(a_state_older_than_the_suspend),
      ENGINE_TEST(a_state_older_than_the_suspend_without_addresses),
      ENGINE_TEST(a_state_with_a_node_of_a_job_that_has_ended),
      ENGINE_TEST(records_that_are_nobodys_loss_are_left_alone),
      ENGINE_TEST(a_pod_that_only_the_watch_misses_is_no_loss),
      ENGINE_TEST(a_loss_is_not_told_while_the_api_server_is_away),
      ENGINE_TEST(a_restart_finds_an_ended_pod),
      ENGINE_TEST(a_restart_ends_a_suspend_whose_pods_are_gone),
      ENGINE_TEST(a_restart_in_a_suspend_deletes_the_pods_that_are_left),
      ENGINE_TEST(a_node_that_is_asked_down_keeps_its_pod_for_its_job),
      ENGINE_TEST(a_resume_that_never_reached_us_is_made_up_for),
      ENGINE_TEST(a_resume_on_its_way_is_not_made_up_for),
      ENGINE_TEST(a_resume_that_comes_late_does_not_end_its_job),
      ENGINE_TEST(a_node_that_is_held_back_is_not_resumed_by_a_look),
      ENGINE_TEST(the_first_look_may_take_long),
      ENGINE_TEST(a_look_that_is_older_than_a_resume),
      ENGINE_TEST(a_look_that_is_older_than_a_power_up),
      ENGINE_TEST(a_report_that_is_older_than_a_resume),
      ENGINE_TEST(nothing_before_the_comparison),
      ENGINE_TEST(a_resume_lost_with_slurmctld),
      ENGINE_TEST(pods_of_running_nodes_are_kept_over_a_restart),
      ENGINE_TEST(slurmds_that_registered_with_a_former_slurmctld),
      ENGINE_TEST(slurmds_that_were_only_slow),
      ENGINE_TEST(a_clock_that_is_set_back),
      ENGINE_TEST(a_clock_that_is_set_back_where_slurmctld_can_not_start_anew),
      ENGINE_TEST(a_clock_that_is_set_ahead_or_back_a_little),
      ENGINE_TEST(a_pod_deleted_under_a_node_in_use),
      ENGINE_TEST(the_job_of_a_lost_node_begins_again),
      ENGINE_TEST(an_error_after_the_requeue_does_not_cost_slurms_delay),
      ENGINE_TEST(the_job_of_a_lost_node_keeps_slurms_delay),
      ENGINE_TEST(a_pod_that_ended_under_a_node_in_use),
      ENGINE_TEST(a_pod_deleted_before_slurmd_registered),
      ENGINE_TEST(a_refused_pod_has_its_cause_in_slurm),
      ENGINE_TEST(a_node_that_can_not_start_is_held_back),
      ENGINE_TEST(an_administrators_comment_stays),
      ENGINE_TEST(what_a_pod_waits_for_is_told),
      ENGINE_TEST(what_thousands_of_pods_wait_for_is_told_less_often),
      ENGINE_TEST(events_tell_of_a_nodeset),
      ENGINE_TEST(a_slow_image_is_told_a_fast_one_not),
      ENGINE_TEST(an_image_that_can_not_be_pulled_fails_in_seconds),
      ENGINE_TEST(an_unschedulable_pod_is_waited_for_as_long_as_the_nodeset_says),
      ENGINE_TEST(a_daemon_sets_node_is_made_on_its_machine),
      ENGINE_TEST(a_daemon_set_is_protected_with_all_its_nodes),
      ENGINE_TEST(a_nodeset_that_fails_again_and_again_is_protected),
      ENGINE_TEST(a_restart_gives_nodes_back),
      ENGINE_TEST(a_restart_unprotects_a_nodeset_in_one_go),
      ENGINE_TEST(a_suspend_ends_when_the_pods_are_gone),
      ENGINE_TEST(a_mass_suspend_is_told_in_few_calls),
      ENGINE_TEST(nodes_that_no_nodeset_owns),
      ENGINE_TEST(a_job_that_was_there_before_the_scale_in_gets_its_node),
      ENGINE_TEST(a_nodeset_may_come_after_the_resume),
      ENGINE_TEST(faults_are_waited_out),
      ENGINE_TEST(throttling_pauses_all_requests),
      ENGINE_TEST(no_retry_after_silences_the_engine_for_hours),
      ENGINE_TEST(requests_in_flight_are_bounded),
      ENGINE_TEST(a_silent_slurmctld_does_not_hold_resumes_back),
      ENGINE_TEST(suspended_while_it_is_being_made),
      ENGINE_TEST(a_nodeset_is_not_to_blame_for_an_api_server_that_is_away),
      ENGINE_TEST(a_nodeset_is_not_to_blame_for_a_pod_that_nobody_could_start),
      ENGINE_TEST(nodes_whose_pods_never_register_are_their_nodesets_fault),
      ENGINE_TEST(an_excuse_is_for_one_attempt),
      ENGINE_TEST(refused_until_an_administrator_mends_the_role),
      ENGINE_TEST(an_expired_token_is_waited_out),
      ENGINE_TEST(a_delete_whose_answer_was_lost),
      ENGINE_TEST(a_delete_whose_answer_was_lost_while_the_pod_ends),
      ENGINE_TEST(a_create_whose_answer_was_lost_and_the_watch_is_away),
      ENGINE_TEST(a_look_that_fails_after_a_conflict),
      ENGINE_TEST(a_deletion_that_the_watch_never_tells),
      ENGINE_TEST(a_pod_that_went_before_the_watch_showed_it),
      ENGINE_TEST(a_watch_that_is_cut_before_an_event_is_through),
      ENGINE_TEST(throttling_makes_everything_wait),
      ENGINE_TEST(a_pod_of_somebody_else_has_the_name),
      ENGINE_TEST(a_pod_with_copied_labels_is_nobodys),
      ENGINE_TEST(a_pod_that_goes_in_time_is_no_trouble),
      ENGINE_TEST(a_pod_that_does_not_go_drains_its_node),
      ENGINE_TEST(a_pod_that_goes_before_suspend_timeout_frees_its_drained_node),
      ENGINE_TEST(a_job_on_a_node_whose_pod_does_not_go_is_requeued_in_seconds),
      ENGINE_TEST(what_a_former_pod_keeps_waiting_is_told),
      ENGINE_TEST(a_drain_that_somebody_took_back_comes_again_while_the_pod_is_there),
      ENGINE_TEST(a_running_job_outlives_a_silent_kubelet),
      ENGINE_TEST(a_watch_that_does_not_tell_of_the_end_drains_nothing),
      ENGINE_TEST(a_restart_knows_nodes_whose_pods_did_not_go),
      ENGINE_TEST(a_mass_of_pods_that_do_not_go_is_told_in_few_calls),
      ENGINE_TEST(a_node_that_resume_timeout_gave_up_serves_again_whatever_reason_it_had),
      ENGINE_TEST(a_silent_node_is_no_failed_power_up),
      ENGINE_TEST(an_api_server_that_stays_away_is_asked_less_and_less_often),
      ENGINE_TEST(a_program_deletes_the_pod_that_was_to_go),
      ENGINE_TEST(a_program_leaves_the_pod_of_a_later_resume_alone),
      ENGINE_TEST(a_program_that_comes_late_deletes_no_pod_of_a_node_that_was_resumed),
      ENGINE_TEST(what_hindered_a_pod_may_be_over),
      ENGINE_TEST(a_suspend_that_suspend_timeout_has_ended),
      ENGINE_TEST(the_scheduler_looks_when_nodes_are_down),
      ENGINE_TEST(slurmctld_is_woken_when_it_has_answered),
      ENGINE_TEST(control_messages),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
