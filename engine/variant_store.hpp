// SPDX-License-Identifier: GPL-2.0-or-later
// VariantStore: the index of variants that slurmctld's plugins ask, and the file that has its catalog over a restart.
//
// slurmctld reads nodes and jobs back before the engine has seen a NodeSet, and asks then already which of their
// features can change: the answer is the last one that this slurmctld, or the one that was in control before, has
// written into StateSaveLocation. Any thread; the mutex is held to copy a pointer.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/locked.hpp"
#include "nodeset/variant_index.hpp"

namespace slurmk8s {

class VariantStore {
 public:
  /** One more user, and where the file is; it is read. May do I/O. */
  void open(const std::string& folder);
  /**
   * One user less. With the last one, and without the engine, nothing is kept in memory: the library may be unloaded.
   */
  void close();
  /**
   * What the engine knows; null: there is no engine any more. Writes the file: the engine's thread. False: that failed.
   */
  bool publish(const VariantCatalog* catalog);
  /**
   * Reads the file if it is another one than the last time, and no engine keeps the index: the slurmctld in control
   * writes it, and this one stands by. May do I/O: the engine's thread.
   */
  void refresh();
  /** Ids of users in the file; none when there is no file. I/O: the engine's thread. */
  std::map<std::string, std::uint32_t> stored_ids();
  /** Never null. No I/O: slurmctld asks while it holds its locks. */
  std::shared_ptr<const VariantIndex> index();

 private:
  struct State {
    int users = 0;
    std::shared_ptr<const VariantIndex> index;
    std::shared_ptr<const VariantIndex> former;  // freed by the next replace(), and never under Slurm's locks
    std::string path;
    bool live = false;    // the engine keeps `index`
    struct stat file {};  // when it was last read
  };
  static void replace(State& state, std::shared_ptr<const VariantIndex>& fresh);
  static void forget_if_unused(State& state);

  Locked<State> state_;
};

}  // namespace slurmk8s
