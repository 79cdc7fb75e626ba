// SPDX-License-Identifier: GPL-2.0-or-later
// SuspendExemptions: which nodes slurmctld leaves up however long they are idle (SuspendExcNodes). Values; any thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "slurm/records.hpp"

namespace slurmk8s {

class SuspendExemptions {
 public:
  /**
   * What slurmctld says now; true when that is not what we know. Names that we added and that it has lost, as at a
   * reconfiguration, are ours no more.
   */
  bool update(const SlurmConfig& config);
  /** False: this Slurm can't change them at run time, or an administrator's entry is of a kind that it can't add to. */
  bool can_change() const { return can_change_; }
  /** By its own name, or by that of its NodeSet, which slurm.conf may have (NodeSet=NAME Feature=NAME). */
  bool covers(std::string_view nodeset, std::string_view node) const;

  /** Names that we added, and nobody else, and for which NodeSet. */
  const std::map<std::string, std::string, std::less<>>& ours() const { return ours_; }
  void added(const std::string& nodeset, const std::string& hostlist);
  /** Names that a former sidecar added: ours, too, if slurmctld still has them at the next update(). */
  void restore(const std::string& nodeset, const std::string& hostlist);
  void removed(const std::string& hostlist);

 private:
  void read(const SlurmConfig& config);

  bool can_change_ = false;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, std::string, std::less<>> ours_;
};

}  // namespace slurmk8s
