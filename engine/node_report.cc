// SPDX-License-Identifier: GPL-2.0-or-later
// Reports about nodes: each a look at the records, then as few calls as there are different changes.
#include "engine/node_report.hpp"

#include <algorithm>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "slurm/hostlist.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "slurm/job_comment.hpp"
#include "nodeset/names.hpp"
#include "slurm/node_changes.hpp"
#include "engine/plan.hpp"
#include "engine/reconcile.hpp"
#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"
#include "engine/stuck_pods.hpp"

namespace slurmk8s {
namespace {

using State = SlurmNodeUpdate::State;

bool is_there(const SlurmNode&) { return true; }

/** Jobs that have just been requeued may begin now. */
void clear_begin_times(Slurm& slurm, std::set<std::uint32_t> jobs) {
  constexpr std::chrono::milliseconds kPause{200};
  Status last;
  for (auto waited = kPause; !jobs.empty() && waited <= kRequeuePatience; waited += kPause) {
    std::erase_if(jobs, [&](std::uint32_t job) { return (last = slurm.clear_begin_time(job)).ok(); });
    if (!jobs.empty()) std::this_thread::sleep_for(kPause);
  }
  for (const std::uint32_t job : jobs) {
    log_warning("job %u: may stay pending until slurmctld's clock catches up: %s", job, last.error().message().c_str());
  }
}

/** A job's time to begin is set when it becomes eligible, also without --begin: what could begin before still can. */
Status clear_queued_begin_times(Slurm& slurm, std::chrono::seconds step) {
  for (const std::uint32_t job : SLURMK8S_TRY(slurm.load_jobs_to_begin(step))) {
    const Status status = slurm.clear_begin_time(job);
    if (!status.ok()) log_debug("job %u: begin: %s", job, status.error().message().c_str());  // it may have ended
  }
  return {};
}

/** The nodes of each job that has nodes. */
Result<std::vector<std::vector<std::string>>> load_jobs_nodes(Slurm& slurm) {
  std::vector<std::vector<std::string>> jobs;
  for (const std::string& hostlist : SLURMK8S_TRY(slurm.load_nodes_of_jobs())) {
    jobs.push_back(SLURMK8S_TRY(expand_hostlist(hostlist)));
  }
  return jobs;
}

/** Not of a job that is pending again: slurmctld would cancel it. */
Status end_run(Slurm& slurm, std::uint32_t id) {
  const SlurmJob job = SLURMK8S_TRY(slurm.load_job(id));
  return job.pending ? Status(Error(Errc::conflict, "requeued meanwhile")) : slurm.end_out_of_memory(id);
}

/**
 * Before its node is DOWN, by which it would be requeued. If it can't be ended it is: it will be held the next time.
 */
void end_out_of_memory(Slurm& slurm, const NodeFailure& failure) {
  const Status status = end_run(slurm, failure.out_of_memory);
  log_warning("job %u: out of memory with the whole pod of node %s: %s", failure.out_of_memory, failure.node.c_str(),
              status.ok() ? "ended" : status.error().message().c_str());
}

/**
 * Of nodes that are is_leaving_unregistered(): a forced power-down would end a job that was suspended there, of which
 * the record says nothing. The records last: what has changed since stays.
 */
Status force_power_down(Slurm& slurm, const std::vector<std::string>& nodes) {
  std::set<std::string> free(nodes.begin(), nodes.end());
  for (const std::vector<std::string>& job : SLURMK8S_TRY(load_jobs_nodes(slurm))) {
    for (const std::string& node : job) free.erase(node);
  }
  const std::vector<std::string> asked(free.begin(), free.end());
  const auto left = SLURMK8S_TRY(select_nodes(slurm, &asked, is_leaving_unregistered));
  return change_nodes(slurm, left, update_to(State::power_down_force), is_leaving_unregistered);
}

/** By a fresh record. */
Result<Verdict> judge(Slurm& slurm, const NodeFailure& failure) {
  const auto record = slurm.load_node(failure.node);
  if (!record && record.error().code() != Errc::not_found) return record.error();
  return judge_failure(record ? &*record : nullptr, failure.facts);
}

/** As judge(). Before a node is set DOWN, its jobs are told. That takes time, so the node is judged again. */
Result<Verdict> judge_and_comment(Slurm& slurm, const NodeFailure& failure) {
  const Verdict verdict = SLURMK8S_TRY(judge(slurm, failure));
  if (!sets_down(verdict) || failure.jobs.empty()) return verdict;
  const std::string comment = build_job_comment({failure.node, failure.cause});
  comment_jobs(slurm, failure.jobs, comment);
  const Verdict now = SLURMK8S_TRY(judge(slurm, failure));
  if (!sets_down(now)) take_comments_back(slurm, failure.jobs, comment);
  return now;
}

bool is_of(const SlurmNode& record, const std::string& nodeset) {
  if (!record.cloud) return false;
  const auto parsed = parse_node_name(record.name);
  return (parsed && parsed->nodeset == nodeset) || is_made_for(record, nodeset);
}

Status note_waiting(Slurm& slurm, const WaitingNote& note,
                    const std::unordered_map<std::string_view, const SlurmNode*>& records,
                    std::set<std::string>* told) {
  const bool clears = note.text.empty();
  std::vector<std::string> over;  // what the nodes waited for until now
  const auto fits = [&](const SlurmNode& node) {
    const bool ours = std::string_view(node.comment).starts_with(kCommentWaiting);
    if (clears && ours) over.push_back(node.comment.substr(kCommentWaiting.size()));
    return clears ? ours : is_waiting_for_pod(node) && (ours || node.comment.empty());
  };
  std::vector<std::string> noted;
  for (const std::string& name : note.nodes) {
    const auto record = records.find(name);
    if (record != records.end() && fits(*record->second)) noted.push_back(name);
  }
  SlurmNodeUpdate update;
  update.clear_comment = clears;
  if (!clears) update.comment = std::string(kCommentWaiting) + note.text;
  SLURMK8S_CHECK(change_nodes(slurm, noted, update, fits));
  if (told) told->insert(noted.begin(), noted.end());
  if (clears) {
    clear_job_comments(slurm, note.jobs, over);
  } else if (!noted.empty()) {
    comment_jobs(slurm, note.jobs, build_job_comment({compress_hostlist(noted), note.text, true}));
  }
  return {};
}

}  // namespace

Result<Verdict> fail_node(Slurm& slurm, const NodeFailure& failure) {
  // The comment first: the job may be launched elsewhere as soon as it is requeued.
  const Verdict verdict = SLURMK8S_TRY(judge_and_comment(slurm, failure));
  if (!sets_down(verdict)) return verdict;
  if (verdict == Verdict::give_up && failure.out_of_memory != 0) end_out_of_memory(slurm, failure);
  SLURMK8S_CHECK(slurm.update_nodes(failure.node, update_to(State::down, build_reason(kReason, failure.cause))));
  if (verdict == Verdict::give_up) SLURMK8S_CHECK(slurm.update_nodes(failure.node, update_to(State::power_down)));
  log_warning("node %s: set down: %s", failure.node.c_str(), failure.cause.c_str());
  return verdict;
}

Status release_nodes(Slurm& slurm, const std::vector<std::string>& nodes) {
  // Also those that are powered down. Resumed they would be "not responding", and not be given to jobs any more once
  // slurmctld has read its configuration again: _require_node_reg() in node_mgr.c, read_config.c:546 (24.11.5).
  const auto fits = [](const SlurmNode& record) { return is_given_up(record) || is_powered_down_unresponsive(record); };
  std::vector<std::string> unregistered;
  const auto left = SLURMK8S_TRY(select_nodes(slurm, &nodes, [&](const SlurmNode& record) {
    if (is_leaving_unregistered(record)) unregistered.push_back(record.name);
    return fits(record);
  }));
  const Status released = change_nodes(slurm, left, update_to(State::power_down), fits);
  const Status forced = unregistered.empty() ? Status() : force_power_down(slurm, unregistered);
  return released.ok() ? forced : released;
}

Result<std::vector<std::string>> find_renewable(Slurm& slurm, const std::vector<std::string>& unregistered,
                                                const std::set<std::string>& booting) {
  const auto jobs = SLURMK8S_TRY(load_jobs_nodes(slurm));
  const std::vector<std::string> renewable = select_renewable(unregistered, jobs, booting);
  // The records last: a slurmd that was only slow may have registered meanwhile, and its job have begun.
  return select_nodes(slurm, &renewable, [](const SlurmNode& record) { return awaits_registration(record); });
}

Status recover_from_set_back(Slurm& slurm, const std::map<std::string, std::vector<std::uint32_t>>& nodes,
                             std::chrono::seconds step) {
  const auto waited_for = SLURMK8S_TRY(select_nodes(slurm, nullptr, [&nodes](const SlurmNode& record) {
    return nodes.contains(record.name) && awaits_registration(record) && !is_given_up(record);
  }));
  const std::string cause = format("slurmctld's clock was set back by %lld s", static_cast<long long>(step.count()));
  log_error("%s: reconfiguring slurmctld; nodes given up while powering up: %s", cause.c_str(),
            waited_for.empty() ? "none" : shorten(compress_hostlist(waited_for)).c_str());
  SLURMK8S_CHECK(change_nodes(slurm, waited_for, update_to(State::down, std::string(kReason) + cause), is_there));
  SLURMK8S_CHECK(change_nodes(slurm, waited_for, update_to(State::power_down), is_there));
  std::set<std::uint32_t> jobs;
  for (const std::string& node : waited_for) jobs.insert(nodes.at(node).begin(), nodes.at(node).end());
  clear_begin_times(slurm, std::move(jobs));
  SLURMK8S_CHECK(clear_queued_begin_times(slurm, step));
  return slurm.restart_slurmctld();
}

Status free_nodes(Slurm& slurm, const std::vector<std::string>& nodes) {
  std::vector<std::string> orphaned = SLURMK8S_TRY(select_nodes(slurm, &nodes, is_orphaned_allocation));
  if (orphaned.empty()) return {};
  std::unordered_set<std::string> held;
  for (const std::vector<std::string>& job : SLURMK8S_TRY(load_jobs_nodes(slurm))) held.insert(job.begin(), job.end());
  std::erase_if(orphaned, [&](const std::string& node) { return held.contains(node); });
  if (orphaned.empty()) return {};
  // From "allocated" there is no other way to "idle".
  const std::string reason = std::string(kReason) + "allocated without a job";
  SLURMK8S_CHECK(change_nodes(slurm, orphaned, update_to(State::down, reason), is_orphaned_allocation));
  SLURMK8S_CHECK(change_nodes(slurm, orphaned, update_to(State::power_down), is_there));
  log_warning("nodes %s: were powered down and allocated without a job: powered down again",
              shorten(compress_hostlist(orphaned)).c_str());
  return {};
}

Status finish_power_down(Slurm& slurm, const std::vector<std::string>& nodes) {
  // Resuming takes a drain back, too: a drained node waits for SuspendTimeout.
  std::string off;
  bool was_stuck = false;
  const auto fits = [&](const SlurmNode& node) {
    was_stuck |= is_drained_for_pod(node);
    if (has_finished_power_down(node)) off = node.name;
    return can_finish_power_down(node);
  };
  const auto done = SLURMK8S_TRY(select_nodes(slurm, &nodes, fits));
  if (was_stuck) SLURMK8S_CHECK(release_stuck(slurm, nodes));
  // SuspendTimeout was faster, and slurmctld doesn't schedule after it.
  if (done.empty() && !off.empty()) return slurm.schedule_jobs(off);
  return change_nodes(slurm, done, update_to(State::resume), fits);
}

Status note_waiting(Slurm& slurm, const std::vector<WaitingNote>& notes, std::set<std::string>* told) {
  const std::vector<SlurmNode> records = SLURMK8S_TRY(slurm.load_nodes());
  std::unordered_map<std::string_view, const SlurmNode*> by_name;
  for (const SlurmNode& record : records) by_name.emplace(record.name, &record);
  Status first;
  for (const WaitingNote& note : notes) {
    const Status status = note_waiting(slurm, note, by_name, told);
    if (first.ok()) first = status;
  }
  return first;
}

Status protect_nodeset(Slurm& slurm, const std::string& nodeset, const std::string& cause) {
  const auto fits = [&](const SlurmNode& node) { return is_of(node, nodeset) && may_be_protected(node); };
  const auto free = SLURMK8S_TRY(select_nodes(slurm, nullptr, fits));
  return change_nodes(slurm, free, update_to(State::drain, build_reason(kReasonProtected, cause)), fits);
}

Status unprotect_nodeset(Slurm& slurm, const std::string& nodeset) {
  const auto fits = [&](const SlurmNode& node) { return is_of(node, nodeset) && is_drained_for_protection(node); };
  const auto held = SLURMK8S_TRY(select_nodes(slurm, nullptr, fits));
  return change_nodes(slurm, held, update_to(State::undrain), fits);
}

}  // namespace slurmk8s
