// SPDX-License-Identifier: GPL-2.0-or-later
// PodWriter: what the bridge writes to the pods of one namespace, and its events there. Same thread rules as
// kube::Client.
#pragma once

#include <string>

#include "bridge/pod_patches.hpp"
#include "bridge/wait_events.hpp"
#include "bridge/wait_notice.hpp"
#include "kube/event_recorder.hpp"
#include "kube/object_writer.hpp"

namespace slurmk8s {

/** What writers work with; all must outlive them. */
struct PodWriterParts {
  kube::Writer& client;
  Timers& timers;
  const Clock& clock;
  kube::Throttle& throttle;
  const std::size_t& waiting;  ///< pods that wait, in all namespaces
};

class PodWriter {
 public:
  /** Of the event of a pod that waits: its job does, or it can have none. */
  static constexpr kube::EventRecorder::Kind kPending{"Normal", "SlurmPending", "Scheduling"};
  static constexpr kube::EventRecorder::Kind kRefused{"Warning", "SlurmJobRefused", "Scheduling"};

  PodWriter(const PodWriterParts& parts, const std::string& name_space);

  /**
   * Once: a pod that is being written waits for the next call. A pod whose binding was refused is told so. Whether the
   * API server is asked now.
   */
  bool bind(const WorkloadPod& pod, const BindingFacts& facts);
  /** Tells why it waits, in its condition and in an event: when judge_wait() says so. */
  void tell_wait(const WorkloadPod& pod, const std::string& message, const kube::EventRecorder::Kind& kind = kPending);
  /** Writes events that are due. */
  void flush() { wait_events_.flush(); }
  /**
   * Condition DisruptionTarget, then its end with its own grace period, WorkloadPod::longest_grace at most. A pod that
   * is being deleted gets the shorter period alone.
   */
  void evict(const WorkloadPod& pod, const std::string& reason, const std::string& message);
  /** False: there are too many events now, and it is dropped. */
  bool record(const WorkloadPod& pod, const kube::EventRecorder::Kind& kind, const std::string& note);
  void forget(const std::string& name);

 private:
  void remove(const WorkloadPod& pod);
  void note_refusal(const WorkloadPod& pod, const Error& error);
  bool told_refusal(const WorkloadPod& pod);

  struct Told {
    std::string uid;
    std::optional<ToldWait> wait;
  };

  struct Refusal {
    std::string uid;
    std::string why;
  };

  const Clock& clock_;
  const std::size_t& waiting_;
  kube::ObjectWriter writer_;
  kube::EventRecorder events_;
  WaitEvents wait_events_;
  std::map<std::string, Told> told_;          // by name
  std::map<std::string, std::string> bound_;  // uids of pods that are bound, by name: the watch may say so later
  std::map<std::string, Refusal> refusals_;   // of bindings, by name
};

}  // namespace slurmk8s
