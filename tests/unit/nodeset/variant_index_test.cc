// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/variant_index: constraints, for slurmctld's plugins; and the catalog that it is made from.
#include "nodeset/variant_index.hpp"

#include "base/strings.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

/** gpu has cuda11, cuda12 and secret (alice, account physics); cpu has arm, which gpu has too, and closed (bob). */
VariantCatalog catalog() {
  VariantCatalog c;
  c.nodesets["gpu"] = {{"gpu", "a100"},
                       {{"cuda11", {}}, {"cuda12", {}}, {"arm", {}}, {"secret", {{"alice"}, {"physics"}}}}};
  c.nodesets["cpu"] = {{"cpu"}, {{"arm", {{"bob"}, {}}}, {"closed", {{"bob", "nobody-knows"}, {}}}}};
  c.uids = {{"alice", 1001}, {"bob", 1002}};
  return c;
}

VariantIndex index() { return VariantIndex(catalog()); }

constexpr unsigned kAlice = 1001, kBob = 1002, kStranger = 5;
const Applicant anybody{kStranger, "", false}, administrator{0, "", true};

/** Why it is refused; empty: accepted. */
std::string refusal(std::string_view constraint, const Applicant* applicant = nullptr) {
  const ConstraintVerdict verdict = index().judge(constraint, applicant);
  return verdict.refused ? verdict.text : "";
}

/** The message for an accepted constraint. */
std::string note(const VariantIndex& index, std::string_view constraint, const Applicant& who = anybody) {
  const ConstraintVerdict verdict = index.judge(constraint, &who);
  assert_false(verdict.refused);
  return verdict.text;
}

void knows_variants(void**) {
  assert_true(index().is_variant("cuda12"));
  assert_true(index().is_variant("closed"));
  assert_false(index().is_variant("gpu"));
  assert_false(index().is_variant("cuda"));
  assert_false(VariantIndex().is_variant("cuda12"));
}

void refuses_what_no_node_can_fulfil(void**) {
  for (const char* fine :
       {"", "cuda12", "gpu&cuda12", "gpu|cpu", "a100*2", "[gpu*1&cpu*2]", "nobody-has-it", "bad&(", "cuda12&cuda12"}) {
    assert_text(refusal(fine), "");
    assert_text(refusal(fine, &anybody), "");
  }
  assert_text(refusal("cuda11&cuda12"), "constraint: a node has one variant at a time, and not cuda11 and cuda12");
  assert_contains(refusal("gpu|(cuda11&arm)"), "not arm and cuda11");
  assert_contains(refusal("cuda11|cuda12"), "alternatives (|) with cuda11 and cuda12 need JobSubmitPlugins=k8s");
  assert_contains(refusal("cuda12*2"), "cuda12 cannot be used with a count");
  assert_contains(refusal("[cuda11*1&cuda12*1]"), "one variant at a time");
  assert_contains(refusal("[gpu*1&cuda12*1]"), "with a count");
}

/** Slurm expands a constraint with a variant and a '|' before it checks it. */
void refuses_large_constraints(void**) {
  std::string factors = "(cuda12|b0)";
  for (int i = 1; i < 80; i++) factors += format("&(a%d|b%d)", i, i);
  for (const Applicant* who : {static_cast<const Applicant*>(nullptr), &anybody, &administrator}) {
    assert_contains(refusal(factors, who), "more than 256 alternatives");
    assert_contains(refusal("(" + factors, who), "parentheses within parentheses");
    assert_contains(refusal(std::string(128 << 10, 'x'), who), "more than 1024 bytes");
    assert_contains(refusal("cuda12|gpu&(", who), "a feature is missing");
    assert_contains(refusal("(cuda12|gpu", who), "a ')' is missing");
  }
}

void admits_listed_users_and_accounts(void**) {
  const struct {
    const char* constraint;
    Applicant who;
    const char* expected;  // part of it; empty: let in
  } cases[] = {
      {"cuda12", {kStranger, "", false}, ""},
      {"secret", {kAlice, "", false}, ""},
      {"secret", {kBob, "physics", false}, ""},
      {"secret", {kBob, "biology", false}, "variant secret is not for account biology: it is for physics"},
      {"secret", {kBob, "", false}, "not for your jobs without an --account: it is for physics"},
      {"secret", {kBob, "", true}, ""},
      {"gpu&secret", {kStranger, "", false}, "not for"},
      {"closed", {kBob, "", false}, ""},
      {"closed", {kAlice, "physics", false}, "variant closed is not for you"},
      {"arm", {kStranger, "", false}, ""},  // NodeSet gpu lets everybody in
      {"secret|closed", {kStranger, "", false}, "variant secret is not for"},
  };
  for (const auto& c : cases) {
    if (c.expected[0]) {
      assert_contains(refusal(c.constraint, &c.who), c.expected);
    } else {
      assert_text(refusal(c.constraint, &c.who), "");
    }
  }
}

void lists_nodesets(void**) {
  assert_text(note(index(), "gpu&cuda12"), "");
  assert_text(note(index(), "nothing|cpu"), "");
  assert_text(note(index(), "cuda13", administrator),
              "constraint: no NodeSet has it; there are cpu with the variants arm and closed; "
              "gpu (a100) with the variants arm, cuda11, cuda12 and secret");
  assert_contains(note(index(), "cpu&cuda12"), "no NodeSet has it");
  assert_text(note(VariantIndex(), "cuda13"), "");
  assert_text(index().judge("cuda13", nullptr).text, "");
}

void lists_only_accessible_variants(void**) {
  assert_text(note(index(), "cuda13", anybody),
              "constraint: no NodeSet has it; there are cpu; gpu (a100) with the variants arm, cuda11 and cuda12");
  assert_text(
      note(index(), "cuda13", {kAlice, "", false}),
      "constraint: no NodeSet has it; there are cpu; gpu (a100) with the variants arm, cuda11, cuda12 and secret");
  assert_text(note(index(), "cuda13", {kBob, "", false}),
              "constraint: no NodeSet has it; there are cpu with the variants arm and closed; "
              "gpu (a100) with the variants arm, cuda11 and cuda12");
}

/** Nodes of slurm.conf have features of their own: slurmctld accepts such a job, without a message. */
void ignores_features_of_other_nodes(void**) {
  VariantCatalog c = catalog();
  c.records = {"", "metal,ib", "cpu,k8s/rack1"};
  const VariantIndex with_records(c);
  for (const char* there : {"metal", "metal&ib", "nothing|ib", "k8s/rack1&cpu"}) {
    assert_text(note(with_records, there), "");
  }
  for (const char* not_there : {"metal&cpu", "meta", "metal&k8s/rack1"}) {
    assert_contains(note(with_records, not_there), "no NodeSet has it");
  }
  assert_true(*VariantCatalog::decode(c.encode()) == c);
}

void settles_on_the_first_fulfilled(void**) {
  const std::pair<const char*, const char*> cases[] = {
      {"cuda12|cuda11", "cuda12"},
      {"[cuda11|cuda12]", "cuda11"},
      {"gpu&(cuda11|cuda12)", "gpu&cuda11"},
      {"cuda13|cuda11", "cuda11"},
      {"cpu&cuda11|gpu&cuda12", "gpu&cuda12"},
      {"cuda13&gpu|cpu&cuda11", "cuda13&gpu"},  // none: it is refused as it is written first
      {"cuda11&cuda12|gpu", "gpu"},
      {"gpu|cuda12", "gpu"},
      {"cuda12|cuda11|", "cuda12"},
      {"gpu|cpu", ""},
      {"cuda12", ""},
      {"[cuda12*1|cuda11]", ""},
      {"bad|(", ""},
  };
  for (const auto& [constraint, expected] : cases) {
    assert_text(index().judge(constraint, &anybody).settled, expected);
    assert_text(index().judge(constraint, nullptr).settled, "");
  }
}

void settles_on_an_accessible_variant(void**) {
  const struct {
    const char* constraint;
    Applicant who;
    const char* expected;
  } cases[] = {
      {"secret|cuda12", {kStranger, "", false}, "cuda12"},
      {"secret|cuda12", {kAlice, "", false}, "secret"},
      {"secret|cuda12", {kBob, "physics", false}, "secret"},
      {"secret|cuda12", {kBob, "biology", false}, "cuda12"},
      {"secret|cuda12", {kStranger, "", true}, "secret"},
      {"gpu&(secret|cuda11)", {kStranger, "", false}, "gpu&cuda11"},
      {"closed|secret", {kStranger, "", false}, "closed"},  // neither: it is refused as it is written first
      {"secret|cuda13", {kStranger, "", false}, "secret"},
  };
  for (const auto& c : cases) assert_text(index().judge(c.constraint, &c.who).settled, c.expected);
  assert_text(refusal("secret|cuda12", &anybody), "");
}

std::string choose(std::string_view constraint, const char* nodes) {
  return index().choose(constraint, nodes).value_or("it depends");
}

void chooses_the_first_that_all_nodes_can_fulfil(void**) {
  const struct {
    const char* constraint;
    const char* nodes;
    const char* expected;
  } cases[] = {
      {"cuda12", "gpu-[0-1]", "cuda12"},
      {"gpu&cuda12", "gpu-0", "cuda12"},
      {"cuda12|cuda11", "gpu-0", "cuda12"},
      {"cuda12|arm", "cpu-3", "arm"},
      {"cuda12|arm", "cpu-[3,5-7],gpu-1", "arm"},
      {"cuda12|arm", "gpu-1,cpu-3", "arm"},
      {"cuda12|arm", "", "cuda12"},
      {"cpu&arm|gpu&cuda11", "gpu-2", "cuda11"},
      {"gpu", "gpu-2", ""},
      {"cpu|cuda12", "gpu-2", "cuda12"},
      {"a100|cuda12", "gpu-2", ""},
      {"cuda12|extra", "static7", ""},
      {"[cuda12|cuda11]", "gpu-0", "cuda12"},
      {"bad&(", "gpu-0", ""},
      // A single alternative does not depend on the nodes.
      {"gpu&cuda12", nullptr, "cuda12"},
      {"gpu|cpu", nullptr, ""},
      {"cuda12|arm", nullptr, "it depends"},
  };
  for (const auto& c : cases) assert_text(choose(c.constraint, c.nodes), c.expected);
}

/** 1,000 NodeSets with 32 variants each for 256 users, and as many other nodes with features of their own. */
VariantCatalog large_catalog() {
  VariantCatalog c;
  std::set<std::string> users;
  for (int i = 0; i < 256; i++) {
    users.insert(format("user%d", i));
    c.uids.emplace(format("user%d", i), 2000 + i);
  }
  for (int n = 0; n < 1000; n++) {
    VariantCatalog::Entry& entry = c.nodesets[format("set%d", n)];
    for (int i = 0; i < 20; i++) entry.features.insert(format("f%d", i));
    for (int i = 0; i < 32; i++) entry.variants[format("v%d", i)] = {users, {}};
    std::string record = "metal";
    for (int i = 0; i < 100; i++) record += format(",f%d", i + n % 2);
    c.records.insert(record + format(",rack%d", n));
  }
  return c;
}

std::string joined(const char* prefix, int count, const char* between) {
  std::string text;
  for (int i = 0; i < count; i++) text += (i ? between : "") + format("%s%d", prefix, i);
  return text;
}

void cost_is_bounded(void**) {
  const VariantIndex large(large_catalog());
  const std::string cases[] = {joined("f", 100, "&") + "&f100&f0",
                               joined("f", 100, "&") + "&v0",
                               joined("v", 32, "|"),
                               "(" + joined("f", 15, "|") + ")&(" + joined("v", 16, "|") + ")&rack1",
                               joined("v", 32, "&"),
                               "(" + joined("v", 16, "|") + ")&(" + joined("rack", 16, "|") + ")",
                               "nothing"};
  for (const std::string& text : cases) {
    for (const Applicant* who : {static_cast<const Applicant*>(nullptr), &anybody}) {
      const ConstraintVerdict verdict = large.judge(text, who);
      assert_true(verdict.work <= kMaxConstraintWork + kMaxQuestionWork);
      assert_true(verdict.text.size() < 2048);
      assert_true(verdict.settled.size() <= kMaxConstraint);
    }
  }
  std::string nodes;
  for (int n = 0; n < 1000; n++) nodes += format("set%d-[0-9999],", n);
  assert_text(large.choose(joined("v", 32, "|"), nodes.c_str()).value_or("it depends"), "v0");
  assert_contains(note(large, "nothing"), "and others");
}

void survives_a_file(void**) {
  const auto parsed = Json::parse(catalog().encode().dump());
  assert_true(parsed.ok());
  const auto again = VariantCatalog::decode(*parsed);
  assert_true(again.ok());
  assert_true(*again == catalog());
  for (const char* bad : {"{}", "[]", "3", R"({"nodesets":[]})"}) {
    assert_false(VariantCatalog::decode(*Json::parse(bad)).ok());
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(knows_variants),
      SLURMK8S_TEST(refuses_what_no_node_can_fulfil),
      SLURMK8S_TEST(refuses_large_constraints),
      SLURMK8S_TEST(admits_listed_users_and_accounts),
      SLURMK8S_TEST(lists_nodesets),
      SLURMK8S_TEST(lists_only_accessible_variants),
      SLURMK8S_TEST(ignores_features_of_other_nodes),
      SLURMK8S_TEST(settles_on_the_first_fulfilled),
      SLURMK8S_TEST(settles_on_an_accessible_variant),
      SLURMK8S_TEST(chooses_the_first_that_all_nodes_can_fulfil),
      SLURMK8S_TEST(cost_is_bounded),
      SLURMK8S_TEST(survives_a_file),
  };
  return cmocka_run_group_tests_name("nodeset_variant_index", tests, nullptr, nullptr);
}
