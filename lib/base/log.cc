// SPDX-License-Identifier: GPL-2.0-or-later
// Logging: formats a line on the stack and hands it to the sink. Nothing here allocates: it also runs after bad_alloc.
#include "base/log.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <ctime>

namespace slurmk8s {

namespace {

constexpr std::size_t kMaxLine = 2000;

std::atomic<LogSink> installed_sink{nullptr};
std::atomic<LogLevel> highest_level{LogLevel::info};

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::error: return "error";
    case LogLevel::warning: return "warning";
    case LogLevel::info: return "info";
    case LogLevel::debug: return "debug";
  }
  return "error";
}

}  // namespace

void log_init(LogSink sink, LogLevel level) {
  highest_level = level;
  installed_sink = sink;
}

void log_to_stderr(LogLevel level, const char* line) {
  std::timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm utc{};
  ::gmtime_r(&now.tv_sec, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
  char text[kMaxLine + 80];
  const int size =
      std::snprintf(text, sizeof text, "%s.%06ldZ %s %s\n", stamp, now.tv_nsec / 1000, name_of(level), line);
  if (size <= 0) return;
  // One write, so that lines of several threads do not mix. Its failure cannot be reported.
  const auto length = static_cast<std::size_t>(size) < sizeof text ? static_cast<std::size_t>(size) : sizeof text - 1;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, length);
}

void log_line(LogLevel level, const char* format, ...) {
  const LogSink sink = installed_sink;
  if (sink == nullptr || level > highest_level.load()) return;
  char line[kMaxLine + 1];
  va_list arguments;
  va_start(arguments, format);
  const int size = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (size < 0) return;
  // A message may quote a server's text, which must not forge a line.
  for (char* c = line; *c != '\0'; ++c) {
    if (static_cast<unsigned char>(*c) < 0x20 || *c == 0x7f) *c = ' ';
  }
  sink(level, line);
}

bool LogLimiter::allow(std::chrono::steady_clock::time_point now, unsigned& suppressed) {
  if (!first_ && now < next_) {
    ++suppressed_;
    return false;
  }
  suppressed = suppressed_;
  suppressed_ = 0;
  first_ = false;
  next_ = now + interval_;
  return true;
}

}  // namespace slurmk8s
