// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/claim_keeper: owners of claims, and which claims go. Data that goes by mistake is gone: most cases keep it.
#include "sidecar/claim_keeper.hpp"

#include "base/random.hpp"
#include "base/strings.hpp"
#include "nodeset/claim_builder.hpp"
#include "nodeset/names.hpp"
#include "kube/reflector.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"
#include "support/steps.hpp"

namespace slurmk8s {
namespace {

using kube::kVolumeClaims;
using kube::Verb;
using std::chrono::seconds;

struct Fixture {
  kube::FakeClient client;
  FakeClock clock;
  kube::Throttle throttle{clock};
  Timers timers{clock};
  NodeSets nodesets;
  std::vector<SlurmNode> nodes;
  std::map<std::string, NodeSetState> states;
  ClaimKeeper keeper;
  kube::Reflector reflector{
      client,
      timers,
      clock,
      {.resource = kVolumeClaims, .name_space = "slurm", .label_selector = kClaimSelector},
      {[this](const Json& object) { keeper.observe(object); },
       [this](const kube::ObjectKey& key, const std::string&, const Json&) { keeper.forget(key.name); }, [] {}}};

  /** NodeSet c has c-0 and c-1, and claims of three nodes: c-2 was scaled in. */
  explicit Fixture(Jitter jitter = [] { return 0.5; }) : keeper(client, clock, throttle, "slurm", std::move(jitter)) {
    put("Retain", "Delete");
    for (const char* name : {"c-0", "c-1"}) nodes.push_back(FakeSlurm::cloud_node(name));
    states["c"].ready = true;
    states["c"].generation = 1;
    states["c"].scaled_in = {"c-2"};
    for (const char* name : {"c-0", "c-1", "c-2"}) {
      for (const Json& claim : build_claims(*nodesets.at("c").spec, name)) client.put(kVolumeClaims, "slurm", claim);
    }
    const auto foreign = Json::parse(R"({"metadata":{"name":"scratch-c-9","labels":{"slurm-k8s.io/node":"c-9"}}})");
    client.put(kVolumeClaims, "slurm", *foreign);
    reflector.start();
    client.deliver();
  }
  void put(const char* deleted, const char* scaled) {
    const auto object =
        Json::parse(format(R"({"metadata":{"namespace":"slurm","name":"c","uid":"u-c"},"spec":{"slurmd":{"image":"i",)"
                           R"("resources":{"limits":{"cpu":"2","memory":"1000Mi"}}},)"
                           R"("volumeClaimTemplates":[{"metadata":{"name":"scratch"},"spec":{}}],)"
                           R"("persistentVolumeClaimRetentionPolicy":{"whenDeleted":"%s","whenScaled":"%s"}}})",
                           deleted, scaled));
    nodesets.insert_or_assign("c", KnownNodeSet{.generation = 1, .spec = decode_nodeset(*object)});
  }
  void rounds(int count) {
    for (int i = 0; i < count; i++) {
      keeper.round(nodesets, nodes, states);
      client.deliver();
      clock.advance(seconds(1));
      timers.run_due();
      client.deliver();
    }
  }
  std::string names() const {
    std::string all;
    for (const std::string& name : client.names(kVolumeClaims, "slurm")) all += (all.empty() ? "" : " ") + name;
    return all;
  }
  void make_daemon_set() { nodesets.at("c").spec->scaling_mode = ScalingMode::daemon_set; }
  std::string mark(const char* name) const {
    const Json claim = client.find(kVolumeClaims, "slurm", name);
    return std::string(claim.at({"metadata", "annotations", kAnnotationScaledIn}).text());
  }
  std::size_t owners(const char* name) const {
    return client.find(kVolumeClaims, "slurm", name).at({"metadata", "ownerReferences"}).size();
  }
};

constexpr const char* kAll = "scratch-c-0 scratch-c-1 scratch-c-2 scratch-c-9";

void claims_of_a_node_that_was_scaled_in_go(void**) {
  Fixture f;
  f.rounds(10);
  assert_text(f.names(), "scratch-c-0 scratch-c-1 scratch-c-9");  // the last one isn't ours
  assert_int_equal(f.client.count(Verb::remove), 1);
  assert_false(f.client.calls.back().options.uid.empty());
}

void claims_stay(void**) {
  const std::pair<const char*, void (*)(Fixture&)> cases[] = {
      {"by the policy", [](Fixture& f) { f.put("Delete", "Retain"); }},
      {"the node is still there", [](Fixture& f) { f.nodes.push_back(FakeSlurm::cloud_node("c-2")); }},
      {"its record is missing, but no scale-in was planned", [](Fixture& f) { f.states["c"].scaled_in.clear(); }},
      {"of a DaemonSet, the Kubernetes node is there",
       [](Fixture& f) {
         f.make_daemon_set();
         f.states["c"].chosen = {"c-0", "c-1", "c-2"};
       }},
      {"records are missing", [](Fixture& f) { f.states["c"].ready = false; }},
      {"what is known is of an older spec", [](Fixture& f) { f.states["c"].generation = 0; }},
      {"slurm was not looked at", [](Fixture& f) { f.states.clear(); }},
      {"the spec can't be read", [](Fixture& f) { f.nodesets.at("c").spec = Error(Errc::invalid, "x"); }},
      {"the NodeSet is gone", [](Fixture& f) { f.nodesets.clear(); }},
  };
  for (const auto& [what, change] : cases) {
    Fixture f;
    change(f);
    f.rounds(20);
    if (f.names() != kAll) fail_msg("%s: %s", what, f.names().c_str());
    assert_int_equal(f.client.count(Verb::remove), 0);
  }
}

void claims_of_a_kube_node_that_went_go(void**) {
  Fixture f;
  f.make_daemon_set();
  f.states["c"].scaled_in.clear();
  f.states["c"].chosen = {"c-0", "c-1"};
  f.rounds(10);
  assert_text(f.names(), "scratch-c-0 scratch-c-1 scratch-c-9");
  assert_int_equal(f.client.count(Verb::patch), 0);
}

// The node has a job. When it goes another sidecar is there, whose plans have chosen no node.
void scale_ins_outlive_the_sidecar(void**) {
  Fixture f;
  f.nodes.push_back(FakeSlurm::cloud_node("c-2"));
  f.states["c"].ready = false;
  f.rounds(10);
  assert_text(f.mark("scratch-c-2"), "true");
  assert_int_equal(f.client.count(Verb::patch), 1);
  f.states["c"].scaled_in.clear();
  f.nodes.pop_back();
  f.rounds(5);
  assert_text(f.names(), kAll);
  f.states["c"].ready = true;
  f.rounds(5);
  assert_text(f.names(), "scratch-c-0 scratch-c-1 scratch-c-9");
}

void a_node_that_stays_after_all_keeps_its_claims(void**) {
  Fixture f;
  f.nodes.push_back(FakeSlurm::cloud_node("c-2"));
  f.rounds(10);
  f.states["c"].scaled_in.clear();  // wanted again
  f.rounds(10);
  assert_text(f.mark("scratch-c-2"), "");
  f.nodes.pop_back();  // an administrator deletes it
  f.rounds(10);
  assert_text(f.names(), kAll);
  assert_int_equal(f.client.count(Verb::patch), 2);
}

void owners_follow_the_policy(void**) {
  Fixture f;
  f.put("Delete", "Retain");
  f.states["c"].scaled_in.clear();
  f.rounds(3);
  assert_int_equal(f.owners("scratch-c-0"), 1);
  assert_int_equal(f.owners("scratch-c-2"), 1);
  assert_int_equal(f.owners("scratch-c-9"), 0);
  assert_int_equal(f.client.count(Verb::patch), 3);
  f.rounds(60);
  assert_int_equal(f.client.count(Verb::patch), 3);
  f.put("Retain", "Retain");
  f.rounds(10);
  assert_int_equal(f.owners("scratch-c-0"), 0);
  assert_text(f.names(), kAll);
}

void owners_of_others_stay(void**) {
  Fixture f;
  Json claim = f.client.find(kVolumeClaims, "slurm", "scratch-c-0").clone();
  claim["metadata"].set("ownerReferences", *Json::parse(R"([{"kind":"Backup","name":"b","uid":"x"}])"));
  f.client.put(kVolumeClaims, "slurm", claim);
  f.client.deliver();
  f.put("Delete", "Retain");
  f.rounds(3);
  assert_int_equal(f.owners("scratch-c-0"), 2);
  f.put("Retain", "Retain");
  f.rounds(10);
  assert_int_equal(f.owners("scratch-c-0"), 1);
}

void failures_are_tried_again(void**) {
  Fixture f;
  f.client.fail_next(Verb::remove, Error(Errc::forbidden, "may not"), 3);
  f.rounds(60);
  assert_text(f.names(), "scratch-c-0 scratch-c-1 scratch-c-9");
  assert_int_equal(f.client.count(Verb::remove), 4);
}

void nobody_watches_without_claims(void**) {
  Fixture f;
  assert_true(has_claims(f.nodesets));
  f.nodesets.at("c").spec->claims.templates.clear();
  assert_false(has_claims(f.nodesets));
}

void are_not_tried_again_in_step(void**) {
  Fixture f(random_unit);
  f.client.fail_next(Verb::remove, Error(Errc::forbidden, "no"), 1000);
  f.nodes.clear();
  f.states["c"].scaled_in = {"c-0", "c-1", "c-2"};
  assert_false(stay_in_step(3, 400, [&] {
    const std::size_t before = f.client.count(Verb::remove);
    f.rounds(1);
    return f.client.count(Verb::remove) - before;
  }));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(claims_of_a_node_that_was_scaled_in_go),
      SLURMK8S_TEST(claims_stay),
      SLURMK8S_TEST(claims_of_a_kube_node_that_went_go),
      SLURMK8S_TEST(scale_ins_outlive_the_sidecar),
      SLURMK8S_TEST(a_node_that_stays_after_all_keeps_its_claims),
      SLURMK8S_TEST(owners_follow_the_policy),
      SLURMK8S_TEST(owners_of_others_stay),
      SLURMK8S_TEST(failures_are_tried_again),
      SLURMK8S_TEST(nobody_watches_without_claims),
      SLURMK8S_TEST(are_not_tried_again_in_step),
  };
  return cmocka_run_group_tests_name("sidecar_claim_keeper", tests, nullptr, nullptr);
}
