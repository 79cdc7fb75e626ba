// SPDX-License-Identifier: GPL-2.0-or-later
// A node's state: which request it is for, and what belongs to that.
#include "engine/node.hpp"

#include <utility>

#include "base/words.hpp"

namespace slurmk8s {

std::string Resume::job_list() const {
  Words ids;
  for (const std::uint32_t job : jobs) ids.push_back(std::to_string(job));
  return join_words(ids);
}

void Node::begin(Resume resume, TimePoint now) { start(Want::up, std::move(resume), now); }

void Node::end(TimePoint now) { start(Want::down, {}, now); }

void Node::start(Want want, Resume resume, TimePoint now) {
  want_ = want;
  resume_ = std::move(resume);
  since_ = now;
  progress = {};
  waiting_unasked_since = {};
  told_stuck = false;
  failures = 0;
  not_before = {};
}

void Node::begin_again(std::string inferred_id, TimePoint now) {
  if (want_ != Want::up || resume_.id.empty()) {
    return begin({std::move(inferred_id), std::exchange(resume_, {}).jobs, true}, now);
  }
  resume_.inferred = false;
  progress.had_pod = false;
  since_ = now;
}

void Node::confirm(std::vector<std::uint32_t> jobs) {
  resume_.jobs = std::move(jobs);
  resume_.inferred = false;
}

void Node::adopt_pod() {
  if (pod) resume_.id = pod->request;
  progress.had_pod = true;
}

void Node::disown_pod() { progress.had_pod = progress.had_older = false; }

void Node::ask() {
  busy = true;
  asked = {resume_.id, pod_uid(), since_};
}

void Node::forget_pod() {
  progress.had_older |= want_ == Want::up && pod && !has_current_pod();
  pod.reset();
  note_deletion(false, {});
}

void Node::note_deletion(bool deleting, TimePoint now) {
  if (!deleting) told_stuck = false;
  if (!deleting || deleting_since == TimePoint{}) deleting_since = deleting ? now : TimePoint{};
}

const char* to_string(Awaited awaited) {
  switch (awaited) {
    case Awaited::api_server: return "api_server";
    case Awaited::former_pod: return "former_pod";
    case Awaited::scheduler: return "scheduler";
    case Awaited::unschedulable: return "unschedulable";
    case Awaited::containers: return "containers";
    case Awaited::failing: return "failing";
  }
  return "unknown";
}

std::optional<Awaited> awaited_by(const Node& node) {
  if (!node.is_wanted_up()) return std::nullopt;
  const bool had_pod = node.progress.had_pod;  // without one now it is lost, and not starting
  if (!node.pod) return had_pod ? std::nullopt : std::optional(Awaited::api_server);
  const Pod& pod = *node.pod;
  if (!node.has_current_pod() || (pod.deleting && !had_pod)) return Awaited::former_pod;
  if (pod.deleting || !pod.ended.empty()) return std::nullopt;
  if (pod.start_problem.kind == StartProblem::Kind::unschedulable) return Awaited::unschedulable;
  if (pod.start_problem.kind == StartProblem::Kind::failing) return Awaited::failing;
  if (pod.running) return std::nullopt;
  const bool is_placed = pod.scheduled || pod.start_problem.kind == StartProblem::Kind::creating;
  return is_placed ? Awaited::containers : Awaited::scheduler;
}

}  // namespace slurmk8s
