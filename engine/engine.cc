// SPDX-License-Identifier: GPL-2.0-or-later
// The engine: what it hears of Slurm's requests, the API server's objects and slurmctld's records. What it does about
// each node is in engine_actions.cc.
#include "engine/engine.hpp"

#include "slurm/hostlist.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "nodeset/names.hpp"
#include "nodeset/omit.hpp"
#include "engine/plan.hpp"
#include "engine/reconcile.hpp"
#include "slurm/node_state.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::seconds kReconcileInterval{30};
/** A slurmctld that doesn't answer must not hold resumes back for longer than this. */
constexpr std::chrono::seconds kReconcilePatience{10};

/** How often the clock is looked at, and what it may be set back by without more than a pause. */
constexpr std::chrono::seconds kClockInterval{5};
constexpr std::chrono::seconds kSetBack{30};

/** That images are pulled and containers made is worth telling when it takes longer than this. */
constexpr std::chrono::seconds kQuietCreation{3};
/** That a former pod is still being deleted, too: usually it goes within its grace period. */
constexpr std::chrono::seconds kQuietDeletion{6};

}  // namespace

Engine::Engine(Parts parts)
    : parts_(parts),
      writer_(parts.client.unfenced_writer()),
      executor_({parts.client, writer_, parts.timers, parts.clock, parts.options.name_space, parts.options.max_requests,
                 metrics_, [this] { pump(); }, [this](const kube::Throttle::Pause& pause) { on_pause(pause); }}),
      reports_({parts.slurm, parts.timers, parts.clock, parts.one_shot,
                [this](const std::string& node) { return waits_for(node); },
                [this](const std::string& node) { return nodesets_.name_of(node); }, parts.wake_scheduler,
                parts.options.fast_requeue, parts.jitter}),
      orders_(parts.slurm, parts.timers,
              [this](const std::string& node, const PodOrders::Question& question,
                     const Result<PodOrders::Facts>& facts) { on_order(node, question, facts); }),
      nodesets_(parts.options.name_space),
      recovered_jobs_({parts.slurm, parts.timers, parts.clock,
                       [this](const std::string& node) { return nodesets_.owner(node).ok(); }, parts.ask_registration}),
      catalog_(parts.users, parts.publish, parts.former_ids),
      events_(writer_, parts.timers, parts.clock, executor_.throttle(), parts.options.name_space, "slurm-k8s.io/engine",
              compress_hostlist),
      nodesets_reflector_(
          parts.client, parts.timers, parts.clock,
          {.resource = kube::kNodeSets, .name_space = parts.options.name_space},
          {[this](const Json& object) { on_nodeset(object); },
           [this](const kube::ObjectKey& key, const std::string&, const Json&) { on_nodeset_removed(key.name); },
           [this] { on_synced(); }}),
      pods_reflector_(
          parts.client, parts.timers, parts.clock,
          {.resource = kube::kPods,
           .name_space = parts.options.name_space,
           .label_selector = kLabelNode,
           .omit = kOmitOfPods},
          {[this](const Json& object) { on_pod(object); },
           [this](const kube::ObjectKey& key, const std::string& uid, const Json&) { on_pod_removed(key.name, uid); },
           [this] { on_synced(); }}),
      reconciled_(parts.one_shot) {}

void Engine::start() {
  nodesets_reflector_.start();
  pods_reflector_.start();
  if (parts_.one_shot) return;
  watch_clock();
}

/** Without slurmctld's answer resumes are served late, not never. */
void Engine::await_records() {
  parts_.timers.after(kReconcilePatience, [this] {
    if (reconciled_) return;
    log_error("slurmctld did not answer for %d s: serving resumes without its node states",
              static_cast<int>(kReconcilePatience.count()));
    reconciled_ = true;
    pump();
  });
}

void Engine::on_synced() {
  if (nodesets_reflector_.synced()) catalog_.set_complete();
  if (!nodesets_reflector_.synced() || !pods_reflector_.synced()) return;
  if (!parts_.one_shot) {
    reconcile();
    await_records();
  }
  pump();
}

// What Slurm asks for.

void Engine::resume(const ResumeRequest& request) {
  if (!request.warning.empty()) log_warning("%s; resuming without it", request.warning.c_str());
  for (const std::string& name : request.nodes) {
    Node& node = nodes_[name];
    ++metrics_.resumes;
    if (node.is_wanted_up() && node.resume().id == request.id) continue;
    const auto found = request.jobs.find(name);
    std::vector<std::uint32_t> jobs = found == request.jobs.end() ? std::vector<std::uint32_t>() : found->second;
    if (is_late_resume(node, parts_.clock.now())) {
      node.confirm(std::move(jobs));
      continue;
    }
    reports_.resume_requested(name);
    node.begin({request.id, std::move(jobs)}, parts_.clock.now());
    record(kPowerUpEvent, name, node.resume().jobs.empty() ? "" : "for job " + node.resume().job_list());
    if (node.pod && node.pod->deleting) {
      parts_.timers.after(kQuietDeletion, [this, name] { reports_.refresh_comment(name); });
    }
    enqueue(name);
  }
  log_info("resume %s: %zu nodes", request.id.c_str(), request.nodes.size());
  pump();
}

void Engine::suspend(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    ++metrics_.suspends;
    Node& node = nodes_[name];
    // It may be ResumeFailProgram that asks.
    if (is_api_outage_to_blame(node, watch_fails())) reports_.forgive_resume_timeout(name);
    node.end(parts_.clock.now());
    enqueue(name);
  }
  log_info("suspend: %zu nodes: %s", names.size(), shorten(compress_hostlist(names)).c_str());
  pump();
}

bool Engine::settled(const std::vector<std::string>& names) const {
  if (!ready()) return false;
  for (const std::string& name : names) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) continue;
    const Node& node = found->second;
    const bool open =
        node.is_wanted_up() ? !node.pod || node.pod->request != node.resume().id : node.pod && !node.pod->deleting;
    if (node.busy || open) return false;
  }
  return true;
}

EngineGauges Engine::gauges() const {
  EngineGauges gauges;
  gauges.ready = ready();
  gauges.paused = executor_.is_paused();
  gauges.queue_depth = queue_.size();
  gauges.in_flight = static_cast<std::size_t>(executor_.in_flight());
  gauges.backing_off_nodes = reports_.backing_off_nodes();
  gauges.protected_nodesets = reports_.protected_nodesets();
  for (const auto& [name, node] : nodes_) {
    if (const auto awaited = awaited_by(node)) ++gauges.starting_nodes[static_cast<std::size_t>(*awaited)];
    if (!node.pod) continue;
    std::size_t& count = node.pod->deleting         ? gauges.pods_deleting
                         : !node.pod->ended.empty() ? gauges.pods_ended
                         : node.pod->running        ? gauges.pods_running
                                                    : gauges.pods_pending;
    ++count;
  }
  return gauges;
}

// What the API server shows.

void Engine::on_nodeset(const Json& object) {
  const Result<NodeSet>& nodeset = nodesets_.set(object);
  if (nodeset) catalog_.set(nodeset->name, catalog_entry(*nodeset));
}

void Engine::on_nodeset_removed(const std::string& name) {
  nodesets_.remove(name);
  catalog_.remove(name);
}

void Engine::on_pod(const Json& object) {
  if (!is_node_pod(object)) return;
  const std::string name(object.at({"metadata", "name"}).text());
  Pod pod = decode_pod(object);
  // A watch that was away tells of former pods first. Until it shows ours, which an answer told, they say nothing.
  const auto known = nodes_.find(name);
  const bool has_other = known != nodes_.end() && known->second.pod && known->second.pod->uid != pod.uid;
  if (has_other && !is_watched(name, known->second)) return;
  observe(name, std::move(pod));
}

void Engine::observe(const std::string& name, Pod pod) {
  Node& node = nodes_[name];
  note_pod(name, node, std::move(pod));
  enqueue(name);
  // Others may wait for the API server for minutes: slurmctld is told of a lost node all the same.
  if (ready() && !node.pod->ended.empty()) tell_at_once(name, node);
  pump();
}

void Engine::tell_at_once(const std::string& name, Node& node) {
  const Owner owner = nodesets_.owner(name);
  if (plan_node(node, context(owner)).kind == Action::Kind::fail) act(name, node);
}

void Engine::note_pod(const std::string& name, Node& node, Pod pod) {
  if (node.is_wanted_up() && pod.request == node.resume().id && !pod.deleting) node.progress.had_pod = true;
  const bool same = node.pod && node.pod->uid == pod.uid;
  if (!same) {
    node.seen = parts_.clock.now();
    node.note_deletion(false, {});
  }
  node.note_deletion(pod.deleting, parts_.clock.now());
  if (pod.running && !(same && node.pod->running)) node.running_since = parts_.clock.now();
  const bool as_before = same && node.pod->start_problem.kind == pod.start_problem.kind;
  if (!as_before) {
    node.problem_since = parts_.clock.now();
    if (pod.start_problem.kind == StartProblem::Kind::creating) {
      parts_.timers.after(kQuietCreation, [this, name] { reports_.refresh_comment(name); });
    }
  }
  node.pod = std::move(pod);
  time_steps(node);
  reports_.refresh_comment(name);
}

/** A pod that was there when the engine started, or of another request, has no beginning to count from. */
void Engine::time_steps(Node& node) {
  if (!node.is_wanted_up() || node.resume().id.empty() || node.pod->request != node.resume().id) return;
  const auto since = parts_.clock.now() - node.since();
  if (node.pod->scheduled && !node.progress.timed_scheduled) metrics_.scheduled.observe(since);
  if (node.pod->running && !node.progress.timed_running) metrics_.running.observe(since);
  node.progress.timed_scheduled |= node.pod->scheduled;
  node.progress.timed_running |= node.pod->running;
}

void Engine::on_pod_removed(const std::string& name, const std::string& uid) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || !found->second.pod || found->second.pod->uid != uid) return;
  found->second.forget_pod();
  if (found->second.want() == Node::Want::down) {
    log_debug("pod %s/%s: gone", parts_.options.name_space.c_str(), name.c_str());
  }
  enqueue(name);
  pump();
}

/** A small step is waited for: slurmctld goes on by itself when it is over. */
void Engine::watch_clock() {
  const std::chrono::seconds step = clock_watch_.set_back(parts_.clock);
  if (step >= kSetBack) {
    SlurmReports::Wanted wanted;
    for (const auto& [name, node] : nodes_) {
      if (node.is_wanted_up()) wanted.emplace(name, node.resume().jobs);
    }
    reports_.clock_set_back(step, wanted);
  }
  parts_.timers.after(kClockInterval, [this] { watch_clock(); });
}

// What slurmctld's records say.

void Engine::reconcile() {
  parts_.slurm.call([this, begun = parts_.clock.now()](Slurm& slurm) -> SlurmCaller::Then {
    return [this, begun, nodes = slurm.load_nodes()] { on_slurm_nodes(nodes, begun); };
  });
}

void Engine::schedule_reconcile(std::chrono::seconds wait) {
  parts_.timers.after(wait, [this] { reconcile(); });
}

void Engine::note_record(const SlurmNode& record, bool owned) {
  // A node that is powered down is only of interest when it has a pod, and then it is here already.
  if (record.cloud && !record.powered_down && owned) nodes_.try_emplace(record.name);
  const auto known = nodes_.find(record.name);
  const Node unknown;
  const Node& node = known == nodes_.end() ? unknown : known->second;
  if (is_given_up(record) && is_api_outage_to_blame(node, watch_fails())) reports_.forgive_resume_timeout(record.name);
  const TimePoint up_since = node.is_wanted_up() ? node.since() : TimePoint{};
  reports_.repair_from_record(record, {owned, has_old_pod(node, record)}, up_since);
}

void Engine::on_slurm_nodes(const Result<std::vector<SlurmNode>>& records, TimePoint begun) {
  if (!records) {
    schedule_reconcile(compared_ ? kReconcileInterval : kRecordRetry);
    log_debug("slurmctld: %s", records.error().message().c_str());
    return;
  }
  std::unordered_map<std::string_view, const SlurmNode*> by_name;
  const SlurmNode* any_owned = nullptr;
  std::set<std::string> features;
  for (const SlurmNode& record : *records) {
    by_name.emplace(record.name, &record);
    features.insert(record.features);
    const bool owned = nodesets_.owner(record.name).ok();
    if (record.cloud && owned) any_owned = &record;
    note_record(record, owned);
  }
  const ReconcileContext context{parts_.clock.now(), !compared_, random_id(), begun};
  bool waits = false;
  std::vector<std::string> unregistered;
  for (auto& [name, node] : nodes_) {
    const auto found = by_name.find(name);
    const SlurmNode* record = found == by_name.end() ? nullptr : found->second;
    const ReconcileOutcome result = reconcile_node(node, record, context);
    waits |= result.waits;
    note_boot(node, record, context);
    if (is_stuck_again(node, record)) {
      node.told_stuck = false;
      enqueue(name);
    }
    if (is_unregistered(node, record, context.now)) unregistered.push_back(name);
    if (is_unseen(node, is_watched(name, node), context.now)) {
      node.needs_get = true;
      enqueue(name);
    }
    if (result.changed && node.is_wanted_up()) reports_.resume_requested(name);
    if (result.changed) enqueue(name);
  }
  if (context.first) log_info("ready: %zu nodes of slurm, %zu known", records->size(), nodes_.size());
  if (context.first && any_owned) reports_.schedule_jobs(any_owned->name);
  if (context.first) recovered_jobs_.start();
  if (!unregistered.empty()) renew(unregistered);
  reconciled_ = compared_ = true;
  catalog_.set_records(std::move(features));
  catalog_.find_users();
  schedule_reconcile(waits ? std::min(reconcile_interval_, kResumeGrace) : reconcile_interval_);
  reconcile_interval_ = std::min(2 * reconcile_interval_, kReconcileInterval);
  pump();
}

/** Has the pods of these nodes recreated, where no job can have begun: their slurmds won't register any more. */
void Engine::renew(const std::vector<std::string>& unregistered) {
  std::set<std::string> booting;
  for (const auto& [name, node] : nodes_) {
    if (node.booting) booting.insert(name);
  }
  parts_.slurm.call([this, unregistered, booting](Slurm& slurm) -> SlurmCaller::Then {
    return [this, renewable = find_renewable(slurm, unregistered, booting)] {
      if (!renewable) {
        log_debug("slurmctld: %s", renewable.error().message().c_str());
        return;
      }
      for (const std::string& name : *renewable) {
        const auto found = nodes_.find(name);
        if (found != nodes_.end() && !found->second.busy) decide(name, Answer::unregistered);
      }
    };
  });
}

// What Slurm and users are told.

void Engine::record(const EventKind& kind, const std::string& node, const std::string& note) {
  const Owner nodeset = nodesets_.owner(node);
  if (nodeset) events_.record({kube::kNodeSets.api, "NodeSet", (*nodeset)->name, (*nodeset)->uid}, kind, {node}, note);
}

/** The nodes that wait are told on their NodeSets. */
void Engine::on_pause(const kube::Throttle::Pause& pause) {
  const std::string note =
      format("the API server takes no requests: next try in %lld s (Retry-After: %lld s)",
             static_cast<long long>(pause.wait.count()), static_cast<long long>(pause.asked.count()));
  log_warning("%s; no pod is created or deleted until then", note.c_str());
  for (const std::string& name : queued_) record(kThrottledEvent, name, note);
}

SlurmReports::Waiting Engine::waits_for(const std::string& name) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || !found->second.pod) return {};
  const Node& node = found->second;
  const bool wanted = node.is_wanted_up();
  const bool waits = wanted && !node.progress.had_pod && parts_.clock.now() >= node.deleting_since + kQuietDeletion;
  if (node.pod->deleting && (waits || node.told_stuck)) {
    return {"pod " + describe_deletion(*node.pod), waits ? node.resume().jobs : std::vector<std::uint32_t>()};
  }
  if (!wanted) return {};
  const StartProblem& start_problem = node.pod->start_problem;
  const bool quiet =
      start_problem.kind == StartProblem::Kind::creating && parts_.clock.now() < node.problem_since + kQuietCreation;
  return {quiet ? std::string() : start_problem.text, node.resume().jobs};
}

}  // namespace slurmk8s
