// SPDX-License-Identifier: GPL-2.0-or-later
// core/variants: what slurmctld's plugins are told about a constraint.
#include "core/variants.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

/** gpu has cuda11, cuda12 and secret (alice, account physics); cpu has arm, which gpu has too, and closed (bob). */
VariantCatalog catalog() {
  VariantCatalog c;
  c.nodesets["gpu"] = {{"gpu", "a100"}, {{"cuda11", {}}, {"cuda12", {}}, {"arm", {}},
                                         {"secret", {{"alice"}, {"physics"}}}}};
  c.nodesets["cpu"] = {{"cpu"}, {{"arm", {{"bob"}, {}}}, {"closed", {{"bob", "nobody-knows"}, {}}}}};
  c.uids = {{"alice", 1001}, {"bob", 1002}};
  return c;
}

std::string check(std::string_view constraint, const Applicant* applicant = nullptr) {
  const Status status = catalog().check(constraint, applicant);
  return status ? "" : status.error().message();
}

void knows_variants(void**) {
  assert_true(catalog().is_variant("cuda12"));
  assert_true(catalog().is_variant("closed"));
  assert_false(catalog().is_variant("gpu"));
  assert_false(catalog().is_variant("cuda"));
  assert_false(VariantCatalog().is_variant("cuda12"));
}

void refuses_what_no_node_can_be(void**) {
  for (const char* fine :
       {"", "cuda12", "gpu&cuda12", "gpu|cpu", "a100*2", "[gpu*1&cpu*2]", "nobody-has-it", "bad&(", "cuda12&cuda12"}) {
    assert_text(check(fine), "");
  }
  assert_text(check("cuda11&cuda12"), "constraint: a node has one variant at a time, and not cuda11 and cuda12");
  assert_contains(check("gpu|(cuda11&arm)"), "not arm and cuda11");
  assert_contains(check("cuda11|cuda12"), "alternatives (|) with cuda11 and cuda12 need JobSubmitPlugins=k8s");
  assert_contains(check("cuda12*2"), "cuda12 can't be given with a count");
  assert_contains(check("[cuda11*1&cuda12*1]"), "one variant at a time");
  assert_contains(check("[gpu*1&cuda12*1]"), "with a count");
}

void lets_in_whom_the_nodeset_names(void**) {
  const struct {
    const char* constraint;
    Applicant who;
    const char* expected;  // part of it; empty: let in
  } cases[] = {
      {"cuda12", {5, "", false}, ""},
      {"secret", {1001, "", false}, ""},
      {"secret", {1002, "physics", false}, ""},
      {"secret", {1002, "biology", false}, "variant secret is not for account biology: it is for physics"},
      {"secret", {1002, "", false}, "not for your jobs without an --account: it is for physics"},
      {"secret", {1002, "", true}, ""},
      {"gpu&secret", {5, "", false}, "not for"},
      {"closed", {1002, "", false}, ""},
      {"closed", {1001, "physics", false}, "variant closed is not for you"},
      {"arm", {5, "", false}, ""},  // NodeSet gpu lets everybody in
  };
  for (const auto& c : cases) {
    if (c.expected[0]) {
      assert_contains(check(c.constraint, &c.who), c.expected);
    } else {
      assert_text(check(c.constraint, &c.who), "");
    }
  }
}

void tells_what_there_is(void**) {
  assert_text(catalog().describe_unknown("gpu&cuda12"), "");
  assert_text(catalog().describe_unknown("nothing|cpu"), "");
  assert_text(catalog().describe_unknown("cuda13"),
              "constraint: no NodeSet has it; there are cpu with the variants arm and closed; "
              "gpu (a100) with the variants arm, cuda11, cuda12 and secret");
  assert_contains(catalog().describe_unknown("cpu&cuda12"), "no NodeSet has it");
  assert_text(VariantCatalog().describe_unknown("cuda13"), "");
}

/** Nodes of slurm.conf have features of their own: slurmctld takes such a job, and there is nothing to be told. */
void tells_nothing_of_what_other_nodes_have(void**) {
  VariantCatalog c = catalog();
  c.records = {"", "metal,ib", "cpu,k8s/rack1"};
  for (const char* there : {"metal", "metal&ib", "nothing|ib", "k8s/rack1&cpu"}) assert_text(c.describe_unknown(there), "");
  for (const char* not_there : {"metal&cpu", "meta", "metal&k8s/rack1"}) {
    assert_contains(c.describe_unknown(not_there), "no NodeSet has it");
  }
  assert_true(*VariantCatalog::decode(c.encode()) == c);
}

void settles_on_the_first_that_there_is(void**) {
  const std::pair<const char*, const char*> cases[] = {
      {"cuda12|cuda11", "cuda12"},
      {"[cuda11|cuda12]", "cuda11"},
      {"gpu&(cuda11|cuda12)", "gpu&cuda11"},
      {"cuda13|cuda11", "cuda11"},
      {"cpu&cuda11|gpu&cuda12", "gpu&cuda12"},
      {"cuda13&gpu|cpu&cuda11", "cuda13&gpu"},  // none: it is refused as it is written first
      {"gpu|cuda12", "gpu"},
      {"gpu|cpu", ""},
      {"cuda12", ""},
      {"[cuda12*1|cuda11]", ""},
      {"bad|(", ""},
  };
  for (const auto& [constraint, expected] : cases) assert_text(catalog().settle(constraint), expected);
}

void chooses_the_first_that_all_nodes_can_be(void**) {
  const struct {
    const char* constraint;
    std::vector<std::string> nodes;
    const char* expected;
  } cases[] = {
      {"cuda12", {"gpu-0", "gpu-1"}, "cuda12"},
      {"gpu&cuda12", {"gpu-0"}, "cuda12"},
      {"cuda12|cuda11", {"gpu-0"}, "cuda12"},
      {"cuda12|arm", {"cpu-3"}, "arm"},
      {"cuda12|arm", {"cpu-3", "gpu-1"}, "arm"},
      {"cuda12|arm", {}, "cuda12"},
      {"cpu&arm|gpu&cuda11", {"gpu-2"}, "cuda11"},
      {"gpu", {"gpu-2"}, ""},
      {"cpu|cuda12", {"gpu-2"}, "cuda12"},
      {"a100|cuda12", {"gpu-2"}, ""},
      {"cuda12|extra", {"static7"}, ""},
      {"[cuda12|cuda11]", {"gpu-0"}, "cuda12"},
      {"bad&(", {"gpu-0"}, ""},
  };
  for (const auto& c : cases) assert_text(catalog().choose(c.constraint, c.nodes), c.expected);
}

void survives_a_file(void**) {
  const auto parsed = Json::parse(catalog().encode().dump());
  assert_true(parsed.ok());
  const auto again = VariantCatalog::decode(*parsed);
  assert_true(again.ok());
  assert_true(*again == catalog());
  for (const char* bad : {"{}", "[]", "3", R"({"nodesets":[]})"}) assert_false(VariantCatalog::decode(*Json::parse(bad)).ok());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(knows_variants),
      SLURMK8S_TEST(refuses_what_no_node_can_be),
      SLURMK8S_TEST(lets_in_whom_the_nodeset_names),
      SLURMK8S_TEST(tells_what_there_is),
      SLURMK8S_TEST(tells_nothing_of_what_other_nodes_have),
      SLURMK8S_TEST(settles_on_the_first_that_there_is),
      SLURMK8S_TEST(chooses_the_first_that_all_nodes_can_be),
      SLURMK8S_TEST(survives_a_file),
  };
  return cmocka_run_group_tests_name("core_variants", tests, nullptr, nullptr);
}
