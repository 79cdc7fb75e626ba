// SPDX-License-Identifier: GPL-2.0-or-later
// Locked<T>: data that can only be accessed with its mutex locked.
#pragma once

#include <mutex>
#include <utility>

namespace slurmk8s {

template <typename T>
class Locked {
 public:
  Locked() = default;
  explicit Locked(T value) : value_(std::move(value)) {}

  /** Holds the mutex during its lifetime; use it as a pointer. */
  class Guard {
   public:
    explicit Guard(Locked& owner) : lock_(owner.mutex_), value_(owner.value_) {}
    T& operator*() { return value_; }
    T* operator->() { return &value_; }
    /** For std::condition_variable::wait. */
    std::unique_lock<std::mutex>& raw() { return lock_; }

   private:
    std::unique_lock<std::mutex> lock_;
    T& value_;
  };

  Guard lock() { return Guard(*this); }

 private:
  std::mutex mutex_;
  T value_{};
};

}  // namespace slurmk8s
