// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/tmp_disk: local storage of a pod as TmpDisk of its node.
#include "nodeset/tmp_disk.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

Json container(const char* text) {
  const auto parsed = Json::parse(text);
  assert_true(parsed.ok());
  return *parsed;
}

void storage_is_tmp_disk(void**) {
  const struct {
    const char* container;
    std::uint32_t mib;
  } cases[] = {
      {R"({})", 0},
      {R"({"resources": {"limits": {"memory": "1Gi"}}})", 0},
      {R"({"resources": {"limits": {"ephemeral-storage": "2Gi"}}})", 2048},
      {R"({"resources": {"limits": {"ephemeral-storage": 3145728}}})", 3},
      {R"({"resources": {"limits": {"ephemeral-storage": "2G"}}})", 1907},
      {R"({"resources": {"limits": {"ephemeral-storage": "1023Ki"}}})", 0},
      {R"({"resources": {"requests": {"ephemeral-storage": "1Gi"}}})", 1024},
      // What a machine is sure to have.
      {R"({"resources": {"requests": {"ephemeral-storage": "1Gi"}, "limits": {"ephemeral-storage": "2Gi"}}})", 1024},
      {R"({"resources": {"limits": {"ephemeral-storage": "4Pi"}}})", 0x7fffffff},
      {R"({"resources": {"limits": {"ephemeral-storage": "2Gi"}}, "volumeMounts": [{"mountPath": "/scratch"}]})", 2048},
      {R"({"resources": {"limits": {"ephemeral-storage": "2Gi"}}, "volumeMounts": [{"mountPath": "/tmp"}]})", 0},
      {R"({"resources": {"limits": {"ephemeral-storage": "2Gi"}}, "volumeMounts": [{"mountPath": "/tmp/"}]})", 0},
      {R"({"resources": {"limits": {"ephemeral-storage": "2Gi"}}, "volumeMounts": [{"mountPath": "/tmp/a"}]})", 2048},
  };
  for (const auto& c : cases) {
    const auto mib = tmp_disk_mib(container(c.container));
    assert_true(mib.ok());
    if (*mib != c.mib) fail_msg("%s: %u MiB, not %u", c.container, *mib, c.mib);
  }
}

void refuses_what_is_no_quantity(void**) {
  const auto mib = tmp_disk_mib(container(R"({"resources": {"requests": {"ephemeral-storage": "much"}}})"));
  assert_false(mib.ok());
  assert_int_equal(mib.error().code(), Errc::invalid);
  assert_contains(mib.error().message(), "spec.slurmd.resources.requests.ephemeral-storage");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(refuses_what_is_no_quantity),
      SLURMK8S_TEST(storage_is_tmp_disk),
  };
  return cmocka_run_group_tests_name("nodeset_tmp_disk", tests, nullptr, nullptr);
}
