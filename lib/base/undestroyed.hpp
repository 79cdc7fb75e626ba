// SPDX-License-Identifier: GPL-2.0-or-later
// Undestroyed<T>: a global object whose destructor never runs.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

namespace slurmk8s {

/**
 * For each global of a library in a host process. exit() runs the destructors of globals while the process's other
 * threads go on: slurmctld's fatal() calls it with Slurm's locks held, and a destructor that waits for a thread which
 * waits for such a lock would never return. The object is not on the heap, so that nothing is left when the library is
 * unloaded; whoever unloads it ends its threads before (fini()). Any thread, as far as T allows it.
 */
template <typename T>
class Undestroyed {
 public:
  template <typename... Arguments>
  explicit Undestroyed(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    new (place_) T(std::forward<Arguments>(arguments)...);
  }
  ~Undestroyed() = default;
  Undestroyed(const Undestroyed&) = delete;
  Undestroyed& operator=(const Undestroyed&) = delete;

  T& operator*() { return *std::launder(reinterpret_cast<T*>(place_)); }
  T* operator->() { return &**this; }

 private:
  alignas(T) unsigned char place_[sizeof(T)];
};

}  // namespace slurmk8s
