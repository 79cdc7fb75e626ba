// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/bridge: pods, jobs and nodes together, between a fake API server and a fake slurmctld.
#include "bridge/bridge.hpp"

#include <algorithm>
#include <deque>
#include <string>

#include "base/strings.hpp"
#include "bridge/names.hpp"
#include "control/control.hpp"
#include "nodeset/names.hpp"
#include "support/cmocka.hpp"
#include "support/fake_allocations.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"
#include "support/temporary_folder.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

/** Calls wait for turn(): what follows is never heard within a call. */
class FakeCaller final : public AllocationCaller {
 public:
  explicit FakeCaller(Allocations& slurm) : slurm_(slurm) {}
  void call(Work work) override {
    waiting_.push_back(std::move(work));
    most = std::max(most, waiting_.size());
  }
  void turn() {
    if (waiting_.empty()) return;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    work(slurm_)();
  }
  std::size_t most = 0;  ///< calls that waited at a time

 private:
  Allocations& slurm_;
  std::deque<Work> waiting_;
};

std::vector<IdentityRule> rules() {
  IdentityRule rule;
  rule.name_space = "a";
  rule.uid = rule.gid = 2001;
  return {rule};
}

struct Fixture {
  kube::FakeClient client;
  FakeAllocations slurm;
  FakeCaller caller{slurm};
  FakeClock clock;
  AdminState admin{clock};
  std::unique_ptr<EventLoop> loop = std::move(EventLoop::open({std::shared_ptr<void>(), &clock})).value();
  Fence fence{[] { return true; }};
  FencedKubeWriter kube_writer{client, fence};
  const TemporaryFolder folder;
  std::string socket;  ///< of the engine; empty: none
  std::unique_ptr<Bridge> bridge;

  explicit Fixture(bool has_engine = false) : socket(has_engine ? folder.path() + "/engine.sock" : "") {
    for (const char* node : {"c-0", "c-1"}) put_node(node, std::string("m") + node[2]);
    for (const char* node : {"m0", "m1"}) put_kube_node(node, node);
    restart();
  }
  /** As a new process would. */
  void restart() {
    bridge.reset();
    bridge = std::make_unique<Bridge>(BridgeParts{*loop, client, kube_writer, caller, admin},
                                      BridgeOptions{"slurm", kBridgeScheduler, rules(), "1.2.3", socket});
    bridge->start();
  }
  void put_node(const std::string& node, const std::string& kube_node) {
    Json metadata = Json::object().set("name", node).set("labels", Json::object().set(kLabelNode, node));
    client.put(kube::kPods, "slurm",
               Json::object().set("metadata", metadata).set("spec", Json::object().set("nodeName", kube_node)));
  }
  void put_kube_node(const std::string& name, const std::string& rack) {
    const Json labels = Json::object().set("rack", rack);
    client.put(kube::kNodes, "",
               Json::object().set("metadata", Json::object().set("name", name).set("labels", labels)));
  }
  void put_pod(const char* name, const char* more = "", const char* spec = "") {
    client.put(kube::kPods, "a",
               *Json::parse(format(R"({"metadata": {"namespace": "a", "name": "%s"%s}, "spec": {"schedulerName":
                                      "slurm-k8s-bridge", %s
                                      "containers": [{"resources": {"requests": {"cpu": "1"}}}]}})",
                                   name, more, spec)));
  }
  void end_pod(const char* name, const char* phase, int code = 0) {
    Json pod = client.find(kube::kPods, "a", name);
    pod.set("status", *Json::parse(format(R"({"phase": "%s", "containerStatuses":
                                             [{"state": {"terminated": {"exitCode": %d}}}]})",
                                          phase, code)));
    client.put(kube::kPods, "a", pod);
  }
  void run_for(milliseconds time = milliseconds(1500)) {
    constexpr milliseconds kStep{20};
    for (const TimePoint end = clock.now() + time; clock.now() < end; clock.advance(kStep)) {
      client.deliver();
      caller.turn();
      loop->turn(milliseconds(0));
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
  std::string events(const char* reason) const {
    std::string text;
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

void a_pod_says_its_place_in_the_queue(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.slurm.wait_for(1, "Resources");
  f.run_for();
  f.slurm.jobs.at(1).position = 3;
  f.slurm.touch();
  f.run_for(seconds(15));  // the API server isn't told of each step
  assert_text(f.condition("p", "PodScheduled"), "SlurmPending: Slurm job 1: Resources; position 3");
}

void other_calls_wait_for_few_submissions(void**) {
  Fixture f;
  for (int i = 0; i < 30; ++i) f.put_pod(("p" + std::to_string(i)).c_str());
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.submits, 30);
  assert_true(f.caller.most <= 6);  // four submissions, a list, and an end
}

/** The engine in slurmctld, on the bridge's own loop. */
struct Engine {
  Fixture& f;
  PodJobs jobs;  ///< as the bridge last said
  std::uint64_t messages = 0;
  ControlServer::Id bridge = 0;
  std::unique_ptr<ControlServer> server;

  explicit Engine(Fixture& fixture) : f(fixture) {
    const auto handle = [this](const Json& message, ControlServer::Id connection) {
      jobs = *decode_pod_jobs(message);
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
  void run_for(milliseconds time) {
    for (const TimePoint end = f.clock.now() + time; f.clock.now() < end;) {
      f.run_for(milliseconds(100));
      if (bridge != 0) report();
    }
  }
};

void no_pod_is_bound_before_slurmctld_knows_where(void**) {
  Fixture f(true);
  f.put_pod("p");
  f.run_for();
  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "");
  assert_contains(f.condition("p", "PodScheduled"), "waits for the engine in slurmctld");
  Engine engine(f);
  f.run_for();
  assert_true(engine.jobs == (PodJobs{{1, "c-1"}}));
  assert_text(f.kube_node("p"), "");
  engine.report();
  f.run_for(milliseconds(100));
  assert_text(f.kube_node("p"), "m1");
}

void slurmctld_knows_where_pods_still_end(void**) {
  Fixture f(true);
  Engine engine(f);
  f.put_pod("p");
  engine.run_for(seconds(1));
  f.slurm.start(1, {{"c-1", 1}});
  engine.run_for(seconds(1));
  f.slurm.end(1, "TIMEOUT");
  engine.run_for(seconds(2));
  assert_true(engine.jobs == (PodJobs{{1, "c-1"}}));
  f.client.erase(kube::kPods, "a", "p");
  engine.run_for(seconds(1));
  assert_true(engine.jobs.empty());
}

// A list is all jobs of all users.
void an_engine_saves_lists(void**) {
  Fixture f(true);
  Engine engine(f);
  f.put_pod("p");
  engine.run_for(seconds(2));
  const int before = f.slurm.loads;
  for (int i = 0; i < 10; ++i) {
    f.slurm.wait_for(1, i % 2 ? "Priority" : "Resources");
    engine.run_for(seconds(1));
    assert_text(f.condition("p", "PodScheduled"),
                std::string("SlurmPending: Slurm job 1: ") + (i % 2 ? "Priority" : "Resources"));
  }
  assert_int_equal(f.slurm.loads, before);
  const int singles = f.slurm.single_loads;
  f.run_for(seconds(10));
  assert_in_range(f.slurm.single_loads - singles, 10, 25);  // two a second
  f.slurm.start(1, {{"c-1", 1}});
  engine.run_for(milliseconds(300));
  assert_text(f.kube_node("p"), "m1");
  engine.run_for(seconds(30));
  assert_int_equal(f.slurm.loads, before + 1);
}

void a_pod_runs_on_the_node_of_its_job(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  assert_text(f.calls(), "submit p");
  const AllocationRequest& request = f.slurm.requests.at(1);
  assert_int_equal(request.user, 2001);
  assert_contains(request.comment, "k8s:a/Pod/p:");
  f.slurm.wait_for(1, "Resources");
  f.run_for();
  assert_text(f.condition("p", "PodScheduled"), "SlurmPending: Slurm job 1: Resources");
  assert_text(f.kube_node("p"), "");

  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");
  assert_text(f.annotation("p", kAnnotationJob), "1");
  assert_text(f.annotation("p", kAnnotationRank), "0");
  assert_text(f.annotation("p", kAnnotationKubeNodes), "m1");
  assert_int_equal(f.bindings(), 1);
  assert_contains(f.events("Scheduled"), "a/p is bound to m1: Slurm job 1");

  f.end_pod("p", "Failed", 3);
  f.run_for();
  assert_text(f.calls(), "submit p, complete 1 768");
  f.run_for(seconds(20));
  assert_text(f.calls(), "submit p, complete 1 768");
}

constexpr const char* kMember = R"(, "labels": {"scheduling.x-k8s.io/pod-group": "g"})";
constexpr kube::Resource kPodGroups{"scheduling.x-k8s.io/v1alpha1", "podgroups"};

void put_group(Fixture& f, int members) {
  f.client.put(kPodGroups, "a",
               *Json::parse(format(R"({"metadata": {"namespace": "a", "name": "g", "annotations":
                                      {"slurmjob.slinky.slurm.net/job-name": "both"}}, "spec": {"minMember": %d}})",
                                   members)));
}

void a_pod_group_starts_together(void**) {
  Fixture f;
  f.put_pod("p1", kMember);
  f.run_for();
  assert_text(f.calls(), "");
  assert_contains(f.condition("p1", "PodScheduled"), "SlurmPending: a/PodGroup/g: ");
  put_group(f, 2);
  f.run_for(seconds(7));
  assert_text(f.calls(), "");
  f.put_pod("p2", kMember);
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit both");
  assert_int_equal(f.slurm.requests.at(1).tasks, 2);
  f.slurm.start(1, {{"c-1", 1}, {"c-0", 1}});
  f.run_for();
  assert_text(f.kube_node("p1") + f.kube_node("p2"), "m0m1");
  assert_text(f.annotation("p2", kAnnotationRank), "1");
  assert_text(f.annotation("p2", kAnnotationKubeNodes), "m0,m1");
  f.end_pod("p1", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit both");
  f.end_pod("p2", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit both, complete 1 0");
}

void a_pod_goes_with_its_job(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  f.put_pod("next");
  f.run_for();
  f.slurm.end(1, "TIMEOUT");
  f.slurm.start(2, {{"c-0", 1}});
  f.run_for();
  assert_text(f.condition("p", "DisruptionTarget"), "SlurmTimeout: Slurm job 1: TIMEOUT");
  assert_false(f.client.find(kube::kPods, "a", "p").at({"metadata", "deletionTimestamp"}).is_null());
  // Its processes still end there.
  assert_text(f.kube_node("next"), "");
  assert_contains(f.condition("next", "PodScheduled"), "Slurm job 2: waits for pods of earlier jobs");
  f.client.erase(kube::kPods, "a", "p");
  f.run_for();
  assert_text(f.kube_node("next"), "m0");
  assert_int_equal(f.client.count(Verb::remove), 1);
}

/** slurmctld lets it run for its GraceTime. */
void a_preempted_job_takes_its_pod_with_it(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  f.slurm.jobs.at(1).preempted = 1;
  f.slurm.touch();
  f.run_for();
  assert_text(f.condition("p", "DisruptionTarget"), "SlurmPreempted: Slurm job 1: PREEMPTED");
  f.client.erase(kube::kPods, "a", "p");
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.ends, 0);
}

void a_job_goes_with_its_pods(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.client.erase(kube::kPods, "a", "p");
  f.run_for();
  assert_text(f.calls(), "submit p, cancel 1");
  f.put_pod("q");
  f.run_for();
  f.slurm.start(2, {{"c-0", 1}});
  f.run_for();
  f.client.erase(kube::kPods, "a", "q");
  f.run_for();
  assert_text(f.calls(), "submit p, cancel 1, submit q, cancel 2");
}

void who_may_not_is_told(void**) {
  Fixture f;
  f.put_pod("p", R"(, "annotations": {"slurmjob.slinky.slurm.net/qos": "high"})");
  f.client.put(kube::kPods, "b", *Json::parse(R"({"metadata": {"namespace": "b", "name": "x"}, "spec": {"schedulerName":
                               "slurm-k8s-bridge", "containers": []}})"));
  f.run_for(seconds(3));
  assert_text(f.calls(), "");
  assert_contains(f.condition("p", "PodScheduled"), "SlurmPending: annotation qos: Forbidden");
  assert_contains(f.events("SlurmJobRefused"), "annotation qos: Forbidden");
  assert_int_equal(f.client.names(kube::kEvents, "b").size(), 1);
  // slurmctld's refusal is told, and tried again later.
  f.slurm.failures.push_back(Error(Errc::invalid, "slurm: Invalid account"));
  f.put_pod("q");
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit q");
  assert_text(f.condition("q", "PodScheduled"), "SlurmPending: slurm: Invalid account");
  f.run_for(seconds(60));
  assert_text(f.calls(), "submit q, submit q");
}

void a_lost_answer_makes_no_second_job(void**) {
  Fixture f;
  f.slurm.lost_answer = Error(Errc::timeout, "slurm: timed out");
  f.put_pod("p");
  f.run_for(seconds(10));
  assert_text(f.calls(), "submit p");
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m0");
}

void a_job_whose_id_another_one_has_ends_nothing(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.slurm.lose(1);
  f.put_pod("q");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for(seconds(60));
  assert_text(f.calls(), "submit p, submit q, submit p");
  assert_text(f.kube_node("q"), "m0");
  f.slurm.start(2, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");
  f.end_pod("p", "Succeeded");
  f.run_for();
  f.end_pod("q", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit p, submit q, submit p, complete 2 0, complete 1 0");
}

/** Within the moment between a look at the jobs and the call. */
void a_job_that_has_the_id_by_then_is_not_ended(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  f.slurm.jobs.at(1).submitted += 1;
  f.end_pod("p", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit p");
}

void without_a_list_nothing_is_submitted_again(void**) {
  Fixture f;
  f.run_for();
  f.slurm.lost_answer = Error(Errc::unavailable, "slurm: timed out");
  f.slurm.fail_loads = true;
  f.put_pod("p");
  f.run_for(milliseconds(60));
  for (int i = 0; i < 30; ++i) f.slurm.failures.push_back(Error(Errc::unavailable, "slurm: connection refused"));
  f.run_for(seconds(12));
  assert_int_equal(f.slurm.submits, 1);
  f.slurm.failures.clear();
  f.run_for(seconds(10));
  assert_text(f.calls(), "submit p");
}

void a_restart_changes_nothing(void**) {
  Fixture f;
  put_group(f, 2);
  f.put_pod("p1", kMember);
  f.put_pod("p2", kMember);
  f.put_pod("q");
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.submits, 2);
  f.restart();
  f.run_for(seconds(3));
  const std::uint32_t group = f.slurm.requests.at(1).tasks == 2 ? 1 : 2;
  f.slurm.start(group, {{"c-0", 1}, {"c-1", 1}});
  f.client.fail_next(Verb::create, Error(Errc::unavailable, "no"), 1);  // one of the two is bound
  f.run_for(milliseconds(100));
  f.restart();
  f.run_for(seconds(15));
  assert_text(f.kube_node("p1") + f.kube_node("p2"), "m0m1");
  assert_int_equal(f.slurm.submits, 2);
  assert_int_equal(f.slurm.ends, 0);
  f.end_pod("p1", "Succeeded");
  f.end_pod("p2", "Succeeded");
  f.restart();
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.ends, 1);
  assert_text(f.slurm.jobs.at(group).state_name, "COMPLETED");
}

void an_empty_slurmctld_deletes_nothing(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  f.slurm.forget(1);
  f.run_for(seconds(60));
  f.restart();
  f.run_for(seconds(60));
  assert_int_equal(f.client.count(Verb::remove), 0);
  assert_int_equal(f.slurm.submits, 1);
  assert_contains(f.events("SlurmJobUnknown"), "Slurm job 1 is unknown to slurmctld; the pod stays");
  assert_contains(f.admin.answer("/metrics").body, "slurm_k8s_bridge_jobs_unknown 1");
}

void a_forged_pod_ends_nobodys_job(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  // In another namespace, with the marks that the bridge itself writes.
  const std::string submitted = std::to_string(f.slurm.jobs.at(1).submitted);
  f.client.put(kube::kPods, "b",
               *Json::parse(format(R"({"metadata": {"namespace": "b", "name": "x", "annotations":
                                      {"slurm-k8s.io/job-id": "1", "slurm-k8s.io/job-submitted": "%s"}}, "spec":
                                      {"schedulerName": "slurm-k8s-bridge", "nodeName": "m0", "containers": []},
                                      "status": {"phase": "Failed"}})",
                                   submitted.c_str())));
  f.restart();
  f.run_for(seconds(30));
  assert_text(f.calls(), "submit p");
  f.end_pod("p", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit p, complete 1 0");
}

void a_changed_comment_hides_nothing(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  f.slurm.jobs.at(1).comment = "mine";
  f.slurm.end(1, "CANCELLED");
  f.run_for();
  assert_text(f.condition("p", "DisruptionTarget"), "SlurmCancelled: Slurm job 1: CANCELLED");
}

constexpr const char* kOnRack1 = R"("nodeSelector": {"rack": "m1"},)";

void a_selector_leaves_nodes(void**) {
  Fixture f;
  f.put_pod("p", "", kOnRack1);
  f.put_pod("q");
  f.run_for();
  assert_true(f.slurm.requests.at(1).only_nodes == std::vector<std::string>{"c-1"});
  assert_true(f.slurm.requests.at(2).only_nodes.empty());
  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");
}

void a_selector_without_a_node_is_told(void**) {
  Fixture f;
  f.put_pod("p", "", R"("nodeSelector": {"rack": "m7"},)");
  f.run_for();
  assert_int_equal(f.slurm.submits, 0);
  assert_contains(f.condition("p", "PodScheduled"), "no Slurm node that is up is on such a Kubernetes node");
  f.put_kube_node("m0", "m7");
  f.run_for(seconds(70));
  assert_true(f.slurm.requests.at(1).only_nodes == std::vector<std::string>{"c-0"});
}

/** A node that came up after the submission, on a Kubernetes node that does not fit. */
void a_node_that_does_not_fit_is_given_back(void**) {
  Fixture f;
  f.put_pod("p", "", kOnRack1);
  f.run_for();
  f.put_kube_node("m2", "m2");
  f.put_node("c-2", "m2");
  f.slurm.start(1, {{"c-2", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "");
  f.run_for(seconds(10));
  assert_text(f.calls(), "submit p, cancel 1, submit p");
  f.slurm.start(2, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");
}

/** Of kube-scheduler, with a gate until its job has nodes. */
void put_gated_pod(Fixture& f) {
  f.client.put(kube::kPods, "a", *Json::parse(R"({"metadata": {"namespace": "a", "name": "g", "labels":
    {"slurm-k8s.io/bridge": "slurm-k8s-bridge"}}, "spec": {"schedulerName": "default-scheduler", "schedulingGates":
    [{"name": "slurm-k8s.io/bridge"}], "containers": [{}]}})"));
}

void kube_scheduler_binds_a_pod_with_a_gate(void**) {
  Fixture f;
  put_gated_pod(f);
  f.run_for();
  f.slurm.wait_for(1, "Resources");
  f.run_for();
  assert_text(f.condition("g", "PodScheduled"), "");
  assert_contains(f.events("SlurmPending"), "Slurm job 1: Resources");
  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  const Json spec = f.client.find(kube::kPods, "a", "g")["spec"];
  assert_int_equal(spec["schedulingGates"].size(), 0);
  assert_text(spec["nodeSelector"].dump(), R"({"kubernetes.io/hostname":"m1"})");
  assert_text(f.annotation("g", kAnnotationJob), "1");
  assert_int_equal(f.bindings(), 0);
  f.restart();
  f.run_for(seconds(20));
  assert_int_equal(f.slurm.ends, 0);
  f.end_pod("g", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit g, complete 1 0");
}

void a_gate_that_is_gone_takes_the_job_with_it(void**) {
  Fixture f;
  put_gated_pod(f);
  f.run_for();
  Json pod = f.client.find(kube::kPods, "a", "g").clone();
  Json spec = pod["spec"].clone();
  spec.set("schedulingGates", Json::array());
  pod.set("spec", std::move(spec));
  f.client.put(kube::kPods, "a", pod);
  f.run_for();
  assert_text(f.calls(), "submit g, cancel 1");
}

void a_job_without_pods_is_cancelled(void**) {
  Fixture f;
  f.put_pod("p");
  f.run_for();
  f.client.erase(kube::kPods, "a", "p");
  f.restart();
  f.run_for(seconds(30));
  assert_text(f.calls(), "submit p, cancel 1");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_pod_runs_on_the_node_of_its_job),
      SLURMK8S_TEST(a_pod_says_its_place_in_the_queue),
      SLURMK8S_TEST(other_calls_wait_for_few_submissions),
      SLURMK8S_TEST(no_pod_is_bound_before_slurmctld_knows_where),
      SLURMK8S_TEST(slurmctld_knows_where_pods_still_end),
      SLURMK8S_TEST(an_engine_saves_lists),
      SLURMK8S_TEST(a_pod_group_starts_together),
      SLURMK8S_TEST(a_pod_goes_with_its_job),
      SLURMK8S_TEST(a_preempted_job_takes_its_pod_with_it),
      SLURMK8S_TEST(a_job_goes_with_its_pods),
      SLURMK8S_TEST(who_may_not_is_told),
      SLURMK8S_TEST(a_lost_answer_makes_no_second_job),
      SLURMK8S_TEST(a_job_whose_id_another_one_has_ends_nothing),
      SLURMK8S_TEST(a_job_that_has_the_id_by_then_is_not_ended),
      SLURMK8S_TEST(without_a_list_nothing_is_submitted_again),
      SLURMK8S_TEST(a_restart_changes_nothing),
      SLURMK8S_TEST(an_empty_slurmctld_deletes_nothing),
      SLURMK8S_TEST(a_forged_pod_ends_nobodys_job),
      SLURMK8S_TEST(a_changed_comment_hides_nothing),
      SLURMK8S_TEST(a_selector_leaves_nodes),
      SLURMK8S_TEST(a_selector_without_a_node_is_told),
      SLURMK8S_TEST(a_node_that_does_not_fit_is_given_back),
      SLURMK8S_TEST(kube_scheduler_binds_a_pod_with_a_gate),
      SLURMK8S_TEST(a_gate_that_is_gone_takes_the_job_with_it),
      SLURMK8S_TEST(a_job_without_pods_is_cancelled),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
