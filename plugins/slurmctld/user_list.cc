// SPDX-License-Identifier: GPL-2.0-or-later
// Makes slurmctld's list of users, and looks whether it is still there.
#include "slurmctld/user_list.hpp"

#include <utility>

#include "base/guarded.hpp"
#include "base/thread.hpp"
#include "slurmctld/compat.hpp"

namespace slurmk8s {
namespace {

/** slurmctld reads its configuration and its state meanwhile, and then takes requests. */
constexpr std::chrono::seconds kStart{60};
constexpr std::chrono::milliseconds kShortPause{1};
/** After a configuration that slurmctld could not start with, or when a backup slurmctld takes control. */
constexpr std::chrono::milliseconds kLongPause{100};

}  // namespace

void ensure_user_list() {
  // slurmctld, too, looks whether there is a list without its lock.
  if (__atomic_load_n(&assoc_mgr_user_list, __ATOMIC_RELAXED)) return;
  assoc_mgr_lock_t levels = compat::user_write_lock();
  assoc_mgr_lock(&levels);
  if (!assoc_mgr_user_list) {
    __atomic_store_n(&assoc_mgr_user_list, slurm_list_create(slurmdb_destroy_user_rec), __ATOMIC_RELEASE);
  }
  assoc_mgr_unlock(&levels);
}

UserList::UserList(std::function<void()> ensure)
    : ensure_(std::move(ensure)), thread_([this] { guarded_void("thread of the user list", [this] { run(); }); }) {}

UserList::~UserList() {
  *stop_.lock() = true;
  stopped_.notify_all();
  thread_.join();
}

std::chrono::milliseconds UserList::pause(TimePoint::duration age) { return age < kStart ? kShortPause : kLongPause; }

void UserList::run() {
  enter_thread("k8s-user-list");
  const TimePoint begin = std::chrono::steady_clock::now();
  for (;;) {
    ensure_();
    auto stop = stop_.lock();
    const auto next = pause(std::chrono::steady_clock::now() - begin);
    if (stopped_.wait_for(stop.raw(), next, [&] { return *stop; })) return;
  }
}

}  // namespace slurmk8s
