// SPDX-License-Identifier: GPL-2.0-or-later
// Fields of cron.
#include "nodeset/cron_time.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

/** What one field may have. */
struct Field {
  const char* name;
  std::int64_t min;
  std::int64_t max;
  const std::string_view* names = nullptr;  ///< of `min` and those after it
  std::size_t name_count = 0;
};

constexpr std::array<Field, 5> kFields = {{{"minute", 0, 59},
                                           {"hour", 0, 23},
                                           {"day of the month", 1, 31},
                                           {"month", 1, 12, kMonths.data(), kMonths.size()},
                                           {"day of the week", 0, 7, kWeekdays.data(), kWeekdays.size()}}};

using Numbers = std::bitset<64>;

std::optional<std::int64_t> parse_value(const Field& field, std::string_view text) {
  const std::string lower = to_lower(text);
  const std::string_view* end = field.names + field.name_count;
  const std::string_view* found = std::find(field.names, end, std::string_view(lower));
  if (found != end) return field.min + (found - field.names);
  const auto number = parse_int(text);
  return number && *number >= field.min && *number <= field.max ? number : std::nullopt;
}

/** "*", "3", "3-7", each with "/2" or not. "3/2" goes to the end. False: it is none. */
bool add_range(const Field& field, std::string_view text, Numbers& numbers) {
  const auto parts = split(text, '/');
  const auto step = parts.size() == 2 ? parse_int(parts[1]) : std::optional<std::int64_t>(1);
  if (parts.size() > 2 || !step || *step < 1) return false;
  std::optional<std::int64_t> first = field.min;
  std::optional<std::int64_t> last = field.max;
  if (parts[0] != "*") {
    const auto ends = split(parts[0], '-');
    first = parse_value(field, ends[0]);
    if (ends.size() == 2) last = parse_value(field, ends[1]);
    if (ends.size() == 1 && parts.size() == 1) last = first;
    if (ends.size() > 2 || !first || !last || *first > *last) return false;
  }
  // A step above the largest number gives the first one alone, and overflows nothing.
  const std::int64_t width = std::min<std::int64_t>(*step, field.max + 1);
  for (std::int64_t number = *first; number <= *last; number += width) numbers.set(static_cast<std::size_t>(number));
  return true;
}

Result<Numbers> parse_field(const Field& field, std::string_view text) {
  Numbers numbers;
  for (const std::string_view part : split(text, ',')) {
    if (add_range(field, part, numbers)) continue;
    return Error(Errc::invalid,
                 format("%s must be *, %lld to %lld, a range such as 1-5, one of these with a step such "
                        "as */2, or a list of these",
                        field.name, static_cast<long long>(field.min), static_cast<long long>(field.max)));
  }
  return numbers;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

template <std::size_t Size>
std::bitset<Size> to_bits(const Numbers& numbers) {
  std::bitset<Size> bits;
  for (std::size_t i = 0; i < Size; ++i) bits.set(i, numbers.test(i));
  return bits;
}

bool has_hour(const CronTime& cron, const std::tm& time) {
  const bool day = cron.days.test(static_cast<std::size_t>(time.tm_mday));
  const bool weekday = cron.weekdays.test(static_cast<std::size_t>(time.tm_wday));
  return cron.months.test(static_cast<std::size_t>(time.tm_mon) + 1) &&
         cron.hours.test(static_cast<std::size_t>(time.tm_hour)) && (cron.either_day ? day || weekday : day && weekday);
}

}  // namespace

Result<CronTime> parse_cron_time(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() != kFields.size()) {
    return Error(Errc::invalid,
                 "must be minute, hour, day of the month, month and day of the week, such as 0 7 * * 1-5");
  }
  std::array<Numbers, kFields.size()> numbers;
  for (std::size_t i = 0; i < words.size(); ++i) numbers[i] = SLURMK8S_TRY(parse_field(kFields[i], words[i]));
  if (numbers[4].test(7)) numbers[4].set(0);
  const auto is_restricted = [&](std::size_t field) {
    const auto parts = split(words[field], ',');
    return std::find(parts.begin(), parts.end(), "*") == parts.end();
  };
  return CronTime{to_bits<60>(numbers[0]), to_bits<24>(numbers[1]), to_bits<32>(numbers[2]),
                  to_bits<13>(numbers[3]), to_bits<7>(numbers[4]),  is_restricted(2) && is_restricted(4)};
}

// Clocks change at full quarters of UTC, by quarters: within one the local hour is the same.
std::optional<std::time_t> last_time(const CronTime& cron, const LocalTime& local, std::time_t earliest,
                                     std::time_t now) {
  constexpr std::time_t kMinute = 60;
  constexpr std::time_t kQuarter = 15 * kMinute;
  for (std::time_t quarter = now - now % kQuarter; quarter + kQuarter > earliest; quarter -= kQuarter) {
    const std::tm time = local(quarter);
    if (!has_hour(cron, time)) continue;
    for (std::time_t moment = quarter + kQuarter - kMinute; moment >= quarter; moment -= kMinute) {
      const auto minute = static_cast<std::size_t>(time.tm_min + (moment - quarter) / kMinute);
      if (moment >= earliest && moment <= now && minute < 60 && cron.minutes.test(minute)) return moment;
    }
  }
  return std::nullopt;
}

}  // namespace slurmk8s
