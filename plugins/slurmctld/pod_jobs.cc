// SPDX-License-Identifier: GPL-2.0-or-later
// Looks after the bridge's jobs.
#include "slurmctld/pod_jobs.hpp"

#include <algorithm>
#include <utility>

#include "base/guarded.hpp"
#include "base/thread.hpp"
#include "slurm/hostlist.hpp"
#include "slurmctld/poll_pace.hpp"

namespace slurmk8s {
namespace {

/** A pod starts late by half of this on average. */
constexpr std::chrono::milliseconds kPollInterval{50};

bool is_on_nodes(const PodJobs::Where& where) { return !where.nodes.empty() || !where.over.empty(); }

std::size_t count_names(const PodJobs::Where& where) {
  std::size_t count = 0;
  for (const std::string& hostlist : {where.nodes, where.over}) {
    const auto names = expand_hostlist(hostlist);
    count += names ? names->size() : kMaxHosts;
  }
  return count;
}

/** The jobs with nodes after a change, and how many names these have: `before` itself when there is no other. */
std::shared_ptr<const PodJobs::Nodes> change_nodes(const std::shared_ptr<const PodJobs::Nodes>& before,
                                                   const PodJobs::Change& change, std::size_t& name_count) {
  const auto concerns = [&](std::uint32_t job) { return before->contains(job); };
  const bool is_other = change.is_all || std::ranges::any_of(change.gone, concerns) ||
                        std::ranges::any_of(change.nodes, [&](const auto& one) {
                          return is_on_nodes(one.second) || concerns(one.first);
                        });
  if (!is_other) return before;
  auto after = change.is_all ? std::make_shared<PodJobs::Nodes>() : std::make_shared<PodJobs::Nodes>(*before);
  if (change.is_all) name_count = 0;
  const auto remove = [&](std::uint32_t job) {
    const auto one = after->extract(job);
    if (!one.empty()) name_count -= count_names(one.mapped());
  };
  for (const std::uint32_t job : change.gone) remove(job);
  for (const auto& [job, where] : change.nodes) {
    remove(job);
    if (!is_on_nodes(where)) continue;
    after->emplace(job, where);
    name_count += count_names(where);
  }
  return after;
}

}  // namespace

PodJobs::PodJobs(Host host, const Clock& clock, bool expected)
    : host_(std::move(host)), clock_(clock), expected_(expected) {
  state_.lock()->since = clock.now();
  thread_ = std::thread([this] { guarded_void("thread of pods' jobs", [this] { run(); }); });
}

void PodJobs::stop() {
  state_.lock()->stop = true;
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t PodJobs::set(const Change& change) {
  std::size_t name_count = this->name_count();
  auto on_nodes = change_nodes(this->on_nodes(), change, name_count);
  std::uint64_t number = 0;
  {
    auto state = state_.lock();
    if (!change.is_all && state->unknown) return 0;
    if (state->jobs.empty()) state->all_due = clock_.now();
    if (change.is_all) state->jobs.clear();
    for (const std::uint32_t job : change.gone) state->jobs.erase(job);
    for (const auto& [job, where] : change.nodes) {
      state->jobs.insert(job);
      state->soon.insert(job);
    }
    state->on_nodes = std::move(on_nodes);
    state->name_count = name_count;
    state->report_all |= change.is_all;
    state->unknown = false;
    state->fresh = true;
    number = ++state->number;
  }
  changed_.notify_one();
  return number;
}

void PodJobs::forget() {
  auto state = state_.lock();
  state->jobs.clear();
  state->on_nodes = std::make_shared<const Nodes>();
  state->name_count = 0;
  state->unknown = true;
  state->since = clock_.now();
}

void PodJobs::look(std::uint32_t job) {
  {
    auto state = state_.lock();
    if (!state->jobs.contains(job)) return;
    state->soon.insert(job);
    state->fresh = true;
  }
  changed_.notify_one();
}

bool PodJobs::has_jobs() { return !state_.lock()->jobs.empty(); }
std::shared_ptr<const PodJobs::Nodes> PodJobs::on_nodes() { return state_.lock()->on_nodes; }
std::size_t PodJobs::name_count() { return state_.lock()->name_count; }

bool PodJobs::is_unknown() {
  auto state = state_.lock();
  return expected_ && state->unknown && clock_.now() - state->since < kPatience;
}

PodJobs::Poll PodJobs::begin_poll() {
  auto state = state_.lock();
  Poll poll;
  poll.number = state->number;
  poll.report_all = std::exchange(state->report_all, false);
  poll.is_all = poll.report_all || clock_.now() >= state->all_due;
  poll.soon = std::exchange(state->soon, {});
  std::erase_if(poll.soon, [&](std::uint32_t job) { return !state->jobs.contains(job); });
  const std::set<std::uint32_t>& jobs = poll.is_all ? state->jobs : poll.soon;
  poll.jobs.assign(jobs.begin(), jobs.end());
  state->fresh = false;
  return poll;
}

void PodJobs::end_poll(const Poll& poll, TimePoint begin, bool is_answered) {
  const TimePoint now = clock_.now();
  auto state = state_.lock();
  if (poll.is_all) {
    state->all_due = now + (state->jobs.empty() ? kMaxPollPause : pause_after(now - begin, kPollInterval));
  }
  if (is_answered) return;
  state->report_all |= poll.report_all;
  state->soon.insert(poll.soon.begin(), poll.soon.end());
}

/** Nothing: slurmctld is ending. */
std::optional<PodJobs::Running> PodJobs::ask(const Poll& poll) {
  Running running;
  for (auto first = poll.jobs.begin(); first != poll.jobs.end();) {
    const auto end = first + std::min<std::ptrdiff_t>(kJobsPerPoll, poll.jobs.end() - first);
    const std::vector<bool> answers = host_.poll({first, end});
    if (answers.size() != static_cast<std::size_t>(end - first)) return std::nullopt;
    for (const bool runs : answers) running[*first++] = runs;
  }
  return running;
}

PodJobs::Running PodJobs::find_changed(const Poll& poll, const Running& running) {
  Running changed;
  for (const auto& [job, runs] : running) {
    const auto before = known_.find(job);
    const bool is_known = !poll.report_all && !poll.soon.contains(job) && before != known_.end();
    if (!is_known || before->second != runs) changed[job] = runs;
  }
  return changed;
}

void PodJobs::poll_once() {
  const TimePoint begin = clock_.now();
  const Poll poll = begin_poll();
  std::optional<Running> running = ask(poll);
  end_poll(poll, begin, running.has_value());
  if (!running) return;
  const Running changed = find_changed(poll, *running);
  if (poll.is_all) known_.clear();
  for (const auto& [job, runs] : *running) known_[job] = runs;
  if (changed.empty() && poll.number == reported_) return;
  reported_ = poll.number;
  host_.report(poll.number, changed);
}

void PodJobs::run() {
  enter_thread("k8s-pod-jobs");
  for (;;) {
    {
      auto state = state_.lock();
      const auto pause = state->all_due - clock_.now();
      changed_.wait_for(state.raw(), pause, [&] { return state->stop || state->fresh; });
      if (state->stop) return;
    }
    guarded_void("pods' jobs", [this] { poll_once(); });
  }
}

}  // namespace slurmk8s
