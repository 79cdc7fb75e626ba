// SPDX-License-Identifier: GPL-2.0-or-later
// Node: what the engine knows of one Slurm node and its pod. Values; the engine's thread.
//
//   unknown ── begin() ──▶ up ── end() ──▶ down ── begin() ──▶ up …
//
// begin() and end() replace all that belongs to one request (start()), so that nothing of a former one is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "nodeset/pod.hpp"
#include "nodeset/pod_order.hpp"

namespace slurmk8s {

/** One request of slurmctld to have a node up. */
struct Resume {
  std::string id;                        ///< empty: not known, of a pod that was there before the engine
  std::vector<std::uint32_t> jobs = {};  ///< those that wait for the node
  bool inferred = false;                 ///< `id` is our own, for a resume that never reached us

  /** "7,8": the jobs' ids. */
  std::string job_list() const;
};

/** How far a Resume has come. */
struct Progress {
  std::optional<PodOrder> order;  ///< which pod it is to be, once slurmctld has said it
  bool had_pod = false;           ///< its pod was seen, so that its absence is a loss
  bool had_older = false;         ///< a pod of another request was there, and went: Slurm may have taken it
  bool had_job = false;           ///< it had a job when the engine started, which may have ended before that
  bool timed_scheduled = false;   ///< these steps of its pod are in the metrics
  bool timed_running = false;
};

/** What was answered to the last question about a node. It is for the plan that follows at once, and then stale. */
enum class Answer {
  none,
  // slurmctld, of the node's record (Action::ask); see answer_of()
  slurm_waits,      ///< it waits for the node's slurmd
  slurm_has_it_up,  ///< its slurmd has registered, and answers
  slurm_neither,
  slurm_no_record,
  unregistered,  ///< its slurmd won't register any more, and no job can have begun on it: select_renewable()
  // the API server
  pod_read,          ///< Node::pod is what it has now
  no_pod,            ///< there is none
  foreign_pod,       ///< somebody else's has the name: Node::answer_text
  pod_exists,        ///< to a create: a pod has the name
  pod_replaced,      ///< to a removal: another pod has the name by now
  refused_now,       ///< to a create: the next one may be taken; Node::answer_text
  refused_for_good,  ///< to a create: no other one will be; Node::answer_text
  // slurmctld, to a report
  failure_told,      ///< of a failure (Action::fail): what was to be done there is done
  failure_recreate,  ///< of one: it still waits for the node, whose pod may be created again
  failure_over,      ///< of one: the node has come up since
  stuck_lost,        ///< of a pod that does not go (Action::stuck): the node was set DOWN
  stuck_told,        ///< of one: it takes no further job
};

/** What a node was when the question was asked. */
struct Asked {
  std::string request;
  std::string pod_uid;
  TimePoint since{};
};

class Node {
 public:
  enum class Want {
    unknown,  ///< nobody asked since the engine started: Slurm's own node state will tell
    up,       ///< Slurm has resumed it
    down,     ///< Slurm has suspended it
  };

  Want want() const { return want_; }
  bool is_wanted_up() const { return want_ == Want::up; }
  /** With Want::up; otherwise an empty one. */
  const Resume& resume() const { return resume_; }
  /** When `want` was last set, or its request begun again. */
  TimePoint since() const { return since_; }

  /** A request begins: the only way to Want::up. */
  void begin(Resume resume, TimePoint now);
  /** The node is to have no pod: the only way to Want::down. */
  void end(TimePoint now);
  /** The same request again, or an inferred one where there is none: its pod was deleted before slurmd registered. */
  void begin_again(std::string inferred_id, TimePoint now);
  /** slurmctld's own resume has come, which was inferred until now. */
  void confirm(std::vector<std::uint32_t> jobs);
  /** The pod that is there serves this request, though it was made for another one. */
  void adopt_pod();
  /** The pod that is or was there is none of this request: the next one is. */
  void disown_pod();

  Progress progress;  ///< of resume()
  /** Since when Slurm has been waiting for it without our having been asked; zero: it isn't. */
  TimePoint waiting_unasked_since{};
  /** When the engine first looked Slurm waited for it, and its slurmd had not registered. */
  bool booting = false;
  /** Uid of the pod that was there then, whose slurmd may have registered with another slurmctld. */
  std::string unregistered_pod;
  /** What the watch shows of its pod doesn't fit with what else is known: it is to be looked at. */
  bool needs_get = false;

  std::optional<Pod> pod;
  TimePoint seen{};            ///< since when `pod` has been known
  TimePoint running_since{};   ///< since when it has been known to run
  TimePoint deleting_since{};  ///< since when it has been known to be deleted; zero: it isn't
  bool told_stuck = false;     ///< slurmctld was told that it doesn't go
  TimePoint problem_since{};   ///< since when `pod` has had its start_problem
  bool busy = false;           ///< a question about it is under way, to the API server or to slurmctld
  Asked asked;                 ///< as it was when that was asked
  Answer answer = Answer::none;
  std::string answer_text;
  unsigned failures = 0;   ///< of requests to the API server, in a row, since the request began
  TimePoint not_before{};  ///< no request before this

  /** Of this request, or taken over at the start (then the request is not known). There must be a pod. */
  bool has_current_pod() const { return resume_.id.empty() || pod->request == resume_.id; }
  /** Empty when there is no pod. */
  std::string pod_uid() const { return pod ? pod->uid : std::string(); }

  /** A question about it is asked. */
  void ask();
  void forget_pod();
  /** Whether `pod` is being deleted, as was just seen. */
  void note_deletion(bool deleting, TimePoint now);

 private:
  void start(Want want, Resume resume, TimePoint now);

  Want want_ = Want::unknown;
  Resume resume_;
  TimePoint since_{};
};

/** What a node that Slurm has resumed waits for, until its pod runs. */
enum class Awaited {
  api_server,     ///< no pod was accepted yet
  former_pod,     ///< the pod of a former request has to go
  scheduler,      ///< Kubernetes has not looked for a place yet
  unschedulable,  ///< no Kubernetes node has room, or the pod has a scheduling gate
  containers,     ///< images are pulled, containers made
  failing,        ///< the kubelet can't start it
};
inline constexpr std::size_t kAwaited = 6;

/** "api_server" …: as metrics show it. */
const char* to_string(Awaited awaited);

/** None when the node is not to be up, or its pod runs, has ended or is lost. */
std::optional<Awaited> awaited_by(const Node& node);

}  // namespace slurmk8s
