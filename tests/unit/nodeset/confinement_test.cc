// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/confinement: the field, and what it changes in a pod.
#include "nodeset/confinement.hpp"

#include <string>

#include "nodeset/pod_builder.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

Json parse(const std::string& text) {
  auto json = Json::parse(text);
  if (!json) fail_msg("test data: %s", json.error().message().c_str());
  return *json;
}

void the_field(void**) {
  const struct {
    const char* spec;
    const char* expected;
  } cases[] = {
      {"{}", ""},
      {R"({"confinement":null})", ""},
      {R"({"confinement":"None"})", ""},
      {R"({"confinement":"Cgroup"})", "Cgroup"},
      {R"({"confinement":"Privileged"})", "Privileged"},
      {R"({"confinement":"cgroup"})",
       R"(spec.confinement: Unsupported value: "cgroup": supported values: "None", "Cgroup", "Privileged")"},
      {R"({"confinement":1})",
       R"(spec.confinement: Unsupported value: 1: supported values: "None", "Cgroup", "Privileged")"},
      {R"({"confinement":""})",
       R"(spec.confinement: Unsupported value: "": supported values: "None", "Cgroup", "Privileged")"},
  };
  for (const auto& c : cases) {
    const auto confinement = decode_confinement(parse(c.spec));
    assert_text(confinement ? confinement_name(*confinement) : confinement.error().message(), c.expected);
  }
}

/** The securityContext of a pod's container slurmd. */
std::string security_of(Confinement confinement, const std::string& slurmd, const std::string& pod_spec) {
  NodeSet nodeset;
  nodeset.name = "compute";
  nodeset.confinement = confinement;
  nodeset.slurmd = parse(slurmd);
  nodeset.pod_spec = parse(pod_spec);
  const Json pod = build_pod(nodeset, {"compute-0", "request-1", ""}, Options{});
  Json found;
  pod.at({"spec", "containers"}).each([&found](const Json& container) {
    if (container["name"].text() == "slurmd") found = container["securityContext"];
    if (container["name"].text() == "log") assert_true(container["securityContext"].is_null());
  });
  return found.dump();
}

void rights_of_the_container(void**) {
  const std::string base = R"("capabilities":{"drop":["NET_RAW","MKNOD"])";
  const struct {
    const char* name;
    Confinement confinement;
    const char* slurmd;
    const char* pod_spec;
    std::string expected;
  } cases[] = {
      {"None", Confinement::none, "{}", "null", "{" + base + R"(},"allowPrivilegeEscalation":false})"},
      {"Cgroup needs none", Confinement::cgroup, "{}", "null", "{" + base + R"(},"allowPrivilegeEscalation":false})"},
      {"Privileged", Confinement::privileged, "{}", R"({"containers":[{"name":"log","image":"log:1"}]})",
       "{" + base + R"(,"add":["SYS_ADMIN"]},"appArmorProfile":{"type":"Unconfined"}})"},
      {"beside a capability of the template", Confinement::privileged,
       R"({"securityContext":{"capabilities":{"add":["SYS_NICE"]}}})", "null",
       "{" + base + R"(,"add":["SYS_NICE","SYS_ADMIN"]},"appArmorProfile":{"type":"Unconfined"}})"},
      {"a container that has it", Confinement::privileged,
       R"({"securityContext":{"capabilities":{"add":["CAP_SYS_ADMIN"]}}})", "null",
       "{" + base + R"(,"add":["CAP_SYS_ADMIN"]},"appArmorProfile":{"type":"Unconfined"}})"},
      {"a privileged container", Confinement::privileged, R"({"securityContext":{"privileged":true}})", "null",
       "{" + base + R"(},"privileged":true,"appArmorProfile":{"type":"Unconfined"}})"},
      {"an AppArmor profile of the pod", Confinement::privileged, "{}",
       R"({"securityContext":{"appArmorProfile":{"type":"Localhost","localhostProfile":"mounts"}}})",
       "{" + base + R"(,"add":["SYS_ADMIN"]}})"},
      {"and of the container", Confinement::privileged,
       R"({"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}}})", "null",
       "{" + base + R"(,"add":["SYS_ADMIN"]},"appArmorProfile":{"type":"RuntimeDefault"}})"},
  };
  for (const auto& c : cases) {
    const std::string security = security_of(c.confinement, c.slurmd, c.pod_spec);
    if (!parse(security).equals(parse(c.expected))) fail_msg("%s: %s", c.name, security.c_str());
  }
}

/** What the entrypoint is told, which no template can change. */
std::string told(Confinement confinement) {
  NodeSet nodeset;
  nodeset.name = "compute";
  nodeset.confinement = confinement;
  nodeset.slurmd = parse(R"({"env":[{"name":"SLURMD_CONFINEMENT","value":"x"}]})");
  const Json pod = build_pod(nodeset, {"compute-0", "request-1", ""}, Options{});
  std::string text;
  pod.at({"spec", "containers"})[std::size_t{0}]["env"].each([&text](const Json& one) {
    const std::string_view name = one["name"].text();
    if (name == "SLURMD_CONFINEMENT") text += one["value"].text();
    if (name == "SLURMD_CPU_REQUEST") text += " " + one.at({"valueFrom", "resourceFieldRef"}).dump();
  });
  return text;
}

void what_the_entrypoint_is_told(void**) {
  assert_text(told(Confinement::cgroup), R"(Cgroup {"resource":"requests.cpu","divisor":"1m"})");
  assert_text(told(Confinement::privileged), R"(Privileged {"resource":"requests.cpu","divisor":"1m"})");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(the_field),
      SLURMK8S_TEST(rights_of_the_container),
      SLURMK8S_TEST(what_the_entrypoint_is_told),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
