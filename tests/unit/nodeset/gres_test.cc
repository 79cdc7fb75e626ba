// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/gres: refuses values that abort slurmctld, accepts valid ones.
#include "nodeset/gres.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void accepts_valid_values(void**) {
  for (const char* value :
       {"gpu", "gpu:2", "gpu:a100", "gpu:a100:2", "gpu:a100:1,gpu:h100:3", "gpu:3g.20gb:2,gpu:1g.5gb:4",
        "foo:1,bar:a:1", "gpu:2(S:0)", "gpu:a:2(S:0-1),foo:1", "bandwidth:no_consume:4G",
        "bandwidth:lustre:no_consume:4GiB", "foo:0", "foo:1,foo:2", "gpu:2,shard:8",
        "gpu:a:1,gpu:b:1,shard:a:4,shard:b:4", "gpu:1,mps:100", "shard:0", "foo:4p"}) {
    const Status status = check_gres(value);
    if (!status.ok()) fail_msg("%s: %s", value, status.error().message().c_str());
  }
}

// The first lines abort slurmctld: tried, or found in src/interfaces/gres.c and src/plugins/gres/common/gres_c_s.c.
void refuses_values_that_abort_slurmctld(void**) {
  const struct {
    const char* value;
    const char* message;
  } cases[] = {
      {"foo:a:1,foo:1", "foo: all entries of a name must have a type, or none"},
      {"foo:1,bar:1,foo:a:1", "foo: all entries of a name must have a type, or none"},
      {"foo:a,foo:no_consume:3", "foo: all entries of a name must have a type, or none"},
      {"foo:a:1(S:0),foo:2(S:1)", "foo: all entries of a name must have a type, or none"},
      {"shard:4", "shard: requires a gpu on the same node"},
      {"mps:100", "mps: requires a gpu on the same node"},
      {"gpu:0,shard:4", "shard: requires a gpu on the same node"},
      {"foo:a:b:9223372036854775807k", "foo:a:b:9223372036854775807k: 9223372036854775807k: must be at most 2^52"},
      {"foo:a:b:1", "foo:a:b:1: must have one type"},
      {"foo:9999p", "foo:9999p: 9999p: must be at most 2^52"},
      {"foo:99999999999999999999", "foo:99999999999999999999: 99999999999999999999: must be at most 2^52"},
      {"foo:a:1,foo:", "foo:: must be NAME, NAME:COUNT or NAME:TYPE:COUNT"},
      {"foo:a:1,foo:(S:0)", "foo:(S:0): must be NAME, NAME:COUNT or NAME:TYPE:COUNT"},
      {"gpu:3g.20gb", "gpu:3g.20gb: 3g.20gb is not a count: a type must be followed by a count"},
      {"foo:3x", "foo:3x: 3x is not a count: a type must be followed by a count"},
      {"foo:a:1(,foo:1", "foo: all entries of a name must have a type, or none"},
      {"foo:a:1(S:0,1)", "1): must be NAME, NAME:COUNT or NAME:TYPE:COUNT"},
      {":1", ":1: must be NAME, NAME:COUNT or NAME:TYPE:COUNT"},
      {"foo:1,", ": must be NAME, NAME:COUNT or NAME:TYPE:COUNT"},
      {"foo::1", "foo::1: must be NAME, NAME:COUNT or NAME:TYPE:COUNT"},
  };
  for (const auto& c : cases) {
    const Status status = check_gres(c.value);
    if (status.ok()) fail_msg("%s: accepted", c.value);
    assert_int_equal(status.error().code(), Errc::invalid);
    assert_text(status.error().message(), c.message);
  }
}

void lists_names(void**) {
  assert_true(gres_names("gpu:a:1,gpu:b:2,foo,bar(S:0)") == std::set<std::string>({"bar", "foo", "gpu"}));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(accepts_valid_values),
      SLURMK8S_TEST(lists_names),
      SLURMK8S_TEST(refuses_values_that_abort_slurmctld),
  };
  return cmocka_run_group_tests_name("nodeset_gres", tests, nullptr, nullptr);
}
