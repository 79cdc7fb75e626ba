// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/template_hash: changes with the template, and with nothing else.
#include "nodeset/template_hash.hpp"

#include <set>

#include "nodeset/nodeset.hpp"
#include "nodeset/pod_builder.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kSize = R"("resources":{"limits":{"cpu":"2","memory":"1Gi"}})";

NodeSet decode(const std::string& spec) {
  const auto object = Json::parse(R"({"metadata":{"namespace":"slurm","name":"c"},"spec":)" + spec + "}");
  if (!object) fail_msg("test data: %s", object.error().message().c_str());
  const auto nodeset = decode_nodeset(*object);
  assert_ok(nodeset);
  return *nodeset;
}

std::string hash_of(const std::string& slurmd, const std::string& more) {
  return decode(R"({"slurmd":{)" + slurmd + "," + kSize + "}" + (more.empty() ? "" : "," + more) + "}").template_hash;
}

/** The hash of this NodeSet. */
const std::string kSlurmd = R"("image":"i","env":[{"name":"A","value":"1"},{"name":"B"}])";
const std::string kMore = R"("template":{"metadata":{"labels":{"a":"b","c":"d"}},"spec":{"hostNetwork":true}})";
const std::string kGpus = R"("template":{"spec":{"hostNetwork":true,"containers":[{"name":"slurmd","resources":{)"
                          R"("limits":{"nvidia.com/gpu":1,"example.com/gpu":1}}}]}})";

void the_same_template_has_the_same_hash(void**) {
  const std::string hash = hash_of(kSlurmd, kMore);
  assert_text(hash, "1-48e587109ba2da98");  // another one needs another version
  const std::pair<std::string, std::string> same[] = {
      {R"("env":[{"value":"1","name":"A"},{"name":"B"}],"image":"i")",
       R"("template":{"spec":{"hostNetwork":true},"metadata":{"labels":{"c":"d","a":"b"}}})"},
      {kSlurmd,
       kMore + R"(,"replicas":7,"scalingMode":"Always","ordinalPadding":2,"unschedulableGracePeriodSeconds":1)"},
      {kSlurmd, kMore + R"(,"updateStrategy":{"type":"OnDelete"},"workloadDisruptionProtection":false)"},
      {kSlurmd, kMore + R"(,"spareReplicas":3,"spareSchedules":[{"start":"0 7 * * *","duration":"1h","replicas":4}])"},
      {kSlurmd, kMore + R"(,"gresType":"a100","gpuResource":"example.com/gpu")"},  // without GPUs
      {kSlurmd, kMore + R"(,"partition":{"enabled":true},"extraConf":"Features=a")"},
      {kSlurmd, kMore + R"(,"confinement":"None")"},
      {kSlurmd, kMore + R"(,"claimedGpus":0)"},
  };
  for (const auto& [slurmd, more] : same) assert_text(hash_of(slurmd, more), hash);
}

// Each of these changes the pod.
void another_template_has_another_hash(void**) {
  const std::string claim = R"(,"volumeClaimTemplates":[{"metadata":{"name":"s"},"spec":{}}])";
  const std::pair<std::string, std::string> others[] = {
      {R"("image":"j","env":[{"name":"A","value":"1"},{"name":"B"}])", kMore},
      {R"("image":"i","env":[{"name":"B"},{"name":"A","value":"1"}])", kMore},
      {R"("image":"i","env":[{"name":"A","value":"12"},{"name":"B"}])", kMore},
      {kSlurmd, R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"hostNetwork":true}})"},
      {kSlurmd, R"("template":{"metadata":{"annotations":{"a":"b","c":"d"}},"spec":{"hostNetwork":true}})"},
      {kSlurmd, R"("template":{"metadata":{"labels":{"a":"b","c":"d"}},"spec":{"hostNetwork":false}})"},
      {kSlurmd, kMore + R"(,"extraConf":"Weight=2")"},
      {kSlurmd, kGpus},
      {kSlurmd, kGpus + R"(,"gresType":"a100")"},
      {kSlurmd, kGpus + R"(,"gresType":"h100")"},
      {kSlurmd, kGpus + R"(,"gpuResource":"example.com/gpu")"},
      {kSlurmd, kMore + R"(,"memoryReserve":"1Mi")"},
      {kSlurmd, kMore + claim},
      {kSlurmd, kMore + R"(,"confinement":"Cgroup")"},
      {kSlurmd, kMore + R"(,"confinement":"Privileged")"},
  };
  std::set<std::string> hashes{hash_of(kSlurmd, kMore)};
  for (const auto& [slurmd, more] : others) {
    if (!hashes.insert(hash_of(slurmd, more)).second) fail_msg("%s %s: the same hash", slurmd.c_str(), more.c_str());
  }
}

// The sidecar and the engine each decode the NodeSet: the pod must have the hash that the sidecar computes.
void the_pod_has_it(void**) {
  const NodeSet nodeset = decode("{\"slurmd\":{" + kSlurmd + "," + kSize + "}}");
  const Json pod = build_pod(nodeset, {.node = "c-0", .request = "r", .jobs = ""}, Options());
  assert_text(std::string(pod.at({"metadata", "labels", "slurm-k8s.io/template-hash"}).text()), nodeset.template_hash);
}

void an_unknown_hash_is_no_former_template(void**) {
  const struct {
    const char* made_from;
    const char* present;
    bool former;
  } cases[] = {{"1-a", "1-b", true}, {"1-a", "1-a", false}, {"", "1-b", false},
               {"1-a", "", false},   {"0-a", "1-b", false}, {"12-a", "1-b", false}};
  for (const auto& c : cases) assert_int_equal(is_former_template(c.made_from, c.present), c.former);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(the_same_template_has_the_same_hash),
      SLURMK8S_TEST(another_template_has_another_hash),
      SLURMK8S_TEST(the_pod_has_it),
      SLURMK8S_TEST(an_unknown_hash_is_no_former_template),
  };
  return cmocka_run_group_tests_name("nodeset_template_hash", tests, nullptr, nullptr);
}
