// SPDX-License-Identifier: GPL-2.0-or-later
// PowerPrograms: whether slurmctld's config_power_mgr() may be called now. No Slurm header.
//
// config_power_mgr() calls access() and stat() on each power-saving program, under slurmctld's locks. From 23.11 to
// 25.11 a program that cannot be run at that moment (a file that is being replaced) ends power saving until slurmctld
// restarts. On a file system whose server is away the calls would hold the locks until the server is back. So
// config_power_mgr() is called only with programs on local file systems, right after the same checks without a lock:
// the kernel has the answers cached then.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace slurmk8s {

/**
 * Whether a file system of this type (of statfs()) needs a server or a process: NFS, CIFS, Ceph, FUSE …
 */
bool waits_for_server(unsigned long type);

/** Remembers the programs that it has checked. One thread at a time. */
class PowerPrograms {
 public:
  /** The type of the file system of a path, as statfs() says it; 0 when that fails. */
  using TypeOf = std::function<unsigned long(const std::string& path)>;

  explicit PowerPrograms(TypeOf type_of = {});

  /**
   * Empty when config_power_mgr() may be called, otherwise why not. Skips names that are not paths (PowerAction of
   * 26.05). Reads the file system: never under Slurm's locks. A program on a file system with a server is checked once,
   * until the programs change.
   */
  std::string find_problem(const std::vector<std::string>& programs);

 private:
  TypeOf type_of_;
  std::vector<std::string> known_;
  std::string remote_;  ///< why known_ is not checked again; empty: all are local
};

}  // namespace slurmk8s
