// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/unsettled_file: what the next sidecar finds.
#include "sidecar/unsettled_file.hpp"

#include <cstring>

#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;

namespace {

void is_found_by_the_next(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/unsettled";
  assert_false(UnsettledFile(path).exists());
  for (int i = 0; i < 2; i++) assert_true(UnsettledFile(path).keep(true).ok());
  assert_true(UnsettledFile(path).exists());
  for (int i = 0; i < 2; i++) assert_true(UnsettledFile(path).keep(false).ok());
  assert_false(UnsettledFile(path).exists());
}

void says_why_not(void**) {
  const TemporaryFolder folder;
  const Status kept = UnsettledFile(folder.path() + "/none/unsettled").keep(true);
  assert_non_null(std::strstr(kept.error().message().c_str(), "/none/unsettled"));
}

void keeps_nothing_without_a_path(void**) {
  assert_true(UnsettledFile("").keep(true).ok());
  assert_false(UnsettledFile("").exists());
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(is_found_by_the_next),
      SLURMK8S_TEST(says_why_not),
      SLURMK8S_TEST(keeps_nothing_without_a_path),
  };
  return cmocka_run_group_tests_name("unsettled_file", tests, nullptr, nullptr);
}
