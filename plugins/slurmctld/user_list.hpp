// SPDX-License-Identifier: GPL-2.0-or-later
// UserList: keeps slurmctld from waiting for itself where it has no accounting. No Slurm header.
//
// Without accounting slurmctld's list of users (assoc_mgr_user_list) is null. Who needs it asks for it again, under the
// list's write lock. job_mgr_signal_jobs() (scancel --ctld, DELETE of a job by REST) asks while it holds the read lock:
// assoc_mgr_get_admin_level_locked() and assoc_mgr_is_user_acct_coord() do not know of it. So any user could hang
// slurmctld with a job of another user. Slurm's source: src/slurmctld/job_mgr.c, src/common/assoc_mgr.c.
//
// An empty list is not asked for again, and means the same as null everywhere else in these sources: no user is known.
// slurmctld frees it as its own. It does so when it takes control, after plugins are loaded (ctld_assoc_mgr_init() in
// controller.c), and it has no event for that: a thread looks. slurmctld takes no requests until it has read its state.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <thread>

#include "base/clock.hpp"
#include "base/locked.hpp"

namespace slurmk8s {

/** Gives slurmctld an empty list of users if it has none. Takes the list's lock. Only where there is no accounting. */
void ensure_user_list();

class UserList {
 public:
  /** `ensure`: see ensure_user_list(). This object's thread calls it, again and again. */
  explicit UserList(std::function<void()> ensure);
  ~UserList();
  UserList(const UserList&) = delete;
  UserList& operator=(const UserList&) = delete;

  /** The pause between two calls: short while slurmctld starts. `age`: since this object was made. */
  static std::chrono::milliseconds pause(TimePoint::duration age);

 private:
  void run();

  const std::function<void()> ensure_;
  Locked<bool> stop_{false};
  std::condition_variable stopped_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace slurmk8s
