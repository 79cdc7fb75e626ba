// SPDX-License-Identifier: GPL-2.0-or-later
// NameCache: entries, queries, threads.
#include "nss/name_cache.hpp"

#include <algorithm>
#include <utility>

#include "base/guarded.hpp"
#include "base/thread.hpp"

namespace slurmk8s {

NameCache::~NameCache() {
  {
    const Lock lock(mutex_);
    ending_ = true;
  }
  questioned_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

NameAnswer NameCache::find(const std::string& key) {
  const TimePoint now = std::chrono::steady_clock::now();
  Lock lock(mutex_);
  Entry* entry = make_room(key, now);
  if (!entry) return {};
  entry->used = now;
  if (now < entry->fresh_until) return entry->answer;
  if (!ask(key, *entry)) return entry->answer;
  wait(lock, key);
  const auto found = entries_.find(key);
  return found == entries_.end() ? NameAnswer() : found->second.answer;
}

/** The key's entry; null when all others are being looked up. */
NameCache::Entry* NameCache::make_room(const std::string& key, TimePoint now) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) return &found->second;
  if (entries_.size() >= kMaxNames) {
    // Rare: a client sends thousands of names, and gets no answer for a while. Removes the oldest quarter.
    std::vector<TimePoint> times;
    times.reserve(entries_.size());
    for (const auto& [name, entry] : entries_) times.push_back(entry.used);
    const auto quarter = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
    std::nth_element(times.begin(), quarter, times.end());
    const TimePoint oldest = std::max(*quarter, now - kFound);
    std::erase_if(entries_, [&](const auto& item) { return item.second.used <= oldest && !item.second.asked; });
    if (entries_.size() >= kMaxNames) return nullptr;
  }
  return &entries_[key];
}

/** False when there is no room for the query. */
bool NameCache::ask(const std::string& key, Entry& entry) {
  if (!entry.asked) {
    if (questions_.size() >= kMaxQuestions) return false;
    questions_.push_back(key);
    entry.asked = true;
  }
  if (questions_.size() > idle_ && threads_.size() < kMaxThreads) start_thread();
  questioned_.notify_one();
  return true;
}

void NameCache::start_thread() {
  // The host process handles its signals elsewhere.
  guarded_void("names thread", [this] {
    threads_.push_back(start_without_signals([this] { guarded_void("names", [this] { work(); }); }));
  });
}

void NameCache::wait(Lock& lock, const std::string& key) {
  const TimePoint begin = std::chrono::steady_clock::now();
  const WaitBudget::Duration max_wait = budget_.take(begin);
  const std::size_t answers = entries_[key].answers;
  answered_.wait_until(lock, begin + max_wait, [&] {
    const auto found = entries_.find(key);
    return found == entries_.end() || found->second.answers != answers;
  });
  const auto waited = std::chrono::duration_cast<WaitBudget::Duration>(std::chrono::steady_clock::now() - begin);
  budget_.give_back(std::max(max_wait - waited, WaitBudget::Duration(0)));
}

void NameCache::work() {
  Lock lock(mutex_);
  while (!ending_) {
    if (questions_.empty()) {
      idle_++;
      questioned_.wait(lock);
      idle_--;
      continue;
    }
    const std::string key = std::move(questions_.front());
    questions_.pop_front();
    lock.unlock();
    NameAnswer answer = resolve_(key);
    lock.lock();
    if (const auto found = entries_.find(key); found != entries_.end()) note(found->second, std::move(answer));
    answered_.notify_all();
  }
}

void NameCache::note(Entry& entry, NameAnswer answer) {
  entry.asked = false;
  entry.answers++;
  // Without an answer the previous one is used: addresses rarely change while name servers are away.
  if (answer.answered) entry.answer = std::move(answer);
  const bool is_found = entry.answer.answered && !entry.answer.values.empty();
  entry.fresh_until = std::chrono::steady_clock::now() + (is_found ? kFound : kMissing);
}

}  // namespace slurmk8s
