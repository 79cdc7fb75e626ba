// SPDX-License-Identifier: GPL-2.0-or-later
// The members of gangs.
#include "bridge/gangs.hpp"

#include <algorithm>
#include <tuple>

#include "bridge/job_request.hpp"
#include "bridge/names.hpp"

namespace slurmk8s {

WorkloadRef ref_of_gang(const WorkloadPod& pod, const Workload& spec) {
  return spec.is_gang ? pod.group : WorkloadRef{pod.name_space, "Pod", pod.name};
}

namespace {

WorkloadRun run_of(const WorkloadPod& pod, const Workload& spec) {
  return {ref_of_gang(pod, spec), spec.is_gang ? pod.attempt : ""};
}
WorkloadRun run_of(const Gang& gang) { return {gang.workload, gang.attempt}; }

}  // namespace

Gang& Gangs::add(const WorkloadRun& run, const Workload& spec) {
  Gang& gang = gangs_[++last_];
  gang.number = last_;
  std::tie(gang.workload, gang.attempt) = run;
  gang.spec = spec;
  of_run_[run].insert(&gang);
  return gang;
}

void Gangs::leave_run(const Gang& gang) {
  const auto found = of_run_.find(run_of(gang));
  found->second.erase(&gang);
  if (found->second.empty()) of_run_.erase(found);
}

void Gangs::put(Gang& gang, const std::string& uid) {
  gang.uids.push_back(uid);
  by_uid_[uid] = &gang;
}

void Gangs::join(const WorkloadPod& pod, const Workload& spec, TimePoint now) {
  const WorkloadRun run = run_of(pod, spec);
  Gang*& gang = collecting_[run];
  if (gang == nullptr) gang = &add(run, spec);
  gang->refusal.clear();
  gang->joined = now;
  put(*gang, pod.uid);
}

Gang& Gangs::restore(const WorkloadPod& pod, const Workload& spec, std::uint32_t user) {
  Gang* gang = find_job(pod.job, user, pod.job_submitted);
  if (gang == nullptr) {
    gang = &add(run_of(pod, spec), spec);
    gang->stage = Gang::Stage::submitted;
    gang->user = user;
    gang->job_submitted = pod.job_submitted;
    set_job(*gang, pod.job);
  }
  put(*gang, pod.uid);
  return *gang;
}

void Gangs::identify(Gang& gang, const WorkloadPod& pod, const Workload& spec) {
  leave_run(gang);
  std::tie(gang.workload, gang.attempt) = run_of(pod, spec);
  gang.spec = spec;
  of_run_[run_of(gang)].insert(&gang);
}

std::vector<const Gang*> Gangs::others(const Gang& gang) const {
  const std::set<const Gang*>& all = of_run_.at(run_of(gang));
  std::vector<const Gang*> others(all.begin(), all.end());
  std::erase(others, &gang);
  return others;
}

Gang* Gangs::find(const std::string& uid) {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? nullptr : found->second;
}

Gang* Gangs::find_job(std::uint32_t job, std::uint32_t user, std::time_t submitted) {
  const auto [first, last] = by_job_.equal_range({job, user});
  for (auto one = first; one != last; ++one) {
    const std::time_t known = one->second->job_submitted;
    if (known == 0 || known == submitted) return one->second;
  }
  return nullptr;
}

std::vector<Gang*> Gangs::of_job(std::uint32_t job) {
  std::vector<Gang*> found;
  for (auto one = by_job_.lower_bound({job, 0}); one != by_job_.end() && one->first.first == job; ++one) {
    found.push_back(one->second);
  }
  return found;
}

bool Gangs::adopt(Gang& gang, std::uint32_t user, const std::map<std::uint32_t, Allocation>& jobs, TimePoint now) {
  const std::string prefix = comment_of(gang.workload) + ":";
  for (const auto& [id, job] : jobs) {
    if (job.state == Allocation::State::ended || job.uid != user || !job.comment.starts_with(prefix)) continue;
    Gang* const bound = find_job(id, user, job.submitted);
    std::vector<std::string> uids = gang.uids;
    if (bound != nullptr) uids.insert(uids.end(), bound->uids.begin(), bound->uids.end());
    if (job.comment != build_job_comment(gang.workload, uids)) continue;
    if (bound != nullptr) {
      const std::vector<std::string> moved = gang.uids;
      drop(gang);
      for (const std::string& uid : moved) put(*bound, uid);
      return true;
    }
    close(gang);
    gang.stage = Gang::Stage::submitted;
    gang.asked = now;
    gang.user = user;
    gang.job_submitted = job.submitted;
    set_job(gang, id);
    return true;
  }
  return false;
}

void Gangs::close(Gang& gang) {
  const auto found = collecting_.find(run_of(gang));
  if (found != collecting_.end() && found->second == &gang) collecting_.erase(found);
}

void Gangs::set_job(Gang& gang, std::uint32_t job) {
  gang.job = job;
  by_job_.emplace(std::pair(job, gang.user), &gang);
}

void Gangs::drop(Gang& gang) {
  close(gang);
  const auto [first, last] = by_job_.equal_range({gang.job, gang.user});
  const auto entry = std::find_if(first, last, [&](const auto& one) { return one.second == &gang; });
  if (entry != last) by_job_.erase(entry);
  for (const std::string& uid : gang.uids) by_uid_.erase(uid);
  leave_run(gang);
  gangs_.erase(gang.number);
}

}  // namespace slurmk8s
