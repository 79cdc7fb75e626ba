// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/cron_time, nodeset/spare_schedule, sidecar/time_zones: which moments are in a window, in which zone.
#include "nodeset/cron_time.hpp"

#include <chrono>
#include <cstdlib>
#include <string>

#include "base/rfc3339.hpp"
#include "nodeset/spare_schedule.hpp"
#include "sidecar/time_zones.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

std::time_t moment(const std::string& utc) {
  return std::chrono::system_clock::to_time_t(*parse_rfc3339(utc + ":00Z"));
}

/** "open", "closed", or the error. */
std::string state(const char* start, const char* duration, const char* zone, const char* utc) {
  const auto cron = parse_cron_time(start);
  if (!cron) return cron.error().message();
  bool open = false;
  const Status known = in_time_zone(zone, [&](const LocalTime& local) {
    open = is_open({*cron, *parse_window(duration), zone, 1}, local, moment(utc));
  });
  if (!known) return known.error().message();
  return open ? "open" : "closed";
}

struct Case {
  const char* title;
  const char* start;
  const char* duration;
  const char* zone;
  const char* utc;
  const char* expected;
};

void check(const Case& c) {
  print_message("%s: %s for %s, %s\n", c.title, c.start, c.duration, c.utc);
  assert_text(state(c.start, c.duration, c.zone, c.utc), c.expected);
}

// 2026-11-25 is a Wednesday.
void windows(void**) {
  const Case cases[] = {
      {"at its start", "0 7 * * *", "3h", "UTC", "2026-11-25T07:00", "open"},
      {"a minute before", "0 7 * * *", "3h", "UTC", "2026-11-25T06:59", "closed"},
      {"its last minute", "0 7 * * *", "3h", "UTC", "2026-11-25T09:59", "open"},
      {"at its end", "0 7 * * *", "3h", "UTC", "2026-11-25T10:00", "closed"},
      {"within a quarter", "7 7 * * *", "1m", "UTC", "2026-11-25T07:07", "open"},
      {"within a quarter, over", "7 7 * * *", "1m", "UTC", "2026-11-25T07:08", "closed"},
      {"over midnight", "30 22 * * 2", "3h", "UTC", "2026-11-25T01:29", "open"},
      {"over midnight, over", "30 22 * * 2", "3h", "UTC", "2026-11-25T01:30", "closed"},
      {"a week", "0 0 * * 3", "168h", "UTC", "2026-12-01T23:59", "open"},
      {"always", "* * * * *", "1m", "UTC", "2026-11-25T13:37", "open"},
      {"weekdays", "0 7 * * 1-5", "3h", "UTC", "2026-11-27T08:00", "open"},
      {"weekdays: Saturday", "0 7 * * 1-5", "3h", "UTC", "2026-11-28T08:00", "closed"},
      {"names", "0 7 * NOV mon-Fri", "3h", "UTC", "2026-11-25T08:00", "open"},
      {"names of another month", "0 7 * dec *", "3h", "UTC", "2026-11-25T08:00", "closed"},
      {"7 is Sunday", "0 7 * * 7", "3h", "UTC", "2026-11-29T08:00", "open"},
      {"0 is Sunday", "0 7 * * 0", "3h", "UTC", "2026-11-29T08:00", "open"},
      {"to Sunday", "0 7 * * 6-7", "3h", "UTC", "2026-11-29T08:00", "open"},
      {"a day of the month", "0 7 25 * *", "3h", "UTC", "2026-11-25T08:00", "open"},
      {"another day of the month", "0 7 24 * *", "3h", "UTC", "2026-11-25T08:00", "closed"},
      {"the 31st", "0 7 31 * *", "3h", "UTC", "2026-12-01T08:00", "closed"},
      {"29 February", "0 7 29 2 *", "3h", "UTC", "2028-02-29T08:00", "open"},
      {"29 February, not there", "0 7 29 2 *", "3h", "UTC", "2027-03-01T08:00", "closed"},
      {"a day of the month or of the week", "0 7 1 * 3", "3h", "UTC", "2026-11-25T08:00", "open"},
      {"the other one", "0 7 25 * 1", "3h", "UTC", "2026-11-25T08:00", "open"},
      {"neither", "0 7 1 * 1", "3h", "UTC", "2026-11-25T08:00", "closed"},
      {"a step is a restriction", "0 7 */2 * 1", "3h", "UTC", "2026-11-25T08:00", "open"},
      {"a list", "0 7,12 * * *", "1h", "UTC", "2026-11-25T12:30", "open"},
      {"a list, between", "0 7,12 * * *", "1h", "UTC", "2026-11-25T11:30", "closed"},
      {"a step", "*/20 * * * *", "5m", "UTC", "2026-11-25T11:44", "open"},
      {"a step, between", "*/20 * * * *", "5m", "UTC", "2026-11-25T11:45", "closed"},
      {"a step in a range", "0 8-18/5 * * *", "1h", "UTC", "2026-11-25T13:30", "open"},
      {"a step from a number on", "0 8/5 * * *", "1h", "UTC", "2026-11-25T23:30", "open"},
      {"a large step", "0 8/100 * * *", "1h", "UTC", "2026-11-25T23:30", "closed"},
      {"blanks", "  0  7 * *   * ", "3h", "UTC", "2026-11-25T08:00", "open"},
  };
  for (const Case& c : cases) check(c);
}

// In Europe the clocks of 2026 change on 29 March and 25 October at 01:00 UTC.
void time_zones(void**) {
  const char* berlin = "Europe/Berlin";
  const Case cases[] = {
      {"winter", "0 7 * * *", "1h", berlin, "2026-11-25T06:00", "open"},
      {"winter, before", "0 7 * * *", "1h", berlin, "2026-11-25T05:59", "closed"},
      {"summer", "0 7 * * *", "1h", berlin, "2026-07-01T05:00", "open"},
      {"summer, over", "0 7 * * *", "1h", berlin, "2026-07-01T06:00", "closed"},
      {"another day there", "0 1 * * 4", "1h", berlin, "2026-11-26T00:30", "open"},
      {"half an hour", "0 7 * * *", "1h", "Asia/Kolkata", "2026-11-25T01:30", "open"},
      {"half an hour, before", "0 7 * * *", "1h", "Asia/Kolkata", "2026-11-25T01:29", "closed"},
      {"three quarters", "0 7 * * *", "1h", "Asia/Kathmandu", "2026-11-25T01:15", "open"},
      {"the clocks go forward within: an hour of time", "30 1 * * *", "1h", berlin, "2026-03-29T01:29", "open"},
      {"the clocks go forward within: over", "30 1 * * *", "1h", berlin, "2026-03-29T01:30", "closed"},
      {"the start is skipped", "30 2 * * *", "1h", berlin, "2026-03-29T01:15", "closed"},
      {"the start is skipped, later", "30 2 * * *", "3h", berlin, "2026-03-29T01:45", "closed"},
      {"the day after", "30 2 * * *", "1h", berlin, "2026-03-30T00:30", "open"},
      {"the start comes twice: first", "30 2 * * *", "10m", berlin, "2026-10-25T00:35", "open"},
      {"the start comes twice: between", "30 2 * * *", "10m", berlin, "2026-10-25T00:45", "closed"},
      {"the start comes twice: again", "30 2 * * *", "10m", berlin, "2026-10-25T01:35", "open"},
      {"half an hour of summer: the last quarter before", "50 1 * * *", "5m", "Australia/Lord_Howe", "2026-10-03T15:22",
       "open"},
      {"half an hour of summer: skipped", "15 2 * * *", "5m", "Australia/Lord_Howe", "2026-10-03T15:46", "closed"},
      {"half an hour of summer: after", "35 2 * * *", "5m", "Australia/Lord_Howe", "2026-10-03T15:37", "open"},
      {"no such zone", "0 7 * * *", "1h", "Europe/Nowhere", "2026-11-25T06:00", "no such file in /usr/share/zoneinfo"},
      {"UTC needs no file", "0 7 * * *", "1h", "Etc/UTC", "2026-11-25T07:00", "open"},
  };
  for (const Case& c : cases) check(c);
}

void the_process_keeps_its_zone(void**) {
  ::setenv("TZ", "America/New_York", 1);
  ::tzset();
  std::tm there{};
  assert_ok(in_time_zone("Asia/Kolkata", [&](const LocalTime& local) { there = local(moment("2026-11-25T12:00")); }));
  assert_int_equal(there.tm_hour * 60 + there.tm_min, 17 * 60 + 30);
  const std::time_t now = moment("2026-11-25T12:00");
  std::tm here{};
  ::localtime_r(&now, &here);
  assert_int_equal(here.tm_hour, 7);
  assert_text(std::getenv("TZ"), "America/New_York");
  prepare_time_zones();
  assert_text(std::getenv("TZ"), "America/New_York");
  ::unsetenv("TZ");
  prepare_time_zones();
  assert_text(std::getenv("TZ"), ":/etc/localtime");
}

void refuses_times(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"", "must be minute, hour"},       {"0 7 * *", "must be minute, hour"},  {"0 7 * * * *", "must be minute, hour"},
      {"60 7 * * *", "minute must be"},   {"-1 7 * * *", "minute must be"},     {"0 24 * * *", "hour must be"},
      {"0 7 0 * *", "day of the month "}, {"0 7 32 * *", "day of the month "},  {"0 7 * 13 *", "month must be"},
      {"0 7 * * 8", "day of the week "},  {"0 7 * * Wedn", "day of the week "}, {"0 7 * * 5-1", "day of the week "},
      {"0 mon * * *", "hour must be"},    {"*/0 7 * * *", "minute must be"},    {"*/x 7 * * *", "minute must be"},
      {"1, 7 * * *", "minute must be"},   {"1-2-3 7 * * *", "minute must be"},  {"1/2/3 7 * * *", "minute must be"},
      {"1- 7 * * *", "minute must be"},   {"TZ=UTC 7 * * *", "minute must be"},
  };
  for (const auto& c : cases) {
    print_message("%s\n", c.text);
    assert_error(parse_cron_time(c.text), Errc::invalid, c.expected);
  }
}

void durations(void**) {
  const struct {
    const char* text;
    int minutes;  ///< 0: refused
  } cases[] = {{"3h", 180}, {"90m", 90},  {"1h30m", 90}, {"1m", 1},  {"168h", 10080}, {"10080m", 10080}, {"0h", 0},
               {"", 0},     {"3", 0},     {"h", 0},      {"3 h", 0}, {"3h ", 0},      {"1.5h", 0},       {"-1h", 0},
               {"30s", 0},  {"30m1h", 0}, {"168h1m", 0}, {"1d", 0},  {"+1h", 0},      {"999999m", 0},    {"1h1h", 0}};
  for (const auto& c : cases) {
    print_message("%s\n", c.text);
    const auto window = parse_window(c.text);
    assert_int_equal(window ? window->count() : 0, c.minutes);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(windows),       SLURMK8S_TEST(time_zones), SLURMK8S_TEST(the_process_keeps_its_zone),
      SLURMK8S_TEST(refuses_times), SLURMK8S_TEST(durations),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
