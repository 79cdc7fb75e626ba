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
  std::string message = "no node was given up lately";
  if (failing) message = failures.cause;
  if (!failures.nodes.empty()) {
    message = describe_hostlist(failures.nodes) + ": " + message;
  }
  const char* reason = failures.is_protected ? "Protected" : failing ? "NodesHeldBack" : "NoFailures";
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
      .set("createStopped", encode_create_stop(state.create_stop))
      .set("conditions", conditions);
  return status;
}

std::string decode_stopped_template(const Json& status) {
  if (find_condition(status, kRolledOut)["reason"].text() != kRollOutStopped) return {};
  return std::string(status["updateRevision"].text());
}

StatusWriter::StatusWriter(kube::Client& client, Timers& timers, const Clock& clock, std::string name_space,
                           OnWritten on_written, Jitter jitter)
    : client_(client),
      timers_(timers),
      clock_(clock),
      name_space_(std::move(name_space)),
      on_written_(std::move(on_written)),
      jitter_(std::move(jitter)) {}

StatusWriter::~StatusWriter() {
  for (auto& [name, entry] : entries_) stop(entry);
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
  stop(found->second);
  entries_.erase(found);
}

void StatusWriter::want(const std::string& name, const NodeSetState& state, const Conditions& more) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  found->second.wanted = encode_status(name, state, more);
  schedule(name, found->second);
}

void StatusWriter::stop(Entry& entry) {
  if (entry.request != 0) client_.cancel(entry.request);
  if (entry.timer != 0) timers_.cancel(entry.timer);
  entry.request = 0;
  entry.timer = 0;
}

// Writes when there is something to write and no write is under way or planned.
void StatusWriter::schedule(const std::string& name, Entry& entry) {
  if (entry.request != 0 || entry.timer != 0) return;
  if (entry.wanted.is_null() || includes(entry.known, entry.wanted)) return;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(entry.next_write - clock_.now());
  entry.timer = timers_.after(std::max(left, std::chrono::milliseconds(0)), [this, name] { write(name); });
}

void StatusWriter::write(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.timer = 0;
  if (includes(entry.known, entry.wanted)) return;
  entry.next_write = clock_.now() + kInterval;
  entry.before = entry.known;
  Json status = with_transition(entry.wanted, entry.known, clock_.wall());
  remove_pins(entry.known, status);
  Json patch = Json::object();
  patch.set("status", std::move(status));
  entry.request = client_.patch({kube::kNodeSets, name_space_, name, "status"}, kube::PatchType::merge, patch,
                                [this, name](Result<Json> answer) { on_answer(name, std::move(answer)); });
}

void StatusWriter::on_answer(const std::string& name, Result<Json> answer) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.request = 0;
  if (answer.ok()) {
    written_++;
    entry.failures = 0;
    entry.known = (*answer)["status"];
    if (on_written_) on_written_(name, entry.before, entry.known);
  } else {
    failed_++;
    entry.failures++;
    entry.next_write = clock_.now() + backoff_.delay(entry.failures, jitter_(), answer.error().retry_after());
    unsigned held_back = 0;
    if (limiter_.allow(clock_.now(), held_back)) {
      log_warning("nodeset %s/%s: status: %s (%u more held back)", name_space_.c_str(), name.c_str(),
                  answer.error().message().c_str(), held_back);
    }
  }
  schedule(name, entry);
}

}  // namespace slurmk8s
