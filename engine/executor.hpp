// SPDX-License-Identifier: GPL-2.0-or-later
// Executor: requests about pods and their claims, a bounded number in flight, none while the API server throttles: for
// as long as it asks (kube::Throttle). The engine's thread.
#pragma once

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

  /** A pause of `wait` begins, for which the API server has asked; it asked for `asked`. */
  using OnPause = std::function<void(std::chrono::seconds wait, std::chrono::seconds asked)>;

  /** References must outlive it. */
  struct Parts {
    kube::Client& client;
    Timers& timers;
    const Clock& clock;
    std::string name_space;
    int max_requests = 1;  ///< in flight
    EngineMetrics& metrics;
    std::function<void()> on_room;  ///< called from a callback or a timer when has_room() may have become true
    OnPause on_pause = {};          ///< called for each pause of kNotablePause or longer; may be empty
  };
  explicit Executor(Parts parts);

  /** Whether another request may start now: ask before each. */
  bool has_room() const { return in_flight_ < max_requests_ && !is_paused(); }
  int in_flight() const { return in_flight_; }
  bool is_paused() const { return throttle_.is_paused(); }

  void create(const kube::Resource& resource, const Json& object, kube::OnObject done);
  void remove(const std::string& name, const std::string& uid, kube::OnObject done);
  void get(const kube::Resource& resource, const std::string& name, kube::OnObject done);
  void get(const std::string& name, kube::OnObject done) { get(kube::kPods, name, std::move(done)); }

 private:
  kube::ObjectRef ref(const kube::Resource& resource, const std::string& name = {}) const;
  kube::OnObject counted(ApiVerb verb, kube::OnObject done);

  kube::Client& client_;
  Timers& timers_;
  const Clock& clock_;
  const std::string name_space_;
  const int max_requests_;
  EngineMetrics& metrics_;
  const std::function<void()> on_room_;
  const OnPause on_pause_;
  int in_flight_ = 0;
  kube::Throttle throttle_;
};

}  // namespace slurmk8s
