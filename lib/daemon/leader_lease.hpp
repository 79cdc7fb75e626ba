// SPDX-License-Identifier: GPL-2.0-or-later
// LeaderLease: contends for a Lease (coordination.k8s.io/v1), renews it and gives it back, as Kubernetes' components
// do.
//
//  - Whether another's lease is over is judged by our own clock, from when we saw it renewed: no clocks are compared.
//  - Each write has the resourceVersion of what was read as precondition, so that of two that take it one does.
//  - It is ours until renew_deadline after the last renewal was sent, less than lease_duration: there is time to stop.
//
// Same thread rules as kube::Client.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "event/timers.hpp"
#include "kube/client.hpp"
#include "daemon/lease_options.hpp"

namespace slurmk8s {

/** What a Lease object says. */
struct Lease {
  bool there = false;
  std::string holder;  ///< empty: nobody
  std::chrono::seconds duration{0};
  std::string acquired;
  std::string renewed;
  std::int64_t transitions = 0;
  std::string version;
};

/** A Lease as the API server has it; null: there is none. A duration that isn't there is `duration`. Pure. */
Lease decode_lease(const Json& object, std::chrono::seconds duration);

enum class LeaseStep { wait, create, renew, take };

/** What to do about the lease; `expired`: it wasn't renewed for its duration, as far as we saw. Pure. */
LeaseStep plan_lease(const Lease& lease, const std::string& identity, bool expired);

class LeaderLease {
 public:
  /** References must outlive it; `options` are checked, with an identity. */
  LeaderLease(kube::Client& client, Timers& timers, const Clock& clock, std::string name_space, LeaseOptions options,
              Jitter jitter = random_unit);
  ~LeaderLease();
  LeaderLease(const LeaderLease&) = delete;
  LeaderLease& operator=(const LeaderLease&) = delete;

  /** Wants the lease from now on; nothing more when it does already. */
  void contend();
  /** Doesn't want it any more: held_until() is over at once, and what the server has of ours is given back. */
  void withdraw();

  /** Until when it is surely ours; in the past when it isn't. */
  TimePoint held_until() const { return held_until_; }
  /** Nothing is wanted, and nothing is left to give back. */
  bool is_idle() const { return mode_ == Mode::idle; }

 private:
  enum class Mode { idle, contending, releasing };
  using Handler = void (LeaderLease::*)(const Result<Json>& answer);

  void schedule(std::chrono::milliseconds delay);
  void renew_or_read();
  void read();
  void write(LeaseStep step);
  void give_back();
  void ask(Handler handler, const std::function<http::RequestId(kube::OnObject)>& send);
  void stop_asking();
  void on_read(const Result<Json>& answer);
  void on_write(const Result<Json>& answer);
  void on_given_back(const Result<Json>& answer);
  void observe(const Json& object);
  void follow();
  void lose(const std::string& why);
  void retry(const Error& error);
  std::chrono::milliseconds wait_after(const Error& error) const;
  kube::ObjectRef ref() const { return {kube::kLeases, name_space_, options_.name}; }
  bool holds() const { return clock_.now() < held_until_; }

  kube::Reader& reader_;
  kube::Writer& writer_;  // no fence: the lease is what opens it
  Timers& timers_;
  const Clock& clock_;
  const std::string name_space_;
  const LeaseOptions options_;
  const Jitter jitter_;
  const std::string label_;  // "lease NAMESPACE/NAME", for the log
  Mode mode_ = Mode::idle;
  Lease lease_;
  TimePoint observed_{};  // when what lease_ says was new to us
  TimePoint sent_{};      // when the write under way was sent
  TimePoint held_until_{};
  bool leads_ = false;  // the log says that it is ours
  http::RequestId request_ = 0;
  Timers::Id timer_ = 0;
  Timers::Id timeout_ = 0;
  LogLimiter limiter_{std::chrono::seconds(30)};
};

}  // namespace slurmk8s
