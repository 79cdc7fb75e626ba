// SPDX-License-Identifier: GPL-2.0-or-later
// EventRecorder: Kubernetes events on NodeSets, for `kubectl describe nodeset`. The thread of its client.
//
// Events are best effort: nodes with the same note share one event, and at most one event a second has the same note.
// They keep the pause that the API server asks for (429), and begin it for all that share the Throttle. An event that is
// refused otherwise is dropped.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "event/timers.hpp"
#include "kube/object_writer.hpp"

namespace slurmk8s {

class EventRecorder {
 public:
  /** Type, reason and action of an event; literals. */
  struct Kind {
    const char* type;    ///< "Normal", "Warning"
    const char* reason;  ///< what happened, in CamelCase
    const char* action;  ///< what is done about it, in CamelCase

    // Kinds of the engine.
    static const Kind power_up;         ///< nodes are resumed
    static const Kind power_up_failed;  ///< nodes failed to power up
    static const Kind node_lost;        ///< nodes in use lost their pod
    static const Kind throttled;        ///< nodes wait: the API server refuses requests
  };

  /** A NodeSet that events are about. */
  struct Subject {
    std::string name;
    std::string uid;
  };

  /** References must outlive it. `reporter`: reportingController, "slurm-k8s.io/engine". */
  EventRecorder(kube::Writer& client, Timers& timers, const Clock& clock, kube::Throttle& throttle,
                std::string name_space, std::string reporter);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  /** Records `note` ("ErrImagePull: …", "for jobs 12,13") for `nodes`, or without nodes for the NodeSet. */
  void record(const Subject& nodeset, const Kind& kind, const std::vector<std::string>& nodes, const std::string& note);

 private:
  struct PendingEvent {
    Json regarding;
    Kind kind;
    std::string text;
    std::chrono::system_clock::time_point since;  ///< when it happened first
    std::set<std::string> nodes;
  };
  using Key = std::pair<std::string, std::string>;

  void keep(const Key& key, const PendingEvent& event);
  void flush();
  void post(const Key& key, const PendingEvent& event);

  Timers& timers_;
  const Clock& clock_;
  kube::Throttle& throttle_;
  const std::string name_space_;
  const std::string reporter_;
  kube::ObjectWriter writer_;
  std::map<Key, PendingEvent> pending_;  // by NodeSet and text
  Timers::Id timer_ = 0;
};

}  // namespace slurmk8s
