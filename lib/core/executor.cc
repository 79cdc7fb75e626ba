// SPDX-License-Identifier: GPL-2.0-or-later
// Requests about pods, bounded.
#include "core/executor.hpp"

namespace slurmk8s {

Executor::Executor(kube::Client& client, Timers& timers, const Clock& clock, std::string name_space, int max_requests,
                   EngineMetrics& metrics, std::function<void()> on_room)
    : client_(client),
      timers_(timers),
      clock_(clock),
      name_space_(std::move(name_space)),
      max_requests_(max_requests),
      metrics_(metrics),
      on_room_(std::move(on_room)) {}

void Executor::create(const kube::Resource& resource, const Json& object, kube::OnObject done) {
  client_.create(resource, name_space_, object, counted(ApiVerb::create, std::move(done)));
}

void Executor::remove(const std::string& name, const std::string& uid, kube::OnObject done) {
  client_.remove(kube::kPods, name_space_, name, uid, -1, counted(ApiVerb::remove, std::move(done)));
}

void Executor::get(const kube::Resource& resource, const std::string& name, kube::OnObject done) {
  client_.get(resource, name_space_, name, counted(ApiVerb::get, std::move(done)));
}

kube::OnObject Executor::counted(ApiVerb verb, kube::OnObject done) {
  ++in_flight_;
  return [this, verb, begin = clock_.now(), done = std::move(done)](Result<Json> result) {
    --in_flight_;
    metrics_.api[static_cast<std::size_t>(verb)].observe(clock_.now() - begin);
    if (!result && result.error().code() == Errc::throttled) {
      pause(result.error().retry_after().value_or(std::chrono::seconds(1)));
    }
    done(std::move(result));
    on_room_();
  };
}

void Executor::pause(std::chrono::seconds wait) {
  const TimePoint until = clock_.now() + wait;
  if (until <= paused_until_) return;
  paused_until_ = until;
  timers_.after(wait, on_room_);
}

}  // namespace slurmk8s
