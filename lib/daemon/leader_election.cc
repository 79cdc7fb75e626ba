// SPDX-License-Identifier: GPL-2.0-or-later
// The thread of the leader election.
#include "daemon/leader_election.hpp"

#include "base/guarded.hpp"
#include "base/thread.hpp"
#include "daemon/leader_lease.hpp"

namespace slurmk8s {

Result<std::unique_ptr<LeaderElection>> LeaderElection::open(Options& options, const LeaseOptions& lease) {
  if (!lease.elect) return std::unique_ptr<LeaderElection>();
  std::shared_ptr<EventLoop> loop = SLURMK8S_TRY(EventLoop::open());
  const auto connection = std::make_shared<Connection>(SLURMK8S_TRY(open_connection(*loop, options)));
  std::shared_ptr<kube::Client> client(connection, connection->client.get());  // keeps its transport, too
  return std::make_unique<LeaderElection>(std::move(loop), std::move(client), options.name_space, lease);
}

LeaderElection::LeaderElection(std::shared_ptr<EventLoop> loop, std::shared_ptr<kube::Client> client,
                               std::string name_space, LeaseOptions options)
    : loop_(std::move(loop)),
      client_(std::move(client)),
      name_space_(std::move(name_space)),
      options_(std::move(options)),
      thread_([this] {
        enter_thread("leader-election");
        guarded_void("leader election", [this] { run(); });
      }) {}

LeaderElection::~LeaderElection() {
  stop_ = true;
  loop_->wake();
  thread_.join();
}

void LeaderElection::want(bool wanted) {
  if (wanted_.exchange(wanted) != wanted) loop_->wake();
}

void LeaderElection::run() {
  const Clock& clock = *loop_->clock();
  LeaderLease lease(*client_, loop_->timers(), clock, name_space_, options_);
  TimePoint end = TimePoint::max();
  loop_->run([&] {
    if (stop_ && end == TimePoint::max()) {
      end = clock.now() + kGiveBack;
      loop_->timers().after(kGiveBack, [] {});
    }
    wanted_ && !stop_ ? lease.contend() : lease.withdraw();
    held_until_ = lease.held_until();
    return !stop_ || (!lease.is_idle() && clock.now() < end);
  });
}

}  // namespace slurmk8s
