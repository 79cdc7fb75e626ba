// SPDX-License-Identifier: GPL-2.0-or-later
// NameCache: known names, and threads that look the others up, so that callers wait only briefly.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "nss/wait_budget.hpp"

namespace slurmk8s {

/** Result of a lookup. */
struct NameAnswer {
  bool answered = false;            ///< false: no answer, for example no reachable name server
  std::vector<std::string> values;  ///< addresses as 4 or 16 bytes, or the name of an address; empty: none
  bool operator==(const NameAnswer&) const = default;
};

/**
 * Names and addresses (keys are opaque). Holds at most kMaxNames, looks up with at most kMaxThreads, and
 * drops queries without room. Any thread.
 */
class NameCache {
 public:
  /** Blocks, on a thread of the cache; throws nothing. */
  using Resolve = std::function<NameAnswer(const std::string& key)>;

  static constexpr std::size_t kMaxNames = 4096;
  static constexpr std::size_t kMaxQuestions = 512;
  static constexpr std::size_t kMaxThreads = 4;
  static constexpr std::chrono::seconds kFound{10};   ///< how long an answer is valid
  static constexpr std::chrono::seconds kMissing{5};  ///< the same for no such name, or no answer

  explicit NameCache(Resolve resolve) : resolve_(std::move(resolve)) {}
  /** Waits for lookups under way. */
  ~NameCache();
  NameCache(const NameCache&) = delete;
  NameCache& operator=(const NameCache&) = delete;

  /**
   * The answer for `key`: a valid one at once, else a new one, for which this waits as long as the WaitBudget allows,
   * else the previous one. `answered` false: never answered.
   */
  NameAnswer find(const std::string& key);

 private:
  struct Entry {
    NameAnswer answer;
    TimePoint fresh_until{};
    TimePoint used{};
    bool asked = false;       ///< in questions_, or being looked up
    std::size_t answers = 0;  ///< number of finished lookups
  };
  using Lock = std::unique_lock<std::mutex>;

  bool ask(const std::string& key, Entry& entry);
  void start_thread();
  Entry* make_room(const std::string& key, TimePoint now);
  void wait(Lock& lock, const std::string& key);
  void work();
  static void note(Entry& entry, NameAnswer answer);

  const Resolve resolve_;
  std::mutex mutex_;
  std::condition_variable questioned_, answered_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::string> questions_;
  WaitBudget budget_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace slurmk8s
