// SPDX-License-Identifier: GPL-2.0-or-later
// PartitionKeeper: brings Slurm's partitions to what the NodeSets say (partition_plan.hpp), in rounds.
//
// One thread, which its calls to slurmctld block. It keeps nothing that it couldn't find out again.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "sidecar/partition_plan.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

class PartitionKeeper {
 public:
  /** References must outlive it. */
  PartitionKeeper(SlurmReader& reader, SlurmWriter& writer, const Clock& clock, Jitter jitter = random_unit)
      : reader_(reader), writer_(writer), clock_(clock), jitter_(std::move(jitter)) {}

  /**
   * One round; to be called once a second, when all NodeSets are known and slurmctld has answered. `version` is another
   * number whenever NodeSets or nodes may have changed: without a change slurmctld is asked only whether partitions
   * have, and that only when there is one to keep.
   */
  void round(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes, std::uint64_t version);

  /** slurmctld may have another configuration: the next round with a partition to keep asks for it. */
  void forget_config() { keeps_until_ = {}; }

  /** PartitionReady of a NodeSet. */
  Condition condition(const std::string& nodeset) const;

 private:
  struct Failure {
    unsigned count = 0;
    TimePoint retry{};
    std::string action;
    std::string text;
  };

  /** The update that slurmctld took last: the same again and again is a fight with somebody, or with Slurm itself. */
  struct Done {
    std::string action;
    unsigned count = 0;
    TimePoint at{};
    TimePoint retry{};
  };

  bool load(bool fresh);
  bool apply(const PartitionPlan& plan);
  bool waits(const PartitionAction& action) const;
  Status call(const PartitionAction& action);
  void note(const PartitionAction& action, const Status& status);

  SlurmReader& reader_;
  SlurmWriter& writer_;
  const Clock& clock_;
  const Jitter jitter_;
  std::uint64_t version_ = 0;
  bool busy_ = true;  // there is a partition to keep, or to remove
  std::time_t since_ = 0;
  std::vector<SlurmPartition> partitions_;
  Status keeps_;
  TimePoint keeps_until_{};
  std::map<std::string, Condition> conditions_;
  std::map<std::string, Failure> failures_;  // by partition and kind
  std::map<std::string, Done> done_;         // by partition
  Backoff backoff_{std::chrono::seconds(2), std::chrono::seconds(60)};
  LogLimiter limiter_{std::chrono::seconds(30)};
};

}  // namespace slurmk8s
