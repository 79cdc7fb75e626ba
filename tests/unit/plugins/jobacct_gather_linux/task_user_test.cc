// SPDX-License-Identifier: GPL-2.0-or-later
// The user of a step's tasks, and /proc/PID/io of a real task for a root without CAP_SYS_PTRACE, as in a pod.
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "base/file_system_user.hpp"
#include "base/unique_fd.hpp"
#include "jobacct_gather_linux/task_user.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

constexpr TaskUser kNobody{65534, 65534};

/** Of this thread, and of the processes that it makes. */
void drop_ptrace() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2];
  assert_int_equal(syscall(SYS_capget, &header, data), 0);
  data[0].effective &= ~(1U << CAP_SYS_PTRACE);
  data[0].permitted &= ~(1U << CAP_SYS_PTRACE);
  assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

/**
 * A process of this user that sleeps; it is killed at the end. setuid() leaves its files in /proc to root, execve() and
 * prctl() give them to the user.
 */
class Task {
 public:
  explicit Task(const TaskUser& user) {
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd from_task(ends[0]);
    UniqueFd to_parent(ends[1]);
    pid_ = fork();
    if (pid_ == 0) {
      if (setgid(user.gid) == 0 && setuid(user.uid) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0) {
        if (write(to_parent.get(), "", 1) == 1) sleep(60);
      }
      _exit(1);
    }
    to_parent.reset();
    char byte;
    assert_int_equal(read(from_task.get(), &byte, 1), 1);
  }
  ~Task() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  pid_t pid() const { return pid_; }
  /** 0, or the errno of a read of its io file. */
  int read_io() const {
    const UniqueFd file(open(("/proc/" + std::to_string(pid_) + "/io").c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return errno;
    char byte;
    return read(file.get(), &byte, 1) == 1 ? 0 : errno;
  }

 private:
  pid_t pid_;
};

uid_t file_system_uid() { return static_cast<uid_t>(setfsuid(static_cast<uid_t>(-1))); }
gid_t file_system_gid() { return static_cast<gid_t>(setfsgid(static_cast<gid_t>(-1))); }

void finds_the_user(void**) {
  if (geteuid() != 0) skip();
  const Task task(kNobody);
  assert_true(find_task_user({task.pid()}) == kNobody);
  assert_true(find_task_user({1, task.pid()}) == kNobody);  // not root's
  assert_false(find_task_user({}).has_value());
  assert_false(find_task_user({getpid()}).has_value());
  pid_t ended;
  {
    const Task other(kNobody);
    ended = other.pid();
  }
  assert_false(find_task_user({ended}).has_value());
}

void reads_as_the_user(void**) {
  if (geteuid() != 0) skip();
  drop_ptrace();
  const Task task(kNobody);
  assert_true(find_task_user({task.pid()}) == kNobody);
  assert_int_equal(task.read_io(), EACCES);
  {
    const FileSystemUser as_user(kNobody.uid, kNobody.gid);
    assert_int_equal(task.read_io(), 0);
    assert_int_equal(file_system_uid(), kNobody.uid);
  }
  assert_int_equal(file_system_uid(), 0);
  assert_int_equal(file_system_gid(), 0);
  assert_int_equal(task.read_io(), EACCES);
  {
    const FileSystemUser other_group(kNobody.uid, 0);
    assert_int_equal(task.read_io(), EACCES);
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(finds_the_user),
      SLURMK8S_TEST(reads_as_the_user),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
