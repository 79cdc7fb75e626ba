// SPDX-License-Identifier: GPL-2.0-or-later
// EventRecorder: Kubernetes events on NodeSets, for `kubectl describe nodeset`. The thread of its client.
//
// Events are best effort: nodes with the same note share one event, at most one event a second has the same note, and
// an event that the API server refuses is dropped.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "event/timers.hpp"
#include "kube/client.hpp"

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
  EventRecorder(kube::Writer& client, Timers& timers, const Clock& clock, std::string name_space, std::string reporter);
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
    std::set<std::string> nodes;
  };

  void flush();
  void post(const PendingEvent& pending);

  kube::Writer& client_;
  Timers& timers_;
  const Clock& clock_;
  const std::string name_space_;
  const std::string reporter_;
  std::map<std::pair<std::string, std::string>, PendingEvent> pending_;  // by NodeSet and text
  Timers::Id timer_ = 0;
};

}  // namespace slurmk8s
