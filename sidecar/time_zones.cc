// SPDX-License-Identifier: GPL-2.0-or-later
// Changes TZ for a while.
#include "sidecar/time_zones.hpp"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <mutex>

namespace slurmk8s {
namespace {

constexpr const char* kVariable = "TZ";
constexpr const char* kDefault = ":/etc/localtime";

/** The zone of the process until it goes. */
class ZoneSwitch {
 public:
  explicit ZoneSwitch(const std::string& zone) : lock_(mutex()) {
    const char* before = std::getenv(kVariable);
    before_ = before ? before : kDefault;
    set(":" + zone);
  }
  ~ZoneSwitch() { set(before_); }
  ZoneSwitch(const ZoneSwitch&) = delete;
  ZoneSwitch& operator=(const ZoneSwitch&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static void set(const std::string& value) {
    ::setenv(kVariable, value.c_str(), 1);
    ::tzset();
  }

  const std::lock_guard<std::mutex> lock_;
  std::string before_;
};

std::tm utc_time(std::time_t moment) {
  std::tm time{};
  ::gmtime_r(&moment, &time);
  return time;
}

std::tm process_time(std::time_t moment) {
  std::tm time{};
  ::localtime_r(&moment, &time);
  return time;
}

std::string zone_folder() {
  const char* folder = std::getenv("TZDIR");
  return folder ? folder : "/usr/share/zoneinfo";
}

}  // namespace

void prepare_time_zones() { ::setenv(kVariable, kDefault, 0); }

Status in_time_zone(const std::string& zone, const std::function<void(const LocalTime&)>& fn) {
  if (zone == "UTC" || zone == "Etc/UTC") {
    fn(utc_time);
    return {};
  }
  const std::string folder = zone_folder();
  // The C library takes an unknown zone for UTC.
  if (::access((folder + "/" + zone).c_str(), R_OK) != 0) return Error(Errc::not_found, "no such file in " + folder);
  const ZoneSwitch in_zone(zone);
  fn(process_time);
  return {};
}

}  // namespace slurmk8s
