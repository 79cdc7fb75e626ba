// SPDX-License-Identifier: GPL-2.0-or-later
// PartitionKeeper: load, plan, carry out.
#include "sidecar/partition_keeper.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::seconds kKeepsAge{60};  // slurm.conf may have been changed
constexpr std::chrono::minutes kFightAge{5};
constexpr int kPasses = 2;  // the second sees what the first did

std::string key_of(const PartitionAction& action) {
  return action.partition.name + (action.kind == PartitionAction::Kind::remove ? " remove" : "");
}

}  // namespace

void PartitionKeeper::round(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes, std::uint64_t version) {
  bool fresh = version != version_;
  if (!fresh && !busy_) return;
  version_ = version;
  for (int pass = 0; pass < kPasses; pass++) {
    if (!load(fresh)) {
      busy_ = true;
      return;
    }
    const PartitionPlan plan = plan_partitions(nodesets, nodes, partitions_, keeps_);
    conditions_ = plan.conditions;
    busy_ = !plan.actions.empty();
    for (const auto& [name, known] : nodesets) busy_ |= known.spec.ok() && known.spec->partition;
    fresh = true;
    if (!apply(plan)) return;
  }
}

/** `fresh`: also when Slurm thinks that nothing has changed, since nodes that come and go don't count for it. */
bool PartitionKeeper::load(bool fresh) {
  const auto failed = [&](const Error& error) {
    since_ = 0;
    keeps_until_ = {};
    unsigned suppressed = 0;
    if (limiter_.allow(clock_.now(), suppressed)) {
      log_warning("slurmctld: partitions: %s (%u similar messages suppressed)", error.message().c_str(), suppressed);
    }
    return false;
  };
  if (clock_.now() >= keeps_until_) {
    keeps_ = reader_.check_partitions_persist();
    if (!keeps_.ok() && keeps_.error().code() != Errc::invalid) return failed(keeps_.error());
    keeps_until_ = clock_.now() + kKeepsAge;
  }
  if (fresh) since_ = 0;
  auto answer = reader_.load_partitions_since(since_);
  if (!answer.ok()) return failed(answer.error());
  if (answer->has_value()) partitions_ = *std::move(*answer);
  return true;
}

/** True when slurmctld carried any of them out. */
bool PartitionKeeper::apply(const PartitionPlan& plan) {
  bool acted = false;
  std::map<std::string, Failure> still;
  for (const PartitionAction& action : plan.actions) {
    if (!waits(action)) {
      const Status status = call(action);
      acted |= status.ok();
      note(action, status);
    }
    const std::string key = key_of(action);
    if (const auto failed = failures_.find(key); failed != failures_.end()) still.insert(*failed);
  }
  failures_ = std::move(still);  // what is no longer planned has not failed
  return acted;
}

bool PartitionKeeper::waits(const PartitionAction& action) const {
  const std::string text = action.text();
  const auto failed = failures_.find(key_of(action));
  if (failed != failures_.end() && failed->second.action == text && clock_.now() < failed->second.retry) return true;
  const auto done = done_.find(action.partition.name);
  return done != done_.end() && done->second.action == text && clock_.now() < done->second.retry;
}

Status PartitionKeeper::call(const PartitionAction& action) {
  switch (action.kind) {
    case PartitionAction::Kind::create: return writer_.create_partition(action.partition);
    case PartitionAction::Kind::update: return writer_.update_partition(action.partition);
    case PartitionAction::Kind::remove: break;
  }
  return writer_.delete_partition(action.partition.name);
}

void PartitionKeeper::note(const PartitionAction& action, const Status& status) {
  const std::string text = action.text();
  if (status.ok()) {
    failures_.erase(key_of(action));
    log_info("partition: %s", text.c_str());
    if (action.kind != PartitionAction::Kind::update) return;
    Done& done = done_[action.partition.name];
    const TimePoint now = clock_.now();
    done.count = done.action == text && now < done.at + kFightAge ? done.count + 1 : 1;
    done.action = text;
    done.at = now;
    done.retry = now + backoff_.delay(done.count, jitter_());
    return;
  }
  Failure& failure = failures_[key_of(action)];
  failure.count = failure.action == text ? failure.count + 1 : 1;
  failure.action = text;
  failure.text = text + ": " + status.error().message();
  failure.retry = clock_.now() + backoff_.delay(failure.count, jitter_());
  // In use is what a partition that is to go may be for long.
  if (failure.count == 1 || status.error().code() != Errc::conflict) log_warning("partition: %s", failure.text.c_str());
}

Condition PartitionKeeper::condition(const std::string& nodeset) const {
  const auto found = conditions_.find(nodeset);
  Condition condition = found != conditions_.end()
                            ? found->second
                            : Condition{"PartitionReady", false, "Unknown", "slurm's partitions are not known yet"};
  if (const auto failure = failures_.find(nodeset); failure != failures_.end()) {
    condition.status = false;
    condition.reason = "SlurmRefused";
    condition.message = failure->second.text;
  } else if (const auto stays = failures_.find(nodeset + " remove"); stays != failures_.end()) {
    condition.message += ": " + stays->second.text;
  }
  return condition;
}

}  // namespace slurmk8s
