// SPDX-License-Identifier: GPL-2.0-or-later
// The same engine, without its thread, its socket and its reconciliation: one request, then the end.
#include "engine/direct.hpp"

#include "base/strings.hpp"
#include "settings/connection.hpp"

namespace slurmk8s {
namespace {

/** Calls slurmctld from the timers, so that nothing happens within call(), as SlurmCaller promises. */
class InlineCaller final : public SlurmCaller {
 public:
  InlineCaller(Slurm& slurm, Timers& timers) : slurm_(slurm), timers_(timers) {}

  void call(Work work) override {
    timers_.after({}, [this, work = std::move(work)] { work(slurm_)(); });
  }

 private:
  Slurm& slurm_;
  Timers& timers_;
};

}  // namespace

Status run_direct(Options options, Slurm& slurm, const std::vector<std::string>& nodes,
                  const std::function<void(Engine&)>& ask, std::chrono::seconds timeout) {
  const auto loop = SLURMK8S_TRY(EventLoop::open());
  const auto connection = SLURMK8S_TRY(open_connection(*loop, options));
  const Clock& clock = *loop->clock();
  InlineCaller caller(slurm, loop->timers());
  Engine::Parts parts{*connection.client, loop->timers(), clock, caller, options};
  parts.one_shot = true;
  Engine engine(parts);

  engine.start();
  ask(engine);
  bool in_time = true;
  loop->timers().after(timeout, [&in_time] { in_time = false; });
  loop->run([&] { return in_time && !engine.settled(nodes); });
  if (!engine.settled(nodes)) {
    return Error(Errc::timeout, format("nodes %s: not done after %lld s", nodes.front().c_str(),
                                       static_cast<long long>(timeout.count())));
  }
  const std::uint64_t failed = engine.metrics().failed_nodes();
  if (failed > 0) {
    return Error(Errc::unavailable, format("%llu nodes can't come up; their Reason in Slurm says why",
                                           static_cast<unsigned long long>(failed)));
  }
  return {};
}

}  // namespace slurmk8s
