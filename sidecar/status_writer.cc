// SPDX-License-Identifier: GPL-2.0-or-later
// NodeSet.status: encoding, comparing, writing.
#include "sidecar/status_writer.hpp"

#include <algorithm>

#include "slurm/hostlist.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kRolledOut = "RolledOut";
constexpr const char* kTransition = "lastTransitionTime";

Json make_condition(const char* type, bool status, const std::string& reason, const std::string& message,
                    std::int64_t generation) {
  Json condition = Json::object();
  condition.set("type", type)
      .set("status", status ? "True" : "False")
      .set("reason", reason)
      .set("message", message)
      .set("observedGeneration", Json::integer(generation));
  return condition;
}

Json power_up_condition(const NodeSetState& state) {
  const PowerUpFailures& failures = state.failures;
  const bool failing = failures.is_protected || !failures.nodes.empty();
  std::string message = "no node failed to power up recently";
  if (failing) message = failures.cause;
  if (!failures.nodes.empty()) {
    message = describe_hostlist(failures.nodes) + ": " + message;
  }
  const char* reason = failures.is_protected ? "Protected" : failing ? "BackingOff" : "NoFailures";
  return make_condition("PowerUpFailing", failing, reason, message, state.generation);
}

/** Null, which takes the member away, for none. */
Json encode_pins(const Pins& pins) {
  Json object;
  for (const auto& [ordinal, kube_node] : pins) object.set(ordinal, kube_node);
  return object;
}

/** A merge patch adds to the pins that are there: those to go must be named. */
void remove_pins(const Json& known, const Json& patch) {
  Json wanted = patch["ordinalToNode"];
  known["ordinalToNode"].each([&](std::string_view ordinal, const Json&) {
    if (wanted.is_object() && !wanted.has(ordinal)) wanted.set(ordinal, Json());
  });
}

/** True when `known` has every member of `wanted`; the time of the last transition doesn't count. */
bool includes(const Json& known, const Json& wanted) {
  bool same = true;
  wanted.each([&](std::string_view key, const Json& value) {
    if (key != "conditions" && !known[key].equals(value)) same = false;
  });
  const Json conditions = wanted["conditions"];
  for (std::size_t i = 0; i < conditions.size(); i++) {
    Json condition = find_condition(known, conditions[i]["type"].text()).clone();
    condition.erase(kTransition);
    same &= condition.equals(conditions[i]);
  }
  return same;
}

/** `wanted` with the time of each condition's last transition: the known one while its status stays. */
Json with_transition(const Json& wanted, const Json& known, std::chrono::system_clock::time_point now) {
  Json status = wanted.clone();
  const Json conditions = status["conditions"];
  for (std::size_t i = 0; i < conditions.size(); i++) {
    Json condition = conditions[i];
    const Json old = find_condition(known, condition["type"].text());
    condition.set(kTransition, transition_time(old, condition["status"].text(), now));
  }
  return status;
}

/** A hostlist; null without any. */
Json encode_names(const std::set<std::string>& names) {
  if (names.empty()) return {};
  return Json::string(compress_hostlist({names.begin(), names.end()}));
}

}  // namespace

Json encode_status(const std::string& nodeset, const NodeSetState& state, const Conditions& more) {
  const NodeCounts& counts = state.counts;
  Json conditions = Json::array();
  conditions.push(make_condition("Ready", state.ready, state.reason, state.message, state.generation));
  conditions.push(power_up_condition(state));
  const RollOut& out = state.roll_out;
  conditions.push(make_condition(kRolledOut, out.done, out.reason, out.message, state.generation));
  for (const Condition& one : more) {
    conditions.push(make_condition(one.type, one.status, one.reason, one.message, state.generation));
  }
  Json status = Json::object();
  status.set("observedGeneration", Json::integer(state.generation))
      .set("desired", Json::integer(state.desired))
      .set("replicas", Json::integer(counts.total))
      .set("readyReplicas", Json::integer(counts.ready))
      .set("updatedReplicas", Json::integer(out.updated))
      .set("updateRevision", out.template_hash)
      .set("poweredUp", Json::integer(counts.powered_up))
      .set("poweringUp", Json::integer(counts.powering_up))
      .set("poweringDown", Json::integer(counts.powering_down))
      .set("poweredDown", Json::integer(counts.powered_down))
      .set("allocated", Json::integer(counts.allocated))
      .set("idle", Json::integer(counts.idle))
      .set("draining", Json::integer(counts.draining))
      .set("down", Json::integer(counts.down))
      .set("selector", std::string(kLabelNodeSet) + "=" + nodeset)
      .set("ordinalToNode", encode_pins(state.pins))
      .set("records", encode_records(state.records))
      .set("suspendExempt", encode_names(state.exempt))
      .set("createStopped", encode_create_stop(state.create_stop))
      .set("conditions", conditions);
  return status;
}

std::string decode_stopped_template(const Json& status) {
  if (find_condition(status, kRolledOut)["reason"].text() != kRollOutStopped) return {};
  return std::string(status["updateRevision"].text());
}

StatusWriter::StatusWriter(kube::Writer& client, Timers& timers, const Clock& clock, kube::Throttle& throttle,
                           std::string name_space, OnWritten on_written, Jitter jitter)
    : timers_(timers),
      clock_(clock),
      on_written_(std::move(on_written)),
      writer_(client, clock, throttle,
              {.resource = kube::kNodeSets,
               .name_space = std::move(name_space),
               .what = "nodeset",
               .action = "status",
               .backoff = {std::chrono::seconds(1), std::chrono::seconds(30)},
               .log_interval = std::chrono::seconds(10),
               .logs_absence = true},
              std::move(jitter)) {}

StatusWriter::~StatusWriter() {
  for (const auto& [name, entry] : entries_) timers_.cancel(entry.timer);
}

void StatusWriter::observe(const Json& object) {
  const std::string name(object.at({"metadata", "name"}).text());
  Entry& entry = entries_[name];
  entry.known = object["status"];
  schedule(name, entry);
}

void StatusWriter::forget(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  timers_.cancel(found->second.timer);
  writer_.forget(name);
  entries_.erase(found);
}

void StatusWriter::want(const std::string& name, const NodeSetState& state, const Conditions& more) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  found->second.wanted = encode_status(name, state, more);
  schedule(name, found->second);
}

// Writes when there is something to write and no write is under way or planned.
void StatusWriter::schedule(const std::string& name, Entry& entry) {
  if (entry.timer != 0 || writer_.is_writing(name)) return;
  if (entry.wanted.is_null() || includes(entry.known, entry.wanted)) return;
  const TimePoint due = std::max(entry.next_write, writer_.not_before(name));
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - clock_.now());
  entry.timer = timers_.after(std::max(left, std::chrono::milliseconds(0)), [this, name] { write(name); });
}

void StatusWriter::write(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.timer = 0;
  if (includes(entry.known, entry.wanted)) return;
  entry.next_write = clock_.now() + kInterval;
  if (!writer_.may_write(name)) return schedule(name, entry);
  Json status = with_transition(entry.wanted, entry.known, clock_.wall());
  remove_pins(entry.known, status);
  const auto answered = [this, name, before = entry.known](const Result<Json>& answer) {
    on_answer(name, before, answer);
  };
  writer_.patch(name, kube::PatchType::merge, Json::object().set("status", std::move(status)), answered, "status");
}

void StatusWriter::on_answer(const std::string& name, const Json& before, const Result<Json>& answer) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (answer.ok()) {
    written_++;
    entry.known = (*answer)["status"];
    if (on_written_) on_written_(name, before, entry.known);
  } else {
    failed_++;
    entry.next_write = {};
  }
  schedule(name, entry);
}

}  // namespace slurmk8s
