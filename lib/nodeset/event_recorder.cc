// SPDX-License-Identifier: GPL-2.0-or-later
// Events of events.k8s.io/v1. Required there: eventTime, action, reason, reportingController, reportingInstance, type.
#include "nodeset/event_recorder.hpp"

#include <unistd.h>

#include "slurm/hostlist.hpp"
#include "base/random.hpp"
#include "base/rfc3339.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::milliseconds kDelay{1000};
constexpr std::size_t kMaxPending = 32;  // within kDelay: more different causes are dropped
constexpr std::size_t kMaxNote = 1000;   // the API takes 1,024 bytes

std::string host_name() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "slurmctld";
  return name;
}

/** "compute-[0-2] (3): for job 12", or one half of it; shortens the nodes before the text. */
std::string make_note(const std::set<std::string>& nodes, const std::string& text) {
  std::string note = compress_hostlist({nodes.begin(), nodes.end()});
  if (note.size() > kMaxNote / 2) note = note.substr(0, kMaxNote / 2) + "...";
  if (!nodes.empty()) note += format(" (%zu)", nodes.size()) + (text.empty() ? "" : ": ");
  note += text;
  if (note.size() > kMaxNote) note.resize(kMaxNote);
  return note;
}

}  // namespace

const EventRecorder::Kind EventRecorder::Kind::power_up{"Normal", "PowerUp", "CreatePod"};
const EventRecorder::Kind EventRecorder::Kind::power_up_failed{"Warning", "PowerUpFailed", "SetNodeDown"};
const EventRecorder::Kind EventRecorder::Kind::node_lost{"Warning", "NodeLost", "SetNodeDown"};
const EventRecorder::Kind EventRecorder::Kind::throttled{"Warning", "Throttled", "Wait"};

EventRecorder::EventRecorder(kube::Writer& client, Timers& timers, const Clock& clock, kube::Throttle& throttle,
                             std::string name_space, std::string reporter)
    : timers_(timers),
      clock_(clock),
      throttle_(throttle),
      name_space_(std::move(name_space)),
      reporter_(std::move(reporter)),
      writer_(client, clock, throttle, {.resource = kube::kEvents, .name_space = name_space_, .what = "event"}) {}

EventRecorder::~EventRecorder() { timers_.cancel(timer_); }

void EventRecorder::record(const Subject& nodeset, const Kind& kind, const std::vector<std::string>& nodes,
                           const std::string& note) {
  Json regarding = Json::object();
  regarding.set("apiVersion", std::string(kube::kNodeSets.api))
      .set("kind", "NodeSet")
      .set("namespace", name_space_)
      .set("name", nodeset.name)
      .set("uid", nodeset.uid);
  keep({nodeset.name, kind.reason + note}, {regarding, kind, note, clock_.wall(), {nodes.begin(), nodes.end()}});
}

void EventRecorder::keep(const Key& key, const PendingEvent& event) {
  if (pending_.empty()) timer_ = timers_.after(kDelay, [this] { flush(); });
  if (pending_.size() >= kMaxPending && !pending_.contains(key)) return;
  pending_.try_emplace(key, event).first->second.nodes.insert(event.nodes.begin(), event.nodes.end());
}

void EventRecorder::flush() {
  if (throttle_.is_paused()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(throttle_.until() - clock_.now());
    timer_ = timers_.after(left, [this] { flush(); });
    return;
  }
  for (const auto& [key, event] : std::exchange(pending_, {})) post(key, event);
}

void EventRecorder::post(const Key& key, const PendingEvent& event) {
  const std::string name = std::string(event.regarding["name"].text()) + "." + random_id();
  Json object = Json::object();
  object.set("apiVersion", std::string(kube::kEvents.api))
      .set("kind", "Event")
      .set("metadata", Json::object().set("name", name).set("namespace", name_space_))
      .set("eventTime", rfc3339(event.since))
      .set("reportingController", reporter_)
      .set("reportingInstance", host_name())
      .set("type", event.kind.type)
      .set("reason", event.kind.reason)
      .set("action", event.kind.action)
      .set("regarding", event.regarding)
      .set("note", make_note(event.nodes, event.text));
  writer_.create(name, object, [this, name, key, event](const Result<Json>& answer) {
    writer_.forget(name);
    if (!answer && answer.error().code() == Errc::throttled) keep(key, event);
  });
}

}  // namespace slurmk8s
