// SPDX-License-Identifier: GPL-2.0-or-later
// The engine: from nodes to requests, as plan.cc says, and from their answers back to nodes.
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "engine/engine.hpp"
#include "nodeset/claim_builder.hpp"
#include "nodeset/names.hpp"
#include "engine/plan.hpp"
#include "nodeset/pod_builder.hpp"
#include "slurm/node_state.hpp"

namespace slurmk8s {

// From nodes to actions.

void Engine::enqueue(const std::string& name) {
  if (queued_.insert(name).second) queue_.push_back(name);
}

void Engine::enqueue_at(const std::string& name, TimePoint at) {
  const auto delay = std::chrono::ceil<std::chrono::milliseconds>(at - parts_.clock.now());
  parts_.timers.after(std::max(delay, std::chrono::milliseconds(0)), [this, name] {
    enqueue(name);
    pump();
  });
}

void Engine::pump() {
  if (!ready()) return;
  while (!queue_.empty() && executor_.has_room()) {
    const std::string name = std::move(queue_.front());
    queue_.pop_front();
    queued_.erase(name);
    const auto found = nodes_.find(name);
    if (found != nodes_.end()) act(name, found->second);
  }
}

void Engine::act(const std::string& name, Node& node) {
  const Owner owner = nodesets_.owner(name);
  const Action action = plan_node(node, context(owner));
  const bool deletes = action.kind == Action::Kind::replace || action.kind == Action::Kind::remove;
  const bool is_answered = std::exchange(node.answer, Answer::none) != Answer::none;
  // At the end of the pause the pod may have a job: slurmctld is asked again then.
  if (deletes && is_answered && executor_.is_paused()) return enqueue(name);
  switch (action.kind) {
    case Action::Kind::none: break;
    case Action::Kind::wait: enqueue_at(name, action.at); break;
    case Action::Kind::postpone:
      node.not_before = action.at;
      enqueue_at(name, action.at);
      break;
    case Action::Kind::order: order(name, node, **owner); break;
    case Action::Kind::ask: ask(name, node); break;
    case Action::Kind::fail: fail(name, node, action); break;
    case Action::Kind::stuck: tell_stuck(name, node, action); break;
    case Action::Kind::create: create(name, node, **owner); break;
    case Action::Kind::remove: remove(name, node, action.uid); break;
    case Action::Kind::back_off: back_off(name, action.reason); break;
    case Action::Kind::replace: replace(name, node, action); break;
    case Action::Kind::get_pod:
    case Action::Kind::find_pod:
    case Action::Kind::confirm: get_pod(name, node, action.kind); break;
    default: change(name, node, action);
  }
}

/** Actions that nobody is asked about. */
void Engine::change(const std::string& name, Node& node, const Action& action) {
  if (!action.reason.empty()) log_warning("node %s: %s", name.c_str(), action.reason.c_str());
  switch (action.kind) {
    case Action::Kind::adopt: adopt(name, node); break;
    case Action::Kind::recreate: node.begin_again(random_id(), parts_.clock.now()); break;
    case Action::Kind::end: node.end(parts_.clock.now()); break;
    case Action::Kind::stuck_lost: node.end(parts_.clock.now()); [[fallthrough]];
    case Action::Kind::stuck_suspended:
      ++metrics_.failures[static_cast<std::size_t>(Cause::not_deleted)];
      record(kNodeLostEvent, name, "pod " + describe_deletion(*node.pod));
      [[fallthrough]];
    case Action::Kind::stuck_told:
      node.told_stuck = true;  // until it is suspended, resumed, or another verdict on its record is due
      reports_.refresh_comment(name);
      break;
    case Action::Kind::forget:
      nodes_.erase(name);
      reports_.pod_deleted(name);
      reports_.refresh_comment(name);
      return;
    case Action::Kind::drop: nodes_.erase(name); return;
    default: return;
  }
  enqueue(name);
}

void Engine::decide(const std::string& name, Answer answer, std::string text) {
  Node& node = nodes_[name];
  node.busy = false;
  node.answer = answer;
  node.answer_text = std::move(text);
  const Owner owner = nodesets_.owner(name);
  if (plan_answer(node, context(owner))) {
    act(name, node);
  } else {
    node.answer = Answer::none;
    enqueue(name);
  }
  pump();
}

void Engine::order(const std::string& name, Node& node, const NodeSet& nodeset) {
  node.ask();
  const std::vector<std::uint32_t>& jobs = node.resume().jobs;
  orders_.find(name, {node.resume().id, nodeset.names_jobs && !jobs.empty() ? jobs.front() : 0});
}

void Engine::create(const std::string& name, Node& node, const NodeSet& nodeset) {
  node.ask();
  claims_.make(build_claims(nodeset, name),
               [this, name, request = node.resume().id](const Status& status) { create_pod(name, request, status); });
}

/** When its claims are there: that may have taken a while, if there are any. */
void Engine::create_pod(const std::string& name, const std::string& request, const Status& claims) {
  Node& node = nodes_[name];
  const Owner nodeset = nodesets_.owner(name);
  if (!node.is_wanted_up() || node.resume().id != request || !nodeset) {
    answered(name);
  } else if (!claims) {
    on_created(name, request, claims.error());
  } else {
    const PodIdentity identity{name, request, node.resume().job_list(), node.progress.order.value_or(PodOrder())};
    executor_.create(kube::kPods, build_pod(**nodeset, identity, parts_.options),
                     [this, name, request](const Result<Json>& result) { on_created(name, request, result); });
  }
}

/** A node that was asked for again meanwhile may be for another job: it is asked about again. */
void Engine::on_order(const std::string& name, const PodOrders::Question& question,
                      const Result<PodOrders::Facts>& facts) {
  const Owner nodeset = nodesets_.owner(name);
  Node& node = nodes_[name];
  const bool is_as_asked = node.is_wanted_up() && nodeset;
  if (!facts && is_as_asked) return back_off(name, "ask slurmctld for its variant: " + facts.error().message());
  answered(name);
  if (facts && is_as_asked && node.resume().id == question.request) {
    node.progress.order = PodOrder{find_variant(**nodeset, facts->record.active_features), facts->job};
  }
  pump();
}

void Engine::remove(const std::string& name, Node& node, const std::string& uid) {
  node.ask();
  executor_.remove(name, uid, [this, name, uid](const Result<Json>& result) { on_removed(name, uid, result); });
}

void Engine::replace(const std::string& name, Node& node, const Action& action) {
  if (!action.reason.empty()) log_warning("node %s: %s", name.c_str(), action.reason.c_str());
  node.disown_pod();
  if (action.uid.empty()) return enqueue(name);
  remove(name, node, action.uid);
}

void Engine::adopt(const std::string& name, Node& node) {
  if (node.pod) {
    log_info("pod %s/%s: created for request %s, adopted for request %s", parts_.options.name_space.c_str(),
             name.c_str(), node.pod->request.c_str(), node.resume().id.c_str());
  }
  node.adopt_pod();
}

void Engine::ask(const std::string& name, Node& node) {
  node.ask();
  parts_.slurm.call([this, name](Slurm& slurm) -> SlurmCaller::Then {
    return [this, name, record = slurm.load_node(name)] { on_record(name, record); };
  });
}

void Engine::get_pod(const std::string& name, Node& node, Action::Kind why) {
  node.ask();
  executor_.get(name, [this, name, why](const Result<Json>& result) { on_pod_read(name, why, result); });
}

void Engine::fail(const std::string& name, Node& node, const Action& action) {
  node.ask();
  const bool served = action.cause == Cause::gone || action.cause == Cause::ended;
  NodeFailure failure{name, action.reason, {.vanished = action.cause == Cause::gone}, served, node.resume().jobs};
  failure.facts.is_start = action.cause == Cause::start || action.cause == Cause::unschedulable;
  if (action.cause == Cause::ended && node.pod) failure.slurmd_end = node.pod->slurmd_end;
  reports_.fail(std::move(failure),
                [this, name, action](const Result<Verdict>& verdict) { on_verdict(name, action, verdict); });
}

void Engine::tell_stuck(const std::string& name, Node& node, const Action& action) {
  node.ask();
  reports_.stuck(name, {action.reason, node.resume().jobs},
                 [this, name](const Result<StuckVerdict>& verdict) { on_stuck(name, verdict); });
}

// From answers back to nodes.

Node& Engine::answered(const std::string& name) {
  Node& node = nodes_[name];
  node.busy = false;
  enqueue(name);
  return node;
}

void Engine::on_created(const std::string& name, const std::string& request, const Result<Json>& result) {
  if (!result) {
    const Answer answer = answer_of_create(result.error());
    if (answer == Answer::refused_for_good) ++metrics_.api_errors;
    return decide(name, answer, "create: " + result.error().message());
  }
  Node& node = answered(name);
  ++metrics_.pods_created;
  if (node.resume().id == request) metrics_.accepted.observe(parts_.clock.now() - node.since());
  node.failures = 0;
  log_info("pod %s/%s: created for request %s", parts_.options.name_space.c_str(), name.c_str(), request.c_str());
  Pod pod = decode_pod(*result);
  // The watch may have told more of it than an answer that comes late.
  if (!node.pod || node.pod->uid != pod.uid) observe(name, std::move(pod));
}

void Engine::on_removed(const std::string& name, const std::string& uid, const Result<Json>& result) {
  if (!result && result.error().code() == Errc::conflict) return decide(name, Answer::pod_replaced);
  if (!result && result.error().code() != Errc::not_found) return back_off(name, "delete: " + result.error().message());
  Node& node = answered(name);
  const bool same = node.pod && node.pod->uid == uid;
  if (!result) {
    if (same) node.forget_pod();
    return;
  }
  ++metrics_.pods_deleted;
  node.failures = 0;
  if (same) {
    node.pod->deleting = true;
    node.note_deletion(true, parts_.clock.now());
  }
  log_info("pod %s/%s: deleted", parts_.options.name_space.c_str(), name.c_str());
}

void Engine::on_pod_read(const std::string& name, Action::Kind why, const Result<Json>& result) {
  Node& node = nodes_[name];
  node.needs_get = false;
  if (!result && result.error().code() != Errc::not_found) return back_off(name, "get: " + result.error().message());
  if (result && is_node_pod(*result)) {
    Pod pod = decode_pod(*result);
    const bool is_same = node.pod && node.pod->uid == pod.uid;
    if (why == Action::Kind::find_pod && !is_same) node.failures = 0;
    note_pod(name, node, std::move(pod));
    // The API server said that the name has another pod: asked again at once it would say so again.
    if (why == Action::Kind::find_pod && is_same) return back_off(name, "conflict, though the pod is the same");
    return decide(name, Answer::pod_read);
  }
  node.forget_pod();
  if (!result) return decide(name, Answer::no_pod);
  decide(name, Answer::foreign_pod,
         format("pod: create: pod %s/%s is there and is somebody else's: it has no label %s=%s",
                parts_.options.name_space.c_str(), name.c_str(), kLabelNode, name.c_str()));
}

void Engine::on_record(const std::string& name, const Result<SlurmNode>& record) {
  if (record) return decide(name, answer_of(&*record));
  if (record.error().code() == Errc::not_found) return decide(name, answer_of(nullptr));
  back_off(name, "ask slurmctld: " + record.error().message());
}

void Engine::on_verdict(const std::string& name, const Action& action, const Result<Verdict>& verdict) {
  if (!verdict) return back_off(name, "report to slurmctld: " + verdict.error().message());
  if (sets_down(*verdict)) ++metrics_.failures[static_cast<std::size_t>(action.cause)];
  if (*verdict == Verdict::back_off) record(kPowerUpFailedEvent, name, action.reason);
  if (*verdict == Verdict::give_up) record(kNodeLostEvent, name, action.reason);
  decide(name, answer_of(*verdict));
}

void Engine::on_stuck(const std::string& name, const Result<StuckVerdict>& verdict) {
  if (!verdict) return back_off(name, "report to slurmctld: " + verdict.error().message());
  decide(name, answer_of(*verdict));
}

void Engine::back_off(const std::string& name, const std::string& cause) {
  Node& node = answered(name);
  ++metrics_.api_errors;
  ++node.failures;
  node.not_before = parts_.clock.now() + backoff_.delay(node.failures, parts_.jitter());
  unsigned suppressed = 0;
  if (api_limiter_.allow(parts_.clock.now(), suppressed)) {
    log_warning("pod %s/%s: %s (%u similar messages suppressed)", parts_.options.name_space.c_str(), name.c_str(),
                cause.c_str(), suppressed);
  }
  pump();
}

}  // namespace slurmk8s
