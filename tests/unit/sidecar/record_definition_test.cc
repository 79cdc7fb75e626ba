// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/record_definition: extraConf against records.
#include "sidecar/record_definition.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

void compares_what_slurm_tells(void**) {
  const struct {
    const char* extra_conf;
    bool is_other;
    int weight;  ///< 0: none is given
  } cases[] = {
      {"", false, 0},
      {"CoreSpecCount=1 MemSpecLimit=100 CoresPerSocket=2 ThreadsPerCore=2", false, 0},
      {"corespeccount=1 Weight=10", false, 10},
      {"CoreSpecCount=2", true, 0},
      {"MemSpecLimit=0", true, 0},
      {"CoresPerSocket=4", true, 0},
      {"ThreadsPerCore=1", true, 0},
      {"Gres=fpga:2 CpuBind=core weight=3", false, 3},  // can't be compared
  };
  SlurmNode node = FakeSlurm::cloud_node("c-0");
  node.cpus = 4;
  node.core_spec_count = 1;
  node.mem_spec_limit_mib = 100;
  node.cores_per_socket = node.threads_per_core = 2;
  for (const auto& row : cases) {
    const RecordDefinition definition = read_definition(row.extra_conf);
    if (has_other_definition(node, definition) != row.is_other) fail_msg("%s", row.extra_conf);
    assert_int_equal(definition.weight.value_or(0), row.weight);
  }
}

void knows_which_records_are_of_a_former_definition(void**) {
  const RecordDefinition one = read_definition("Weight=1 Gres=foo:1 CoreSpecCount=1");
  assert_text(one.rest,
              read_definition("corespeccount=2 Gres=foo:1 weight=7").rest);  // what can be compared doesn't count
  assert_true(one.rest != read_definition("Gres=foo:1 weight=7").rest);      // but whether it is there
  const RecordsState before{.definition = one.rest, .outdated = {"c-1"}};
  assert_false(is_outdated(before, one, "c-0"));
  assert_true(is_outdated(before, one, "c-1"));
  assert_true(is_outdated(before, read_definition("Gres=foo:2"), "c-0"));
  const RecordsState changed{.definition = "two", .outdated = {"c-0"}, .former = one.rest};
  assert_false(is_outdated(changed, one, "c-0"));  // the spec is as it was
  assert_true(is_outdated(changed, one, "c-1"));
  assert_false(is_outdated({}, one, "c-0"));  // nothing is known of records of an older slurm-k8s
  Json status = Json::object().set("records", encode_records({one.rest, {"c-0", "c-1", "c-2"}}));
  assert_text(status["records"]["outdated"].text(), "c-[0-2]");
  assert_int_equal(decode_records(status).outdated.size(), 3);
  assert_text(decode_records(status).definition, one.rest);
  assert_text(decode_records(Json::object().set("records", encode_records(changed))).former, one.rest);
  assert_true(encode_records({}).is_null());
  assert_true(decode_records(*Json::parse(R"({"records":{"outdated":"c-["}})")).outdated.empty());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(compares_what_slurm_tells),
                              SLURMK8S_TEST(knows_which_records_are_of_a_former_definition)};
  return cmocka_run_group_tests_name("sidecar_record_definition", tests, nullptr, nullptr);
}
