// SPDX-License-Identifier: GPL-2.0-or-later
// PodWriter: what the bridge writes to the pods of one namespace, and its events there. Same thread rules as
// kube::Client.
#pragma once

#include <string>

#include "bridge/pod_patches.hpp"
#include "kube/event_recorder.hpp"
#include "kube/object_writer.hpp"

namespace slurmk8s {

/** What writers work with; all must outlive them. */
struct PodWriterParts {
  kube::Writer& client;
  Timers& timers;
  const Clock& clock;
  kube::Throttle& throttle;
};

class PodWriter {
 public:
  /** A condition that has been written is changed after this time at the earliest, unless Slurm's reason changes. */
  static constexpr std::chrono::seconds kPace{10};

  PodWriter(const PodWriterParts& parts, const std::string& name_space);

  /** Once: a pod that is being written waits for the next call. */
  void bind(const WorkloadPod& pod, const BindingFacts& facts);
  /** Tells why it waits, when it doesn't say so yet. */
  void tell_wait(const WorkloadPod& pod, const std::string& message);
  /** Condition DisruptionTarget, then its end with its own grace period. */
  void evict(const WorkloadPod& pod, const std::string& reason, const std::string& message);
  void record(const WorkloadPod& pod, const kube::EventRecorder::Kind& kind, const std::string& note);
  void forget(const std::string& name);

 private:
  void remove(const WorkloadPod& pod);

  const Clock& clock_;
  kube::ObjectWriter writer_;
  kube::EventRecorder events_;
  struct Told {
    std::string uid;
    std::string message;
    TimePoint at;
  };
  std::map<std::string, Told> told_;          // by name
  std::map<std::string, std::string> bound_;  // uids of pods that are bound, by name: the watch may say so later
};

}  // namespace slurmk8s
