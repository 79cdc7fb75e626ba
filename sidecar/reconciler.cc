// SPDX-License-Identifier: GPL-2.0-or-later
// Reconciler: load, plan, carry out, look again.
#include "sidecar/reconciler.hpp"

#include <algorithm>

#include "slurm/hostlist.hpp"
#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"
#include "nodeset/names.hpp"
#include "nodeset/pod.hpp"
#include "sidecar/gres_conf.hpp"
#include "sidecar/status_writer.hpp"
#include "sidecar/time_zones.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::milliseconds kPoll{1000};
constexpr std::chrono::milliseconds kLongestPoll{2000};
constexpr std::chrono::milliseconds kPollPerNode{1};
constexpr std::chrono::seconds kConfigAge{60};  // how long slurmctld's configuration is believed
constexpr int kPasses = 3;                      // plans in one round: an action may make room for others

const char* failure_reason(NodeAction::Kind kind) {
  switch (kind) {
    case NodeAction::Kind::create: return "CreateFailed";
    case NodeAction::Kind::remove: return "DeleteFailed";
    default: return "UpdateFailed";
  }
}

/** Whether slurmctld's power-save thread has to do with it. */
bool changes_power(NodeAction::Kind kind) {
  using Kind = NodeAction::Kind;
  return kind == Kind::power_up || kind == Kind::power_down || kind == Kind::recycle || kind == Kind::force_power_down;
}

}  // namespace

void Reconciler::upsert(const Json& object) {
  const std::string name(object.at({"metadata", "name"}).text());
  const std::int64_t generation = object.at({"metadata", "generation"}).integer_or(0);
  std::string create_again(object.at({"metadata", "annotations", kAnnotationCreateAgain}).text());
  Result<NodeSet> spec = decode_nodeset(object);
  const auto found = nodesets_.find(name);
  // Our own writes of the status come back as changes of the object; the generation counts those of the spec.
  if (found != nodesets_.end() && generation != 0 && found->second.generation == generation &&
      found->second.create_again == create_again && found->second.spec.ok() == spec.ok() &&
      (!spec.ok() || found->second.spec->uid == spec->uid)) {
    return;
  }
  if (spec.ok()) pins_.try_emplace(name, spec->pins);
  if (const auto stop = decode_create_stop(object["status"]); stop && found == nodesets_.end()) {
    stops_.emplace(name, *stop);
  }
  if (found == nodesets_.end()) exemptions_.restore(name, std::string(object.at({"status", "suspendExempt"}).text()));
  if (!spec.ok()) log_warning("%s", spec.error().message().c_str());
  // Nodes that were to be up and never came up: see remember().
  unsettled_ |= registers_at_once(name) && spec.ok() && !spec->keeps_up();
  nodesets_.insert_or_assign(name, KnownNodeSet{.generation = generation,
                                                .spec = std::move(spec),
                                                .create_again = std::move(create_again),
                                                .records = decode_records(object["status"]),
                                                .stopped_template = decode_stopped_template(object["status"])});
  forget_failures(name);
  dirty_ = true;
  version_++;
}

void Reconciler::remove(const std::string& name) {
  nodesets_.erase(name);
  states_.erase(name);
  pins_.erase(name);
  stops_.erase(name);
  suspects_.erase(name);
  forget_failures(name);
  dirty_ = true;
  version_++;
}

bool Reconciler::upsert_pod(const Json& object) {
  if (!is_node_pod(object)) return false;
  PodFacts facts = decode_pod_facts(object);
  PodFacts& known = pods_[std::string(object.at({"metadata", "name"}).text())];
  if (known == facts) return false;
  // Of a pod that stays, the rest decides nothing about its record.
  const bool matters = known.uid.empty() || known.deletion_cost != facts.deletion_cost ||
                       known.template_hash != facts.template_hash ||
                       (known.kube_node != facts.kube_node && (pins_nodes(object) || gives_something(facts.kube_node)));
  known = std::move(facts);
  dirty_ |= matters;
  return matters;
}

bool Reconciler::pins_nodes(const Json& pod) const {
  const auto found = nodesets_.find(std::string(pod.at({"metadata", "labels", kLabelNodeSet}).text()));
  return found != nodesets_.end() && found->second.spec.ok() && found->second.spec->pins_nodes;
}

bool Reconciler::gives_something(const std::string& kube_node) const {
  const auto found = kube_nodes_.find(kube_node);
  return found != kube_nodes_.end() && !(found->second.features.features.empty() && found->second.topology.empty());
}

bool Reconciler::remove_pod(const std::string& name, const std::string& uid) {
  const auto found = pods_.find(name);
  if (found == pods_.end() || found->second.uid != uid) return false;
  pods_.erase(found);
  dirty_ = true;
  return true;
}

bool Reconciler::upsert_kube_node(const Json& object) {
  const KubeNodeFacts facts = decode_kube_node_facts(object);
  const std::string name(object.at({"metadata", "name"}).text());
  const auto [known, is_new] = kube_nodes_.try_emplace(name);
  const bool changed = is_new || known->second != facts;  // kubelet writes the object every few minutes
  if (const std::string& wrong = facts.features.wrong; !wrong.empty() && wrong != known->second.features.wrong) {
    log_warning("kubernetes node %s: annotation %s: %s", name.c_str(), kAnnotationFeatures, wrong.c_str());
  }
  known->second = facts;
  dirty_ |= changed;
  return changed;
}

void Reconciler::remove_kube_node(const std::string& name) {
  kube_nodes_.erase(name);
  dirty_ = true;
}

void Reconciler::set_kube_nodes_listed() {
  kube_nodes_listed_ = true;
  dirty_ = true;
}

void Reconciler::set_other_pods(const OtherPods* pods, const std::string& error) {
  dirty_ |= pods_error_ != error;
  other_pods_ = pods;
  pods_error_ = error;
}

// slurmctld's answer to a look is short as long as nothing changes, and a copy of all records when anything has: with
// thousands of nodes, of which some are always coming or going, that is most of what it would do.
std::chrono::milliseconds Reconciler::next_round() const { return copied_ ? std::max(kPoll, copy_pause()) : kPoll; }

std::chrono::milliseconds Reconciler::copy_pause() const {
  return std::min(kPollPerNode * static_cast<std::int64_t>(nodes_.size()), kLongestPoll);
}

std::chrono::milliseconds Reconciler::until_next_copy() const {
  if (!copied_at_) return std::chrono::milliseconds(0);
  const auto left = *copied_at_ + copy_pause() - clock_.now();
  return std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(left));
}

std::chrono::milliseconds Reconciler::round() {
  if (!listed_) return kPoll;
  copied_ = false;
  for (int pass = 0; pass < kPasses; pass++) {
    bool changed = false;
    const Status loaded = load(changed);
    if (!loaded.ok()) {
      load_failures_++;
      unsigned suppressed = 0;
      if (limiter_.allow(clock_.now(), suppressed)) {
        log_warning("slurmctld: nodes: %s (%u similar messages suppressed)", loaded.error().message().c_str(),
                    suppressed);
      }
      return load_backoff_.delay(load_failures_, jitter_());
    }
    load_failures_ = 0;
    refresh_spares();
    refresh_left();
    if (!changed && !dirty_ && !is_to_settle() && !is_due()) return next_round();
    const PowerUpPace::Held held = pace_.held(clock_.now());
    held_until_ = held.until;
    if (const auto next = cancelled_.next(clock_.now())) held_until_ = std::min(held_until_.value_or(*next), *next);
    VariantDemand demand = find_variant_demand(nodesets_, nodes_, open_jobs_.jobs());
    // Of jobs that are older than the nodes one may have got its node meanwhile, and another one be recycled in vain.
    const bool is_stale = !demand.recycle.empty() && !open_jobs_.is_fresh();
    if (is_stale) demand.recycle.clear();
    const auto unused = cancelled_.due(clock_.now());
    NodePlan plan = plan_nodes({nodesets_, nodes_, pods_, config_->max_nodes, exemptions_, held.nodes,
                                kube_nodes_listed_ ? &kube_nodes_ : nullptr, &states_, &pins_,
                                config_->has_node_features, &demand, &unused, config_->gres_types, &spares_,
                                config_->has_external_nodes, left_ ? &left_->by_kube_node() : nullptr, pods_error_});
    states_ = std::move(plan.states);
    for (const auto& [name, state] : states_) pins_.insert_or_assign(name, state.pins);
    dirty_ = is_stale;
    write_gres_conf(plan.actions);
    const bool acted = apply(plan.actions);
    settle();
    show_failures();
    if (!acted) return next_round();
    dirty_ = true;
  }
  return next_round();
}

// By the clock on the wall: windows open and close on its full minutes.
void Reconciler::refresh_spares() {
  const auto wall = clock_.wall();
  const std::int64_t minute = std::chrono::floor<std::chrono::minutes>(wall).time_since_epoch().count();
  if (!dirty_ && minute == spares_minute_) return;
  spares_minute_ = minute;
  SpareCounts counts = count_spares(nodesets_, std::chrono::system_clock::to_time_t(wall), in_time_zone);
  for (const auto& [name, spares] : counts) {
    const auto before = spares_.find(name);
    if (before != spares_.end() && before->second == spares) continue;
    log_info("nodeset %s: spec.spareSchedules: spare nodes from now on: %s", name.c_str(),
             to_string(spares.replicas).c_str());
    dirty_ = true;
  }
  spares_ = std::move(counts);
}

// In rounds alone: pods come and go as often as they like.
void Reconciler::refresh_left() {
  if (!other_pods_ || !kube_nodes_listed_) {
    dirty_ |= left_.has_value();
    left_.reset();
    return;
  }
  ResourcesByKubeNode left;
  for (const auto& [name, kube_node] : kube_nodes_) {
    left.emplace(name, subtract(kube_node.allocatable, other_pods_->requested_on(name)));
  }
  dirty_ |= !left_.has_value();
  if (!left_) left_.emplace();
  dirty_ |= left_->observe(left, clock_.now());
}

Status Reconciler::load(bool& changed) {
  const TimePoint now = clock_.now();
  if (!config_ || now >= config_until_) {
    Result<SlurmConfig> config = reader_.load_config();
    if (!count("config", config.ok())) return config.error();
    changed = config_ != *config;
    config_ = *std::move(config);
    config_until_ = now + kConfigAge;
    changed |= exemptions_.update(*config_);
    judge_stops();
  }
  auto answer = reader_.load_nodes_since(since_);
  if (!count("load", answer.ok())) {
    // A slurmctld that comes back may be another one, with another configuration and another clock.
    config_.reset();
    since_ = 0;
    return answer.error();
  }
  slurm_answered_ = clock_.now();
  if (answer->has_value()) {
    nodes_ = *std::move(*answer);
    version_++;
    copied_at_ = slurm_answered_;
    changed = copied_ = true;
  }
  changed |= refresh_jobs();
  cancelled_.observe(nodes_, clock_.now());
  return {};
}

// Jobs decide which variant a node is booted with, and whether a node that looks idle is idle: a suspended job keeps
// it. True when something has changed. All jobs are asked for, so only when there is such a node.
bool Reconciler::refresh_jobs() {
  const bool needed = std::any_of(nodesets_.begin(), nodesets_.end(),
                                  [](const auto& nodeset) {
                                    return nodeset.second.spec.ok() && !nodeset.second.spec->variants.empty();
                                  }) ||
                      std::any_of(nodes_.begin(), nodes_.end(), may_have_suspended_job);
  bool changed = open_jobs_.refresh(reader_, needed);
  const std::set<std::string, std::less<>>& suspended = open_jobs_.suspended_on();
  std::set<std::string, std::less<>> idle;
  for (SlurmNode& node : nodes_) {
    if (!may_have_suspended_job(node)) {
      if (node.powered_down && node.power_up_asked && is_idle(node)) idle.insert(node.name);
      continue;
    }
    // Until slurmctld has told its jobs, a node that has had one may have a suspended one.
    const bool knows = open_jobs_.is_fresh() || idle_.contains(node.name);
    const bool has_suspended_job = suspended.contains(node.name) || !knows;
    if (!has_suspended_job) idle.insert(node.name);
    if (std::exchange(node.has_suspended_job, has_suspended_job) != has_suspended_job) changed = true;
  }
  idle_ = std::move(idle);
  if (changed) version_++;
  return changed;
}

// Before they are carried out: slurmctld reads the file for each node that it makes.
void Reconciler::write_gres_conf(const std::vector<NodeAction>& actions) {
  if (!hooks_.write_gres_conf) return;
  const std::set<std::string> former = hooks_.gres_conf_nodes ? hooks_.gres_conf_nodes() : std::set<std::string>();
  gres_conf_ = hooks_.write_gres_conf(build_gres_conf(nodesets_, nodes_, actions, former));
  if (!gres_conf_.ok()) log_warning("gres.conf: %s", gres_conf_.error().message().c_str());
}

// True when slurmctld carried any of them out: there is something new to see then.
bool Reconciler::apply(const std::vector<NodeAction>& actions) {
  bool acted = false, powers = false;
  std::map<Key, Failure> still;
  for (const NodeAction& action : actions) {
    const Key key = failure_key(action);
    const auto failed = failures_.find(key);
    // stop() needs to know which slurmctld it was, and ours may have reconfigured it in this round.
    const bool lacks_config = action.kind == NodeAction::Kind::create && !config_;
    const bool rests = failed != failures_.end() && clock_.now() < failed->second.retry;
    if (is_stopped(action) || rests || lacks_config) {
      if (failed != failures_.end()) still.insert(*failed);
      forget_made_again(action);
      show_stop(action);
      continue;
    }
    if (action.kind == NodeAction::Kind::drop_lost && !may_recover(action.nodeset)) continue;
    if (action.kind == NodeAction::Kind::create && !registers_at_once(action.nodeset)) keep_unsettled(true);
    const Status status = call(action);
    acted |= count(to_string(action.kind), status.ok());
    powers |= status.ok() && changes_power(action.kind);
    note(action, status);
    if (const auto again = failures_.find(key); again != failures_.end()) still.insert(*again);
  }
  keep_unsettled(unsettled_ || !suspects_.empty());
  failures_ = std::move(still);  // what is no longer planned has not failed
  forget_recoveries(actions);
  if (powers && hooks_.wake_power_save) hooks_.wake_power_save();
  return acted;
}

Status Reconciler::call(const NodeAction& action) {
  using State = SlurmNodeUpdate::State;
  switch (action.kind) {
    case NodeAction::Kind::drop_lost: return writer_.drop_lost_nodes();
    case NodeAction::Kind::create: SLURMK8S_CHECK(gres_conf_); return writer_.create_nodes(action.line);
    case NodeAction::Kind::remove: return writer_.delete_nodes(action.nodes);
    case NodeAction::Kind::undrain: return writer_.update_nodes(action.nodes, {.state = State::undrain});
    case NodeAction::Kind::resume: return writer_.update_nodes(action.nodes, {.state = State::resume});
    case NodeAction::Kind::clear_reason:
    case NodeAction::Kind::features:
    case NodeAction::Kind::topology:
    case NodeAction::Kind::set_weight:
    case NodeAction::Kind::power_up: return writer_.update_nodes(action.nodes, action.change);
    case NodeAction::Kind::exempt_from_suspend: return writer_.exempt_from_suspend(action.nodes, true);
    case NodeAction::Kind::unexempt: return writer_.exempt_from_suspend(action.nodes, false);
    case NodeAction::Kind::power_down: return writer_.update_nodes(action.nodes, {.state = State::power_down});
    case NodeAction::Kind::recycle:
      return writer_.update_nodes(action.nodes, {.state = State::power_down_asap, .reason = action.reason});
    case NodeAction::Kind::force_power_down:
      return writer_.update_nodes(action.nodes, {.state = State::power_down_force, .reason = action.reason});
    case NodeAction::Kind::drain: break;
  }
  return writer_.update_nodes(action.nodes, {.state = State::drain, .reason = action.reason});
}

Reconciler::Key Reconciler::failure_key(const NodeAction& action) {
  const SlurmNodeUpdate& change = action.change;
  return {action.nodeset, action.kind,
          definition_of(action.line) + action.reason + "\n" + change.topology.value_or("") + "\n" +
              change.features.value_or("") + "\n" + change.active_features.value_or("")};
}

// slurmctld may have carried it out all the same.
void Reconciler::note_lost_answer(const NodeAction& action, Errc code) {
  if (action.kind == NodeAction::Kind::remove) since_ = 0;  // see remember()
  if (action.kind == NodeAction::Kind::create && code == Errc::timeout) {
    unsettled_ |= !registers_at_once(action.nodeset);  // of a broken connection judge_stops() has the word
  }
}

// The plan took them for made again: they were not deleted.
void Reconciler::forget_made_again(const NodeAction& action) {
  if (action.kind != NodeAction::Kind::remove) return;
  const auto state = states_.find(action.nodeset);
  const Result<std::vector<std::string>> names = expand_hostlist(action.nodes);
  if (state == states_.end() || !names.ok()) return;
  for (const std::string& name : *names) state->second.made_again.erase(name);
}

// Logs an action, and keeps or forgets its failure.
void Reconciler::note(const NodeAction& action, const Status& status) {
  const Key key = failure_key(action);
  const std::string what = std::string(to_string(action.kind)) + " " + shorten(action.nodes);
  if (status.ok()) {
    failures_.erase(key);
    remember(action);
    if (action.kind == NodeAction::Kind::create) stops_.erase(action.nodeset);
    done_.push_back(action);
    log_info("nodeset %s: %s", action.nodeset.c_str(), what.c_str());
    return;
  }
  const unsigned count = failures_.contains(key) ? failures_[key].count + 1 : 1;
  std::string text = what + ": " + status.error().message();
  // The delays grow to a minute: that is limit enough for the log.
  log_warning("nodeset %s: %s", action.nodeset.c_str(), text.c_str());
  failures_[key] = {count, clock_.now() + action_backoff_.delay(count, jitter_()), std::move(text)};
  note_lost_answer(action, status.error().code());
  forget_made_again(action);
  if (action.kind == NodeAction::Kind::create && status.error().code() == Errc::interrupted) stop(action);
}

// Creates that ended slurmctld (create_stop.hpp).

std::string Reconciler::key_of(const NodeAction& action) const {
  const auto found = nodesets_.find(action.nodeset);
  if (found == nodesets_.end()) return key_of_create(action.line, "");
  const KnownNodeSet& known = found->second;
  // The sizes of external nodes change by themselves: with each of them slurmctld could end once more.
  const bool is_sized = known.spec.ok() && !known.spec->has_pods();
  return key_of_create(
      is_sized ? " Feature=" + static_features(*known.spec) + " " + node_definition(*known.spec) : action.line,
      known.create_again);
}

bool Reconciler::is_stopped(const NodeAction& action) const {
  if (action.kind != NodeAction::Kind::create) return false;
  const auto stop = stops_.find(action.nodeset);
  return stop != stops_.end() && stop->second.definition == key_of(action) && clock_.wall() < next_try(stop->second);
}

// Until slurmctld answers again it is taken for ended, so that a sidecar that is restarted meanwhile knows.
void Reconciler::stop(const NodeAction& action) {
  const auto before = stops_.find(action.nodeset);
  suspects_[action.nodeset] = {config_->booted, before == stops_.end() ? std::nullopt : std::optional(before->second)};
  stops_[action.nodeset] = stop_create(suspects_[action.nodeset].before, key_of(action), clock_.wall());
  config_until_ = {};
  show_stop(action);
}

// One that didn't start since has only lost the connection.
void Reconciler::judge_stops() {
  for (const auto& [nodeset, suspect] : std::exchange(suspects_, {})) {
    if (config_->booted == suspect.booted) {
      unsettled_ |= !registers_at_once(nodeset);
      suspect.before ? void(stops_[nodeset] = *suspect.before) : void(stops_.erase(nodeset));
    } else {
      log_error("nodeset %s: slurmctld exited while creating its nodes", nodeset.c_str());
      std::erase_if(failures_, [&nodeset = nodeset](const auto& one) {
        return one.first.nodeset == nodeset && one.first.kind == NodeAction::Kind::create;
      });
    }
    dirty_ = true;
  }
}

void Reconciler::show_stop(const NodeAction& action) {
  if (!is_stopped(action)) return;
  NodeSetState& state = states_[action.nodeset];
  state.create_stop = stops_.at(action.nodeset);
  state.ready = false;
  state.reason = failure_reason(action.kind);
  state.message = describe(*state.create_stop, shorten(action.nodes), state.extra_conf);
}

bool Reconciler::registers_at_once(const std::string& nodeset) const {
  const auto found = nodesets_.find(nodeset);
  return found != nodesets_.end() && found->second.spec.ok() && found->second.spec->keeps_up() &&
         found->second.spec->has_pods();
}

// What the next plans need to know of an action that was carried out.
void Reconciler::remember(const NodeAction& action) {
  using Kind = NodeAction::Kind;
  // What slurmctld doesn't see before it is reconfigured it does see when it has registered, which nodes that are kept
  // up do at once: they are spared the reconfiguration, which costs time and their exemptions.
  unsettled_ |= action.kind == Kind::create && !registers_at_once(action.nodeset);
  if (action.kind == Kind::exempt_from_suspend) exemptions_.added(action.nodeset, action.nodes);
  if (action.kind == Kind::unexempt) exemptions_.removed(action.nodes);
  // slurmctld doesn't count that as a change of its nodes, in all versions: it would go on to say that nothing changed.
  if (action.kind == Kind::remove || action.kind == Kind::drop_lost) since_ = 0;
  if (action.kind == Kind::drop_lost) note_recovery(action.nodeset);
  if (action.kind != Kind::remove && !changes_power(action.kind)) return;
  const Result<std::vector<std::string>> names = expand_hostlist(action.nodes);
  if (!names.ok()) return;
  if (action.kind == Kind::power_up) show_power_up({names->begin(), names->end()}, action.change.active_features);
  for (const std::string& name : *names) {
    if (action.kind == Kind::power_up) {
      pace_.powered_up(name, clock_.now());
    } else {
      pace_.forget(name);
    }
  }
}

// Until slurmctld has told its nodes again, which may be later than the next plan: that would find these nodes powered
// down and backing off, and power others up for them. They have no job: a suspended one would have kept slurmctld from
// powering them down. So they are not taken for nodes whose jobs slurmctld has yet to tell, either.
void Reconciler::show_power_up(const std::set<std::string>& names, const std::optional<std::string>& active_features) {
  for (SlurmNode& node : nodes_) {
    if (!can_power_up(node) || !names.contains(node.name)) continue;
    node.power_up_asked = true;
    if (active_features) node.active_features = *active_features;
    idle_.insert(node.name);
  }
  version_++;
}

// It may restart slurmctld, which judge_stops() would take for a crash.
bool Reconciler::is_to_settle() const { return unsettled_ && suspects_.empty() && clock_.now() >= settle_next_; }

// After every create except those: slurmctld does not say which slots deleted records have left. A reconfiguration that
// fails may have stopped scheduling for a while. So the pauses between tries grow.
void Reconciler::settle() {
  if (!is_to_settle()) return;
  const Status status = writer_.make_created_nodes_schedulable();
  if (!count("reconfigure", status.ok())) {
    unsigned suppressed = 0;
    if (limiter_.allow(clock_.now(), suppressed)) {
      log_warning("slurmctld: %s (%u similar messages suppressed)", status.error().message().c_str(), suppressed);
    }
    settle_next_ = clock_.now() + action_backoff_.delay(++settle_failures_, jitter_());
    return;
  }
  settle_failures_ = 0;
  unsettled_ = false;
  keep_unsettled(false);
  config_.reset();  // a reconfiguration may have changed it, and has dropped exemptions from suspends
}

// slurmctld makes nodes although the file can't be written: without them jobs wait.
void Reconciler::keep_unsettled(bool unsettled) {
  if (kept_unsettled_ == unsettled || !hooks_.keep_unsettled) return;
  const Status kept = hooks_.keep_unsettled(unsettled);
  unsigned suppressed = 0;
  if (kept.ok()) {
    kept_unsettled_ = unsettled;
  } else if (limiter_.allow(clock_.now(), suppressed)) {
    log_warning("%s (%u similar messages suppressed)", kept.error().message().c_str(), suppressed);
  }
}

bool Reconciler::may_recover(const std::string& nodeset) const {
  const auto found = recoveries_.find(nodeset);
  return found == recoveries_.end() || clock_.now() >= found->second.next;
}

void Reconciler::note_recovery(const std::string& nodeset) {
  Recovery& recovery = recoveries_[nodeset];
  recovery.count++;
  recovery.next = clock_.now() + recovery_backoff_.delay(recovery.count, jitter_());
  config_.reset();  // as after settle()
}

// When it is planned again soon it hasn't helped: the time between two of them grows.
void Reconciler::forget_recoveries(const std::vector<NodeAction>& planned) {
  std::erase_if(recoveries_, [&](const auto& recovery) {
    const auto is_this = [&](const NodeAction& action) {
      return action.kind == NodeAction::Kind::drop_lost && action.nodeset == recovery.first;
    };
    return clock_.now() >= recovery.second.next && std::none_of(planned.begin(), planned.end(), is_this);
  });
}

void Reconciler::forget_failures(const std::string& nodeset) {
  std::erase_if(failures_, [&](const auto& entry) { return entry.first.nodeset == nodeset; });
}

// What slurmctld refused goes into the condition of the NodeSet.
void Reconciler::show_failures() {
  for (const auto& [key, failure] : failures_) {
    const auto state = states_.find(key.nodeset);
    if (state == states_.end() || state->second.create_stop) continue;
    state->second.ready = false;
    state->second.reason = failure_reason(key.kind);
    state->second.message = failure.text;
  }
}

bool Reconciler::count(const std::string& request, bool ok) {
  Count& counts = requests_[request];
  (ok ? counts.ok : counts.failed)++;
  return ok;
}

// Whether there is something to do again now that nothing has changed.
bool Reconciler::is_due() const {
  if (held_until_ && clock_.now() >= *held_until_) return true;
  for (const auto& [key, failure] : failures_) {
    if (clock_.now() >= failure.retry) return true;
  }
  for (const auto& [name, state] : states_) {
    if (state.create_stop && clock_.wall() >= next_try(*state.create_stop)) return true;
  }
  for (const auto& [nodeset, recovery] : recoveries_) {
    if (clock_.now() >= recovery.next) return true;
  }
  return false;
}

}  // namespace slurmk8s
