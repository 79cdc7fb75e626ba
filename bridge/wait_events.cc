// SPDX-License-Identifier: GPL-2.0-or-later
// Events of v1 that are patched.
#include "bridge/wait_events.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/rfc3339.hpp"
#include "bridge/names.hpp"

namespace slurmk8s {
namespace {

constexpr kube::Resource kCoreEvents{"v1", "events"};
constexpr int kMaxInFlight = 8;  // bindings and conditions go first
constexpr std::size_t kMaxMessage = 1000;
constexpr std::size_t kMaxName = 253;

/** The same after a restart of the bridge: then the event is there already. */
std::string event_name(const WorkloadPod& pod) {
  std::string name = pod.name.substr(0, kMaxName - 1 - std::min(pod.uid.size(), kMaxName - 1));
  while (!name.empty() && std::isalnum(static_cast<unsigned char>(name.back())) == 0) name.pop_back();
  return name + "." + pod.uid;
}

}  // namespace

WaitEvents::WaitEvents(kube::Writer& client, const Clock& clock, kube::Throttle& throttle,
                       const std::string& name_space)
    : clock_(clock),
      name_space_(name_space),
      writer_(client, clock, throttle,
              {.resource = kCoreEvents, .name_space = name_space, .what = "event", .max_in_flight = kMaxInFlight}) {}

void WaitEvents::tell(const WorkloadPod& pod, const kube::EventRecorder::Kind& kind, const std::string& message) {
  Event& event = events_[pod.name];
  if (event.uid != pod.uid) {
    event = {};
    event.name = event_name(pod);
    event.uid = pod.uid;
    event.first = clock_.wall();
  }
  event.kind = kind;
  event.message = message.substr(0, kMaxMessage);
  if (!std::exchange(event.is_due, true)) next_.push_back(pod.name);
  write_next();
}

void WaitEvents::flush() {
  next_.insert(next_.end(), later_.begin(), later_.end());
  later_.clear();
  write_next();
}

void WaitEvents::write_next() {
  const std::string any;
  while (!next_.empty() && writer_.may_write(any)) {
    const std::string pod = std::move(next_.front());
    next_.pop_front();
    const auto event = events_.find(pod);
    if (event == events_.end() || !event->second.is_due) continue;
    if (writer_.may_write(event->second.name)) {
      write(pod, event->second);
    } else {
      later_.insert(pod);
    }
  }
}

void WaitEvents::write(const std::string& pod, Event& event) {
  event.is_due = false;
  const bool is_new = event.count++ == 0;
  const auto done = [this, pod, uid = event.uid](const Result<Json>& answer) {
    const auto found = events_.find(pod);
    if (found != events_.end() && found->second.uid == uid) answered(pod, found->second, answer);
    write_next();
  };
  if (is_new) return writer_.create(event.name, build_event(pod, event), done);
  writer_.patch(event.name, kube::PatchType::merge, build_change(event), done);
}

void WaitEvents::answered(const std::string& pod, Event& event, const Result<Json>& answer) {
  const bool is_told_again = later_.erase(pod) != 0;
  if (answer) {
    if (is_told_again) next_.push_back(pod);
    return;
  }
  const Errc code = answer.error().code();
  // It is there from before a restart; or it was deleted, as Kubernetes does after an hour.
  const bool is_otherwise = code == Errc::already_exists || code == Errc::not_found;
  if (code == Errc::not_found) event.count = 0;
  if (is_otherwise) writer_.forget(event.name);
  event.is_due = event.is_due || is_otherwise || answer.error().retryable();
  if (is_otherwise) {
    next_.push_back(pod);
  } else if (event.is_due) {
    later_.insert(pod);
  }
}

Json WaitEvents::build_change(const Event& event) const {
  return Json::object()
      .set("type", event.kind.type)
      .set("reason", event.kind.reason)
      .set("message", event.message)
      .set("count", Json::integer(event.count))
      .set("lastTimestamp", rfc3339(clock_.wall()));
}

Json WaitEvents::build_event(const std::string& pod, const Event& event) const {
  Json about = Json::object();
  about.set("apiVersion", "v1").set("kind", "Pod").set("namespace", name_space_).set("name", pod).set("uid", event.uid);
  Json object = build_change(event);
  object.set("apiVersion", "v1")
      .set("kind", "Event")
      .set("metadata", Json::object().set("name", event.name).set("namespace", name_space_))
      .set("involvedObject", std::move(about))
      .set("firstTimestamp", rfc3339(event.first))
      .set("source", Json::object().set("component", kBridgeReporter))
      .set("reportingComponent", kBridgeReporter)
      .set("reportingInstance", "");
  return object;
}

void WaitEvents::forget(const std::string& pod) {
  const auto found = events_.find(pod);
  if (found == events_.end()) return;
  writer_.forget(found->second.name);
  events_.erase(found);
  later_.erase(pod);
}

}  // namespace slurmk8s
