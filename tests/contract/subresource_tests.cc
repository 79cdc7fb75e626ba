// SPDX-License-Identifier: GPL-2.0-or-later
// What the product needs of subresources of pods: binding and eviction.
#include "contract/client_tests.hpp"

namespace slurmk8s::contract {
namespace {

using kube::kPods;

Json binding(const std::string& pod, const std::string& node) {
  return Json()
      .set("apiVersion", "v1")
      .set("kind", "Binding")
      .set("metadata", Json().set("name", pod))
      .set("target", Json().set("apiVersion", "v1").set("kind", "Node").set("name", node));
}

void a_binding_assigns_a_pod(void**) {
  made(pod("one"));
  const auto watch =
      session->watch(kPods, name_space(), {.field_selector = "spec.nodeName=", .resource_version = list_version()});
  assert_true(session->run_until([&] { return watch->opened; }));
  assert_error(session->create_subresource({kPods, name_space(), "one", "binding"}, binding("two", "no-such-node")),
               Errc::invalid, "name in URL does not match");
  assert_ok(session->create_subresource({kPods, name_space(), "one", "binding"}, binding("one", "no-such-node")));
  const auto bound = session->get(kPods, name_space(), "one");
  assert_ok(bound);
  assert_text(bound->at({"spec", "nodeName"}).text(), "no-such-node");
  assert_true(session->run_until([&] { return !watch->events.empty(); }));
  assert_text(watch->text(), "deleted one");  // it has left the selection
  session->client().cancel(watch->id);
  assert_error(session->create_subresource({kPods, name_space(), "one", "binding"}, binding("one", "other")),
               Errc::conflict, "already assigned");
  assert_error(session->create_subresource({kPods, name_space(), "none", "binding"}, binding("none", "other")),
               Errc::not_found, "none");
}

void a_binding_tells_its_pod(void**) {
  made(pod("one"));
  const kube::ObjectRef at{kPods, name_space(), "one", "binding"};
  Json other = binding("one", "no-such-node");
  other.set("metadata", Json().set("name", "one").set("uid", "00000000-0000-0000-0000-000000000000"));
  assert_error(session->create_subresource(at, other), Errc::conflict, "recondition");
  Json own = binding("one", "no-such-node");
  own.set("metadata", Json().set("name", "one").set("annotations", Json().set("slurm-k8s.io/rank", "0")));
  assert_ok(session->create_subresource(at, own));
  const auto bound = session->get(kPods, name_space(), "one");
  assert_ok(bound);
  assert_text(bound->at({"metadata", "annotations", "slurm-k8s.io/rank"}).text(), "0");
}

void a_pod_with_a_gate_gets_a_selector(void**) {
  Json gated = pod("one");
  Json spec = gated["spec"].clone();
  spec.set("schedulingGates", Json::array().push(Json::object().set("name", "slurm-k8s.io/bridge")));
  gated.set("spec", std::move(spec));
  made(gated);
  const auto select = [](const char* node) {
    return Json().set(
        "spec",
        Json().set("schedulingGates", Json::array()).set("nodeSelector", Json().set("kubernetes.io/hostname", node)));
  };
  assert_ok(session->patch(kPods, name_space(), "one", select("no-such-node")));
  const auto changed = session->get(kPods, name_space(), "one");
  assert_ok(changed);
  assert_int_equal(changed->at({"spec", "schedulingGates"}).size(), 0);
  assert_text(changed->at({"spec", "nodeSelector", "kubernetes.io/hostname"}).text(), "no-such-node");
  assert_error(session->patch(kPods, name_space(), "one", select("other")), Errc::invalid, "Forbidden");
}

void an_eviction_deletes_a_pod(void**) {
  made(pod("one"));
  const auto eviction = [](const char* name) {
    return Json()
        .set("apiVersion", "policy/v1")
        .set("kind", "Eviction")
        .set("metadata", Json().set("name", name).set("namespace", name_space()));
  };
  assert_ok(session->create_subresource({kPods, name_space(), "one", "eviction"}, eviction("one")));
  assert_error(session->get(kPods, name_space(), "one"), Errc::not_found, "one");
  assert_error(session->create_subresource({kPods, name_space(), "one", "eviction"}, eviction("one")), Errc::not_found,
               "one");
}

}  // namespace

std::vector<CMUnitTest> subresource_tests() {
  return {
      CONTRACT_TEST(a_binding_assigns_a_pod),
      CONTRACT_TEST(a_binding_tells_its_pod),
      CONTRACT_TEST(a_pod_with_a_gate_gets_a_selector),
      CONTRACT_TEST(an_eviction_deletes_a_pod),
  };
}

}  // namespace slurmk8s::contract
