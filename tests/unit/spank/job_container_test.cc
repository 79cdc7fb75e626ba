// SPDX-License-Identifier: GPL-2.0-or-later
// spank/job_container: steps with --container on nodes with and without oci.conf.
#include "spank/job_container.hpp"

#include <fstream>

#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

namespace slurmk8s {
namespace {

void containers(void**) {
  const TemporaryFolder folder;
  const std::string conf = folder.path() + "/slurm.conf";
  assert_true(lacks_container("/home/ada/bundle", conf));
  assert_false(lacks_container("", conf));
  assert_false(lacks_container("/home/ada/bundle", ""));
  assert_false(lacks_container("/home/ada/bundle", "slurm.conf"));
  std::ofstream(folder.path() + "/oci.conf") << "RunTimeRun=\"true\"\n";
  assert_false(lacks_container("/home/ada/bundle", conf));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(containers)};
  return cmocka_run_group_tests_name("spank_job_container", tests, nullptr, nullptr);
}
