// SPDX-License-Identifier: GPL-2.0-or-later
// The events of the engine.
#pragma once

#include "kube/event_recorder.hpp"

namespace slurmk8s {

using EventKind = kube::EventRecorder::Kind;

inline constexpr EventKind kPowerUpEvent{"Normal", "PowerUp", "CreatePod"};  ///< nodes are resumed
inline constexpr EventKind kPowerUpFailedEvent{"Warning", "PowerUpFailed", "SetNodeDown"};
inline constexpr EventKind kNodeLostEvent{"Warning", "NodeLost", "SetNodeDown"};  ///< nodes in use lost their pod
inline constexpr EventKind kThrottledEvent{"Warning", "Throttled", "Wait"};       ///< nodes wait for the API server

}  // namespace slurmk8s
