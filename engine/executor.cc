// SPDX-License-Identifier: GPL-2.0-or-later
// Requests about pods, bounded.
#include "engine/executor.hpp"

#include <utility>

#include "nodeset/omit.hpp"

namespace slurmk8s {

Executor::Executor(Parts parts)
    : reader_(parts.reader),
      writer_(parts.writer),
      timers_(parts.timers),
      clock_(parts.clock),
      name_space_(std::move(parts.name_space)),
      max_requests_(parts.max_requests),
      metrics_(parts.metrics),
      on_room_(std::move(parts.on_room)),
      on_pause_(std::move(parts.on_pause)),
      throttle_(parts.clock, [this](const kube::Throttle::Pause& pause) { begin_pause(pause); }) {}

void Executor::create(const kube::Resource& resource, const Json& object, kube::OnObject done) {
  request(ApiVerb::create, std::move(done), [this, to = ref(resource), object](kube::OnObject answered) {
    writer_.create(to, object, std::move(answered));
  });
}

void Executor::remove(const std::string& name, const std::string& uid, kube::OnObject done) {
  request(ApiVerb::remove, std::move(done), [this, pod = ref(kube::kPods, name), uid](kube::OnObject answered) {
    writer_.remove(pod, {.uid = uid}, std::move(answered));
  });
}

void Executor::get(const kube::Resource& resource, const std::string& name, kube::OnObject done) {
  request(ApiVerb::get, std::move(done),
          [this, object = ref(resource, name)](kube::OnObject answered) { reader_.get(object, std::move(answered)); });
}

kube::ObjectRef Executor::ref(const kube::Resource& resource, const std::string& name) const {
  return {.resource = resource, .name_space = name_space_, .name = name, .omit = kOmitOfPods};
}

void Executor::request(ApiVerb verb, kube::OnObject done, Send send) {
  ++in_flight_;
  auto begin = [this, verb, done = std::move(done), send = std::move(send)] { send(counted(verb, done)); };
  if (is_paused()) {
    paused_.emplace_back(std::move(begin));
  } else {
    begin();
  }
}

kube::OnObject Executor::counted(ApiVerb verb, kube::OnObject done) {
  return [this, verb, begin = clock_.now(), done = std::move(done)](Result<Json> result) {
    --in_flight_;
    metrics_.api[static_cast<std::size_t>(verb)].observe(clock_.now() - begin);
    if (!result) throttle_.heed(result.error());
    done(std::move(result));
    on_room_();
  };
}

void Executor::begin_pause(const kube::Throttle::Pause& pause) {
  timers_.after(pause.wait, [this] { end_pause(); });
  if (!pause.is_new) return;
  ++metrics_.api_pauses;
  // Later: the request that was refused is among those that wait by then.
  if (pause.wait >= kNotablePause && on_pause_) timers_.after({}, [this, pause] { on_pause_(pause); });
}

/** Unless it was prolonged. */
void Executor::end_pause() {
  while (!paused_.empty() && !is_paused()) {
    const std::function<void()> begin = std::move(paused_.front());
    paused_.pop_front();
    begin();
  }
  on_room_();
}

}  // namespace slurmk8s
