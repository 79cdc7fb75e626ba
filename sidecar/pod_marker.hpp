// SPDX-License-Identifier: GPL-2.0-or-later
// PodMarker: tells on a node's pod what Slurm says of the node.
//
//  - The marks of a node in use (nodeset/pod_builder.hpp: busy_marks), so that nothing evicts it. The engine makes a
//    pod with them. They are taken off when the node has been idle for a while, and put back as soon as Slurm shows a
//    job.
//  - Slurm's state, as a label and as the condition slurm-k8s.io/InService (node_service_state.hpp). When it has lasted
//    for a moment, and at a pace: thousands of short jobs don't become as many requests.
//
// Only pods that are there are written, with their uid as precondition; no other writer has these fields. Same thread
// rules as kube::Client. What it knows it has from the watch: it may be restarted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "kube/object_writer.hpp"
#include "sidecar/node_plan.hpp"
#include "sidecar/node_service_state.hpp"

namespace slurmk8s {

class PodMarker {
 public:
  /** A node that has been idle for less keeps its marks: short jobs that follow each other cost no request. */
  static constexpr std::chrono::seconds kIdleFor{5};
  /** A state that has lasted for less isn't told. */
  static constexpr std::chrono::seconds kSteady{2};
  /** That a node powers up or down is told when it takes this long: most pods are up, or gone, before. */
  static constexpr std::chrono::seconds kLongChange{30};
  /** Requests per second to tell states, over a longer time; the marks of pods in use don't wait for others. */
  static constexpr double kStatesPerSecond = 20;

  /** References must outlive it. */
  PodMarker(kube::Writer& client, const Clock& clock, kube::Throttle& throttle, std::string name_space,
            Jitter jitter = random_unit);

  /** A node's pod as a watch or an answer has just shown it. */
  void observe(const Json& pod);
  void forget(const std::string& name);
  /**
   * Compares all pods with the node records; to be called once a second. `version` says whether NodeSets or records
   * may have changed since the last call: without a change nothing is looked at.
   */
  void round(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes, std::uint64_t version);

 private:
  struct Entry {
    std::string uid;
    std::string nodeset;
    // What the pod shows.
    bool marked = false;
    std::string label;
    Json condition;
    // What Slurm says.
    NodeServiceState service_state;
    TimePoint since{};  // when `service_state` began, as far as we know
  };

  void judge(const std::string& name, Entry& entry, const NodeSet& nodeset, const SlurmNode& node);
  /** Whether its label and condition may be written now; takes its share of the pace. */
  bool may_tell(const Entry& entry, std::chrono::seconds lasting);
  void write_marks(const std::string& name, Entry& entry, const NodeSet& nodeset, bool busy);
  void write_condition(const std::string& name, Entry& entry);
  void send(const std::string& name, const char* subresource, kube::PatchType type, const Json& patch);

  const Clock& clock_;
  std::map<std::string, Entry> entries_;
  std::uint64_t version_ = 0;
  bool unfinished_ = true;               // there is something to do, or to look at again, without a change from outside
  double allowance_ = kStatesPerSecond;  // of requests that tell states
  TimePoint allowed_at_{};
  kube::ObjectWriter writer_;
};

}  // namespace slurmk8s
