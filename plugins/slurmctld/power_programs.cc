// SPDX-License-Identifier: GPL-2.0-or-later
// The checks that slurmctld does: executable, and writable by its owner alone.
#include "slurmctld/power_programs.hpp"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace slurmk8s {
namespace {

// Those that linux/magic.h lacks.
constexpr unsigned long kLustre = 0x0bd00bd0;
constexpr unsigned long kGpfs = 0x47504653;
constexpr unsigned long kBeegfs = 0x19830326;
constexpr unsigned long kGfs2 = 0x01161970;

bool is_on_root(const std::string& path) {
  struct stat file {
  }, root{};
  return ::stat(path.c_str(), &file) == 0 && ::stat("/", &root) == 0 && file.st_dev == root.st_dev;
}

/** 0 also for slurmctld's root file system, which may be FUSE (a rootless container): all of slurmctld needs it. */
unsigned long type_of_file_system(const std::string& path) {
  struct statfs info {};
  if (is_on_root(path)) return 0;
  // The 32 bits that the magic numbers have: the field is signed.
  return ::statfs(path.c_str(), &info) == 0 ? static_cast<unsigned int>(info.f_type) : 0;
}

bool is_path(const std::string& program) { return program.starts_with('/'); }

std::string find_unusable(const std::vector<std::string>& programs) {
  for (const std::string& program : programs) {
    if (!is_path(program)) continue;
    struct stat info {};
    if (::access(program.c_str(), X_OK) != 0 || ::stat(program.c_str(), &info) != 0) {
      return program + ": " + ::strerror(errno);
    }
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return program + ": writable by group or others";
  }
  return {};
}

}  // namespace

bool waits_for_server(unsigned long type) {
  constexpr unsigned long kTypes[] = {NFS_SUPER_MAGIC,
                                      SMB_SUPER_MAGIC,
                                      CIFS_SUPER_MAGIC,
                                      SMB2_SUPER_MAGIC,
                                      CEPH_SUPER_MAGIC,
                                      FUSE_SUPER_MAGIC,
                                      CODA_SUPER_MAGIC,
                                      AFS_SUPER_MAGIC,
                                      AFS_FS_MAGIC,
                                      V9FS_MAGIC,
                                      OCFS2_SUPER_MAGIC,
                                      kLustre,
                                      kGpfs,
                                      kBeegfs,
                                      kGfs2};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

PowerPrograms::PowerPrograms(TypeOf type_of) : type_of_(type_of ? std::move(type_of) : type_of_file_system) {}

std::string PowerPrograms::find_problem(const std::vector<std::string>& programs) {
  if (programs != known_) {
    remote_.clear();
    for (const std::string& program : programs) {
      if (is_path(program) && waits_for_server(type_of_(program))) {
        remote_ = program + ": on a network or FUSE file system, which could block slurmctld";
      }
    }
    known_ = programs;
  }
  return remote_.empty() ? find_unusable(programs) : remote_;
}

}  // namespace slurmk8s
