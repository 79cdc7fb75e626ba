// SPDX-License-Identifier: GPL-2.0-or-later
// PodMarker: marks the pods of nodes in use (core/pod_builder.hpp: busy_marks), so that nothing evicts them.
//
// The engine makes a pod with the marks. They are taken off when the node has been idle for a while, and put back as
// soon as Slurm shows that it got a job. Only metadata of pods that are there is written, with their uid as
// precondition. Same thread rules as kube::Client. What it knows it has from the watch: it may be restarted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "kube/client.hpp"
#include "node_plan.hpp"

namespace slurmk8s {

class PodMarker {
 public:
  /** A node that has been idle for less keeps its marks: short jobs that follow each other cost no request. */
  static constexpr std::chrono::seconds kIdleFor{5};

  /** References must outlive it. */
  PodMarker(kube::Client& client, const Clock& clock, std::string name_space);
  ~PodMarker();
  PodMarker(const PodMarker&) = delete;
  PodMarker& operator=(const PodMarker&) = delete;

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
    bool marked = false;
    TimePoint idle_since{};  // zero: it isn't idle
    unsigned failures = 0;
    TimePoint not_before{};
    http::RequestId request = 0;
  };

  void judge(const std::string& name, Entry& entry, const NodeSet& nodeset, bool in_use);
  void write(const std::string& name, Entry& entry, const NodeSet& nodeset, bool busy);
  void on_answer(const std::string& name, Result<Json> answer);

  kube::Client& client_;
  const Clock& clock_;
  const std::string name_space_;
  std::map<std::string, Entry> entries_;
  std::uint64_t version_ = 0;
  bool unfinished_ = true;  // there is something to do, or to look at again, without a change from outside
  int in_flight_ = 0;
  Backoff backoff_{std::chrono::seconds(1), std::chrono::seconds(60)};
  LogLimiter limiter_{std::chrono::seconds(30)};
};

}  // namespace slurmk8s
