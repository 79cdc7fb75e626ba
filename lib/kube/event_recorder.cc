// SPDX-License-Identifier: GPL-2.0-or-later
// Events of events.k8s.io/v1. Required there: eventTime, action, reason, reportingController, reportingInstance, type.
#include "kube/event_recorder.hpp"

#include <unistd.h>

#include "base/random.hpp"
#include "base/rfc3339.hpp"
#include "base/strings.hpp"

namespace slurmk8s::kube {
namespace {

constexpr std::chrono::milliseconds kDelay{1000};
constexpr std::size_t kMaxPending = 32;  // within kDelay: more different causes are dropped
constexpr std::size_t kMaxNote = 1000;   // the API takes 1,024 bytes

std::string host_name() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "slurmctld";
  return name;
}

}  // namespace

EventRecorder::EventRecorder(Writer& client, Timers& timers, const Clock& clock, Throttle& throttle,
                             std::string name_space, std::string reporter, Join join)
    : timers_(timers),
      clock_(clock),
      throttle_(throttle),
      name_space_(std::move(name_space)),
      reporter_(std::move(reporter)),
      join_(std::move(join)),
      writer_(client, clock, throttle, {.resource = kEvents, .name_space = name_space_, .what = "event"}) {}

EventRecorder::~EventRecorder() { timers_.cancel(timer_); }

bool EventRecorder::record(const Subject& subject, const Kind& kind, const std::vector<std::string>& names,
                           const std::string& note) {
  Json regarding = Json::object();
  regarding.set("apiVersion", subject.api)
      .set("kind", subject.kind)
      .set("namespace", name_space_)
      .set("name", subject.name)
      .set("uid", subject.uid);
  return keep({subject.uid, kind.reason + note}, {regarding, kind, note, clock_.wall(), {names.begin(), names.end()}});
}

bool EventRecorder::keep(const Key& key, const PendingEvent& event) {
  if (pending_.empty()) timer_ = timers_.after(kDelay, [this] { flush(); });
  if (pending_.size() >= kMaxPending && !pending_.contains(key)) return false;
  pending_.try_emplace(key, event).first->second.names.insert(event.names.begin(), event.names.end());
  return true;
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
  object.set("apiVersion", std::string(kEvents.api))
      .set("kind", "Event")
      .set("metadata", Json::object().set("name", name).set("namespace", name_space_))
      .set("eventTime", rfc3339(event.since))
      .set("reportingController", reporter_)
      .set("reportingInstance", host_name())
      .set("type", event.kind.type)
      .set("reason", event.kind.reason)
      .set("action", event.kind.action)
      .set("regarding", event.regarding)
      .set("note", build_note(event));
  writer_.create(name, object, [this, name, key, event](const Result<Json>& answer) {
    writer_.forget(name);
    if (!answer && answer.error().code() == Errc::throttled) keep(key, event);
  });
}

/** "compute-[0-2] (3): for job 12", or one half of it; shortens the names before the text. */
std::string EventRecorder::build_note(const PendingEvent& event) const {
  std::string note = event.names.empty() ? "" : join_({event.names.begin(), event.names.end()});
  if (note.size() > kMaxNote / 2) note = note.substr(0, kMaxNote / 2) + "...";
  if (!event.names.empty()) note += format(" (%zu)", event.names.size()) + (event.text.empty() ? "" : ": ");
  note += event.text;
  if (note.size() > kMaxNote) note.resize(kMaxNote);
  return note;
}

}  // namespace slurmk8s::kube
