// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/pod_marker: which pods are marked busy, when, and with how many requests.
#include "sidecar/pod_marker.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "base/strings.hpp"
#include "nodeset/names.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"
#include "support/steps.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using kube::kPods;
using kube::Verb;
using std::chrono::seconds;

struct Fixture {
  kube::FakeClient client;
  FakeClock clock;
  kube::Throttle throttle{clock};
  NodeSets nodesets;
  std::map<std::string, SlurmNode> nodes;
  PodMarker marker;
  std::uint64_t version = 1;

  explicit Fixture(Jitter jitter = [] { return 0.5; }) : marker(client, clock, throttle, "slurm", std::move(jitter)) {
    put_nodeset("c");
  }
  void put_nodeset(const char* name, const char* more = "") {
    const auto object =
        Json::parse(format(R"({"metadata":{"namespace":"slurm","name":"%s"},"spec":{)"
                           R"("slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi"}}}%s}})",
                           name, more));
    nodesets.insert_or_assign(name, KnownNodeSet{.generation = 1, .spec = decode_nodeset(*object)});
  }
  /** A pod as the engine makes it, and its node's record. */
  SlurmNode& add(const std::string& name, bool marked = true) {
    Json labels = Json::object().set(kLabelNode, name).set(kLabelNodeSet, name.substr(0, name.rfind('-')));
    Json annotations = Json::object().set("slurm-k8s.io/request", "r");
    if (marked) labels.set(kLabelBusy, "true");
    if (marked) annotations.set(kAnnotationSafeToEvict, "false").set(kAnnotationDoNotDisrupt, "true");
    Json metadata = Json::object();
    metadata.set("name", name).set("labels", std::move(labels)).set("annotations", std::move(annotations));
    marker.observe(client.put(kPods, "slurm", Json::object().set("metadata", std::move(metadata))));
    SlurmNode& node = nodes[name] = FakeSlurm::cloud_node(name);
    node.powered_down = false;
    return node;
  }
  /** Rounds, a second apart; every one of them as if something had changed when `changed`. */
  void rounds(int count, bool changed = true) {
    for (int i = 0; i < count; i++) {
      std::vector<SlurmNode> records;
      for (const auto& [name, node] : nodes) records.push_back(node);
      if (changed) version++;
      marker.round(nodesets, records, version);
      client.deliver();
      clock.advance(seconds(1));
    }
  }
  /** Requests that wrote marks, with the label of the state; the conditions are others. */
  std::size_t marks() const {
    return static_cast<std::size_t>(std::count_if(client.calls.begin(), client.calls.end(),
                                                  [](const auto& call) { return call.subresource.empty(); }));
  }
  Json metadata(const char* name) const { return client.find(kPods, "slurm", name)["metadata"]; }
  /** The state as the pod tells it: "idle True Idle", and the condition's message. */
  std::string told(const char* name) const {
    const Json pod = client.find(kPods, "slurm", name);
    std::string text(pod["metadata"]["labels"][kLabelState].text());
    pod["status"]["conditions"].each([&](const Json& one) {
      if (one["type"].text() != kConditionInService) return;
      for (const char* field : {"status", "reason", "message"}) {
        if (!one[field].text().empty()) text.append(" ").append(one[field].text());
      }
    });
    return text;
  }
  bool is_marked(const char* name) const {
    const Json all = metadata(name);
    const bool marked = all["labels"][kLabelBusy].text() == "true";
    assert_int_equal(all["annotations"][kAnnotationSafeToEvict].text() == "false", marked);
    assert_int_equal(all["annotations"][kAnnotationDoNotDisrupt].text() == "true", marked);
    assert_text(all["annotations"]["slurm-k8s.io/request"].text(), "r");
    return marked;
  }
};

void tells_states(void**) {
  struct Case {
    void (*set)(SlurmNode&);
    const char* told;
  };
  const Case cases[] = {
      {[](SlurmNode&) {}, "idle True Idle"},
      {[](SlurmNode& n) { n.base = Base::allocated; }, "allocated True Allocated"},
      {[](SlurmNode& n) { n.base = Base::mixed; }, "mixed True Mixed"},
      {[](SlurmNode& n) { n.completing = true; }, "completing True Completing"},
      {[](SlurmNode& n) { n.powering_up = true; }, "powering-up False PoweringUp"},
      {[](SlurmNode& n) { n.power_up_asked = true; }, "powering-up False PoweringUp"},
      {[](SlurmNode& n) {
         n.draining = true;
         n.reason = "why";
       },
       "drained False Drained why"},
      {[](SlurmNode& n) {
         n.draining = true;
         n.base = Base::mixed;
         n.reason = "why";
       },
       "draining False Draining why"},
      {[](SlurmNode& n) {
         n.base = Base::down;
         n.reason = "lost";
       },
       "down False Down lost"},
      {[](SlurmNode& n) { n.not_responding = true; }, "not-responding False NotResponding"},
      {[](SlurmNode& n) { n.powering_down = true; }, "powering-down False PoweringDown"},
      {[](SlurmNode& n) { n.power_down_asked = true; }, "powering-down False PoweringDown"},
      {[](SlurmNode& n) { n.powered_down = true; }, "powered-down False PoweredDown"},
      {[](SlurmNode& n) { n.base = Base::future; }, "unknown False Unknown"},
  };
  for (const Case& one : cases) {
    Fixture f;
    one.set(f.add("c-0"));
    f.rounds(35, false);
    assert_text(f.told("c-0"), one.told);
    const std::size_t calls = f.client.calls.size();
    f.rounds(10);
    assert_int_equal(f.client.calls.size(), calls);
  }
}

void tells_what_lasts(void**) {
  Fixture f;
  SlurmNode& node = f.add("c-0");
  node.powering_up = true;
  f.rounds(29);
  assert_text(f.told("c-0"), "");
  node.powering_up = false;
  for (int i = 0; i < 10; i++) {  // short jobs
    node.base = i % 2 == 0 ? Base::allocated : Base::idle;
    f.rounds(1);
  }
  assert_int_equal(f.client.calls.size(), 0);
  f.rounds(10);
  assert_text(f.told("c-0"), "idle True Idle");
  const std::size_t calls = f.client.calls.size();
  node.powering_down = true;  // a pod that goes isn't worth a request
  f.rounds(29);
  assert_int_equal(f.client.calls.size(), calls);
  f.rounds(3);
  assert_text(f.told("c-0"), "powering-down False PoweringDown");
}

void the_time_is_that_of_the_transition(void**) {
  Fixture f;
  SlurmNode& node = f.add("c-0");
  const auto time = [&] {
    return std::string(
        f.client.find(kPods, "slurm", "c-0")["status"]["conditions"][std::size_t{0}]["lastTransitionTime"].text());
  };
  f.rounds(8);
  const std::string first = time();
  assert_int_equal(first.size(), 20);
  node.base = Base::allocated;
  f.rounds(5);
  assert_text(f.told("c-0"), "allocated True Allocated");
  assert_text(time(), first);
  node.base = Base::down;
  f.rounds(8);
  assert_text(f.told("c-0"), "down False Down");
  assert_true(time() != first);
}

void tells_many_at_a_pace(void**) {
  Fixture f;
  for (int i = 0; i < 200; i++) f.add("c-" + std::to_string(i), false);
  f.rounds(3);
  const std::size_t first = f.client.calls.size();
  f.rounds(5);
  assert_true(f.client.calls.size() - first <= 100);
  f.add("c-200", false).base = Base::allocated;  // what is in use doesn't wait for them
  f.rounds(1);
  assert_true(f.is_marked("c-200"));
  f.rounds(40, false);
  for (const auto& [name, node] : f.nodes) assert_contains(f.told(name.c_str()), "True");
}

void what_counts_as_busy(void**) {
  struct Case {
    const char* what;
    void (*set)(SlurmNode&);
    bool busy;
  };
  const Case cases[] = {
      {"idle", [](SlurmNode&) {}, false},
      {"allocated", [](SlurmNode& n) { n.base = Base::allocated; }, true},
      {"mixed", [](SlurmNode& n) { n.base = Base::mixed; }, true},
      {"completing", [](SlurmNode& n) { n.completing = true; }, true},
      {"powering up", [](SlurmNode& n) { n.powering_up = true; }, true},
      {"to be powered up", [](SlurmNode& n) { n.power_up_asked = true; }, true},
      {"drained and idle", [](SlurmNode& n) { n.draining = true; }, false},
      {"draining with a job",
       [](SlurmNode& n) {
         n.draining = true;
         n.base = Base::mixed;
       },
       true},
      {"down", [](SlurmNode& n) { n.base = Base::down; }, false},
      {"powering down", [](SlurmNode& n) { n.powering_down = true; }, false},
      {"reserved for maintenance", [](SlurmNode& n) { n.reserved = true; }, false},
  };
  for (const bool marked : {false, true}) {
    for (const Case& one : cases) {
      Fixture f;
      one.set(f.add("c-0", marked));
      f.rounds(7);
      if (f.is_marked("c-0") != one.busy) fail_msg("%s, marked before: %d", one.what, marked);
    }
  }
}

void marks_at_once_and_unmarks_late(void**) {
  Fixture f;
  SlurmNode& node = f.add("c-0");
  f.rounds(5);
  assert_true(f.is_marked("c-0"));
  assert_int_equal(f.client.calls.size(), 0);
  node.base = Base::allocated;  // the next job comes in time
  f.rounds(1);
  node.base = Base::idle;
  f.rounds(5);
  assert_int_equal(f.client.calls.size(), 0);
  f.rounds(2, false);  // without a change, too
  assert_false(f.is_marked("c-0"));
  assert_int_equal(f.marks(), 1);
  node.base = Base::allocated;
  f.rounds(1);
  assert_true(f.is_marked("c-0"));
  f.rounds(60);
  assert_int_equal(f.marks(), 2);
}

void what_nobody_knows_stays(void**) {
  Fixture f;
  f.add("c-0");
  f.nodes.clear();  // no record
  f.add("d-0");     // no NodeSet
  f.put_nodeset("e", R"(,"replicas":"x")");
  f.add("e-0");  // none that can be read
  f.rounds(10);
  for (const char* pod : {"c-0", "d-0", "e-0"}) assert_true(f.is_marked(pod));
  assert_int_equal(f.client.calls.size(), 0);
}

void protection_is_switched_off_and_on(void**) {
  Fixture f;
  f.add("c-0").base = Base::allocated;
  f.put_nodeset("c", R"(,"workloadDisruptionProtection":false)");
  f.rounds(3);
  assert_false(f.is_marked("c-0"));
  f.put_nodeset("c");
  f.rounds(1);
  assert_true(f.is_marked("c-0"));
}

void annotations_of_the_template_stay(void**) {
  Fixture f;
  f.put_nodeset(
      "c", R"(,"template":{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":"true"}}})");
  f.add("c-0", false).base = Base::allocated;
  Json pod = f.client.find(kPods, "slurm", "c-0").clone();
  pod["metadata"]["annotations"].set(kAnnotationSafeToEvict, "true");
  f.client.put(kPods, "slurm", pod);
  f.rounds(1);
  assert_text(f.metadata("c-0")["labels"][kLabelBusy].text(), "true");
  assert_text(f.metadata("c-0")["annotations"][kAnnotationSafeToEvict].text(), "true");
  assert_text(f.metadata("c-0")["annotations"][kAnnotationDoNotDisrupt].text(), "true");
}

void another_pod_of_the_name_is_not_touched(void**) {
  Fixture f;
  f.add("c-0");
  f.client.erase(kPods, "slurm", "c-0");
  Json metadata = Json::object();
  metadata.set("name", "c-0").set("labels", Json::object().set(kLabelNode, "c-0").set(kLabelBusy, "true"));
  f.client.put(kPods, "slurm", Json::object().set("metadata", std::move(metadata)));
  f.rounds(8);
  assert_text(f.metadata("c-0")["labels"][kLabelBusy].text(), "true");
}

void many_pods_and_failures(void**) {
  Fixture f;
  for (int i = 0; i < 100; i++) f.add("c-" + std::to_string(i), false).base = Base::allocated;
  std::vector<SlurmNode> records;
  for (const auto& [name, node] : f.nodes) records.push_back(node);
  f.marker.round(f.nodesets, records, 2);
  assert_int_equal(f.client.calls.size(), 32);
  f.client.fail_next(Verb::patch, Error(Errc::unavailable, "away"), 8);
  f.rounds(30, false);
  for (const auto& [name, node] : f.nodes) assert_true(f.is_marked(name.c_str()));
  assert_int_equal(f.marks(), 108);
}

void ends_with_requests_under_way(void**) {
  kube::FakeClient client;
  {
    Fixture f;
    f.add("c-0", false).base = Base::allocated;
    f.add("c-1", false).base = Base::allocated;
    f.marker.round(f.nodesets, {f.nodes["c-0"], f.nodes["c-1"]}, 2);
    f.marker.forget("c-1");
    f.client.deliver();
    assert_true(f.is_marked("c-0"));
  }
}

// Its processes are there still, and slurmctld calls the node idle.
void a_pod_with_a_suspended_job_stays_marked(void**) {
  Fixture f;
  SlurmNode& node = f.add("c-0");
  node.base = Base::allocated;
  f.rounds(20);
  node.base = Base::idle;
  node.has_suspended_job = true;
  f.rounds(60);
  assert_text(f.metadata("c-0")["labels"][kLabelBusy].text(), "true");
  assert_text(f.told("c-0"), "suspended True Suspended");
  node.has_suspended_job = false;
  f.rounds(4);  // not at once: it may be running again
  assert_text(f.metadata("c-0")["labels"][kLabelBusy].text(), "true");
  f.rounds(4);
  assert_text(f.metadata("c-0")["labels"][kLabelBusy].text(), "");
}

void are_not_tried_again_in_step(void**) {
  Fixture f(random_unit);
  f.client.fail_next(Verb::patch, Error(Errc::forbidden, "no"), 1000);
  for (int i = 0; i < 10; i++) f.add("c-" + std::to_string(i), false).base = Base::allocated;
  assert_false(stay_in_step(10, 200, [&] {
    const std::size_t before = f.client.count(Verb::patch);
    f.rounds(1);
    return f.client.count(Verb::patch) - before;
  }));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(tells_states),
      SLURMK8S_TEST(tells_what_lasts),
      SLURMK8S_TEST(the_time_is_that_of_the_transition),
      SLURMK8S_TEST(tells_many_at_a_pace),
      SLURMK8S_TEST(what_counts_as_busy),
      SLURMK8S_TEST(marks_at_once_and_unmarks_late),
      SLURMK8S_TEST(what_nobody_knows_stays),
      SLURMK8S_TEST(protection_is_switched_off_and_on),
      SLURMK8S_TEST(annotations_of_the_template_stay),
      SLURMK8S_TEST(another_pod_of_the_name_is_not_touched),
      SLURMK8S_TEST(many_pods_and_failures),
      SLURMK8S_TEST(ends_with_requests_under_way),
      SLURMK8S_TEST(are_not_tried_again_in_step),
      SLURMK8S_TEST(a_pod_with_a_suspended_job_stays_marked),
  };
  return cmocka_run_group_tests_name("sidecar_pod_marker", tests, nullptr, nullptr);
}
