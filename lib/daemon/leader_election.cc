// SPDX-License-Identifier: GPL-2.0-or-later
// The thread of the leader election.
#include "daemon/leader_election.hpp"

#include <algorithm>

#include "base/guarded.hpp"
#include "base/thread.hpp"
#include "daemon/leader_lease.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::milliseconds kLongestWait{1000};

}  // namespace

LeaderElection::LeaderElection(std::shared_ptr<Connection> connection, std::string name_space, LeaseOptions options)
    : connection_(std::move(connection)),
      name_space_(std::move(name_space)),
      options_(std::move(options)),
      thread_([this] {
        enter_thread("leader-election");
        guarded_void("leader election", [this] { run(); });
      }) {}

LeaderElection::~LeaderElection() {
  stop_ = true;
  connection_->transport->wake();
  thread_.join();
}

void LeaderElection::want(bool wanted) {
  if (wanted_.exchange(wanted) != wanted) connection_->transport->wake();
}

void LeaderElection::run() {
  Connection& connection = *connection_;
  LeaderLease lease(*connection.client, connection.timers, *connection.clock, name_space_, options_);
  TimePoint end = TimePoint::max();
  for (;;) {
    if (stop_ && end == TimePoint::max()) end = connection.clock->now() + kGiveBack;
    wanted_ && !stop_ ? lease.contend() : lease.withdraw();
    held_until_ = lease.held_until();
    if (stop_ && (lease.is_idle() || connection.clock->now() >= end)) break;
    connection.transport->run_once(std::min(kLongestWait, connection.timers.until_next().value_or(kLongestWait)));
    connection.timers.run_due();
  }
}

}  // namespace slurmk8s
