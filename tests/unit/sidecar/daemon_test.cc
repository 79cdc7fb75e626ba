// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/daemon: the parts together, between a fake API server and a fake slurmctld; metrics.
#include "sidecar/daemon.hpp"

#include <algorithm>
#include <set>

#include "base/strings.hpp"
#include "nodeset/names.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Fixture {
  explicit Fixture(bool kube_nodes = false) : watch_kube_nodes(kube_nodes) {}
  const bool watch_kube_nodes;
  kube::FakeClient client;
  FakeSlurm slurm;
  FakeClock clock;
  AdminState admin{clock};
  std::unique_ptr<EventLoop> loop = std::move(EventLoop::open({std::shared_ptr<void>(), &clock})).value();
  Fence fence{[] { return true; }};
  FencedKubeWriter kube_writer{client, fence};
  FencedSlurmWriter slurm_writer{slurm, fence};
  Daemon daemon{{*loop, client, kube_writer, slurm, slurm_writer, admin, watch_kube_nodes, "bridge"}, "slurm", "1.2.3"};
  std::int64_t generation = 0;

  void put(const char* name, int replicas, const char* mode = "OnDemand") {
    const auto object = Json::parse(format(
        R"({"metadata":{"namespace":"slurm","name":"%s","generation":%lld},"spec":{"replicas":%d,"scalingMode":"%s",)"
        R"("slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi"}}}}})",
        name, static_cast<long long>(++generation), replicas, mode));
    Json whole = object->clone();
    const Json status = client.find(kube::kNodeSets, "slurm", name)["status"];
    if (!status.is_null()) whole.set("status", status);
    client.put(kube::kNodeSets, "slurm", whole);
  }
  /** Time passes only when nothing is left to do. */
  void turn() {
    constexpr milliseconds kStep{100};
    if (client.deliver() == 0) clock.advance(std::min(kStep, loop->timers().until_next().value_or(kStep)));
    loop->turn(milliseconds(0));
    admin.turned();
  }
  void run_for(milliseconds time) {
    const TimePoint end = clock.now() + time;
    while (clock.now() < end) turn();
  }
  void put_pod(const char* name, const char* kube_node) {
    Json metadata = Json::object().set("name", name).set("labels", Json::object().set("slurm-k8s.io/node", name));
    client.put(kube::kPods, "slurm",
               Json::object().set("metadata", metadata).set("spec", Json::object().set("nodeName", kube_node)));
  }
  /** With 4 CPUs and 1000 MiB for pods. */
  void put_kube_node(const char* name, bool cordoned, const char* ready = "True") {
    const Json allocatable = Json::object().set("cpu", "4").set("memory", "1000Mi");
    Json condition = Json::object().set("type", "Ready").set("status", ready);
    client.put(
        kube::kNodes, "",
        Json::object()
            .set("metadata", Json::object().set("name", name))
            .set("spec", Json::object().set("unschedulable", Json::boolean(cordoned)))
            .set("status",
                 Json::object().set("conditions", Json::array().push(condition)).set("allocatable", allocatable)));
  }
  /** A pod that Slurm does not count, with a request for one CPU. */
  void put_other_pod(const char* name, const char* phase = "Running", const char* kube_node = "m1") {
    client.put(kube::kPods, "x",
               *Json::parse(
                   format(R"({"metadata":{"name":"%s"},"spec":{"nodeName":"%s","containers":[{"resources":{"requests":)"
                          R"({"cpu":1}}}]},"status":{"phase":"%s"}})",
                          name, kube_node, phase)));
  }
  /** The claim of a node of NodeSet c, as the engine makes it. */
  void put_claim(const std::string& node) {
    Json labels = Json::object().set("app.kubernetes.io/managed-by", "slurm-k8s");
    labels.set(kLabelNode, node).set(kLabelNodeSet, "c");
    const Json metadata = Json::object().set("name", "scratch-" + node).set("labels", labels);
    client.put(kube::kVolumeClaims, "slurm", Json::object().set("metadata", metadata));
  }
  std::string claims() const {
    std::string all;
    for (const std::string& name : client.names(kube::kVolumeClaims, "slurm")) all += name + " ";
    return all;
  }
  /** "False Unreadable: forbidden" of the condition KubernetesNodesWatched. */
  std::string kube_nodes_watched(const char* name) const { return condition(name, "KubernetesNodesWatched"); }
  std::string condition(const char* name, std::string_view type) const {
    std::string text;
    status(name)["conditions"].each([&](const Json& condition) {
      if (condition["type"].text() != type) return;
      text.append(condition["status"].text()).append(" ").append(condition["reason"].text());
      text.append(": ").append(condition["message"].text());
    });
    return text;
  }
  /** "c NodesCreated c-[0-7] (8)" of each, in alphabetical order. */
  std::string events() const {
    std::set<std::string> lines;
    for (const std::string& name : client.names(kube::kEvents, "slurm")) {
      const Json event = client.find(kube::kEvents, "slurm", name);
      lines.insert(std::string(event.at({"regarding", "name"}).text()) + " " + std::string(event["reason"].text()) +
                   " " + std::string(event["note"].text()) + "\n");
    }
    std::string all;
    for (const std::string& line : lines) all += line;
    return all;
  }
  Json status(const char* name) const { return client.find(kube::kNodeSets, "slurm", name)["status"]; }
  std::size_t patches(std::string_view plural) const {
    return static_cast<std::size_t>(std::count_if(client.calls.begin(), client.calls.end(), [&](const auto& call) {
      return call.verb == Verb::patch && call.plural == plural;
    }));
  }
};

void follows_the_api(void**) {
  Fixture f;
  f.slurm.node("old-0").features = "old";
  f.put("c", 8);
  f.daemon.start();
  assert_int_equal(f.admin.answer("/readyz").status, 503);
  f.run_for(milliseconds(500));
  assert_text(f.slurm.names(), "c-[0-7]");
  assert_int_equal(f.admin.answer("/readyz").status, 200);
  assert_int_equal(f.status("c")["replicas"].integer_or(0), 8);

  f.put("c", 3);
  f.put("d", 1);
  f.run_for(seconds(3));
  assert_text(f.slurm.names(), "c-[0-2],d-0");
  assert_text(f.events(), "c NodesCreated c-[0-7] (8)\nc NodesRemoved c-[3-7] (5)\nd NodesCreated d-0 (1)\n");
  assert_int_equal(f.status("c")["replicas"].integer_or(0), 3);
  assert_text(f.status("d")["conditions"][0]["status"].text(), "True");

  f.client.erase(kube::kNodeSets, "slurm", "c");
  f.run_for(seconds(3));
  assert_text(f.slurm.names(), "d-0");

  // A state that only Slurm knows shows within a second or two.
  f.slurm.node("d-0").powered_down = false;
  f.run_for(milliseconds(2500));
  assert_int_equal(f.status("d")["poweredUp"].integer_or(0), 1);
}

void tells_of_pauses_that_the_api_server_asks_for(void**) {
  Fixture f;
  f.put("c", 1);
  f.daemon.start();
  f.run_for(seconds(1));
  assert_contains(f.condition("c", "Throttled"), "False NotThrottled");
  f.client.fail_next(Verb::patch, Error(Errc::throttled, "slow down", seconds(600)));
  f.put("c", 2);
  f.run_for(seconds(55));
  assert_int_equal(f.status("c")["replicas"].integer_or(0), 1);
  f.run_for(seconds(10));
  assert_int_equal(f.status("c")["replicas"].integer_or(0), 2);
  assert_contains(f.condition("c", "Throttled"), "True TooManyRequests: the API server asked for a pause of 600 s");
  f.run_for(std::chrono::minutes(6));
  assert_contains(f.condition("c", "Throttled"), "False NotThrottled");
}

void waits_for_nodesets_and_pods(void**) {
  Fixture f;
  f.client.fail_next(Verb::list, Error(Errc::forbidden, "pods is forbidden"));
  f.put("c", 1);
  f.daemon.start();
  f.run_for(milliseconds(100));
  assert_int_equal(f.slurm.size(), 0);
  f.run_for(seconds(2));
  assert_text(f.slurm.names(), "c-0");
}

// A scale-in looks at the pods, and the end of a pod is acted upon before the next second.
void follows_pods(void**) {
  Fixture f;
  const auto put_pod = [&](const char* name, const char* cost) {
    Json annotations = Json::object().set("controller.kubernetes.io/pod-deletion-cost", cost);
    Json metadata = Json::object().set("name", name).set("annotations", annotations);
    metadata.set("labels", Json::object().set("slurm-k8s.io/node", name));
    f.client.put(kube::kPods, "slurm", Json::object().set("metadata", metadata));
  };
  f.put("c", 2);
  f.daemon.start();
  f.run_for(milliseconds(200));
  f.slurm.node("c-0").powered_down = f.slurm.node("c-1").powered_down = false;
  put_pod("c-0", "1");
  put_pod("c-1", "2");
  f.run_for(seconds(2));
  f.put("c", 1);
  f.run_for(milliseconds(100));
  assert_true(f.slurm.node("c-0").power_down_asked);
  f.slurm.pass_time();
  f.run_for(milliseconds(1100));
  assert_true(f.slurm.node("c-0").draining);
  f.client.erase(kube::kPods, "slurm", "c-0");
  f.run_for(milliseconds(200));
  assert_text(f.slurm.names(), "c-1");
}

void follows_kube_nodes(void**) {
  Fixture f(true);
  f.put("c", 2);
  f.put_kube_node("m", false);
  f.put_kube_node("other", false);
  f.daemon.start();
  f.run_for(milliseconds(200));
  f.slurm.node("c-0").powered_down = f.slurm.node("c-1").powered_down = false;
  f.slurm.node("c-0").base = SlurmNode::Base::allocated;
  f.put_pod("c-0", "m");
  f.put_pod("c-1", "other");
  f.run_for(seconds(2));
  f.put_kube_node("m", true);
  f.run_for(milliseconds(300));
  assert_text(f.slurm.node("c-0").reason, "slurm-k8s: kubernetes node m is cordoned");
  assert_false(f.slurm.node("c-1").draining);
  f.put_kube_node("m", false);
  f.run_for(milliseconds(300));
  assert_false(f.slurm.node("c-0").draining);
  f.client.erase(kube::kNodes, "", "other");
  f.run_for(milliseconds(300));
  assert_text(f.slurm.node("c-1").reason, "slurm-k8s: kubernetes node other is gone");
  f.run_for(seconds(2));
  assert_text(f.kube_nodes_watched("c"), "True Watched: cordons, taints and failures of Kubernetes nodes are followed");
}

constexpr const char* kPinned = "OnDemand\",\"pinToNode\":true,\"memoryReserve\":\"64Mi";

void nodes_are_pinned_to_their_kube_nodes(void**) {
  Fixture f(true);
  f.put("c", 2, kPinned);
  f.daemon.start();
  f.put_kube_node("m", false);
  f.run_for(seconds(2));
  f.put_pod("c-1", "m");
  f.run_for(seconds(2));
  assert_text(f.status("c")["ordinalToNode"].dump(), R"({"1":"m"})");
  f.client.erase(kube::kPods, "slurm", "c-1");
  f.run_for(seconds(3));
  assert_text(f.status("c")["ordinalToNode"].dump(), R"({"1":"m"})");
  f.client.erase(kube::kNodes, "", "m");
  f.run_for(seconds(3));
  assert_false(f.status("c").has("ordinalToNode"));
}

void pins_outlive_the_sidecar(void**) {
  Fixture f(true);
  f.put("c", 2, kPinned);
  Json before = f.client.find(kube::kNodeSets, "slurm", "c").clone();
  before.set("status", *Json::parse(R"({"ordinalToNode":{"1":"m"}})"));
  f.client.put(kube::kNodeSets, "slurm", before);
  f.put_kube_node("m", false);
  f.daemon.start();
  f.run_for(seconds(3));
  assert_int_equal(f.status("c")["replicas"].integer_or(0), 2);
  assert_text(f.status("c")["ordinalToNode"].dump(), R"({"1":"m"})");
}

// A Kubernetes node that isn't known is not one that is gone, and the rest goes on.
void kube_nodes_that_cannot_be_read_decide_nothing(void**) {
  Fixture f(true);
  f.client.unlistable = "nodes";
  f.put("c", 1);
  f.daemon.start();
  f.run_for(milliseconds(300));
  f.slurm.node("c-0").powered_down = false;
  f.put_pod("c-0", "m");
  f.run_for(seconds(3));
  assert_false(f.slurm.node("c-0").draining);
  assert_text(f.kube_nodes_watched("c").substr(0, 16), "False Unreadable");
  assert_contains(f.kube_nodes_watched("c"), "nodes is forbidden");
}

void kube_nodes_are_not_asked_for(void**) {
  Fixture f;
  f.put("c", 1);
  f.daemon.start();
  f.run_for(seconds(2));
  assert_text(f.kube_nodes_watched("c"), "False NotAsked: slurm-k8s.conf has no WatchKubernetesNodes=yes");
}

constexpr const char* kNoLimits = R"({"metadata":{"namespace":"slurm","name":"ex","generation":1},"spec":{"slurmd":{},
    "scalingMode":"External"}})";

// The pods of all namespaces are watched while a NodeSet has external nodes.
void external_nodes_have_what_other_pods_leave(void**) {
  Fixture f(true);
  f.put_kube_node("m1", false);
  f.put_other_pod("a");
  f.put_other_pod("pending", "Pending", "");
  f.put_other_pod("ended", "Succeeded");
  f.put("c", 0);
  f.daemon.start();
  f.run_for(seconds(3));
  const std::size_t watches = f.client.open_watches();
  f.client.put(kube::kNodeSets, "slurm", *Json::parse(kNoLimits));
  f.run_for(seconds(5));
  assert_int_equal(f.client.open_watches(), watches + 1);
  assert_text(f.slurm.names(), "ex-m1");
  assert_int_equal(f.slurm.node("ex-m1").cpus, 3);
  assert_int_equal(f.slurm.node("ex-m1").real_memory_mib, 936);
  f.put_other_pod("b");
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.node("ex-m1").cpus, 2);
  f.put_other_pod("b", "Failed");
  f.run_for(seconds(50));
  assert_int_equal(f.slurm.node("ex-m1").cpus, 2);
  f.run_for(seconds(15));
  assert_int_equal(f.slurm.node("ex-m1").cpus, 3);

  f.client.erase(kube::kNodeSets, "slurm", "ex");
  f.run_for(seconds(5));
  assert_text(f.slurm.names(), "");
  assert_int_equal(f.client.open_watches(), watches);
}

void pods_of_all_namespaces_may_be_forbidden(void**) {
  Fixture f(true);
  f.put_kube_node("m1", false);
  f.daemon.start();
  f.run_for(seconds(1));
  f.client.fail_next(Verb::list, Error(Errc::forbidden, "pods is forbidden"), 5);
  f.client.put(kube::kNodeSets, "slurm", *Json::parse(kNoLimits));
  f.run_for(seconds(3));
  assert_text(f.slurm.names(), "");
  assert_contains(f.condition("ex", "Ready"), "False PodsUnknown");
  assert_contains(f.condition("ex", "Ready"), "must be able to list and watch: list: pods is forbidden");
  f.run_for(seconds(120));
  assert_text(f.slurm.names(), "ex-m1");
  assert_contains(f.condition("ex", "Ready"), "True NodesMatch");
}

/** A scalingMode, with claims that a scale-in deletes. */
std::string with_claims(const char* mode) {
  return std::string(mode) + R"(","volumeClaimTemplates":[{"metadata":{"name":"scratch"},"spec":{}}],)" +
         R"("persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"},"memoryReserve":"64Mi)";
}

void claims_outlive_an_outage_of_their_kube_node(void**) {
  Fixture f(true);
  f.put("c", 1, with_claims("DaemonSet").c_str());
  f.put_kube_node("m1", false);
  f.put_kube_node("m2", false);
  f.put_claim("c-m1");
  f.daemon.start();
  f.run_for(seconds(3));
  f.slurm.power_up_asked();
  f.run_for(seconds(3));
  f.put_kube_node("m1", false, "Unknown");
  f.run_for(seconds(3));
  assert_true(f.slurm.node("c-m1").draining);
  f.slurm.node("c-m1").powered_down = true;  // after SlurmdTimeout
  f.run_for(seconds(10));
  assert_text(f.slurm.names(), "c-m2");
  assert_text(f.status("c")["conditions"][0]["reason"].text(), "NodesMatch");
  assert_text(f.claims(), "scratch-c-m1 ");
  f.put_kube_node("m1", false);
  f.run_for(seconds(3));
  assert_text(f.slurm.names(), "c-m[1-2]");
  f.slurm.power_up_asked();
  f.run_for(seconds(3));
  f.client.erase(kube::kNodes, "", "m1");
  for (int i = 0; i < 5; i++) f.slurm.pass_time(), f.run_for(seconds(3));
  assert_text(f.slurm.names(), "c-m2");
  assert_text(f.claims(), "");
}

// The records that are made for those that others deleted have the lowest free numbers.
void claims_outlive_records_that_others_delete(void**) {
  Fixture f;
  f.put("c", 3, with_claims("OnDemand").c_str());
  f.daemon.start();
  f.run_for(seconds(3));
  for (const char* node : {"c-0", "c-1", "c-2"}) f.put_claim(node);
  f.slurm.node("c-2").base = SlurmNode::Base::allocated;
  f.slurm.node("c-0").base = SlurmNode::Base::allocated;
  f.put("c", 2, with_claims("OnDemand").c_str());
  f.run_for(seconds(10));
  assert_text(f.slurm.names(), "c-[0,2]");
  assert_text(f.claims(), "scratch-c-0 scratch-c-2 ");  // a scale-in
  f.slurm.node("c-2").base = SlurmNode::Base::idle;
  assert_true(f.slurm.delete_nodes("c-2").ok());
  f.run_for(seconds(10));
  assert_text(f.slurm.names(), "c-[0-1]");
  assert_text(f.status("c")["conditions"][0]["reason"].text(), "NodesMatch");
  assert_text(f.claims(), "scratch-c-0 scratch-c-2 ");
}

void is_cheap_at_rest(void**) {
  Fixture f;
  f.put("c", 100);
  f.put("w", 100, "Always");
  f.daemon.start();
  f.run_for(seconds(2));
  f.slurm.power_up_asked();
  f.run_for(seconds(10));
  assert_text(f.status("w")["conditions"][0]["reason"].text(), "NodesMatch");
  f.put("bad", -1);
  f.run_for(seconds(5));
  assert_contains(f.events(), "bad InvalidSpec nodeset slurm/bad: spec.replicas: Invalid value: -1");
  const std::size_t calls = f.client.calls.size();
  const std::size_t patches = f.client.count(Verb::patch);
  const std::size_t slurm_calls = f.slurm.calls.size();
  const int loads = f.slurm.loads;
  f.run_for(seconds(120));
  assert_int_equal(f.client.count(Verb::patch), patches);
  assert_true(f.client.calls.size() <= calls + 3);  // watches may have been opened again
  assert_int_equal(f.slurm.loads, loads);
  assert_int_equal(f.slurm.calls.size(), slurm_calls);
}

// However many nodes change: one write for what changed together, and one a second for what goes on.
void writes_one_status_for_many_changes(void**) {
  Fixture f;
  const auto change = [&](int from, int to) {
    for (int i = from; i < to; i++) {
      const std::string name = format("c-%d", i);
      f.slurm.node(name).powered_down = false;
      Json labels = Json::object().set("slurm-k8s.io/node", name).set("slurm-k8s.io/nodeset", "c");
      Json metadata = Json::object().set("name", name).set("labels", std::move(labels));
      f.client.put(kube::kPods, "slurm", Json::object().set("metadata", metadata));
    }
  };
  f.put("c", 2000);
  f.daemon.start();
  f.run_for(seconds(3));
  assert_int_equal(f.patches("nodesets"), 2);  // before and after its budget was there
  change(0, 1000);
  f.run_for(seconds(3));
  assert_int_equal(f.status("c")["poweredUp"].integer_or(0), 1000);
  assert_int_equal(f.patches("nodesets"), 3);
  assert_in_range(f.patches("pods"), 1, 60);  // 20 a second are told of their state
  const int loads = f.slurm.loads;
  for (int i = 1000; i < 2000; i += 20) {  // for five seconds
    change(i, i + 20);
    f.run_for(milliseconds(100));
  }
  f.run_for(seconds(3));
  assert_in_range(f.slurm.loads - loads, 3, 12);  // each is a copy of 2,000 records
  assert_int_equal(f.status("c")["poweredUp"].integer_or(0), 2000);
  assert_in_range(f.patches("nodesets"), 5, 10);
}

void protects_pods_of_nodes_in_use(void**) {
  Fixture f;
  f.put("c", 2);
  for (const char* name : {"c-0", "c-1"}) {
    SlurmNode& node = f.slurm.node(name);
    node.powered_down = false;
    node.cpus = 2;
    node.real_memory_mib = 936;
    node.features = "c";
    Json labels = Json::object().set(kLabelNode, name).set(kLabelNodeSet, "c").set(kLabelBusy, "true");
    f.client.put(kube::kPods, "slurm",
                 Json::object().set("metadata", Json::object().set("name", name).set("labels", labels)));
  }
  f.slurm.node("c-0").base = SlurmNode::Base::allocated;
  const auto is_marked = [&](const char* name) {
    return f.client.find(kube::kPods, "slurm", name).at({"metadata", "labels", kLabelBusy}).text() == "true";
  };
  f.daemon.start();
  f.run_for(seconds(10));
  assert_true(is_marked("c-0"));
  assert_false(is_marked("c-1"));
  assert_false(f.client.find(kube::kDisruptionBudgets, "slurm", "c-busy").is_null());
  assert_text(f.status("c")["conditions"][std::size_t(3)]["reason"].text(), "BudgetInPlace");
  f.slurm.node("c-1").base = SlurmNode::Base::allocated;
  f.run_for(milliseconds(1500));
  assert_true(is_marked("c-1"));
}

void one_429_pauses_all_writers(void**) {
  Fixture f;
  f.put("c", 2);
  f.daemon.start();
  f.run_for(seconds(10));
  const auto writes = [&f] {
    return std::count_if(f.client.calls.begin(), f.client.calls.end(), [](const kube::FakeClient::Call& call) {
      return call.verb == Verb::create || call.verb == Verb::patch || call.verb == Verb::remove;
    });
  };
  f.client.fail_next(Verb::patch, Error(Errc::throttled, "slow down", seconds(20)));
  f.put("c", 3);  // a status is to be written
  f.run_for(seconds(2));
  const auto before = writes();
  f.put("d", 1);  // a budget and a status
  Json labels = Json::object().set(kLabelNode, "c-0").set(kLabelNodeSet, "c");
  f.client.put(kube::kPods, "slurm",
               Json::object().set("metadata", Json::object().set("name", "c-0").set("labels", labels)));  // marks
  f.slurm.node("c-0").base = SlurmNode::Base::allocated;
  f.slurm.node("c-0").powered_down = false;
  f.run_for(seconds(15));
  assert_int_equal(writes(), before);
  f.run_for(seconds(15));
  assert_false(f.client.find(kube::kDisruptionBudgets, "slurm", "d-busy").is_null());
  assert_text(f.client.find(kube::kPods, "slurm", "c-0").at({"metadata", "labels", kLabelBusy}).text(), "true");
  assert_int_equal(f.status("c")["desired"].integer_or(0), 3);
  assert_int_equal(f.status("d")["desired"].integer_or(0), 1);
}

void survives_both_sides(void**) {
  Fixture f;
  f.client.fail_next(Verb::list, Error(Errc::unavailable, "connection refused"), 3);
  f.slurm.fail_loads = true;
  f.slurm.failures.assign(5, Error(Errc::unavailable, "slurm: Unable to contact slurm controller"));
  f.put("c", 2);
  f.daemon.start();
  f.run_for(seconds(120));
  assert_text(f.slurm.names(), "c-[0-1]");

  // slurmctld is away: not ready after 30 s, but healthy; what changes meanwhile is caught up with.
  f.slurm.failures.assign(1000, Error(Errc::unavailable, "slurm: Unable to contact slurm controller"));
  f.put("c", 4);
  f.run_for(seconds(35));
  assert_int_equal(f.admin.answer("/readyz").status, 503);
  assert_int_equal(f.admin.answer("/healthz").status, 200);
  f.slurm.failures.clear();
  f.run_for(seconds(15));
  assert_int_equal(f.admin.answer("/readyz").status, 200);
  assert_text(f.slurm.names(), "c-[0-3]");

  // The API server is away, and its history is gone when it is back: a NodeSet that vanished meanwhile is noticed.
  f.client.erase(kube::kNodeSets, "slurm", "c");
  f.put("d", 1);
  f.client.forget_history();
  f.client.end_watches(Error(Errc::gone, "too old"));
  f.client.fail_next(Verb::list, Error(Errc::unavailable, "connection refused"), 4);
  f.run_for(seconds(120));
  assert_text(f.slurm.names(), "d-0");
}

void shows_metrics(void**) {
  Fixture f;
  f.put("c", 2);
  f.put(R"(quote\"d)", 1);  // no valid name: shown as it is all the same, escaped
  f.daemon.start();
  f.slurm.node("c-0").base = SlurmNode::Base::allocated;
  f.slurm.node("c-0").powered_down = false;
  f.slurm.node("c-0").cpus = 2;
  f.slurm.node("c-0").real_memory_mib = 936;
  f.run_for(seconds(3));
  const std::string text = f.admin.answer("/metrics").body;
  for (const char* line : {
           "# HELP slurm_k8s_nodeset_replicas Node records that Slurm has of the NodeSet.\n"
           "# TYPE slurm_k8s_nodeset_replicas gauge\n",
           "slurm_k8s_nodeset_spec_replicas{nodeset=\"c\"} 2\n",
           "slurm_k8s_nodeset_replicas{nodeset=\"c\"} 2\n",
           "slurm_k8s_nodeset_nodes{nodeset=\"c\",state=\"allocated\"} 1\n",
           "slurm_k8s_nodeset_nodes{nodeset=\"c\",state=\"powered_down\"} 1\n",
           "slurm_k8s_nodeset_ready{nodeset=\"c\"} 1\n",
           "slurm_k8s_nodeset_ready{nodeset=\"quote\\\"d\"} 0\n",
           "# TYPE slurm_k8s_sidecar_slurm_requests_total counter\n",
           "slurm_k8s_sidecar_slurm_requests_total{request=\"create\",result=\"ok\"} 1\n",
           "slurm_k8s_sidecar_status_writes_total{result=\"ok\"} ",
           "slurm_k8s_sidecar_build_info{version=\"1.2.3\"} 1\n",
       }) {
    assert_contains(text, line);
  }
  assert_true(text.ends_with('\n'));
}

void does_nothing_after_its_end(void**) {
  Fixture f;
  f.put("c", 1);
  f.daemon.start();
  f.run_for(seconds(2));
  assert_text(f.slurm.names(), "c-0");
  f.daemon.stop();
  f.put("c", 2);
  while (f.loop->timers().until_next()) {  // what it has left in the loop
    f.clock.advance(seconds(60));
    f.loop->turn(milliseconds(0));
  }
  assert_text(f.slurm.names(), "c-0");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(follows_the_api),
      SLURMK8S_TEST(follows_kube_nodes),
      SLURMK8S_TEST(nodes_are_pinned_to_their_kube_nodes),
      SLURMK8S_TEST(pins_outlive_the_sidecar),
      SLURMK8S_TEST(kube_nodes_that_cannot_be_read_decide_nothing),
      SLURMK8S_TEST(external_nodes_have_what_other_pods_leave),
      SLURMK8S_TEST(pods_of_all_namespaces_may_be_forbidden),
      SLURMK8S_TEST(kube_nodes_are_not_asked_for),
      SLURMK8S_TEST(claims_outlive_an_outage_of_their_kube_node),
      SLURMK8S_TEST(claims_outlive_records_that_others_delete),
      SLURMK8S_TEST(is_cheap_at_rest),
      SLURMK8S_TEST(writes_one_status_for_many_changes),
      SLURMK8S_TEST(one_429_pauses_all_writers),
      SLURMK8S_TEST(survives_both_sides),
      SLURMK8S_TEST(tells_of_pauses_that_the_api_server_asks_for),
      SLURMK8S_TEST(waits_for_nodesets_and_pods),
      SLURMK8S_TEST(follows_pods),
      SLURMK8S_TEST(protects_pods_of_nodes_in_use),
      SLURMK8S_TEST(shows_metrics),
      SLURMK8S_TEST(does_nothing_after_its_end),
  };
  return cmocka_run_group_tests_name("sidecar_daemon", tests, nullptr, nullptr);
}
