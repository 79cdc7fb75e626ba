// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/liveness_file: when the kubelet is told that the main loop is stuck.
#include "daemon/liveness_file.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

struct Folder {
  char path[32] = "/tmp/liveness-XXXXXX";
  Folder() { assert_non_null(mkdtemp(path)); }
  ~Folder() {
    unlink(file().c_str());
    rmdir(path);
  }
  std::string file() const { return std::string(path) + "/alive"; }
};

void is_alive_while_the_loop_turns(void**) {
  const Folder folder;
  FakeClock clock;
  auto file = LivenessFile::open(folder.file(), clock);
  assert_true(file.ok());
  assert_true(LivenessFile::check(folder.file(), clock).ok());
  clock.advance(seconds(59));
  assert_true(LivenessFile::check(folder.file(), clock).ok());
  clock.advance(seconds(1));
  const Status stuck = LivenessFile::check(folder.file(), clock);
  assert_false(stuck.ok());
  assert_text(stuck.error().message(), "main loop: stuck for 60 s");
  file->beat();
  assert_true(LivenessFile::check(folder.file(), clock).ok());
}

// The folder outlives the container: the next process begins with a beat.
void a_former_process_counts_for_nothing(void**) {
  const Folder folder;
  FakeClock clock;
  assert_true(LivenessFile::open(folder.file(), clock).ok());
  clock.advance(seconds(1000));
  assert_false(LivenessFile::check(folder.file(), clock).ok());
  assert_true(LivenessFile::open(folder.file(), clock).ok());
  assert_true(LivenessFile::check(folder.file(), clock).ok());
}

void what_is_no_time(void**) {
  const Folder folder;
  FakeClock clock;
  const Status missing = LivenessFile::check(folder.file(), clock);
  assert_false(missing.ok());
  assert_contains(missing.error().message(), folder.file().c_str());
  for (const char* text : {"", "soon\n", "99999999999\n", "-5\n"}) {
    std::ofstream(folder.file()) << text;
    if (LivenessFile::check(folder.file(), clock).ok()) fail_msg("taken: %s", text);
  }
  assert_false(LivenessFile::open("/nowhere/alive", clock).ok());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(is_alive_while_the_loop_turns),
      SLURMK8S_TEST(a_former_process_counts_for_nothing),
      SLURMK8S_TEST(what_is_no_time),
  };
  return cmocka_run_group_tests_name("sidecar_liveness_file", tests, nullptr, nullptr);
}
