// SPDX-License-Identifier: GPL-2.0-or-later
// NameCache: what names are known, and threads that ask for those that aren't, so that a caller waits for a short time
// only.
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

/** What a lookup found. */
struct NameAnswer {
  bool answered = false;            ///< false: no answer, as when no name server can be reached
  std::vector<std::string> values;  ///< addresses as 4 or 16 bytes, or of an address its name; empty: there is none
  bool operator==(const NameAnswer&) const = default;
};

/**
 * Names and addresses (keys are opaque). It remembers at most kMaxNames, asks with at most kMaxThreads, and a
 * question for which there is no room is left out. Any thread.
 */
class NameCache {
 public:
  /** Blocks, on a thread of the cache; throws nothing. */
  using Resolve = std::function<NameAnswer(const std::string& key)>;

  static constexpr std::size_t kMaxNames = 4096;
  static constexpr std::size_t kMaxQuestions = 512;
  static constexpr std::size_t kMaxThreads = 4;
  static constexpr std::chrono::seconds kFound{10};   ///< for how long an answer is believed
  static constexpr std::chrono::seconds kMissing{5};  ///< the same when there is no such name, or no answer

  explicit NameCache(Resolve resolve) : resolve_(std::move(resolve)) {}
  /** Waits for what its threads are asking. */
  ~NameCache();
  NameCache(const NameCache&) = delete;
  NameCache& operator=(const NameCache&) = delete;

  /**
   * What is known of `key`: at once when it is fresh, else after a new answer, for which this waits as long as the
   * WaitBudget lets it; then the former answer is given. `answered` false: never answered, so far.
   */
  NameAnswer find(const std::string& key);

 private:
  struct Entry {
    NameAnswer answer;
    TimePoint fresh_until{};
    TimePoint used{};
    bool asked = false;       ///< in questions_, or with a thread
    std::size_t answers = 0;  ///< how often a thread came back
  };
  using Lock = std::unique_lock<std::mutex>;

  bool ask(const std::string& key, Entry& entry);
  void start_thread();
  Entry* make_room(const std::string& key, TimePoint now);
  void wait(Lock& lock, const std::string& key);
  void work();
  void note(Entry& entry, NameAnswer answer);

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
