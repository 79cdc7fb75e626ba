// SPDX-License-Identifier: GPL-2.0-or-later
// UserLookup: ids of users by name. A directory service may take minutes for that, or never answer: nothing waits for
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/locked.hpp"

namespace slurmk8s {

class UserLookup {
 public:
  /** The ids of those that the machine knows. */
  using Found = std::map<std::string, std::uint32_t>;
  using Done = std::function<void(Found)>;

  virtual ~UserLookup() = default;
  /** Calls `done` later, on the engine's thread. Nothing happens while a look-up is under way: ask again. */
  virtual void find(const std::set<std::string>& users, Done done) = 0;
};

/**
 * Has a thread of its own for each look-up, one at a time in the whole process, which outlives this object if it must.
 */
class ThreadUserLookup final : public UserLookup {
 public:
  /** Hands a function to the engine's thread; called on another one. */
  using Post = std::function<void(std::function<void()>)>;
  /** The id of one user; blocks. Returns false when there is none. */
  using FindOne = std::function<bool(const std::string& user, std::uint32_t& uid)>;

  /** `find_one` empty: getpwnam_r(). */
  explicit ThreadUserLookup(Post post, FindOne find_one = {});
  /** Answers that come later are dropped. */
  ~ThreadUserLookup() override;
  ThreadUserLookup(const ThreadUserLookup&) = delete;
  ThreadUserLookup& operator=(const ThreadUserLookup&) = delete;

  void find(const std::set<std::string>& users, Done done) override;

 private:
  const FindOne find_one_;
  const std::shared_ptr<Locked<Post>> post_;
};

}  // namespace slurmk8s
