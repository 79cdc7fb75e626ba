// SPDX-License-Identifier: GPL-2.0-or-later
// PowerPrograms: what slurmctld would not run.
#include "prep_k8s/power_programs.hpp"

#include <sys/stat.h>

#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;

namespace {

void finds_what_slurmctld_refuses(void**) {
  const TemporaryFolder folder;
  const std::string good = folder.write("resume", "#!/bin/sh\n");
  const std::string plain = folder.write("suspend", "#!/bin/sh\n");
  const std::string open = folder.write("fail", "#!/bin/sh\n");
  assert_int_equal(chmod(good.c_str(), 0755), 0);
  assert_int_equal(chmod(plain.c_str(), 0644), 0);
  assert_int_equal(chmod(open.c_str(), 0775), 0);
  assert_text(find_unusable({}), "");
  assert_text(find_unusable({good, "", "an-action"}), "");
  assert_text(find_unusable({good, plain}), plain + ": Permission denied");
  assert_text(find_unusable({good, open}), open + ": its group or others may write it");
  assert_text(find_unusable({good, folder.path() + "/gone"}), folder.path() + "/gone: No such file or directory");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(finds_what_slurmctld_refuses)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
