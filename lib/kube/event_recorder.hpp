// SPDX-License-Identifier: GPL-2.0-or-later
// EventRecorder: Kubernetes events on objects, for `kubectl describe`. The thread of its client.
//
// Events are best effort: names with the same note share one event, and at most one event a second has the same note.
// They keep the pause that the API server asks for (429), and begin it for all that share the Throttle. An event that
// is refused otherwise is dropped.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/timers.hpp"
#include "kube/object_writer.hpp"

namespace slurmk8s::kube {

class EventRecorder {
 public:
  /** Type, reason and action of an event; literals. */
  struct Kind {
    const char* type;    ///< "Normal", "Warning"
    const char* reason;  ///< what happened, in CamelCase
    const char* action;  ///< what is done about it, in CamelCase
  };

  /** An object that events are about. */
  struct Subject {
    std::string_view api;  ///< "slurm-k8s.io/v1alpha1"; a literal, as is
    const char* kind;      ///< "NodeSet"
    std::string name;
    std::string uid;
  };

  /** What makes one text of names, to be short: compress_hostlist(). */
  using Join = std::function<std::string(const std::vector<std::string>& names)>;

  /** References must outlive it. `reporter`: reportingController, "slurm-k8s.io/engine". */
  EventRecorder(Writer& client, Timers& timers, const Clock& clock, Throttle& throttle, std::string name_space,
                std::string reporter, Join join);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  /**
   * Records `note` ("ErrImagePull: …", "for jobs 12,13") for `names`, or without names for the object itself. False:
   * there are too many others now, and it is dropped.
   */
  bool record(const Subject& subject, const Kind& kind, const std::vector<std::string>& names, const std::string& note);

 private:
  struct PendingEvent {
    Json regarding;
    Kind kind;
    std::string text;
    std::chrono::system_clock::time_point since;  ///< when it happened first
    std::set<std::string> names;
  };
  using Key = std::pair<std::string, std::string>;

  bool keep(const Key& key, const PendingEvent& event);
  void flush();
  void post(const Key& key, const PendingEvent& event);
  std::string build_note(const PendingEvent& event) const;

  Timers& timers_;
  const Clock& clock_;
  Throttle& throttle_;
  const std::string name_space_;
  const std::string reporter_;
  const Join join_;
  ObjectWriter writer_;
  std::map<Key, PendingEvent> pending_;  // by object and text
  Timers::Id timer_ = 0;
};

}  // namespace slurmk8s::kube
