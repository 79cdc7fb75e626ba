// SPDX-License-Identifier: GPL-2.0-or-later
// base/oci_conf: folders of slurm.conf with and without oci.conf.
#include "base/oci_conf.hpp"

#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

namespace slurmk8s {
namespace {

void folders(void**) {
  const TemporaryFolder folder;
  const std::string conf = folder.path() + "/slurm.conf";
  assert_true(lacks_oci_conf(conf));
  assert_false(lacks_oci_conf(""));
  assert_false(lacks_oci_conf("slurm.conf"));
  folder.write("oci.conf", "RunTimeRun=\"true\"\n");
  assert_false(lacks_oci_conf(conf));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(folders)};
  return cmocka_run_group_tests_name("base_oci_conf", tests, nullptr, nullptr);
}
