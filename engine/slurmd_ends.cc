// SPDX-License-Identifier: GPL-2.0-or-later
// Which job an end of slurmd is attributed to.
#include "engine/slurmd_ends.hpp"

#include <algorithm>
#include <tuple>

namespace slurmk8s {

SlurmdEndVerdict judge_slurmd_end(const std::vector<EndedRun>& runs, SlurmdEnd end, bool beside) {
  using Kind = SlurmdEndVerdict::Kind;
  if (runs.empty() || end == SlurmdEnd::other) return {};
  const std::uint32_t first = whole_job(runs.front().run);
  const bool is_alone =
      std::all_of(runs.begin(), runs.end(), [first](const EndedRun& run) { return whole_job(run.run) == first; });
  if (is_alone && !beside && end == SlurmdEnd::out_of_memory) return {Kind::out_of_memory, first, runs.front().ends};
  const auto rank = [](const EndedRun& run) { return std::tuple(run.ends, -run.ran, whole_job(run.run)); };
  const auto worst = std::max_element(
      runs.begin(), runs.end(), [&](const EndedRun& left, const EndedRun& right) { return rank(left) < rank(right); });
  if (worst->ends < kMaxEnds) return {};
  return {Kind::hold, whole_job(worst->run), worst->ends};
}

SlurmdEndVerdict SlurmdEnds::note(const std::vector<LostRun>& runs, SlurmdEnd end, std::time_t now) {
  if (end == SlurmdEnd::other) return {};
  std::vector<EndedRun> ended;
  ended.reserve(runs.size());
  for (const LostRun& run : runs) {
    const bool has_begun = !run.configuring && run.started <= now;  // others are innocent
    if (has_begun && !run.completing) ended.push_back(count(run, now));
  }
  const bool beside = std::any_of(runs.begin(), runs.end(), [](const LostRun& run) { return run.completing; });
  return judge_slurmd_end(ended, end, beside);
}

EndedRun SlurmdEnds::count(const LostRun& run, std::time_t now) {
  const std::uint32_t job = whole_job(run);
  const auto [entry, is_new] = past_.try_emplace(job);
  Past& past = entry->second;
  if (is_new || past.restarts != run.restarts) {
    ++past.ends;
    past.ran += std::chrono::seconds(std::max<std::time_t>(now - run.started, 0));
  }
  past.restarts = run.restarts;
  if (!is_new) order_.erase(past.place);
  past.place = order_.insert(order_.end(), job);
  const EndedRun ended{run, past.ends, past.ran};
  if (order_.size() > kMaxJobs) {
    past_.erase(order_.front());
    order_.pop_front();
  }
  return ended;
}

}  // namespace slurmk8s
