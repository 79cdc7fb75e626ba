// SPDX-License-Identifier: GPL-2.0-or-later
// StateCache: the last answer to what Slurm's state is, as metrics, and the thread that asks.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "slurm/call_thread.hpp"
#include "slurm/slurm_state.hpp"

namespace slurmk8s {

/**
 * Asks slurmctld on a thread of its own: at a read(), when kPeriod has passed since the last time. That read() waits
 * for the answer up to kPatience. Without an answer by then it has the previous one, as all other reads do.
 */
class StateCache {
 public:
  static constexpr std::chrono::seconds kPeriod{15};
  static constexpr std::chrono::milliseconds kPatience{500};
  static constexpr std::chrono::minutes kForget{5};  ///< what is older is not shown

  /** `clock` must outlive it: the thread, which may live longer, does not use it. `max_users`: see state_metrics.hpp */
  StateCache(std::shared_ptr<SlurmStateReader> reader, const Clock& clock, std::size_t max_users);

  /** The page of this path (state_pages()); empty: nothing is known. Any thread. */
  std::string read(const std::string& path);
  /** How old the answer is, and how often slurmctld was asked: metrics of the sidecar. Asks nothing. Any thread. */
  std::string encode_own();

 private:
  struct State;
  static void refresh(State& state);

  const std::shared_ptr<State> state_;  // the thread's, too
  const Clock& clock_;
  CallThread thread_;
};

}  // namespace slurmk8s
