// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/sidecar_events: which events are made of actions and of changes of a status.
#include "sidecar/sidecar_events.hpp"

#include "sidecar/kube_node_mirror.hpp"
#include "slurm/reasons.hpp"
#include "sidecar/update_plan.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using Kind = NodeAction::Kind;

/** A status as StatusWriter makes it, as far as events are concerned. */
Json status_of(const char* ready, const char* roll_out, const char* revision, const char* message = "why") {
  const auto condition = [&](const char* type, const std::string& reason) {
    const bool is_true = reason == "NodesMatch" || reason == "TemplateInUse";
    return Json::object()
        .set("type", type)
        .set("status", is_true ? "True" : "False")
        .set("reason", reason)
        .set("message", message);
  };
  return Json::object()
      .set("updateRevision", revision)
      .set("conditions", Json::array().push(condition("Ready", ready)).push(condition("RolledOut", roll_out)));
}

struct Fixture {
  kube::FakeClient client;
  FakeClock clock;
  Timers timers{clock};
  kube::Throttle throttle{clock};
  SidecarEvents teller{client, timers, clock, throttle, "slurm"};
  Json status;
  std::set<std::string> read;

  void observe(const char* name, const Json& known = {}) {
    Json metadata = Json::object().set("name", name).set("uid", std::string("u-") + name);
    teller.observe(Json::object().set("metadata", metadata).set("status", known));
    status = known;
  }
  void change(const Json& after) {
    teller.status_changed("c", status, after);
    status = after;
  }
  /** Events since the last call: "Normal NodesCreated: c-0 (1)", in alphabetical order. */
  std::string told() {
    clock.advance(std::chrono::seconds(1));
    timers.run_due();
    client.deliver();
    std::set<std::string> lines;
    for (const std::string& name : client.names(kube::kEvents, "slurm")) {
      if (!read.insert(name).second) continue;
      const Json event = client.find(kube::kEvents, "slurm", name);
      assert_text(event["reportingController"].text(), "slurm-k8s.io/sidecar");
      assert_text(event.at({"regarding", "kind"}).text(), "NodeSet");
      assert_text(event.at({"regarding", "uid"}).text(), "u-c");
      lines.insert(std::string(event["type"].text()) + " " + std::string(event["reason"].text()) + ": " +
                   std::string(event["note"].text()));
    }
    std::string all;
    for (const std::string& line : lines) all += (all.empty() ? "" : "\n") + line;
    return all;
  }
};

void tells_of_actions(void**) {
  const std::string kube_node = std::string(kReasonKubeNode) + "m is cordoned";
  const std::pair<NodeAction, const char*> cases[] = {
      {{Kind::create, "c", "c-[0-7]", "NodeName=c-[0-7]", ""}, "Normal NodesCreated: c-[0-7] (8)"},
      {{Kind::remove, "c", "c-7", "", ""}, "Normal NodesRemoved: c-7 (1)"},
      {{Kind::drain, "c", "c-[1-2]", "", kReasonScaleIn}, "Normal NodesDrained: c-[1-2] (2): scale-in"},
      {{Kind::drain, "c", "c-1", "", kReasonUpdate}, "Normal NodesDrained: c-1 (1): update of the template"},
      {{Kind::recycle, "c", "c-1", "", kReasonUpdate}, "Normal NodesRecycled: c-1 (1): update of the template"},
      {{Kind::undrain, "c", "c-1", "", ""}, "Normal NodesUndrained: c-1 (1)"},
      {{Kind::drain, "c", "c-1", "", kube_node}, "Warning KubernetesNodeUnfit: c-1 (1): kubernetes node m is cordoned"},
      {{Kind::power_down, "c", "c-1", "", kube_node},
       "Warning KubernetesNodeUnfit: c-1 (1): kubernetes node m is cordoned"},
      {{Kind::power_down, "c", "c-1", "", ""}, ""},
      {{Kind::power_up, "c", "c-1", "", ""}, ""},
      {{Kind::exempt_from_suspend, "c", "c-1", "", ""}, ""},
      {{Kind::remove, "gone", "gone-1", "", ""}, ""},
  };
  Fixture f;
  f.observe("c");
  for (const auto& [action, event] : cases) {
    f.teller.acted(action);
    assert_text(f.told(), event);
  }
}

void nodes_with_one_note_share_an_event(void**) {
  Fixture f;
  f.observe("c");
  for (const char* node : {"c-3", "c-1", "c-2"}) f.teller.acted({Kind::remove, "c", node, "", ""});
  assert_text(f.told(), "Normal NodesRemoved: c-[1-3] (3)");
  f.teller.forget("c");
  f.teller.acted({Kind::remove, "c", "c-4", "", ""});
  assert_text(f.told(), "");
}

void tells_what_is_wrong_once(void**) {
  Fixture f;
  f.observe("c");
  f.change(status_of("InvalidSpec", "InvalidSpec", "", "spec.replicas: -1"));
  assert_text(f.told(), "Warning InvalidSpec: spec.replicas: -1");
  f.change(status_of("InvalidSpec", "InvalidSpec", "", "spec.replicas: -1"));
  assert_text(f.told(), "");
  f.change(status_of("InvalidSpec", "InvalidSpec", "", "spec.replicas: -2"));
  assert_text(f.told(), "Warning InvalidSpec: spec.replicas: -2");
  f.change(status_of("ScalingOut", "TemplateInUse", "1-a"));
  f.change(status_of("NodesMatch", "TemplateInUse", "1-a"));
  assert_text(f.told(), "");
  f.change(status_of("CreateFailed", "TemplateInUse", "1-a", "slurm: no more nodes"));
  assert_text(f.told(), "Warning CreateFailed: slurm: no more nodes");
}

// Another sidecar has told it.
void what_the_status_says_already_is_not_told(void**) {
  Fixture f;
  f.observe("c", status_of("InvalidSpec", "Stopped", "1-a"));
  f.change(status_of("InvalidSpec", "Stopped", "1-a"));
  assert_text(f.told(), "");
}

void follows_a_roll_out(void**) {
  Fixture f;
  f.observe("c");
  f.change(status_of("NodesMatch", "PoweringUp", "1-a"));
  f.change(status_of("NodesMatch", "TemplateInUse", "1-a"));
  assert_text(f.told(), "");  // that was the first template
  f.change(status_of("NodesMatch", "PoweringUp", "1-a"));
  f.change(status_of("NodesMatch", "TemplateInUse", "1-a"));
  assert_text(f.told(), "");  // a pod had died

  f.change(status_of("NodesMatch", "RollingOut", "1-b", "c-[0-1]: to be updated"));
  assert_text(f.told(), "Normal RollOutStarted: template 1-b: c-[0-1]: to be updated");
  f.change(status_of("NodesMatch", "WaitingForJobs", "1-b"));
  f.change(status_of("NodesMatch", "RollingOut", "1-b"));
  assert_text(f.told(), "");
  f.change(status_of("NodesMatch", "Stopped", "1-b", "ErrImagePull"));
  assert_text(f.told(), "Warning RollOutStopped: template 1-b: ErrImagePull");
  f.change(status_of("NodesMatch", "RollingOut", "1-b", "c-1: to be updated"));
  assert_text(f.told(), "Normal RollOutStarted: template 1-b: c-1: to be updated");
  f.change(status_of("NodesMatch", "RollingOut", "1-c", "c-[0-1]: to be updated"));
  assert_text(f.told(), "Normal RollOutStarted: template 1-c: c-[0-1]: to be updated");
  f.change(status_of("NodesMatch", "PoweringUp", "1-c"));
  assert_text(f.told(), "");
  f.change(status_of("NodesMatch", "TemplateInUse", "1-c", "no node has a previous template"));
  assert_text(f.told(), "Normal RollOutDone: template 1-c: no node has a previous template");
  f.change(status_of("NodesMatch", "PoweringUp", "1-c"));
  f.change(status_of("NodesMatch", "TemplateInUse", "1-c"));
  assert_text(f.told(), "");  // it is over
}

void a_roll_out_goes_on_over_a_restart(void**) {
  Fixture f;
  f.observe("c", status_of("NodesMatch", "WaitingForJobs", "1-b"));
  f.change(status_of("NodesMatch", "RollingOut", "1-b"));
  assert_text(f.told(), "");
  f.change(status_of("NodesMatch", "TemplateInUse", "1-b", "done"));
  assert_text(f.told(), "Normal RollOutDone: template 1-b: done");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(tells_of_actions),         SLURMK8S_TEST(nodes_with_one_note_share_an_event),
      SLURMK8S_TEST(tells_what_is_wrong_once), SLURMK8S_TEST(what_the_status_says_already_is_not_told),
      SLURMK8S_TEST(follows_a_roll_out),       SLURMK8S_TEST(a_roll_out_goes_on_over_a_restart),
  };
  return cmocka_run_group_tests_name("sidecar_sidecar_events", tests, nullptr, nullptr);
}
