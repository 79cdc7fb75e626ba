// SPDX-License-Identifier: GPL-2.0-or-later
// Logging: printf-style functions into one sink per process (Slurm's log in a plugin, stderr in a program).
#pragma once

#include <chrono>

namespace slurmk8s {

enum class LogLevel { error, warning, info, debug };

/** Takes one finished line without newline. Called from any thread; must only block on its file. */
using LogSink = void (*)(LogLevel level, const char* line);

/** Installs the sink and the highest level that reaches it. Call before the first thread starts. */
void log_init(LogSink sink, LogLevel level);

/** A sink that writes `<RFC 3339 time> <level> <line>` to stderr. */
void log_to_stderr(LogLevel level, const char* line);

/** Logs one line (cut at 2,000 bytes; control characters become spaces). Any thread; no-op before log_init(). */
void log_line(LogLevel level, const char* format, ...) __attribute__((format(printf, 2, 3)));

/**
 * Lets a repeated message through once per interval and counts the suppressed ones, so that an API server that
 * returns errors for an hour causes only a few lines. One object per call site; one thread.
 */
class LogLimiter {
 public:
  explicit LogLimiter(std::chrono::milliseconds interval) : interval_(interval) {}
  /** True: log this occurrence; `suppressed`: how many before it were not. */
  bool allow(std::chrono::steady_clock::time_point now, unsigned& suppressed);

 private:
  std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point next_{};
  unsigned suppressed_ = 0;
  bool first_ = true;
};

}  // namespace slurmk8s

// Macros, not functions: the compiler checks the format against its arguments at each call.
#define log_error(...) ::slurmk8s::log_line(::slurmk8s::LogLevel::error, __VA_ARGS__)
#define log_warning(...) ::slurmk8s::log_line(::slurmk8s::LogLevel::warning, __VA_ARGS__)
#define log_info(...) ::slurmk8s::log_line(::slurmk8s::LogLevel::info, __VA_ARGS__)
#define log_debug(...) ::slurmk8s::log_line(::slurmk8s::LogLevel::debug, __VA_ARGS__)
