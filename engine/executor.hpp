// SPDX-License-Identifier: GPL-2.0-or-later
// Executor: requests about pods and their claims, a bounded number in flight. While the API server asks for a pause
// (kube::Throttle) none is sent: what was begun before waits here until the pause is over. The engine's thread.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "event/timers.hpp"
#include "engine/engine_metrics.hpp"
#include "kube/client.hpp"
#include "kube/throttle.hpp"

namespace slurmk8s {

class Executor {
 public:
  /** A pause of this length or longer is reported. */
  static constexpr std::chrono::seconds kNotablePause{5};

  using OnPause = std::function<void(const kube::Throttle::Pause& pause)>;

  /** References must outlive it. */
  struct Parts {
    kube::Reader& reader;
    kube::Writer& writer;
    Timers& timers;
    const Clock& clock;
    std::string name_space;
    int max_requests = 1;  ///< in flight
    EngineMetrics& metrics;
    std::function<void()> on_room;  ///< called from a callback or a timer when has_room() may have become true
    OnPause on_pause = {};  ///< called when a pause of kNotablePause or longer has begun; from a timer; may be empty
  };
  explicit Executor(Parts parts);

  /** Whether another request may start now: ask before each that doesn't follow from an answer. */
  bool has_room() const { return in_flight_ < max_requests_ && !is_paused(); }
  int in_flight() const { return in_flight_; }
  bool is_paused() const { return throttle_.is_paused(); }
  /** For all else that is written for the same purpose. */
  kube::Throttle& throttle() { return throttle_; }

  void create(const kube::Resource& resource, const Json& object, kube::OnObject done);
  void remove(const std::string& name, const std::string& uid, kube::OnObject done);
  void get(const kube::Resource& resource, const std::string& name, kube::OnObject done);
  void get(const std::string& name, kube::OnObject done) { get(kube::kPods, name, std::move(done)); }

 private:
  kube::ObjectRef ref(const kube::Resource& resource, const std::string& name = {}) const;
  using Send = std::function<void(kube::OnObject done)>;
  void request(ApiVerb verb, kube::OnObject done, Send send);
  kube::OnObject counted(ApiVerb verb, kube::OnObject done);
  void begin_pause(const kube::Throttle::Pause& pause);
  void end_pause();

  kube::Reader& reader_;
  kube::Writer& writer_;
  Timers& timers_;
  const Clock& clock_;
  const std::string name_space_;
  const int max_requests_;
  EngineMetrics& metrics_;
  const std::function<void()> on_room_;
  const OnPause on_pause_;
  int in_flight_ = 0;  // with those that wait for the end of a pause
  std::deque<std::function<void()>> paused_;
  kube::Throttle throttle_;
};

}  // namespace slurmk8s
