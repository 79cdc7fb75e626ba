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
  const auto connection = SLURMK8S_TRY(open_connection(options));
  const Clock& clock = *connection->clock;
  Timers& timers = connection->timers;
  InlineCaller caller(slurm, timers);
  Engine::Parts parts{*connection->client, timers, clock, caller, options};
  parts.one_shot = true;
  Engine engine(parts);

  engine.start();
  ask(engine);
  const TimePoint deadline = clock.now() + timeout;
  while (!engine.settled(nodes)) {
    if (clock.now() >= deadline) {
      return Error(Errc::timeout, format("nodes %s: not done after %lld s", nodes.front().c_str(),
                                         static_cast<long long>(timeout.count())));
    }
    connection->transport->run_once(
        std::min(timers.until_next().value_or(std::chrono::seconds(1)), std::chrono::milliseconds(1000)));
    timers.run_due();
  }
  const std::uint64_t failed = engine.metrics().failed_nodes();
  if (failed > 0) {
    return Error(Errc::unavailable, format("%llu nodes can't come up; their Reason in Slurm says why",
                                           static_cast<unsigned long long>(failed)));
  }
  return {};
}

}  // namespace slurmk8s
