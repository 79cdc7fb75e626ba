// SPDX-License-Identifier: GPL-2.0-or-later
// PowerPrograms: whether slurmctld's config_power_mgr() may be called now, for its power-saving programs. No Slurm
// header.
//
// config_power_mgr() asks access() and stat() of each program, under the locks that it has to be called under. Between
// 23.11 and 25.11 one that can't be run at that moment (a file that is being replaced) ends power saving until
// slurmctld is started again. And on a file system whose server is away the calls would hold slurmctld's locks until it
// is back. So it is called only with programs on file systems of this machine, a moment after the same was asked
// without a lock: the kernel has the answer in its memory then.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace slurmk8s {

/**
 * Of statfs(): whether a file system of this type waits for something outside of the kernel (NFS, CIFS, Ceph, FUSE …).
 */
bool waits_for_server(unsigned long type);

/** The programs as they are known so far. One thread at a time. */
class PowerPrograms {
 public:
  /** The type of the file system of a path, as statfs() says it; 0 when that fails. */
  using TypeOf = std::function<unsigned long(const std::string& path)>;

  explicit PowerPrograms(TypeOf type_of = {});

  /**
   * Empty when config_power_mgr() may be called, otherwise why not. Names that are no paths (PowerAction of 26.05) and
   * empty ones are passed over. Asks the file system: never under Slurm's locks. Programs on a file system that waits
   * for a server are looked at once, until there are others.
   */
  std::string find_hindrance(const std::vector<std::string>& programs);

 private:
  TypeOf type_of_;
  std::vector<std::string> known_;
  std::string remote_;  ///< why none of known_ is looked at again; empty: they are local
};

}  // namespace slurmk8s
