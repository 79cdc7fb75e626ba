// SPDX-License-Identifier: GPL-2.0-or-later
// Events of v1 that are patched.
#include "bridge/wait_events.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

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
  if (writer_.may_write(event.name)) return write(pod.name, event);
  due_.insert(pod.name);
}

void WaitEvents::flush() {
  for (auto pod = due_.begin(); pod != due_.end();) {
    const auto event = events_.find(*pod);
    const bool is_written = event != events_.end() && writer_.may_write(event->second.name);
    if (is_written) write(event->first, event->second);
    pod = is_written || event == events_.end() ? due_.erase(pod) : std::next(pod);
  }
}

void WaitEvents::write(const std::string& pod, Event& event) {
  const bool is_new = event.count++ == 0;
  const auto done = [this, pod, uid = event.uid](const Result<Json>& answer) {
    const auto found = events_.find(pod);
    if (answer || found == events_.end() || found->second.uid != uid) return;
    Event& failed = found->second;
    const Errc code = answer.error().code();
    // It is there from before a restart; or it was deleted, as Kubernetes does after an hour.
    const bool is_otherwise = code == Errc::already_exists || code == Errc::not_found;
    if (code == Errc::not_found) failed.count = 0;
    if (is_otherwise) writer_.forget(failed.name);
    if (is_otherwise || answer.error().retryable()) due_.insert(pod);
  };
  if (is_new) return writer_.create(event.name, build_event(pod, event), done);
  writer_.patch(event.name, kube::PatchType::merge, build_change(event), done);
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
  due_.erase(pod);
}

}  // namespace slurmk8s
