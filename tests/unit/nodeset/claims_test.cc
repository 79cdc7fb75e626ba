// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/claims and nodeset/claim_builder: a node's volume claims. Their creation: engine/claim_maker_test.
#include "nodeset/claims.hpp"

#include "nodeset/claim_builder.hpp"
#include "nodeset/nodeset.hpp"
#include "nodeset/pod_builder.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

Result<NodeSet> decode(const std::string& more) {
  const auto object =
      Json::parse(R"({"metadata":{"namespace":"slurm","name":"c","uid":"u-c"},"spec":{"slurmd":{"image":)"
                  R"("i","resources":{"limits":{"cpu":"2","memory":"1000Mi"}}})" +
                  more + "}}");
  assert_ok(object);
  return decode_nodeset(*object);
}

constexpr const char* kTwo = R"(,"volumeClaimTemplates":[
    {"metadata":{"name":"scratch","labels":{"a":"b","slurm-k8s.io/node":"x"},"annotations":{"c":"d"}},
     "spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}},
    {"metadata":{"name":"cache"},"spec":{"storageClassName":"fast"}}])";

void claims_are_those_of_the_node(void**) {
  const auto nodeset = decode(kTwo);
  assert_ok(nodeset);
  const std::vector<Json> claims = build_claims(*nodeset, "c-3");
  assert_int_equal(claims.size(), 2);
  assert_text(
      claims[0].dump(),
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"scratch-c-3","namespace":"slurm",)"
      R"("labels":{"a":"b","slurm-k8s.io/node":"c-3","app.kubernetes.io/managed-by":"slurm-k8s",)"
      R"("slurm-k8s.io/nodeset":"c"},"annotations":{"c":"d"},"ownerReferences":[]},)"
      R"("spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
  assert_text(claims[1].at({"metadata", "name"}).text(), "cache-c-3");
  const auto owned = decode(std::string(kTwo) + R"(,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"})");
  assert_ok(owned);
  assert_text(build_claims(*owned, "c-3")[0].at({"metadata", "ownerReferences"})[std::size_t(0)]["uid"].text(), "u-c");
  assert_false(owned->claims.delete_when_scaled);
}

void the_pod_has_their_volumes(void**) {
  const auto nodeset =
      decode(std::string(kTwo) + R"(,"template":{"spec":{"volumes":[{"name":"cache","emptyDir":{}}]}})");
  assert_ok(nodeset);
  const Json volumes = build_pod(*nodeset, {"c-3", "r", ""}, Options{}).at({"spec", "volumes"});
  assert_text(volumes[std::size_t(1)].dump(), R"({"name":"cache","persistentVolumeClaim":{"claimName":"cache-c-3"}})");
  assert_text(volumes[std::size_t(2)].dump(),
              R"({"name":"scratch","persistentVolumeClaim":{"claimName":"scratch-c-3"}})");
}

void invalid_claims_are_named(void**) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(,"volumeClaimTemplates":{})", "spec.volumeClaimTemplates: Invalid value: \"object\": must be an array"},
      {R"(,"volumeClaimTemplates":[{"spec":{}}])",
       "spec.volumeClaimTemplates[0].metadata.name: Invalid value: \"\": must be lower-case"},
      {R"(,"volumeClaimTemplates":[{"metadata":{"name":"A"},"spec":{}}])",
       "[0].metadata.name: Invalid value: \"A\": must be lower-case"},
      {R"(,"volumeClaimTemplates":[{"metadata":{"name":"a"}}])", "spec.volumeClaimTemplates[0].spec: Required value"},
      {R"(,"volumeClaimTemplates":[{"metadata":{"name":"a"},"spec":{}},{"metadata":{"name":"a"},"spec":{}}])",
       "spec.volumeClaimTemplates[1].metadata.name: Duplicate value: \"a\""},
      {R"(,"persistentVolumeClaimRetentionPolicy":7)",
       "spec.persistentVolumeClaimRetentionPolicy: Invalid value: \"integer\": must be an object"},
      {R"(,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Keep"})",
       "spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: \"Keep\": supported values: "
       "\"Retain\", \"Delete\""},
  };
  for (const auto& [more, what] : cases) assert_error(decode(more), Errc::invalid, what);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(claims_are_those_of_the_node),
      SLURMK8S_TEST(the_pod_has_their_volumes),
      SLURMK8S_TEST(invalid_claims_are_named),
  };
  return cmocka_run_group_tests_name("nodeset_claims", tests, nullptr, nullptr);
}
