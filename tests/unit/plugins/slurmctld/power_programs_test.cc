// SPDX-License-Identifier: GPL-2.0-or-later
// PowerPrograms: unusable programs, and file systems with a server.
#include "slurmctld/power_programs.hpp"

#include <sys/stat.h>

#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;

namespace {

std::string find_unusable(const std::vector<std::string>& programs) { return PowerPrograms().find_problem(programs); }

void finds_unusable_programs(void**) {
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
  assert_text(find_unusable({good, open}), open + ": writable by group or others");
  assert_text(find_unusable({good, folder.path() + "/gone"}), folder.path() + "/gone: No such file or directory");
}

// slurmctld would check them while it holds its locks.
void skips_programs_on_a_server(void**) {
  std::vector<std::string> asked;
  PowerPrograms programs([&](const std::string& path) {
    asked.push_back(path);
    return path.starts_with("/nfs/") ? 0x6969UL : 0xef53UL;  // NFS, ext4
  });
  const TemporaryFolder folder;
  const std::string local = folder.write("resume", "#!/bin/sh\n");
  assert_int_equal(chmod(local.c_str(), 0755), 0);
  for (int i = 0; i < 3; ++i) {
    assert_contains(programs.find_problem({local, "/nfs/suspend", "action"}),
                    "/nfs/suspend: on a network or FUSE file system");
  }
  assert_int_equal(asked.size(), 2);  // once, and no name of an action
  assert_text(programs.find_problem({local}), "");
  assert_text(programs.find_problem({local}), "");
  assert_int_equal(asked.size(), 3);
  assert_int_equal(chmod(local.c_str(), 0644), 0);
  assert_text(programs.find_problem({local}), local + ": Permission denied");
}

void knows_file_systems_with_a_server(void**) {
  for (const unsigned long remote : {0x6969UL, 0xff534d42UL, 0xfe534d42UL, 0xc36400UL, 0x65735546UL, 0x0bd00bd0UL}) {
    assert_true(waits_for_server(remote));
  }
  // ext4, XFS, btrfs, overlay, tmpfs; and an unknown one.
  for (const unsigned long local : {0xef53UL, 0x58465342UL, 0x9123683eUL, 0x794c7630UL, 0x01021994UL, 0UL}) {
    assert_false(waits_for_server(local));
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(finds_unusable_programs),
      SLURMK8S_TEST(skips_programs_on_a_server),
      SLURMK8S_TEST(knows_file_systems_with_a_server),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
