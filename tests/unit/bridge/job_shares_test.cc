// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/job_shares: who may have one more job.
#include "bridge/job_shares.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

/** How many jobs the user can have beside those that are there. */
std::size_t fill(JobShares& shares, std::uint32_t user) {
  std::size_t jobs = 0;
  for (; shares.has_room(user); ++jobs) shares.add(user);
  return jobs;
}

void each_user_leaves_room(void**) {
  JobShares shares(10000);
  assert_int_equal(fill(shares, 2001), 9000);
  assert_int_equal(fill(shares, 2002), 900);
  assert_int_equal(fill(shares, 2003), 90);
  assert_int_equal(shares.all(), 9990);
  assert_false(shares.has_room(2001));  // the others have more than before
}

void few_jobs(void**) {
  for (const std::size_t max : {1, 2, 3, 9}) {
    JobShares shares(max);
    assert_int_equal(fill(shares, 2001), max);
    assert_false(shares.has_room(2002));
  }
  assert_false(JobShares(0).has_room(2001));
}

// There may be more than the maximum: those of a former bridge.
void too_many_jobs(void**) {
  JobShares shares(2);
  for (int i = 0; i < 5; ++i) shares.add(2001);
  assert_false(shares.has_room(2001));
  assert_false(shares.has_room(2002));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(each_user_leaves_room),
      SLURMK8S_TEST(few_jobs),
      SLURMK8S_TEST(too_many_jobs),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
