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

namespace slurmk8s {
namespace {

/** Refused for good. Not so a conflict: two creates that meet at one ResourceQuota conflict, and the next try tells. */
bool is_permanent(const Error& error) { return !error.retryable() && error.code() != Errc::conflict; }

}  // namespace

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
  const Owner node_owner = nodesets_.owner(name);
  const Action action = plan_node(node, node_owner, parts_.clock.now());
  switch (action.kind) {
    case Action::Kind::none:
      if (!node.busy && !node.pod && node.want == Node::Want::down) {
        nodes_.erase(name);
        reports_.gone(name);
        reports_.look_at(name);
      }
      break;
    case Action::Kind::wait: enqueue_at(name, action.at); break;
    case Action::Kind::order:
      node.busy = true;
      orders_.find(name, {node.request, (*node_owner)->names_jobs && !node.jobs.empty() ? node.jobs.front() : 0});
      break;
    case Action::Kind::create: create(name, node, *node_owner.value()); break;
    case Action::Kind::remove:
      if (parts_.stays || node.want != Node::Want::down) {
        remove(name, node, action.uid);
      } else {
        remove_unless_resumed(name, node, action.uid);
      }
      break;
    case Action::Kind::look: look(name, node); break;
    case Action::Kind::ask: ask(name, node); break;
    case Action::Kind::stuck: confirm_stuck(name, node); break;
    case Action::Kind::fail:
      if (action.cause == Cause::unschedulable || action.cause == Cause::start) {
        confirm(name, node, action);
      } else {
        fail(name, node, action.reason, action.cause);
      }
      break;
  }
}

void Engine::create(const std::string& name, Node& node, const NodeSet& nodeset) {
  node.busy = true;
  claims_.make(build_claims(nodeset, name),
               [this, name, request = node.request](const Status& status) { create_pod(name, request, status); });
}

/** When its claims are there: that may have taken a while, if there are any. */
void Engine::create_pod(const std::string& name, const std::string& request, const Status& claims) {
  Node& node = nodes_[name];
  const Owner nodeset = nodesets_.owner(name);
  if (node.want != Node::Want::up || node.request != request || !nodeset) {
    answered(name);
  } else if (!claims) {
    on_created(name, request, claims.error());
  } else {
    const PodIdentity identity{name, request, node.job_list(), node.order.value_or(PodOrder())};
    executor_.create(kube::kPods, build_pod(**nodeset, identity, parts_.options),
                     [this, name, request](Result<Json> result) { on_created(name, request, std::move(result)); });
  }
}

/** A node that was asked for again meanwhile may be for another job: it is asked about again. */
void Engine::on_order(const std::string& name, const PodOrders::Question& question,
                      const Result<PodOrders::Facts>& facts) {
  Node& node = answered(name);
  const Owner nodeset = nodesets_.owner(name);
  if (node.want != Node::Want::up || !nodeset) return pump();
  if (!facts) {
    back_off(name, node, "ask slurmctld for its variant", facts.error());
  } else if (node.request == question.request) {
    node.order = PodOrder{find_variant(**nodeset, facts->record.active_features), facts->job};
  }
  pump();
}

void Engine::remove(const std::string& name, Node& node, const std::string& uid) {
  node.busy = true;
  executor_.remove(name, uid, [this, name, uid](Result<Json> result) { on_removed(name, uid, std::move(result)); });
}

/**
 * A program's request may be old: slurmctld's engine may have carried it out after all, the node have been resumed
 * since, and this pod be the new one. A program is not told of a resume.
 */
void Engine::remove_unless_resumed(const std::string& name, Node& node, const std::string& uid) {
  node.busy = true;
  parts_.slurm.call([this, name, uid](Slurm& slurm) -> SlurmCaller::Then {
    return [this, name, uid, record = slurm.load_node(name)] {
      Node& after = answered(name);
      if (!record && record.error().code() != Errc::not_found) {
        back_off(name, after, "ask slurmctld", record.error());
      } else if (record && (is_up(*record) || is_waited_for(*record))) {
        log_warning("node %s: resumed meanwhile: its pod stays", name.c_str());
        nodes_.erase(name);
      } else if (after.pod_uid() == uid) {
        remove(name, after, uid);
      }
      pump();
    };
  });
}

/**
 * A slurmd that booted late, after the request that its pod is too old for, has registered or will: when the API server
 * was away for longer than ResumeTimeout, or the pod was slow. Slurm's word counts, since a job may run there, or have
 * run until just now.
 */
void Engine::ask(const std::string& name, Node& node) {
  node.busy = true;
  const std::string uid = node.pod_uid();
  parts_.slurm.call([this, name, uid](Slurm& slurm) -> SlurmCaller::Then {
    return [this, name, uid, record = slurm.load_node(name)] { on_record(name, uid, record); };
  });
}

void Engine::on_record(const std::string& name, const std::string& uid, const Result<SlurmNode>& record) {
  Node& node = answered(name);
  const bool is_as_before = node.want == Node::Want::up && node.pod_uid() == uid;
  if (!is_as_before) return pump();
  if (!record) {
    back_off(name, node, "ask slurmctld", record.error());
  } else if (is_waited_for(*record)) {
    node.had_older = false;
    if (node.pod) remove(name, node, uid);
  } else if (is_up(*record)) {
    node.had_pod = true;
    if (node.pod) {
      log_info("pod %s/%s: made for request %s, and serves request %s", parts_.options.name_space.c_str(), name.c_str(),
               node.pod->request.c_str(), node.request.c_str());
      node.request = node.pod->request;
    }
  } else {
    node.not_before = parts_.clock.now() + kRecordRetry;
  }
  pump();
}

void Engine::look(const std::string& name, Node& node) {
  node.busy = true;
  executor_.get(name, [this, name](Result<Json> result) { on_looked(name, std::move(result)); });
}

/** Looks at the pod itself: the watch may lag behind what an answer has just told. */
void Engine::refresh(const std::string& name) {
  nodes_[name].busy = true;
  executor_.get(name, [this, name](Result<Json> result) { on_refreshed(name, std::move(result)); });
}

/** What hinders the pod may be over, and the watch not have told: a job that is being configured would pay for it. */
void Engine::confirm(const std::string& name, Node& node, const Action& action) {
  node.busy = true;
  executor_.get(name, [this, name, uid = node.pod->uid, action](Result<Json> result) {
    Node& after = answered(name);
    if (!result && result.error().code() != Errc::not_found) {
      back_off(name, after, "get", result.error());
      return;
    }
    if (!result || !is_node_pod(*result)) {
      after.forget_pod();
      return;
    }
    Pod pod = decode_pod(*result);
    const bool is_as_before = after.want == Node::Want::up && after.pod && after.pod->uid == uid && pod.uid == uid &&
                              pod.start_problem.kind == after.pod->start_problem.kind && !pod.deleting;
    if (is_as_before) {
      fail(name, after, action.reason, action.cause);
    } else {
      observe(name, std::move(pod));
    }
  });
}

void Engine::fail(const std::string& name, Node& node, const std::string& reason, Cause cause) {
  node.busy = true;
  ++metrics_.failures[static_cast<std::size_t>(cause)];
  const std::string request = node.request;
  const bool served = cause == Cause::gone || cause == Cause::ended;
  NodeFailure failure{name, reason, cause == Cause::gone, served, node.jobs};
  if (cause == Cause::ended && node.pod) failure.slurmd_end = node.pod->slurmd_end;
  reports_.fail(std::move(failure), [this, name, request, reason](Result<Verdict> verdict) {
    on_verdict(name, request, reason, std::move(verdict));
  });
}

/** The pod itself is looked at: the watch may not have told that it is gone. */
void Engine::confirm_stuck(const std::string& name, Node& node) {
  node.busy = true;
  executor_.get(name, [this, name, uid = node.pod->uid](Result<Json> result) {
    if (!result || !is_node_pod(*result)) return on_looked(name, std::move(result));
    Pod pod = decode_pod(*result);
    Node& after = nodes_[name];
    const bool is_as_before = pod.deleting && pod.uid == uid && after.pod_uid() == uid;
    if (!is_as_before) {
      answered(name);
      return observe(name, std::move(pod));
    }
    reports_.stuck(name, {describe_deletion(pod), after.jobs},
                   [this, name, uid, asked = after.since](const Result<StuckVerdict>& verdict) {
                     on_stuck(name, uid, asked, verdict);
                   });
  });
}

/** A node that was suspended or resumed since it was `asked` about gets another verdict. */
void Engine::on_stuck(const std::string& name, const std::string& uid, TimePoint asked,
                      const Result<StuckVerdict>& verdict) {
  Node& node = answered(name);
  if (!verdict) {
    back_off(name, node, "report to slurmctld", verdict.error());
  } else if (node.pod_uid() == uid && node.since == asked) {
    const bool is_lost = *verdict == StuckVerdict::give_up;
    if (is_lost) {
      ++metrics_.failures[static_cast<std::size_t>(Cause::not_deleted)];
      record(EventRecorder::Kind::node_lost, name, "pod " + describe_deletion(*node.pod));
      if (node.want == Node::Want::up) node.want_down(parts_.clock.now());
    }
    node.told_stuck = true;  // until it is suspended, resumed, or another verdict on its record is due
    reports_.look_at(name);
  }
  pump();
}

// From answers back to nodes.

Node& Engine::answered(const std::string& name) {
  Node& node = nodes_[name];
  node.busy = false;
  enqueue(name);
  return node;
}

void Engine::on_created(const std::string& name, const std::string& request, Result<Json> result) {
  Node& node = answered(name);
  if (result) {
    ++metrics_.pods_created;
    if (node.request == request) metrics_.accepted.observe(parts_.clock.now() - node.since);
    node.failures = 0;
    log_info("pod %s/%s: created for request %s", parts_.options.name_space.c_str(), name.c_str(), request.c_str());
    observe(name, decode_pod(*result));
    return;
  }
  const Error& error = result.error();
  if (error.code() == Errc::already_exists) {
    refresh(name);  // ours, when its request is ours
  } else if (is_permanent(error) && node.want == Node::Want::up && node.request == request) {
    ++metrics_.api_errors;
    fail(name, node, "pod: create: " + error.message(), Cause::refused);
  } else {
    back_off(name, node, "create", error);
  }
}

void Engine::on_removed(const std::string& name, const std::string& uid, Result<Json> result) {
  Node& node = answered(name);
  const bool same = node.pod && node.pod->uid == uid;
  if (result) {
    ++metrics_.pods_deleted;
    node.failures = 0;
    if (same) {
      node.pod->deleting = true;
      node.note_deletion(true, parts_.clock.now());
    }
    log_info("pod %s/%s: deleted", parts_.options.name_space.c_str(), name.c_str());
  } else if (result.error().code() == Errc::not_found) {
    if (same) node.forget_pod();
  } else if (result.error().code() == Errc::conflict && !parts_.stays && node.want == Node::Want::down) {
    nodes_.erase(name);  // the pod that was to go has gone; the one that is there is not ours to judge
  } else if (result.error().code() == Errc::conflict) {
    refresh(name);  // another pod has that name by now
  } else {
    back_off(name, node, "delete", result.error());
  }
}

void Engine::on_refreshed(const std::string& name, Result<Json> result) {
  Node& node = answered(name);
  if (result && !is_node_pod(*result)) {
    node.forget_pod();
    if (node.want != Node::Want::up) return;
    fail(name, node,
         format("pod: create: pod %s/%s is there and is somebody else's: it has no label %s=%s",
                parts_.options.name_space.c_str(), name.c_str(), kLabelNode, name.c_str()),
         Cause::refused);
  } else if (result) {
    node.failures = 0;
    observe(name, decode_pod(*result));
  } else if (result.error().code() == Errc::not_found) {
    node.forget_pod();
  } else {
    back_off(name, node, "get", result.error());
  }
}

void Engine::on_looked(const std::string& name, Result<Json> result) {
  Node& node = answered(name);
  node.needs_get = false;
  if (result && is_node_pod(*result)) {
    observe(name, decode_pod(*result));
  } else if (!result && result.error().code() != Errc::not_found) {
    back_off(name, node, "get", result.error());
  } else if (node.want == Node::Want::unknown) {
    fail(name, node, "pod is gone", Cause::gone);
  } else {
    node.forget_pod();
  }
}

void Engine::on_verdict(const std::string& name, const std::string& request, const std::string& reason,
                        Result<Verdict> verdict) {
  Node& node = answered(name);
  if (verdict && *verdict == Verdict::hold) record(EventRecorder::Kind::power_up_failed, name, reason);
  if (verdict && *verdict == Verdict::give_up) record(EventRecorder::Kind::node_lost, name, reason);
  const bool superseded = node.want == Node::Want::up && node.request != request;
  if (superseded) {
    pump();
    return;
  }
  if (!verdict) {
    back_off(name, node, "report to slurmctld", verdict.error());
  } else if (*verdict == Verdict::recreate) {
    node.want = Node::Want::up;
    node.inferred_resume = node.request.empty();
    if (node.inferred_resume) node.request = random_id();
    node.had_pod = false;
    node.since = parts_.clock.now();
  } else {
    node.want_down(parts_.clock.now());
  }
  pump();
}

void Engine::back_off(const std::string& name, Node& node, const char* what, const Error& error) {
  ++metrics_.api_errors;
  ++node.failures;
  node.not_before = parts_.clock.now() + backoff_.delay(node.failures, random_unit());
  unsigned held_back = 0;
  if (api_limiter_.allow(parts_.clock.now(), held_back)) {
    log_warning("pod %s/%s: %s: %s (%u more such lines held back)", parts_.options.name_space.c_str(), name.c_str(),
                what, error.message().c_str(), held_back);
  }
}

}  // namespace slurmk8s
