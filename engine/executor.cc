// SPDX-License-Identifier: GPL-2.0-or-later
// Requests about pods, bounded.
#include "engine/executor.hpp"

#include <optional>

#include "nodeset/omit.hpp"

namespace slurmk8s {

Executor::Executor(Parts parts)
    : client_(parts.client),
      timers_(parts.timers),
      clock_(parts.clock),
      name_space_(std::move(parts.name_space)),
      max_requests_(parts.max_requests),
      metrics_(parts.metrics),
      on_room_(std::move(parts.on_room)),
      on_pause_(std::move(parts.on_pause)),
      throttle_(parts.clock) {}

void Executor::create(const kube::Resource& resource, const Json& object, kube::OnObject done) {
  client_.create(ref(resource), object, counted(ApiVerb::create, std::move(done)));
}

void Executor::remove(const std::string& name, const std::string& uid, kube::OnObject done) {
  client_.remove(ref(kube::kPods, name), {.uid = uid}, counted(ApiVerb::remove, std::move(done)));
}

void Executor::get(const kube::Resource& resource, const std::string& name, kube::OnObject done) {
  client_.get(ref(resource, name), counted(ApiVerb::get, std::move(done)));
}

kube::ObjectRef Executor::ref(const kube::Resource& resource, const std::string& name) const {
  return {.resource = resource, .name_space = name_space_, .name = name, .omit = kOmitOfPods};
}

kube::OnObject Executor::counted(ApiVerb verb, kube::OnObject done) {
  ++in_flight_;
  return [this, verb, begin = clock_.now(), done = std::move(done)](Result<Json> result) {
    --in_flight_;
    metrics_.api[static_cast<std::size_t>(verb)].observe(clock_.now() - begin);
    std::optional<kube::Throttle::Pause> pause;
    if (!result) pause = throttle_.heed(result.error());
    if (pause) timers_.after(pause->wait, on_room_);
    const bool is_new = pause && pause->is_new;
    if (is_new) ++metrics_.api_pauses;
    done(std::move(result));
    if (is_new && pause->wait >= kNotablePause && on_pause_) on_pause_(pause->wait, pause->asked);
    on_room_();
  };
}

}  // namespace slurmk8s
