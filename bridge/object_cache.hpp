// SPDX-License-Identifier: GPL-2.0-or-later
// ObjectCache: what is known of objects that the API server is asked for one by one. Same thread rules as kube::Client.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "kube/client.hpp"

namespace slurmk8s {

template <typename Key, typename Value>
class ObjectCache {
 public:
  /** Reads under way; further objects wait for these, first in first out. */
  static constexpr std::size_t kMaxReads = 16;
  /** An object is believed for so long: it can change, or another has its name by then. */
  static constexpr std::chrono::seconds kKeep{60};
  /** One that is absent, unreadable or unfinished is read again after this time; then after twice as long. */
  static constexpr std::chrono::seconds kRetry{5};

  struct Options {
    std::function<kube::ObjectRef(const Key& key)> locate;
    std::function<Value(const Key& key, const Json& object)> decode;
    std::function<bool(const Value& value)> is_finished;  ///< whether it is believed for kKeep
    std::chrono::seconds max_retry = kKeep;
    std::function<void(const Key& key)> changed;  ///< an answer has come, whatever it says
  };

  struct Answer {
    std::optional<Value> value;  ///< of the last read that found the object; empty after one that found none
    std::string absent;          ///< the API server's words for that; empty: it is there, or not known
    std::string error;           ///< of the last read; empty: it found the object, or none has ended
  };

  /** References must outlive it. */
  ObjectCache(kube::Reader& client, const Clock& clock, Options options)
      : client_(client), clock_(clock), options_(std::move(options)) {}
  ~ObjectCache() {
    for (const auto& [key, entry] : entries_) {
      if (entry.request != 0) client_.cancel(entry.request);
    }
  }
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;

  /** What is known, which may be nothing; asks when it is time to. The reference is valid until prune(). */
  const Answer& find(const Key& key) {
    Entry& entry = entries_[key];
    entry.asked = clock_.now();
    const bool is_due = entry.asked >= entry.next && entry.request == 0;
    if (is_due && !std::exchange(entry.is_queued, true)) queue_.push_back(key);
    read_next();
    return entry.answer;
  }

  /** Nothing is known any more: the next find() asks. */
  void forget(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    found->second.answer = {};
    found->second.failures = 0;
    found->second.next = {};
  }

  bool contains(const Key& key) const { return entries_.contains(key); }

  /** Forgets objects without a find() for kKeep. */
  void prune() {
    std::erase_if(entries_, [&](const auto& one) {
      const Entry& entry = one.second;
      return entry.request == 0 && !entry.is_queued && clock_.now() >= entry.asked + kKeep;
    });
  }

 private:
  struct Entry {
    http::RequestId request = 0;
    bool is_queued = false;  // in queue_
    Answer answer;
    unsigned failures = 0;  // reads in a row that found nothing finished
    TimePoint next{};       // when it is read again
    TimePoint asked{};      // by find()
  };

  void read_next() {
    while (reading_ < kMaxReads && !queue_.empty()) {
      const Key key = std::move(queue_.front());
      queue_.pop_front();
      read(key);
    }
  }

  void read(const Key& key) {
    ++reading_;
    Entry& entry = entries_[key];
    entry.is_queued = false;
    entry.request = client_.get(options_.locate(key), [this, key](const Result<Json>& object) {
      --reading_;
      take(key, object);
      read_next();
      options_.changed(key);
    });
  }

  /** A failed read says nothing of the object: what was known of it stays. That it isn't there is an answer. */
  void take(const Key& key, const Result<Json>& object) {
    Entry& entry = entries_[key];
    entry.request = 0;
    entry.answer.error = object ? "" : object.error().message();
    if (object) entry.answer = {.value = options_.decode(key, *object), .absent = {}, .error = {}};
    if (!object && object.error().code() == Errc::not_found) {
      entry.answer.value.reset();
      entry.answer.absent = entry.answer.error;
    }
    const bool is_finished = object && options_.is_finished(*entry.answer.value);
    entry.failures = is_finished ? 0 : entry.failures + 1;
    std::chrono::seconds wait = kKeep;
    if (!is_finished) wait = std::min(options_.max_retry, kRetry * (1U << std::min(entry.failures - 1, 4U)));
    const std::optional<std::chrono::seconds> wanted = object ? std::nullopt : object.error().retry_after();
    entry.next = clock_.now() + std::min(kKeep, std::max(wait, wanted.value_or(std::chrono::seconds(0))));
  }

  kube::Reader& client_;
  const Clock& clock_;
  const Options options_;
  std::map<Key, Entry> entries_;
  std::deque<Key> queue_;
  std::size_t reading_ = 0;
};

}  // namespace slurmk8s
