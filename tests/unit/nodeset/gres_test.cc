// SPDX-License-Identifier: GPL-2.0-or-later
// core/gres: what would end slurmctld never reaches it, what it takes does.
#include "nodeset/gres.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void takes_what_slurmctld_takes(void**) {
  for (const char* value :
       {"gpu", "gpu:2", "gpu:a100", "gpu:a100:2", "gpu:a100:1,gpu:h100:3", "gpu:3g.20gb:2,gpu:1g.5gb:4",
        "foo:1,bar:a:1", "gpu:2(S:0)", "gpu:a:2(S:0-1),foo:1", "bandwidth:no_consume:4G",
        "bandwidth:lustre:no_consume:4GiB", "foo:0", "foo:1,foo:2", "gpu:2,shard:8",
        "gpu:a:1,gpu:b:1,shard:a:4,shard:b:4", "gpu:1,mps:100", "shard:0", "foo:4p"}) {
    const Status status = check_gres(value);
    if (!status.ok()) fail_msg("%s: %s", value, status.error().message().c_str());
  }
}

// The first lines end slurmctld: seen, or read in src/interfaces/gres.c and src/plugins/gres/common/gres_c_s.c.
void refuses_what_ends_slurmctld(void**) {
  const struct {
    const char* value;
    const char* message;
  } cases[] = {
      {"foo:a:1,foo:1", "foo: some have a type and others have none"},
      {"foo:1,bar:1,foo:a:1", "foo: some have a type and others have none"},
      {"foo:a,foo:no_consume:3", "foo: some have a type and others have none"},
      {"foo:a:1(S:0),foo:2(S:1)", "foo: some have a type and others have none"},
      {"shard:4", "shard: the node needs a gpu to share"},
      {"mps:100", "mps: the node needs a gpu to share"},
      {"gpu:0,shard:4", "shard: the node needs a gpu to share"},
      {"foo:a:b:9223372036854775807k", "foo:a:b:9223372036854775807k: 9223372036854775807k: too many"},
      {"foo:a:b:1", "foo:a:b:1: has more than one type"},
      {"foo:9999p", "foo:9999p: 9999p: too many"},
      {"foo:99999999999999999999", "foo:99999999999999999999: 99999999999999999999: too many"},
      {"foo:a:1,foo:", "foo:: NAME, NAME:COUNT or NAME:TYPE:COUNT is needed"},
      {"foo:a:1,foo:(S:0)", "foo:(S:0): NAME, NAME:COUNT or NAME:TYPE:COUNT is needed"},
      {"gpu:3g.20gb", "gpu:3g.20gb: 3g.20gb isn't a count: a type needs one behind it"},
      {"foo:3x", "foo:3x: 3x isn't a count: a type needs one behind it"},
      {"foo:a:1(,foo:1", "foo: some have a type and others have none"},
      {"foo:a:1(S:0,1)", "1): NAME, NAME:COUNT or NAME:TYPE:COUNT is needed"},
      {":1", ":1: NAME, NAME:COUNT or NAME:TYPE:COUNT is needed"},
      {"foo:1,", ": NAME, NAME:COUNT or NAME:TYPE:COUNT is needed"},
      {"foo::1", "foo::1: NAME, NAME:COUNT or NAME:TYPE:COUNT is needed"},
  };
  for (const auto& c : cases) {
    const Status status = check_gres(c.value);
    if (status.ok()) fail_msg("%s is taken", c.value);
    assert_int_equal(status.error().code(), Errc::invalid);
    assert_text(status.error().message(), c.message);
  }
}

void names_what_there_is(void**) {
  assert_true(gres_names("gpu:a:1,gpu:b:2,foo,bar(S:0)") == std::set<std::string>({"bar", "foo", "gpu"}));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(takes_what_slurmctld_takes),
      SLURMK8S_TEST(names_what_there_is),
      SLURMK8S_TEST(refuses_what_ends_slurmctld),
  };
  return cmocka_run_group_tests_name("core_gres", tests, nullptr, nullptr);
}
