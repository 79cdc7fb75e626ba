// SPDX-License-Identifier: GPL-2.0-or-later
// WaitEvents: why pods of one namespace wait, for `kubectl describe`: one event for each pod, changed in place. Same
// thread rules as kube::Client.
//
// An event of events.k8s.io/v1 keeps its note for ever; the same event in v1 may get another message.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "bridge/workload_pod.hpp"
#include "kube/event_recorder.hpp"
#include "kube/object_writer.hpp"

namespace slurmk8s {

class WaitEvents {
 public:
  /** References must outlive it. */
  WaitEvents(kube::Writer& client, const Clock& clock, kube::Throttle& throttle, const std::string& name_space);

  /** Has the pod's event say this: now, or after those that were told before. */
  void tell(const WorkloadPod& pod, const kube::EventRecorder::Kind& kind, const std::string& message);
  /** Writes what the API server has refused before; call it from time to time. */
  void flush();
  /** The pod no longer waits: what is not written yet is dropped. The event stays. */
  void forget(const std::string& pod);

 private:
  struct Event {
    std::string name;  ///< of the event
    std::string uid;   ///< of the pod
    kube::EventRecorder::Kind kind{};
    std::string message;
    std::chrono::system_clock::time_point first{};
    std::uint32_t count = 0;  ///< of writes; more than one: it is there
    bool is_due = false;      ///< to be written: in next_ or in later_
  };

  void write_next();
  void write(const std::string& pod, Event& event);
  void answered(const std::string& pod, Event& event, const Result<Json>& answer);
  Json build_change(const Event& event) const;
  Json build_event(const std::string& pod, const Event& event) const;

  const Clock& clock_;
  const std::string name_space_;
  kube::ObjectWriter writer_;
  std::map<std::string, Event> events_;  // by pod
  std::deque<std::string> next_;         // pods with an event to write, first in first out; some twice
  std::set<std::string> later_;          // pods whose events are being written, or were refused
};

}  // namespace slurmk8s
