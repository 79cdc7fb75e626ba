// SPDX-License-Identifier: GPL-2.0-or-later
// SidecarEvents: what the sidecar did and found, as events on NodeSets, so that `kubectl describe nodeset` tells it.
//
// Same thread rules as kube::Client. It tells of what changes alone: of actions when slurmctld has carried them out, of
// conditions when the API server has the new status. So a sidecar that is restarted doesn't repeat itself.
#pragma once

#include <map>
#include <string>

#include "kube/event_recorder.hpp"
#include "sidecar/node_action.hpp"

namespace slurmk8s {

class SidecarEvents {
 public:
  /** References must outlive it. */
  SidecarEvents(kube::Writer& client, Timers& timers, const Clock& clock, kube::Throttle& throttle,
                std::string name_space);

  /** A NodeSet as the API server has it now. Nothing is told of one that was never observed. */
  void observe(const Json& object);
  void forget(const std::string& nodeset);

  /** slurmctld has done this. */
  void acted(const NodeAction& action);
  /** The API server has taken a status, in the place of the one `before`. */
  void status_changed(const std::string& nodeset, const Json& before, const Json& after);

 private:
  struct Known {
    std::string uid;
    bool rolls_out = false;  // a roll-out has begun and isn't done
  };

  void tell_ready(const kube::EventRecorder::Subject& subject, const Json& before, const Json& after);
  void tell_roll_out(const kube::EventRecorder::Subject& subject, Known& known, const Json& before, const Json& after);

  kube::EventRecorder recorder_;
  std::map<std::string, Known> nodesets_;
};

}  // namespace slurmk8s
