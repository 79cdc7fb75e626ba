// SPDX-License-Identifier: GPL-2.0-or-later
// Node: what the engine knows of one Slurm node and its pod. Values; the engine's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "nodeset/pod.hpp"
#include "nodeset/pod_order.hpp"

namespace slurmk8s {

struct Node {
  enum class Want {
    unknown,  ///< nobody asked since the engine started: Slurm's own node state will tell
    up,       ///< Slurm has resumed it
    down,     ///< Slurm has suspended it
  };

  Want want = Want::unknown;
  std::string request;  ///< with Want::up: the resume request; empty when the pod that is there was taken over
  std::vector<std::uint32_t> jobs;  ///< with Want::up: those that wait for it
  std::optional<PodOrder> order;    ///< with Want::up: which pod that is to be, once slurmctld has said it
  TimePoint since{};                ///< when `want` was last set
  /** Since when Slurm has been waiting for it without our having been asked; zero: it isn't. */
  TimePoint waiting_unasked_since{};
  bool inferred_resume = false;  ///< with Want::up: `request` is our own, for a resume that never reached us
  /** When the engine first looked Slurm waited for it, and its slurmd had not registered. */
  bool booting = false;
  /** Uid of the pod that was there then, whose slurmd may have registered with another slurmctld. */
  std::string unregistered_pod;
  /** What the watch shows of its pod doesn't fit with what else is known: it is to be looked at. */
  bool needs_get = false;

  std::optional<Pod> pod;
  TimePoint seen{};              ///< since when `pod` has been known
  TimePoint running_since{};     ///< since when it has been known to run
  TimePoint deleting_since{};    ///< since when it has been known to be deleted; zero: it isn't
  bool told_stuck = false;       ///< slurmctld was told that it doesn't go
  TimePoint problem_since{};     ///< since when `pod` has had its start_problem
  bool timed_scheduled = false;  ///< with Want::up: these steps of its pod are in the metrics
  bool timed_running = false;
  bool had_pod = false;    ///< with Want::up: the pod of this request was seen, so that its absence is a loss
  bool had_older = false;  ///< with Want::up: a pod of another request was there, and went: Slurm may have taken it
  bool busy = false;       ///< a request about it is under way, to the API server or to slurmctld
  unsigned failures = 0;   ///< of requests to the API server, in a row
  TimePoint not_before{};  ///< no request before this

  /** Of this request, or taken over at the start (then the request is not known). There must be a pod. */
  bool has_current_pod() const { return request.empty() || pod->request == request; }

  /** Empty when there is no pod. */
  std::string pod_uid() const { return pod ? pod->uid : std::string(); }
  /** "7,8": the jobs' ids. */
  std::string job_list() const;

  void forget_pod() {
    had_older |= want == Want::up && pod && !has_current_pod();
    pod.reset();
    note_deletion(false, {});
  }

  /** Whether `pod` is being deleted, as was just seen. */
  void note_deletion(bool deleting, TimePoint now) {
    if (!deleting) told_stuck = false;
    if (!deleting || deleting_since == TimePoint{}) deleting_since = deleting ? now : TimePoint{};
  }

  void want_down(TimePoint now) {
    want = Want::down;
    request.clear();
    jobs.clear();
    order.reset();
    inferred_resume = had_older = told_stuck = false;
    since = now;
  }
};

}  // namespace slurmk8s
