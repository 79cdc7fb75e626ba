// SPDX-License-Identifier: GPL-2.0-or-later
// Batches of reports, and the back-off after failed starts.
#include "engine/slurm_reports.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"

namespace slurmk8s {
namespace {

/** Pods of one suspend go within moments of each other; a node is out of use until it is told. */
constexpr std::chrono::milliseconds kGoneDelay{50};
/** Of a mass suspend they go for seconds, and each time slurmctld makes a copy of all records: then less often. */
constexpr std::chrono::milliseconds kGoneDelayPerNode{10};
constexpr std::chrono::milliseconds kLongestGoneDelay{500};
constexpr std::chrono::seconds kMassSuspendRest{1};
constexpr std::chrono::milliseconds kReleaseDelay{100};
constexpr std::chrono::seconds kReleaseRetry{2};
constexpr std::chrono::seconds kSchedulerRest{1};
constexpr std::chrono::seconds kRestartRetry{10};
/**
 * What ends by itself is repaired when it lasts. slurmctld powers an allocated node up within a second or two, unless
 * its ResumeRate holds it up. An administrator may undrain a node and power it up at once.
 */
constexpr std::chrono::seconds kLasting{10};
constexpr std::chrono::milliseconds kNoteDelay{1000};
/** Each time slurmctld makes a copy of all records: with thousands of nodes that wait, less often. */
constexpr std::chrono::milliseconds kNoteDelayPerNode{1};
constexpr std::chrono::milliseconds kLongestNoteDelay{5000};

/** For the log. */
long long in_seconds(std::chrono::milliseconds time) { return std::chrono::ceil<std::chrono::seconds>(time).count(); }

}  // namespace

SlurmReports::SlurmReports(Parts parts)
    : slurm_(parts.slurm),
      timers_(parts.timers),
      clock_(parts.clock),
      one_shot_(parts.one_shot),
      jitter_(std::move(parts.jitter)),
      waits_for_(std::move(parts.waits_for)),
      nodeset_of_(std::move(parts.nodeset_of)),
      wake_scheduler_(std::move(parts.wake_scheduler)),
      gone_(
          timers_, [this] { return gone_delay(); },
          [this](const std::vector<std::string>& nodes) {
            last_gone_ = nodes.size();
            last_gone_at_ = clock_.now();
            tell(
                "end of power-down", [nodes](Slurm& calls) { return finish_power_down(calls, nodes); },
                [this](bool) { wake_scheduler(); });
          }),
      releasing_(timers_, kReleaseDelay,
                 [this](const std::vector<std::string>& nodes) {
                   // Until then they back off: a comparison that began before the release would start it again.
                   tell(
                       "release", [nodes](Slurm& calls) { return release_nodes(calls, nodes); },
                       [this, nodes](bool is_told) { released(nodes, is_told); });
                 }),
      freeing_(timers_, kReleaseDelay,
               [this](const std::vector<std::string>& nodes) {
                 tell("release orphaned allocations", [nodes](Slurm& calls) { return free_nodes(calls, nodes); });
               }),
      unprotecting_(timers_, kReleaseDelay,
                    [this](const std::vector<std::string>& nodesets) {
                      for (const std::string& nodeset : nodesets) unprotect(nodeset);
                    }),
      telling_stuck_(timers_, kReleaseDelay, [this](const std::vector<std::string>&) { tell_stuck(); }),
      noting_(
          timers_, [this] { return note_delay(); }, [this](const std::vector<std::string>& nodes) { note(nodes); }),
      lost_jobs_(one_shot_ ? nullptr : std::make_shared<LostJobs>(parts.fast_requeue)),
      requeues_(slurm_, timers_, clock_, [this] { wake_scheduler(); }) {}

void SlurmReports::fail(NodeFailure failure, OnVerdict done) {
  failure.facts.may_back_off = !one_shot_;
  failure.seen = std::chrono::steady_clock::now();
  const std::time_t wall = std::chrono::system_clock::to_time_t(clock_.wall());
  slurm_.call([this, failure, lost_jobs = lost_jobs_, now = clock_.now(), wall,
               done = std::move(done)](Slurm& slurm) -> SlurmCaller::Then {
    NodeFailure told = failure;
    const std::vector<LostRun> lost = lost_jobs ? lost_jobs->note(slurm, told, now, wall) : std::vector<LostRun>();
    return [this, told, done, lost, verdict = fail_node(slurm, told)] {
      if (verdict && *verdict == Verdict::back_off) back_off(told.node, told.cause);
      if (!verdict || *verdict == Verdict::give_up) requeues_.add(lost);  // an error may follow the requeue
      done(verdict);
    };
  });
}

void SlurmReports::stuck(const std::string& node, StuckPod pod, OnStuck done) {
  stuck_.insert_or_assign(node, std::move(pod));
  on_stuck_.insert_or_assign(node, std::move(done));
  telling_stuck_.add(node);
}

void SlurmReports::tell_stuck() {
  slurm_.call(
      [this, pods = std::exchange(stuck_, {}), done = std::exchange(on_stuck_, {})](Slurm& slurm) -> SlurmCaller::Then {
        return [done, verdicts = report_stuck(slurm, pods)] {
          for (const auto& [node, tell] : done) {
            tell(verdicts ? Result<StuckVerdict>(verdicts->at(node)) : verdicts.error());
          }
        };
      });
}

/** What slurmctld wasn't told is tried again: to start the back-off again would count as another failed start. */
void SlurmReports::released(const std::vector<std::string>& nodes, bool is_told) {
  if (!is_told) {
    timers_.after(kReleaseRetry, [this, nodes] {
      for (const std::string& node : nodes) releasing_.add(node);
    });
    return;
  }
  for (const std::string& node : nodes) backing_off_.erase(node);
}

void SlurmReports::tell(const char* what, std::function<Status(Slurm&)> calls, std::function<void(bool)> then) {
  slurm_.call([this, what, calls = std::move(calls), then = std::move(then)](Slurm& slurm) -> SlurmCaller::Then {
    return [this, what, then, status = calls(slurm)] {
      if (then) then(status.ok());
      // Most is not repeated: repair_from_record() sees what is left to do at the next comparison.
      unsigned suppressed = 0;
      if (!status.ok() && limiter_.allow(clock_.now(), suppressed)) {
        log_warning("slurmctld: %s: %s (%u similar messages suppressed)", what, status.error().message().c_str(),
                    suppressed);
      }
    };
  });
}

void SlurmReports::schedule_jobs(const std::string& node) {
  tell("schedule jobs", [node](Slurm& slurm) { return slurm.schedule_jobs(node); });
}

// When it has gone well this process is another one.
void SlurmReports::clock_set_back(std::chrono::seconds step, const Wanted& wanted) {
  slurm_.call([this, step, wanted](Slurm& slurm) -> SlurmCaller::Then {
    return [this, step, wanted, status = recover_from_set_back(slurm, wanted, step)] {
      if (status.ok()) return;
      log_error("slurmctld: reconfigure after backward clock step: %s", status.error().message().c_str());
      if (status.error().code() == Errc::invalid) return;
      timers_.after(kRestartRetry, [this, step, wanted] { clock_set_back(step, wanted); });
    };
  });
}

// What comes within a second of the last time is left to slurmctld's own look: each goes through its whole queue.
void SlurmReports::wake_scheduler() {
  if (!wake_scheduler_ || (scheduler_woken_ && clock_.now() < *scheduler_woken_ + kSchedulerRest)) return;
  scheduler_woken_ = clock_.now();
  wake_scheduler_();
}

// Failed starts.

void SlurmReports::back_off(const std::string& node, const std::string& cause) {
  if (!backing_off_.insert(node).second) return;
  const std::string nodeset = nodeset_of_(node);
  if (cause.starts_with(kReasonResumeTimeout) && outage_nodes_.contains(node)) {
    const std::chrono::milliseconds pause = outage_health_[node].failed(clock_.now(), jitter_());
    log_info("node %s: no pod in time because of the API server: retry in %lld s", node.c_str(), in_seconds(pause));
    timers_.after(pause, [this, node] { releasing_.add(node); });
    return;
  }
  PowerUpHealth& health = health_[nodeset];
  const std::chrono::milliseconds pause = health.failed(clock_.now(), jitter_());
  log_info("node %s: backing off for %lld s", node.c_str(), in_seconds(pause));
  timers_.after(pause, [this, node] { releasing_.add(node); });
  if (health.is_protected()) protect(nodeset, cause, pause);
}

void SlurmReports::protect(const std::string& nodeset, const std::string& cause, std::chrono::milliseconds pause) {
  if (!protected_.insert(nodeset).second) return;
  log_warning("nodeset %s: protected for %lld s, power-ups fail: %s", nodeset.c_str(), in_seconds(pause),
              cause.c_str());
  tell("protect", [nodeset, cause](Slurm& slurm) { return protect_nodeset(slurm, nodeset, cause); });
  timers_.after(pause, [this, nodeset] { unprotect(nodeset); });
}

void SlurmReports::unprotect(const std::string& nodeset) {
  protected_.erase(nodeset);
  tell("unprotect", [nodeset](Slurm& slurm) { return unprotect_nodeset(slurm, nodeset); });
}

bool SlurmReports::lasts(const std::string& node, Repair repair) {
  Seen& seen = seen_.try_emplace(node, Seen{repair, clock_.now()}).first->second;
  if (seen.repair != repair) seen = {repair, clock_.now()};
  return clock_.now() >= seen.since + kLasting;
}

void SlurmReports::repair(const SlurmNode& record, Repair repair) {
  const std::string& node = record.name;
  const bool may_end = repair == Repair::free || repair == Repair::refresh;
  if (may_end && !lasts(node, repair)) return;
  seen_.erase(node);
  switch (repair) {
    case Repair::none: break;
    case Repair::refresh:
    case Repair::power_down: releasing_.add(node); break;
    case Repair::free: freeing_.add(node); break;
    case Repair::back_off: back_off(node, std::string(cause_of(record.reason))); break;
    case Repair::end_protection: unprotecting_.add(nodeset_of_(node)); break;
    case Repair::end_pod_drain: gone_.add(node); break;
  }
}

void SlurmReports::repair_from_record(const SlurmNode& record, RepairFacts facts, TimePoint up_since) {
  facts.is_protected = !protected_.empty() && protected_.contains(nodeset_of_(record.name));
  repair(record, plan_repair(record, facts));
  const std::string_view comment = record.comment;
  if (comment.starts_with(kCommentWaiting)) {
    if (noted_.try_emplace(record.name, comment.substr(kCommentWaiting.size())).second) noting_.add(record.name);
  } else if (comment.empty() && is_waiting_for_pod(record) && !noted_.contains(record.name)) {
    noting_.add(record.name);  // slurmctld was busy, or did not see it wait yet
  }
  if (facts.owned && up_since != TimePoint{} && is_responding(record)) {
    outage_health_.erase(record.name);
    const auto health = health_.find(nodeset_of_(record.name));
    if (health != health_.end()) health->second.succeeded(up_since);
  }
}

std::chrono::milliseconds SlurmReports::gone_delay() const {
  if (clock_.now() > last_gone_at_ + kMassSuspendRest) return kGoneDelay;
  return std::min(kGoneDelay + kGoneDelayPerNode * static_cast<std::int64_t>(last_gone_), kLongestGoneDelay);
}

// What nodes wait for.

std::chrono::milliseconds SlurmReports::note_delay() const {
  return std::min(kNoteDelay + kNoteDelayPerNode * static_cast<std::int64_t>(noted_.size()), kLongestNoteDelay);
}

void SlurmReports::note(const std::vector<std::string>& nodes) {
  std::map<std::string, WaitingNote> by_text;
  for (const std::string& node : nodes) {
    const Waiting waiting = waits_for_(node);
    const auto noted = noted_.find(node);
    if (waiting.text == (noted == noted_.end() ? std::string() : noted->second)) continue;
    if (waiting.text.empty()) {
      noted_.erase(noted);
    } else {
      noted_[node] = waiting.text;
    }
    WaitingNote& about = by_text[waiting.text];
    about.text = waiting.text;
    about.nodes.push_back(node);
    about.jobs.insert(about.jobs.end(), waiting.jobs.begin(), waiting.jobs.end());
  }
  if (by_text.empty()) return;
  std::vector<WaitingNote> notes;
  for (auto& [text, about] : by_text) {
    std::sort(about.jobs.begin(), about.jobs.end());
    about.jobs.erase(std::unique(about.jobs.begin(), about.jobs.end()), about.jobs.end());
    notes.push_back(std::move(about));
  }
  tell_notes(notes);
}

void SlurmReports::tell_notes(const std::vector<WaitingNote>& notes) {
  const auto told = std::make_shared<std::set<std::string>>();
  tell(
      "what nodes wait for", [notes, told](Slurm& slurm) { return note_waiting(slurm, notes, told.get()); },
      [this, notes, told](bool) {
        for (const WaitingNote& about : notes) forget_untold(about, *told);
      });
}

void SlurmReports::forget_untold(const WaitingNote& about, const std::set<std::string>& told) {
  for (const std::string& node : about.nodes) {
    const auto noted = noted_.find(node);
    if (noted != noted_.end() && noted->second == about.text && !told.contains(node)) noted_.erase(noted);
  }
}

}  // namespace slurmk8s
