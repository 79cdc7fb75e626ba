// SPDX-License-Identifier: GPL-2.0-or-later
// UserList in what it takes for a slurmctld without accounting: this program has its list and the list's lock.
#include "slurmctld/user_list.hpp"

#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>

#include "slurmctld/compat.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

using UserListPointer = decltype(assoc_mgr_user_list);

int storage[2];
const UserListPointer made = reinterpret_cast<UserListPointer>(&storage[0]);
const UserListPointer of_slurm = reinterpret_cast<UserListPointer>(&storage[1]);

std::mutex lock;
std::atomic<int> locked{0}, created{0};
std::atomic<bool> wrong_lock{false}, wrong_destructor{false};
bool slurm_was_faster = false;  ///< it makes the list while this one waits for the lock

}  // namespace

#define SLURMCTLD_S __attribute__((visibility("default")))

extern "C" {

SLURMCTLD_S UserListPointer assoc_mgr_user_list = nullptr;

SLURMCTLD_S void assoc_mgr_lock(assoc_mgr_lock_t* levels) {
  lock.lock();
  ++locked;
  if (levels->user != WRITE_LOCK || levels->assoc != NO_LOCK || levels->tres != NO_LOCK) wrong_lock = true;
  if (slurm_was_faster) assoc_mgr_user_list = of_slurm;
}
SLURMCTLD_S void assoc_mgr_unlock(assoc_mgr_lock_t*) { lock.unlock(); }

SLURMCTLD_S UserListPointer slurm_list_create(ListDelF destroy) {
  ++created;
  if (destroy != slurmdb_destroy_user_rec) wrong_destructor = true;
  return made;
}
SLURMCTLD_S void slurmdb_destroy_user_rec(void*) {}

}  // extern "C"

namespace {

UserListPointer list_now() { return __atomic_load_n(&assoc_mgr_user_list, __ATOMIC_RELAXED); }

/** As ctld_assoc_mgr_init() does. */
void drop_list() {
  const std::lock_guard<std::mutex> hold(lock);
  __atomic_store_n(&assoc_mgr_user_list, nullptr, __ATOMIC_RELAXED);
}

void begin() {
  assoc_mgr_user_list = nullptr;
  locked = created = 0;
  wrong_lock = wrong_destructor = slurm_was_faster = false;
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    usleep(10000);
  }
  return false;
}

void makes_a_missing_list(void**) {
  begin();
  ensure_user_list();
  assert_ptr_equal(assoc_mgr_user_list, made);
  assert_int_equal(locked, 1);
  assert_false(wrong_lock);
  assert_false(wrong_destructor);
  ensure_user_list();
  assert_int_equal(created, 1);
  assert_int_equal(locked, 1);  // a list that is there is not even locked
}

void leaves_slurms_list_alone(void**) {
  begin();
  assoc_mgr_user_list = of_slurm;
  ensure_user_list();
  assert_ptr_equal(assoc_mgr_user_list, of_slurm);
  assoc_mgr_user_list = nullptr;
  slurm_was_faster = true;
  ensure_user_list();
  assert_ptr_equal(assoc_mgr_user_list, of_slurm);
  assert_int_equal(created, 0);
}

void makes_it_again_when_slurmctld_dropped_it(void**) {
  begin();
  bool first = false, again = false;
  {
    const UserList user_list(ensure_user_list);
    first = eventually([] { return list_now() == made; });
    drop_list();
    again = eventually([] { return list_now() == made; });
  }
  assert_true(first);
  assert_true(again);
  drop_list();
  usleep(5000);
  assert_null(list_now());  // its thread has ended
}

void looks_often_while_slurmctld_starts(void**) {
  assert_int_equal(UserList::pause(std::chrono::seconds(59)).count(), 1);
  assert_int_equal(UserList::pause(std::chrono::seconds(60)).count(), 100);
}

void only_without_accounting(void**) {
  char none[] = "accounting_storage/none", slurmdbd[] = "accounting_storage/slurmdbd";
  slurm_conf_t conf{};
  assert_false(compat::has_accounting(conf));  // what slurmctld makes of none from 23.11 on
  conf.accounting_storage_type = none;
  assert_false(compat::has_accounting(conf));
  conf.accounting_storage_type = slurmdbd;
  assert_true(compat::has_accounting(conf));
  assert_true(compat::knows_user_list());
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(makes_a_missing_list),
      SLURMK8S_TEST(leaves_slurms_list_alone),
      SLURMK8S_TEST(makes_it_again_when_slurmctld_dropped_it),
      SLURMK8S_TEST(looks_often_while_slurmctld_starts),
      SLURMK8S_TEST(only_without_accounting),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
