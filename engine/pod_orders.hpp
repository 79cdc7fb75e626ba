// SPDX-License-Identifier: GPL-2.0-or-later
// PodOrders: finds out from slurmctld which pod a node is to get (PodOrder). The engine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/batch.hpp"
#include "slurm/records.hpp"
#include "slurm/slurm_caller.hpp"

namespace slurmk8s {

/**
 * Asks slurmctld for the records of nodes that are about to get a pod, and for their jobs: a node's active features are
 * set when a job gets it, before ResumeProgram runs, in every version. Nodes that are asked for at once share one
 * request. The engine's thread.
 */
class PodOrders {
 public:
  struct Facts {
    SlurmNode record;
    std::optional<SlurmJob> job;
  };
  struct Question {
    std::string request;    ///< the node's resume request; comes back with the answer
    std::uint32_t job = 0;  ///< to be loaded as well; 0: none
  };
  using Answer = std::function<void(const std::string& node, const Question& question, const Result<Facts>& facts)>;

  /** References must outlive it. */
  PodOrders(SlurmCaller& slurm, Timers& timers, Answer answer);

  /** The answer comes later, never from within this; of two questions about a node that meet, only to the second. */
  void find(const std::string& node, Question question);

 private:
  void flush(const std::vector<std::string>& nodes);

  SlurmCaller& slurm_;
  const Answer answer_;
  std::map<std::string, Question> questions_;
  Batch batch_;
};

}  // namespace slurmk8s
