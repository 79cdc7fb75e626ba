// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's requests: pods and claims made and deleted, variants, programs that come late, the control socket.
#include "engine/worker.hpp"
#include "support/engine_world.hpp"

using namespace slurmk8s;

namespace {

void resume_and_suspend(void** state) {
  World& world = world_of(state);
  world.start();
  for (int i = 0; i < 2; ++i) world.resume("r1", {"compute-0", "compute-1", "compute-3"});  // the same request
  assert_text(world.pods(), "compute-[0-1,3]");
  assert_text(world.request_of("compute-3"), "r1");
  assert_int_equal(world.posts(), 3);
  for (const char* name : {"compute-0", "compute-1", "compute-7"}) {
    SlurmNode& node = world.slurm.node(name);
    node.base = SlurmNode::Base::idle;
    node.powering_up = node.not_responding = node.powered_down = false;
    node.powering_down = true;
  }
  world.slurm.node("compute-1").draining = true;  // by an administrator: resuming would take that back
  logged.clear();
  for (int i = 0; i < 2; ++i) world.engine->suspend({"compute-0", "compute-1", "compute-7"});
  assert_text(logged[0], "suspend: 3 nodes: compute-[0-1,7]");
  world.pass(std::chrono::seconds(1));
  assert_text(world.pods(), "compute-3");
  assert_int_equal(world.api.count(Verb::remove), 2);  // compute-7 had no pod
  assert_int_equal(world.api.count(Verb::get), 0);     // nor does any pod stay for longer than it may
  for (const FakeClient::Call& call : world.api.calls) {
    assert_true(call.verb != Verb::remove || !call.options.uid.empty());
  }
  assert_text(joined(world.slurm.calls), "resume compute-[0,7]");

  std::vector<std::string> scattered;
  for (int i = 0; i < 4000; i += 2) scattered.push_back("compute-" + std::to_string(i));
  world.engine->suspend(scattered);
  assert_contains(logged.back(), "suspend: 2000 nodes: compute-[0,2,");
  assert_true(logged.back().size() < 300);
}

constexpr const char* kClaims =
    R"(,"volumeClaimTemplates":[{"metadata":{"name":"scratch"},"spec":{"resources":{"requests":{"storage":"1Gi"}}}}])";

std::string uid_of_claim(World& world) {
  return std::string(
      world.api.find(kube::kVolumeClaims, kNamespace, "scratch-compute-0").at({"metadata", "uid"}).text());
}

void a_node_keeps_its_claim(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.resume("r1", {"compute-0"});
  assert_text(world.pods(), "compute-0");
  const std::string uid = uid_of_claim(world);
  world.registered("compute-0");
  world.suspend("compute-0");
  assert_text(world.pods(), "");
  world.resume("r2", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r2");
  assert_text(uid_of_claim(world), uid);
}

void pods_wait_for_their_claims(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.api.put(
      kube::kVolumeClaims, kNamespace,
      *Json::parse(R"({"metadata":{"name":"scratch-compute-0","deletionTimestamp":"2026-01-01T00:00:00Z"}})"));
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(2));
  assert_text(world.pods(), "");
  world.api.erase(kube::kVolumeClaims, kNamespace, "scratch-compute-0");
  world.pass(std::chrono::seconds(5));
  assert_text(world.pods(), "compute-0");

  world.ask_up("r2", {"compute-1"});
  world.engine->suspend({"compute-1"});  // while its claim is made
  world.settle();
  assert_int_equal(world.posts(), 1);
  assert_true(world.engine->settled({"compute-1"}));

  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota: storage"));
  world.resume("r3", {"compute-2"});
  assert_text(world.pods(), "compute-0");
  assert_contains(joined(world.slurm.calls), "pod: create: claim scratch-compute-2: exceeded quota: storage");
}

// plan_test says which pod of another request is replaced, and which one serves.
void older_pods_are_replaced_or_serve(void** state) {
  World& world = world_of(state);
  world.start();
  for (const char* name : {"compute-0", "compute-1"}) world.put_pod(name, "r0");
  world.settle();
  const std::string serves = world.uid_of("compute-1");
  world.ask_up("r1", {"compute-1"});
  world.slurm.node("compute-1").powered_down = false;
  world.registered("compute-1");
  world.slurm.fail_loads = true;
  world.slurm.failures.push_back(Error(Errc::timeout, "slurmctld: no answer"));
  world.slurm.failures.push_back(Error(Errc::timeout, "slurmctld: no answer"));
  world.resume("r1", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r0");
  world.pass(std::chrono::seconds(40));
  assert_text(world.request_of("compute-0"), "r1");
  assert_text(world.uid_of("compute-1"), serves);
  assert_int_equal(world.api.count(Verb::remove), 1);

  world.api.erase(kPods, kNamespace, "compute-1");  // it is this request's pod now: its loss is one
  world.pass(std::chrono::seconds(2));
  assert_contains(joined(world.slurm.calls), "down compute-1");

  world.api.end_watches(Status());
  world.put_pod("compute-2", "r0");
  world.resume("r2", {"compute-2"});  // 409, look, delete, create
  assert_text(world.request_of("compute-2"), "r2");
}

void a_reboot_recreates_the_pod(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.slurm.node("compute-0").base = SlurmNode::Base::idle;
  const std::string before = world.uid_of("compute-0");
  world.ask_up("r2", {"compute-0"});  // RebootProgram, called by hand: the node is up, and keeps its pod
  world.settle();
  assert_text(world.uid_of("compute-0"), before);

  world.slurm.node("compute-0").base = SlurmNode::Base::down;
  world.slurm.node("compute-0").reboot_issued = true;
  world.ask_up("r3", {"compute-0"});
  world.pass(std::chrono::seconds(2));
  assert_text(world.request_of("compute-0"), "r3");
  assert_true(world.uid_of("compute-0") != before);
  assert_int_equal(world.api.count(Verb::remove), 1);
}

void nodes_and_their_nodesets(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 1, R"(,"scalingMode":"DaemonSet")");
  world.start();
  world.put_nodeset("compute", 2);  // a scale-in: compute-7 had its job before
  world.resume("r1", {"gpu-m1--x", "compute-1", "compute-7", "stray-0", "login"});
  assert_text(world.pods(), "compute-[1,7],gpu-m1--x");
  const Json pod = world.api.find(kPods, kNamespace, "gpu-m1--x");
  assert_text(pod.at({"metadata", "labels", "slurm-k8s.io/nodeset"}).text(), "gpu");
  assert_contains(pod.at({"spec", "affinity"}).dump(), R"("values":["m1.x"])");
  assert_true(world.api.find(kPods, kNamespace, "compute-1").at({"spec", "affinity"}).is_null());
  world.pass(std::chrono::seconds(6));
  assert_int_equal(world.slurm.calls.size(), 2);
  const std::string calls = joined(world.slurm.calls);
  assert_contains(calls, "down stray-0 slurm-k8s: no nodeset in namespace slurm owns node stray-0");
  assert_contains(calls, "down login slurm-k8s: no nodeset in namespace slurm owns node login");
}

// A program that no longer waits for the engine, and does the work itself; it may come late.
void a_program_deletes_the_pods_that_are_to_go(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-1", "compute-2"}) world.put_pod(name, "r1");
  world.slurm.node("compute-0").powering_down = true;
  world.waited_for("compute-1");
  world.slurm.node("compute-2").powered_down = false;
  Engine::Parts parts{world.api, world.timers, world.clock, world.caller, world.options};
  parts.one_shot = true;
  world.engine = std::make_unique<Engine>(parts);
  world.engine->start();
  world.settle();
  world.engine->suspend({"compute-0", "compute-1", "compute-2"});
  world.pass(std::chrono::seconds(5));
  assert_text(world.pods(), "compute-[1-2]");
  assert_true(world.engine->settled({"compute-0", "compute-1", "compute-2"}));
}

// NodeSets with variants, and what a pod is told of its job.

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
  std::string records;
  world.publish = [&](const VariantCatalog* catalog) {
    if (catalog) records = catalog->encode()["records"].dump();
    published.push_back(catalog ? catalog->encode()["nodesets"].dump() : "none");
    return true;
  };
  world.put_nodeset("gpu", 4, R"(,"variants":[{"name":"v1","allowedUsers":["root"]}])");
  world.start();
  // Complete the first time, and once more with the uid of root.
  assert_int_equal(published.size(), 2);
  assert_text(published[0], R"({"compute":{"features":["compute"],"variants":{}},)"
                            R"("gpu":{"features":["gpu"],"variants":{"v1":{"users":["root"],"accounts":[]}}}})");
  for (const char* node : {"metal-0", "metal-1"}) world.slurm.node(node).features = "metal,ib";  // of no NodeSet
  world.pass(std::chrono::seconds(2));
  assert_text(records, R"(["metal,ib"])");
  assert_int_equal(published.size(), 3);
  world.put_nodeset("gpu", 5, R"(,"variants":[{"name":"v1","allowedUsers":["root"]}])");
  world.settle();
  assert_int_equal(published.size(), 3);
  world.put_nodeset("gpu", 5, R"(,"variants":3)");  // an older one's nodes are still there
  world.settle();
  assert_int_equal(published.size(), 3);
  world.put_nodeset("gpu", 5, "");
  world.settle();
  assert_int_equal(published.size(), 4);
  world.engine.reset();
  assert_text(published.back(), "none");
}

void users_of_variants_are_known_after_a_restart(void** state) {
  World& world = world_of(state);
  std::vector<std::string> published;
  world.publish = [&](const VariantCatalog* catalog) {
    if (catalog) published.push_back(catalog->encode()["uids"].dump());
    return true;
  };
  world.former_ids = [] { return std::map<std::string, std::uint32_t>{{"alice", 1001}}; };
  world.put_nodeset("gpu", 4, R"(,"variants":[{"name":"v1","allowedUsers":["alice"]}])");
  world.start();
  assert_text(joined(published), R"({"alice":1001})");
}

/** The value of a metric in the answer to {"op":"status"}. */
Json metric(const Json& status, std::string_view name) {
  Json value;
  status["metrics"].each([&](const Json& one) {
    if (one["name"].text() == name) value = one["value"];
  });
  return value;
}

/** How many times a step of power-ups has taken: by the bucket of "seconds", and in all. */
struct Times {
  std::int64_t in_bucket = 0, all = 0;
};

Times times_of(World& world, const char* step, double seconds) {
  PodJobsFeed feed({}, {});
  const Json message = Json::object().set("op", "status");
  const Json status = handle_control({*world.engine, {}, feed, message});
  const Json histogram = metric(status, "slurm_k8s_engine_resume_seconds")[step];
  Times times;
  std::size_t bucket = 0;
  while (bucket < histogram["bounds"].size() && seconds > histogram["bounds"][bucket].number_or(0)) ++bucket;
  times.in_bucket = histogram["counts"][bucket].integer_or(-1);
  histogram["counts"].each([&](const Json& count) { times.all += count.integer_or(0); });
  return times;
}

void steps_of_power_ups_are_timed(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-7", "r0");  // from before the start: nobody knows when it was asked for
  world.waited_for("compute-7");
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 1);
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(3));  // the second try has gone well
  world.hinder("compute-0", kCreating);
  Json pod = world.api.find(kPods, kNamespace, "compute-0").clone();
  Json spec = pod["spec"];
  world.api.put(kPods, kNamespace, pod.set("spec", spec.set("nodeName", "m1")));
  world.pass(std::chrono::seconds(4));
  for (int i = 0; i < 2; ++i) world.hinder("compute-0", R"({"phase":"Running"})");  // once, however often it is shown
  world.settle();
  const Times accepted = times_of(world, "accepted", 0.2), scheduled = times_of(world, "scheduled", 3),
              running = times_of(world, "running", 7);
  assert_int_equal(accepted.all, 1);
  assert_int_equal(scheduled.in_bucket, 1);
  assert_int_equal(scheduled.all, 1);
  assert_int_equal(running.in_bucket, 1);
  assert_int_equal(running.all, 1);
}

void control_messages(void** state) {
  World& world = world_of(state);
  world.caller.late = true;
  world.start();
  int woken = 0;
  Worker::Host host;
  PodJobsFeed feed([](const PodJobsChange& change) { return change.jobs.size(); }, {});
  const auto answer = [&](const char* text) {
    const Json message = *Json::parse(text);
    return handle_control({*world.engine, host, feed, message, 7});
  };
  const auto wake = [&] { return answer(R"({"op":"wake"})")["ok"].boolean_or(false) ? woken : -1; };
  assert_int_equal(wake(), 0);  // a slurmctld that can't be woken
  host.wake_power_save = [&] { ++woken; };
  assert_int_equal(wake(), 0);  // it has just started, and may not have read its configuration yet
  world.caller.arrive();
  world.settle();
  assert_int_equal(wake(), 1);
  assert_true(answer(R"({"op":"resume","id":"r1","nodes":"compute-[0-1]"})")["ok"].boolean_or(false));
  world.settle();
  assert_text(world.pods(), "compute-[0-1]");
  const Json status = answer(R"({"op":"status"})");
  assert_true(status["ready"].boolean_or(false));
  assert_int_equal(metric(status, "slurm_k8s_engine_pods")["pending"].integer_or(-1), 2);
  assert_int_equal(metric(status, "slurm_k8s_engine_pods_created_total").integer_or(-1), 2);
  assert_text(answer(R"({"op":"reboot"})")["error"].text(),
              "op: Unsupported value: \"reboot\": supported values: \"resume\", \"suspend\", \"wake\", \"status\", "
              "\"pod_jobs\"");
  assert_true(answer(R"({"op":"pod_jobs","all":true,"jobs":{"12":""}})")["ok"].boolean_or(false));
  assert_true(feed.is_bridge(7));
  assert_contains(answer(R"({"op":"pod_jobs"})")["error"].text(), "jobs: must be an object");
  assert_contains(answer(R"({"op":"wakeup"})")["error"].text(), "op: Unsupported value: \"wakeup\"");
  assert_contains(answer("[]")["error"].text(), "op: Unsupported value: \"\"");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(resume_and_suspend),
      ENGINE_TEST(a_node_keeps_its_claim),
      ENGINE_TEST(pods_wait_for_their_claims),
      ENGINE_TEST(older_pods_are_replaced_or_serve),
      ENGINE_TEST(a_reboot_recreates_the_pod),
      ENGINE_TEST(nodes_and_their_nodesets),
      ENGINE_TEST(a_program_deletes_the_pods_that_are_to_go),
      ENGINE_TEST(a_job_chooses_its_pod),
      ENGINE_TEST(no_pod_is_made_before_its_variant_is_known),
      ENGINE_TEST(a_pod_tells_of_its_job),
      ENGINE_TEST(plugins_are_told_of_variants),
      ENGINE_TEST(users_of_variants_are_known_after_a_restart),
      ENGINE_TEST(steps_of_power_ups_are_timed),
      ENGINE_TEST(control_messages),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
