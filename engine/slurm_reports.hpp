// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmReports: what slurmctld is told about nodes, when, and in how few calls. The engine's thread.
//
// It alone remembers which nodes back off after a failed start, and which NodeSets are protected. All of it can be
// rebuilt from the records' Reasons: repair_from_record() does, after a restart and for what went wrong on the way.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "engine/batch.hpp"
#include "engine/fast_requeue.hpp"
#include "engine/lost_jobs.hpp"
#include "engine/node_report.hpp"
#include "engine/power_up_health.hpp"
#include "engine/reconcile.hpp"
#include "slurm/slurm_caller.hpp"
#include "engine/stuck_pods.hpp"

namespace slurmk8s {

class SlurmReports {
 public:
  /** What a node waits for, in words; empty for nothing that is worth telling. */
  struct Waiting {
    std::string text;
    std::vector<std::uint32_t> jobs;
  };
  using WaitsFor = std::function<Waiting(const std::string& node)>;
  using NodeSetOf = std::function<std::string(const std::string& node)>;  ///< name of the NodeSet of a node
  using OnVerdict = std::function<void(Result<Verdict>)>;
  using OnStuck = std::function<void(Result<StuckVerdict>)>;

  /** References must outlive it. */
  struct Parts {
    SlurmCaller& slurm;
    Timers& timers;
    const Clock& clock;
    bool one_shot = false;  ///< made for one request, so that nothing can be put off
    WaitsFor waits_for;
    NodeSetOf nodeset_of;
    std::function<void()> wake_scheduler = {};  ///< has slurmctld look for jobs now, not with its next second; or empty
    bool fast_requeue = false;                  ///< FastRequeue for lost nodes' jobs
    Jitter jitter = random_unit;                ///< of back-offs: nodes of one failure don't come back at one instant
  };
  explicit SlurmReports(Parts parts);

  /** fail_node(); a node that backs off is released by itself later. */
  void fail(NodeFailure failure, OnVerdict done);
  /** report_stuck() of a node, with others of the same moment. */
  void stuck(const std::string& node, StuckPod pod, OnStuck done);
  /** The suspend of a node is done: its pod is gone. */
  void pod_deleted(const std::string& node) { gone_.add(node); }
  /** The API server kept us from the node's pod: a ResumeTimeout of it says nothing about its NodeSet. */
  void forgive_resume_timeout(const std::string& node) { outage_nodes_.insert(node); }
  /** A new attempt begins: the node has no excuse. */
  void resume_requested(const std::string& node) { outage_nodes_.erase(node); }
  /** The node may wait for something else now. */
  void refresh_comment(const std::string& node) { noting_.add(node); }

  using Wanted = std::map<std::string, std::vector<std::uint32_t>>;  ///< nodes that are to be up, and for which jobs
  /** slurmctld's clock was set back: recover_from_set_back(), again until it goes well. */
  void clock_set_back(std::chrono::seconds step, const Wanted& wanted);
  /** slurmctld has just started: what it had meant to schedule is forgotten. `node`: any of ours. */
  void schedule_jobs(const std::string& node);

  /**
   * A record in one of the engine's comparisons: plan_repair(), whose RepairFacts::is_protected is known here alone.
   * `up_since`: when the node was asked up, zero when it is not.
   */
  void repair_from_record(const SlurmNode& record, RepairFacts facts, TimePoint up_since);

  std::size_t backing_off_nodes() const { return backing_off_.size(); }
  std::size_t protected_nodesets() const { return protected_.size(); }

 private:
  /** What all comparisons since then have found. */
  struct Seen {
    Repair repair;
    TimePoint since;
  };

  void repair(const SlurmNode& record, Repair repair);
  bool lasts(const std::string& node, Repair repair);
  void wake_scheduler();
  void back_off(const std::string& node, const std::string& cause);
  void released(const std::vector<std::string>& nodes, bool is_told);
  void protect(const std::string& nodeset, const std::string& cause, std::chrono::milliseconds pause);
  void unprotect(const std::string& nodeset);
  std::chrono::milliseconds gone_delay() const;
  std::chrono::milliseconds note_delay() const;
  void note(const std::vector<std::string>& nodes);
  void tell_notes(const std::vector<WaitingNote>& notes);
  void forget_untold(const WaitingNote& about, const std::set<std::string>& told);
  void tell_stuck();
  void tell(const char* what, std::function<Status(Slurm&)> calls, std::function<void(bool is_told)> then = {});

  SlurmCaller& slurm_;
  Timers& timers_;
  const Clock& clock_;
  const bool one_shot_;
  const Jitter jitter_;
  const WaitsFor waits_for_;
  const NodeSetOf nodeset_of_;
  const std::function<void()> wake_scheduler_;
  std::optional<TimePoint> scheduler_woken_;
  std::map<std::string, PowerUpHealth> health_;         // by NodeSet
  std::set<std::string> protected_;                     // NodeSets
  std::unordered_set<std::string> backing_off_;         // nodes that are DOWN until they are released
  std::unordered_set<std::string> outage_nodes_;        // nodes whose ResumeTimeout doesn't count
  std::map<std::string, PowerUpHealth> outage_health_;  // how often in a row
  std::map<std::string, StuckPod> stuck_;               // what tell_stuck() tells
  std::map<std::string, OnStuck> on_stuck_;
  std::unordered_map<std::string, std::string> noted_;  // what slurmctld was told that a node waits for
  std::unordered_map<std::string, Seen> seen_;          // by node: what may end by itself
  std::size_t last_gone_ = 0;                           // nodes of the last batch, and when
  TimePoint last_gone_at_{};
  Batch gone_;
  Batch releasing_;
  Batch freeing_;
  Batch unprotecting_;  // NodeSets
  Batch telling_stuck_;
  Batch noting_;
  LogLimiter limiter_{std::chrono::seconds(5)};
  std::shared_ptr<LostJobs> lost_jobs_;  // null: one request alone, requeued jobs are not followed
  FastRequeue requeues_;
};

}  // namespace slurmk8s
