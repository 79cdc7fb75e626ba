// SPDX-License-Identifier: GPL-2.0-or-later
// Pod: a pod object, reduced to what decides about its node. Pure; values; any thread.
#pragma once

#include <chrono>
#include <string>

#include "json/json.hpp"

namespace slurmk8s {

/** What keeps a pod from running. */
struct StartProblem {
  enum class Kind {
    none,
    creating,       ///< nothing: images are pulled, containers made
    unschedulable,  ///< no Kubernetes node has room for it, yet
    failing,        ///< kubelet can't start it: the image or the configuration is wrong
  };
  Kind kind = Kind::none;
  std::string text;  ///< for people

  /** It may never end by itself. */
  bool is_fault() const { return kind == Kind::unschedulable || kind == Kind::failing; }
};

/** How slurmd's container ended. */
enum class SlurmdEnd {
  other,  ///< it runs, was asked or killed to end (exit code 0, SIGTERM, SIGKILL), or its pod was deleted or evicted
  error,  ///< by itself: it found an error or crashed; or its pod was evicted for what its jobs wrote to disk
  out_of_memory,  ///< the kernel killed it, since the pod was over its memory
};

/** A pod as the API server last showed it. */
struct Pod {
  std::string uid;
  std::string request;            ///< of the resume request that it was made for
  bool deleting = false;          ///< it has a deletionTimestamp
  std::chrono::seconds grace{0};  ///< with deleting: how long its processes may take to end
  std::string kube_node;          ///< the Kubernetes node that it is on; empty: none yet
  std::string finalizers;         ///< "a/b,c/d": what its object waits for when its processes have ended
  std::string ended;              ///< why its slurmd will never run (again); empty while it may
  SlurmdEnd slurmd_end = SlurmdEnd::other;
  bool scheduled = false;  ///< a Kubernetes node was found for it
  bool running = false;    ///< its containers run, or slurmd's does
  StartProblem start_problem;
};

/** For a Reason or a Comment, of a pod that is being deleted: "still terminating on kubernetes node m1". */
std::string describe_deletion(const Pod& pod);

/** Reads the members above. A pod's name is its node's. */
Pod decode_pod(const Json& object);

/** Whether a pod is a node's, and not somebody else's who took the name or copied our labels. */
bool is_node_pod(const Json& object);

}  // namespace slurmk8s
