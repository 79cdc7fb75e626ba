// SPDX-License-Identifier: GPL-2.0-or-later
// PodOrders: one call to slurmctld for many nodes.
#include "engine/pod_orders.hpp"

#include <unordered_map>
#include <utility>

namespace slurmk8s {
namespace {

/** One by one up to here: all records of a large cluster are more to send than these. */
constexpr std::size_t kFew = 8;

using Records = std::unordered_map<std::string, Result<SlurmNode>>;
using Jobs = std::unordered_map<std::uint32_t, Result<SlurmJob>>;

Records load_records(Slurm& slurm, const std::vector<std::string>& nodes) {
  Records records;
  if (nodes.size() <= kFew) {
    for (const std::string& node : nodes) records.emplace(node, slurm.load_node(node));
    return records;
  }
  auto all = slurm.load_nodes();
  if (all) {
    for (SlurmNode& record : *all) records.emplace(std::string(record.name), std::move(record));
  }
  const Error missing = all ? Error(Errc::not_found, "slurm has no such node") : all.error();
  for (const std::string& node : nodes) records.try_emplace(node, missing);
  return records;
}

Result<PodOrders::Facts> put_together(const Result<SlurmNode>& record, std::uint32_t id, const Jobs& jobs) {
  if (!record) return record.error();
  PodOrders::Facts facts{*record, std::nullopt};
  if (id == 0) return facts;
  const Result<SlurmJob>& job = jobs.at(id);
  if (job) facts.job = *job;
  // A job that is gone by now: its nodes will be suspended again.
  if (!job && job.error().code() != Errc::not_found) return job.error();
  return facts;
}

}  // namespace

PodOrders::PodOrders(SlurmCaller& slurm, Timers& timers, Answer answer)
    : slurm_(slurm),
      answer_(std::move(answer)),
      batch_(timers, std::chrono::milliseconds(0), [this](const std::vector<std::string>& nodes) { flush(nodes); }) {}

void PodOrders::find(const std::string& node, Question question) {
  questions_.insert_or_assign(node, std::move(question));
  batch_.add(node);
}

void PodOrders::flush(const std::vector<std::string>& nodes) {
  slurm_.call([this, nodes, questions = std::exchange(questions_, {})](Slurm& slurm) -> SlurmCaller::Then {
    Jobs jobs;
    for (const auto& [node, question] : questions) {
      if (question.job != 0 && !jobs.contains(question.job)) jobs.emplace(question.job, slurm.load_job(question.job));
    }
    return [this, questions, records = load_records(slurm, nodes), jobs = std::move(jobs)] {
      for (const auto& [node, question] : questions) {
        answer_(node, question, put_together(records.at(node), question.job, jobs));
      }
    };
  });
}

}  // namespace slurmk8s
