// SPDX-License-Identifier: GPL-2.0-or-later
// EventRecorder: Kubernetes events on NodeSets, for `kubectl describe nodeset`. The engine's thread.
//
// Events are for people: nodes with the same tale share one event, there is at most one a second of each tale, and one
// that the API server doesn't take is dropped.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/timers.hpp"
#include "core/nodeset.hpp"
#include "kube/client.hpp"

namespace slurmk8s {

class EventRecorder {
 public:
  enum class Kind {
    power_up,         ///< nodes were asked up
    power_up_failed,  ///< nodes could not come up
    node_lost,        ///< nodes in use lost their pod
  };

  /** References must outlive it. */
  EventRecorder(kube::Client& client, Timers& timers, const Clock& clock, std::string name_space);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  /** `tale` is what happened to `node`: "ErrImagePull: …", "for jobs 12,13". */
  void record(const NodeSet& nodeset, Kind kind, const std::string& node, const std::string& tale);

 private:
  struct Tale {
    Json regarding;
    Kind kind;
    std::string text;
    std::set<std::string> nodes;
  };

  void flush();
  void post(const Tale& tale);

  kube::Client& client_;
  Timers& timers_;
  const Clock& clock_;
  const std::string name_space_;
  std::map<std::pair<std::string, std::string>, Tale> tales_;  // by NodeSet and text
  Timers::Id timer_ = 0;
};

}  // namespace slurmk8s
