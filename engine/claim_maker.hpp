// SPDX-License-Identifier: GPL-2.0-or-later
// ClaimMaker: makes the volume claims of a node, before its pod. The engine's thread.
#pragma once

#include <functional>
#include <vector>

#include "engine/executor.hpp"

namespace slurmk8s {

class ClaimMaker {
 public:
  /** `executor` must outlive it. */
  explicit ClaimMaker(Executor& executor) : executor_(executor) {}

  /**
   * POSTs one after the other; a claim that is there is taken as it is: that is what keeps a node's data. Calls back
   * once, with the first error; a claim that is being deleted is one that may go away (unavailable). With nothing to
   * make it calls back at once.
   */
  void make(std::vector<Json> claims, std::function<void(Status)> done) { next(std::move(claims), 0, std::move(done)); }

 private:
  using Done = std::function<void(Status)>;
  void next(std::vector<Json> claims, std::size_t index, Done done);
  void read(std::vector<Json> claims, std::size_t index, Done done);

  Executor& executor_;
};

}  // namespace slurmk8s
