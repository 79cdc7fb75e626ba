// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/lease_options: what --leader-elect… takes.
#include "daemon/lease_options.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

void defaults_are_those_of_kubernetes(void**) {
  const LeaseOptions options;
  assert_false(options.elect);
  assert_text(options.name, "slurm-k8s-sidecar");
  assert_int_equal(options.lease_duration.count(), 15);
  assert_int_equal(options.renew_deadline.count(), 10);
  assert_int_equal(options.retry_period.count(), 2);
  assert_ok(check_lease_options(options));
}

void values_are_taken(void**) {
  LeaseOptions options;
  assert_ok(set_lease_option("leader-elect", "", options));
  assert_true(options.elect);
  assert_ok(set_lease_option("leader-elect", "false", options));
  assert_false(options.elect);
  assert_ok(set_lease_option("leader-elect", "true", options));
  assert_true(options.elect);
  assert_ok(set_lease_option("leader-elect-resource-name", "mine", options));
  assert_ok(set_lease_option("leader-elect-identity", "me", options));
  assert_ok(set_lease_option("leader-elect-lease-duration", "1m30s", options));
  assert_ok(set_lease_option("leader-elect-renew-deadline", "1m", options));
  assert_ok(set_lease_option("leader-elect-retry-period", "5s", options));
  assert_text(options.name, "mine");
  assert_text(options.identity, "me");
  assert_int_equal(options.lease_duration.count(), 90);
  assert_int_equal(options.renew_deadline.count(), 60);
  assert_int_equal(options.retry_period.count(), 5);
  assert_ok(check_lease_options(options));
}

void other_values_are_refused(void**) {
  const struct {
    const char* option;
    const char* value;
    const char* message;
  } cases[] = {
      {"leader-elect", "yes", "--leader-elect: invalid value \"yes\": must be true or false"},
      {"leader-elect-resource-name", "", "--leader-elect-resource-name: required"},
      {"leader-elect-identity", "", "--leader-elect-identity: required"},
      {"leader-elect-lease-duration", "15",
       "--leader-elect-lease-duration: invalid value \"15\": must be a duration of whole"},
      {"leader-elect-lease-duration", "", "must be a duration"},
      {"leader-elect-retry-period", "0s", "must be a duration"},
      {"leader-elect-retry-period", "-2s", "must be a duration"},
      {"leader-elect-retry-period", "500ms", "must be a duration"},
      {"leader-elect-renew-deadline", "s", "must be a duration"},
      {"leader-elect-renew-deadline", "99999999999999999999s", "must be a duration"},
      {"leader-elect-renew-deadline", "25h", "must be a duration"},
  };
  for (const auto& c : cases) {
    LeaseOptions options;
    assert_error(set_lease_option(c.option, c.value, options), Errc::invalid, c.message);
  }
}

void they_must_fit_together(void**) {
  LeaseOptions options;
  options.renew_deadline = seconds(15);
  assert_error(check_lease_options(options), Errc::invalid, "lease-duration must be longer than");
  options.renew_deadline = seconds(2);
  assert_error(check_lease_options(options), Errc::invalid, "renew-deadline must be longer than");
}

void identities_differ(void**) { assert_true(make_identity() != make_identity()); }

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(defaults_are_those_of_kubernetes),
      SLURMK8S_TEST(values_are_taken),
      SLURMK8S_TEST(other_values_are_refused),
      SLURMK8S_TEST(they_must_fit_together),
      SLURMK8S_TEST(identities_differ),
  };
  return cmocka_run_group_tests_name("sidecar_lease_options", tests, nullptr, nullptr);
}
