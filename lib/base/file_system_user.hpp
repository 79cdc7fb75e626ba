// SPDX-License-Identifier: GPL-2.0-or-later
// FileSystemUser: a thread that opens and reads files as another user.
#pragma once

#include <sys/types.h>

namespace slurmk8s {

/**
 * The calling thread, and no other, has this file system user (setfsuid(2)) as long as the object lives, and its own
 * effective user again afterwards. Without CAP_SETUID and CAP_SETGID nothing changes. For one scope of one thread.
 *
 * A root without CAP_SYS_PTRACE, as in a pod, may open files such as /proc/PID/io and smaps_rollup of another user's
 * process, but each read() fails with EACCES: the kernel asks for the reader's file system user and group
 * (PTRACE_MODE_READ_FSCREDS in ptrace(2)).
 */
class FileSystemUser {
 public:
  FileSystemUser(uid_t user, gid_t group);
  ~FileSystemUser();
  FileSystemUser(const FileSystemUser&) = delete;
  FileSystemUser& operator=(const FileSystemUser&) = delete;
};

}  // namespace slurmk8s
