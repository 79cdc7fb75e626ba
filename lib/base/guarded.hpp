// SPDX-License-Identifier: GPL-2.0-or-later
// guarded(): the boundary where exceptions stop. Every extern "C" function, C callback and thread main uses it.
#pragma once

#include <exception>
#include <new>

namespace slurmk8s {

/** Logs `what` for the boundary `where` without allocating. Any thread. */
void log_escaped_exception(const char* where, const char* what) noexcept;

/** Runs `fn`; an exception (bad_alloc, for example) becomes a log line and `fallback`. */
template <typename T, typename Fn>
T guarded(const char* where, T fallback, Fn&& fn) noexcept {
  try {
    return fn();
  } catch (const std::exception& e) {
    log_escaped_exception(where, e.what());
  } catch (...) {
    log_escaped_exception(where, "unknown exception");
  }
  return fallback;
}

/** The same for a function without a result. */
template <typename Fn>
void guarded_void(const char* where, Fn&& fn) noexcept {
  guarded(where, 0, [&] {
    fn();
    return 0;
  });
}

}  // namespace slurmk8s
