// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/spare_times: how many spare nodes a NodeSet has at a time.
#include "sidecar/spare_times.hpp"

#include <string>

#include "base/strings.hpp"
#include "sidecar/time_zones.hpp"
#include "support/cmocka.hpp"
#include "support/node_cluster.hpp"

namespace slurmk8s {
namespace {

constexpr std::time_t kMidnight = 1767225600;  // 2026-01-01T00:00:00Z

SpareSchedule window(const char* start, const char* duration, std::int64_t replicas, const char* zone = "UTC",
                     const char* variant = "") {
  return {*parse_cron_time(start), *parse_window(duration), zone, replicas, variant};
}

/** "COUNT, COUNT of VARIANT PROBLEM" of NodeSet c. */
std::string spares(std::int64_t base, const SpareSchedules& schedules, int hour) {
  NodeSet nodeset = nodeset_of("c", 8);
  if (base != 0) nodeset.spare_replicas = {{"", base}};
  nodeset.spare_schedules = schedules;
  Cluster cluster;
  cluster.nodeset(nodeset);
  const SpareCounts counts = count_spares(cluster.nodesets, kMidnight + hour * 3600, in_time_zone);
  if (!counts.contains("c")) return "none";
  return to_string(counts.at("c").replicas) + " " + counts.at("c").problem;
}

void counts_spares(void**) {
  const SpareSchedules two = {window("0 7 * * *", "3h", 4), window("0 9 * * *", "3h", 6)};
  const std::string nowhere =
      "spec.spareSchedules[0].timeZone: Invalid value: \"Europe/Nowhere\": no such file in /usr/share/zoneinfo";
  const struct {
    const char* title;
    std::int64_t base;
    SpareSchedules schedules;
    int hour;
    std::string expected;
  } cases[] = {
      {"without windows", 2, {}, 7, "none"},
      {"none is open", 2, two, 6, "2 "},
      {"one is open", 2, two, 7, "4 "},
      {"two are open", 2, two, 9, "6 "},
      {"the second one", 2, two, 11, "6 "},
      {"of a variant", 2, {window("0 7 * * *", "3h", 4, "UTC", "v1")}, 7, "2, 4 of v1 "},
      {"of a variant, closed", 2, {window("0 7 * * *", "3h", 4, "UTC", "v1")}, 6, "2 "},
      {"a window with fewer", 5, two, 7, "5 "},
      {"two with the same start", 0, {window("0 7 * * *", "1h", 3), window("0 7 * * *", "2h", 1)}, 7, "3 "},
      {"an unknown zone, and another window",
       1,
       {window("* * * * *", "1h", 9, "Europe/Nowhere"), window("0 7 * * *", "1h", 3)},
       7,
       "3 " + nowhere},
      {"unknown zones", 1, {2, window("* * * * *", "1h", 9, "Europe/Nowhere")}, 7, "1 " + nowhere},
  };
  for (const auto& c : cases) {
    print_message("%s\n", c.title);
    assert_text(spares(c.base, c.schedules, c.hour), c.expected);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(counts_spares)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
