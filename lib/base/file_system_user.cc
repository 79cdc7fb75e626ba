// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file_system_user.hpp"

#include <sys/fsuid.h>
#include <unistd.h>

namespace slurmk8s {

FileSystemUser::FileSystemUser(uid_t user, gid_t group) {
  setfsgid(group);
  setfsuid(user);
}

FileSystemUser::~FileSystemUser() {
  setfsuid(geteuid());
  setfsgid(getegid());
}

}  // namespace slurmk8s
