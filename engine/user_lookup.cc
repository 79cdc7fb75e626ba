// SPDX-License-Identifier: GPL-2.0-or-later
// A detached thread per look-up: it can't be ended while the directory service doesn't answer.
#include "engine/user_lookup.hpp"

#include <pwd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/guarded.hpp"
#include "base/thread.hpp"

namespace slurmk8s {
namespace {

std::atomic<bool> is_busy{false};

bool find_in_passwd(const std::string& user, std::uint32_t& uid) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) return false;
  uid = entry.pw_uid;
  return true;
}

}  // namespace

ThreadUserLookup::ThreadUserLookup(Post post, FindOne find_one)
    : find_one_(find_one ? std::move(find_one) : FindOne(find_in_passwd)),
      post_(std::make_shared<Locked<Post>>(std::move(post))) {}

ThreadUserLookup::~ThreadUserLookup() { *post_->lock() = nullptr; }

void ThreadUserLookup::find(const std::set<std::string>& users, Done done) {
  if (is_busy.exchange(true)) return;
  const auto look_up = [users, done = std::move(done), find_one = find_one_, post = post_] {
    enter_thread("slurm-k8s/users");
    guarded_void("user look-up", [&] {
      Found found;
      for (const std::string& user : users) {
        std::uint32_t uid = 0;
        if (find_one(user, uid)) found.emplace(user, uid);
      }
      auto target = post->lock();
      if (*target) (*target)([done, found = std::move(found)] { done(found); });
    });
    is_busy = false;
  };
  try {
    std::thread(look_up).detach();
  } catch (...) {
    is_busy = false;
    throw;
  }
}

}  // namespace slurmk8s
