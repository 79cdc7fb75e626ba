// SPDX-License-Identifier: GPL-2.0-or-later
// Gang: pods with one Slurm job. plan_gang() decides the next step for them. Pure; values; any thread.
//
//   collecting → submitting → submitted → (forgotten)
//
// A gang is closed once it is submitted: pods of the workload that come later make the next one.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "bridge/placement.hpp"
#include "bridge/started_workloads.hpp"
#include "bridge/workload.hpp"
#include "nodeset/bridge_devices.hpp"
#include "slurm/allocations.hpp"

namespace slurmk8s {

/** Pods by uid, as the watch last showed them. */
using WorkloadPods = std::map<std::string, WorkloadPod>;

struct Gang {
  enum class Stage { collecting, submitting, submitted };
  /** Resource claims of its pods: another claim may have the name since they were counted. */
  enum class Claims { counted, read_again, confirmed };
  /** Where a pod is to go, decided once when the job starts. */
  struct Place {
    std::uint32_t rank = 0;
    std::string node;  ///< Slurm's name; empty: there is no room for it
  };

  std::uint64_t number = 0;  ///< of Gangs
  WorkloadRef workload;
  std::string attempt;  ///< of its pods; empty: they are no gang, or don't tell
  Workload spec;
  std::vector<std::string> uids;
  std::map<std::string, PodEnd> ends;  ///< by uid, of pods that ended by themselves: they may be deleted since
  TimePoint joined{};                  ///< when the last pod joined
  EarlierPods earlier = EarlierPods::none;
  Stage stage = Stage::collecting;
  std::string refusal;     ///< why it is not submitted; tried again from time to time
  TimePoint not_before{};  ///< after a failed call
  std::uint32_t user = 0;  ///< uid of its job: another user's job of the id isn't its
  std::string comment;     ///< that its job was submitted with
  std::uint32_t job = 0;
  std::time_t job_submitted = 0;     ///< Slurm's; 0: not known yet
  std::optional<Allocation> ended;   ///< how it ended: slurmctld forgets it after MinJobAge
  TimePoint asked{};                 ///< when slurmctld was last asked to submit or to end the job
  bool is_announced = false;         ///< its pods have the event that names the job
  bool is_told_configuring = false;  ///< the engine has said that its job does not run yet
  TimePoint give_up{};               ///< when its job goes that still waits for its nodes; {}: it does not wait so
  bool is_binding = false;           ///< its job runs: its pods are being bound
  bool may_be_bound = false;         ///< the API server was asked to bind one of them
  bool is_ending = false;            ///< slurmctld was asked to end the job
  bool is_unknown = false;           ///< slurmctld does not know the job of its running pods
  std::set<std::string> reported;    ///< uids of pods with an event that says so
  std::set<std::string> overdue;     ///< uids of pods with an event that says that they do not end
  TimePoint lost{};                  ///< when a pod of it was first seen to be lost with its Kubernetes node
  TimePoint unschedulable{};         ///< since when kube-scheduler finds no place for a pod of it; {}: it does
  bool is_given_up = false;          ///< its pods were told that its job is cancelled for that
  Claims claims = Claims::counted;
  std::optional<BridgeDevices> claimed;  ///< as its job was submitted; none: by another process
  std::optional<PodSize> pod_size;       ///< as it was submitted; none: by another process, or not yet
  std::map<std::string, Place> places;   ///< by uid; empty: the job has not started

  /** Slurm's name of the node where a pod is to go, or already is; empty: none is decided, or none has room for it. */
  std::string node_of(const std::string& uid) const;
};

/** How the pods of a gang are. */
struct GangCounts {
  std::size_t waiting = 0;    ///< not bound
  std::size_t bound = 0;      ///< bound, and not over
  std::size_t evictable = 0;  ///< WorkloadPod::is_evictable()
  std::size_t over = 0;
  std::size_t gone = 0;           ///< deleted
  std::size_t leaving = 0;        ///< being deleted
  std::size_t unschedulable = 0;  ///< kube-scheduler finds no place for them; not being deleted
};
GangCounts count_pods(const Gang& gang, const WorkloadPods& pods);
/** Notes since when kube-scheduler has found no place for one of its pods. `count`: those of now. */
void note_unschedulable(Gang& gang, const GangCounts& count, TimePoint now);
/** Those that stay Terminating, at this time of day: WorkloadPod::is_overdue(). */
std::vector<const WorkloadPod*> find_overdue(const Gang& gang, const WorkloadPods& pods,
                                             std::chrono::system_clock::time_point now);

/** With what its job ends. */
struct JobResult {
  enum class Kind { completed, failed, out_of_memory, cancelled };
  Kind kind = Kind::completed;
  std::uint32_t exit_code = 0;  ///< of failed: the largest
  bool operator==(const JobResult&) const = default;
};

struct GangPlan {
  enum class Step {
    wait,
    submit,
    regroup,  ///< its pods are to make another gang; a job that it has is cancelled
    bind,
    finish,   ///< the job ends, with `result`
    give_up,  ///< the same: kube-scheduler finds no place for a pod, which is told
    evict,    ///< the job has ended, or is to go: so do its pods
    forget,
  };
  Step step = Step::wait;
  JobResult result = {};
  bool is_unknown = false;  ///< slurmctld doesn't know the job of its running pods
  bool operator==(const GangPlan&) const = default;
};

/** Jobs as slurmctld last told them, and when it was asked. */
struct KnownJobs {
  std::map<std::uint32_t, Allocation> jobs;
  TimePoint asked{};  ///< {}: never

  /**
   * The gang's job: of its id and its user, and submitted when it was; until that is known, with its Comment. A
   * slurmctld that was killed may give an id twice. One that has ended, and is not known any more, is the gang's own.
   */
  const Allocation* find(const Gang& gang) const;
};

/** A gang that gets no new pod for so long is complete, when it has its minimum, or when earlier pods are alive. */
inline constexpr std::chrono::milliseconds kGangQuiet{1000};
/** The same where earlier pods have failed: a Job may make fewer of them again, such as without an index. */
inline constexpr std::chrono::seconds kGangLate{30};
/** A job that slurmctld doesn't show for so long after it was submitted is lost. */
inline constexpr std::chrono::seconds kLostAfter{30};
/** For so long slurmctld is left to end the job of a pod that is lost with its Kubernetes node: as NODE_FAIL. */
inline constexpr std::chrono::seconds kNodeFailAfter{30};

/** For so long kube-scheduler may find no place for a pod: volumes are attached, and pods that it preempts end. */
inline constexpr std::chrono::seconds kUnschedulableFor{60};

/** Whether its pods may start: all of them are there, or no others will come. */
bool is_complete(const Gang& gang, TimePoint now);

GangPlan plan_gang(const Gang& gang, const WorkloadPods& pods, const KnownJobs& known, TimePoint now);

}  // namespace slurmk8s
