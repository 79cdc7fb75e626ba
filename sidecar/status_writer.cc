// SPDX-License-Identifier: GPL-2.0-or-later
// NodeSet.status: encoding, comparing, writing.
#include "status_writer.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/names.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kConditionType = "Ready";
constexpr const char* kTransition = "lastTransitionTime";

/** The condition Ready of a status; null when it has none. */
Json find_condition(const Json& status) {
  const Json conditions = status["conditions"];
  for (std::size_t i = 0; i < conditions.size(); i++) {
    if (conditions[i]["type"].text() == kConditionType) return conditions[i];
  }
  return Json();
}

/** True when `known` has every member of `wanted`; the time of the last transition doesn't count. */
bool includes(const Json& known, const Json& wanted) {
  bool same = true;
  wanted.each([&](std::string_view key, const Json& value) {
    if (key != "conditions" && !known[key].equals(value)) same = false;
  });
  Json condition = find_condition(known).clone();
  condition.erase(kTransition);
  return same && condition.equals(find_condition(wanted));
}

/** `wanted` with the time of the condition's last transition: the known one while its status stays. */
Json with_transition(const Json& wanted, const Json& known, std::chrono::system_clock::time_point now) {
  Json status = wanted.clone();
  Json condition = status["conditions"][0];
  const Json old = find_condition(known);
  const bool stays = old["status"].text() == condition["status"].text() && !old[kTransition].text().empty();
  const std::string seconds = rfc3339(std::chrono::floor<std::chrono::seconds>(now)).substr(0, 19) + "Z";
  condition.set(kTransition, stays ? std::string(old[kTransition].text()) : seconds);
  return status;
}

}  // namespace

Json encode_status(const std::string& nodeset, const NodeSetState& state) {
  const NodeCounts& counts = state.counts;
  Json condition = Json::object();
  condition.set("type", kConditionType)
      .set("status", state.ready ? "True" : "False")
      .set("reason", state.reason)
      .set("message", state.message)
      .set("observedGeneration", Json::integer(state.generation));
  Json conditions = Json::array();
  conditions.push(condition);
  Json status = Json::object();
  status.set("observedGeneration", Json::integer(state.generation))
      .set("replicas", Json::integer(counts.total))
      .set("readyReplicas", Json::integer(counts.ready))
      .set("poweredUp", Json::integer(counts.powered_up))
      .set("poweringUp", Json::integer(counts.powering_up))
      .set("poweringDown", Json::integer(counts.powering_down))
      .set("poweredDown", Json::integer(counts.powered_down))
      .set("allocated", Json::integer(counts.allocated))
      .set("idle", Json::integer(counts.idle))
      .set("draining", Json::integer(counts.draining))
      .set("down", Json::integer(counts.down))
      .set("selector", std::string(kLabelNodeSet) + "=" + nodeset)
      .set("conditions", conditions);
  return status;
}

StatusWriter::StatusWriter(kube::Client& client, Timers& timers, const Clock& clock, std::string name_space)
    : client_(client), timers_(timers), clock_(clock), name_space_(std::move(name_space)) {}

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

void StatusWriter::want(const std::string& name, const NodeSetState& state) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  found->second.wanted = encode_status(name, state);
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
  Json patch = Json::object();
  patch.set("status", with_transition(entry.wanted, entry.known, clock_.wall()));
  entry.request = client_.patch(kube::kNodeSets, name_space_, name, "status", kube::PatchType::merge, patch,
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
  } else {
    failed_++;
    entry.failures++;
    const auto asked = answer.error().retry_after().value_or(std::chrono::seconds(0));
    const auto wait = std::max<std::chrono::milliseconds>(asked, backoff_.delay(entry.failures, 0.5));
    entry.next_write = clock_.now() + wait;
    unsigned held_back = 0;
    if (limiter_.allow(clock_.now(), held_back)) {
      log_warning("nodeset %s/%s: status: %s (%u more held back)", name_space_.c_str(), name.c_str(),
                  answer.error().message().c_str(), held_back);
    }
  }
  schedule(name, entry);
}

}  // namespace slurmk8s
