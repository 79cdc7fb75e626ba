// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 3339: times of Kubernetes' objects.
#include "base/rfc3339.hpp"

#include <cstdint>
#include <ctime>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

using std::chrono::system_clock;

/** Takes exactly `digits` digits off the front of `text`; -1 when there are fewer. */
int take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return -1;
  int value = 0;
  for (char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

bool is_date(int year, int month, int day) {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

/** Reads ".123456" into a duration (digits after the ninth are dropped); false when malformed. */
bool take_fraction(std::string_view& text, std::chrono::nanoseconds& fraction) {
  fraction = std::chrono::nanoseconds(0);
  if (!take(text, '.')) return true;
  std::int64_t value = 0;
  int digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++digits) {
    if (digits < 9) value = value * 10 + (text.front() - '0');
  }
  if (digits == 0) return false;
  for (int i = digits; i < 9; ++i) value *= 10;
  fraction = std::chrono::nanoseconds(value);
  return true;
}

}  // namespace

std::string rfc3339(system_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time - seconds);
  const std::time_t unix_time = seconds.time_since_epoch().count();
  std::tm utc{};
  ::gmtime_r(&unix_time, &utc);
  return format("%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
                utc.tm_min, utc.tm_sec, static_cast<int>(micros.count()));
}

std::optional<system_clock::time_point> parse_rfc3339(std::string_view text) {
  const int year = take_digits(text, 4);
  const int month = take(text, '-') ? take_digits(text, 2) : -1;
  const int day = take(text, '-') ? take_digits(text, 2) : -1;
  const int hour = take(text, 'T') ? take_digits(text, 2) : -1;
  const int minute = take(text, ':') ? take_digits(text, 2) : -1;
  const int second = take(text, ':') ? take_digits(text, 2) : -1;
  std::chrono::nanoseconds fraction{};
  if (!take_fraction(text, fraction) || text != "Z") return std::nullopt;
  if (!is_date(year, month, day)) return std::nullopt;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return std::nullopt;

  std::tm utc{};
  utc.tm_year = year - 1900;
  utc.tm_mon = month - 1;
  utc.tm_mday = day;
  utc.tm_hour = hour;
  utc.tm_min = minute;
  utc.tm_sec = second;
  // A 64-bit count of nanoseconds ends in 2262 and begins in 1677.
  const std::time_t unix_time = ::timegm(&utc);
  if (unix_time > 9'223'372'035 || unix_time < -9'223'372'035) return std::nullopt;
  return system_clock::time_point(
      std::chrono::duration_cast<system_clock::duration>(std::chrono::seconds(unix_time) + fraction));
}

}  // namespace slurmk8s
