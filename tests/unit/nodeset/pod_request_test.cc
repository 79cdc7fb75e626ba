// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/pod_request: what Kubernetes counts of a pod's CPUs and memory.
#include "nodeset/pod_request.hpp"

#include <limits>
#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void adds_requests_up(void**) {
  const struct {
    const char* spec;
    int cpu_milli;
    int mib;
  } cases[] = {
      {R"("containers": [])", 0, 0},
      {R"("containers": [{"resources": {"requests": {"cpu": "500m", "memory": "64Mi"}}},
                         {"resources": {"requests": {"cpu": 1}}}])",
       1500, 64},
      {R"("containers": [{"resources": {"requests": {"cpu": "1"}}}], "overhead": {"cpu": "250m"})", 1250, 0},
      {R"("containers": [{"resources": {"requests": {"cpu": "1"}}}],
          "initContainers": [{"resources": {"requests": {"cpu": "3"}}}])",
       3000, 0},
      {R"("containers": [{"resources": {"requests": {"cpu": "1"}}}],
          "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
                             {"resources": {"requests": {"cpu": "3"}}}])",
       4000, 0},
      {R"("containers": [{"resources": {"requests": {"cpu": "4"}}}],
          "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}])",
       5000, 0},
      {R"("resources": {"requests": {"cpu": "2"}},
          "containers": [{"resources": {"requests": {"cpu": "1", "memory": "1Mi"}}}])",
       2000, 1},
  };
  for (const auto& [spec, cpu_milli, mib] : cases) {
    const Json pod = *Json::parse(std::string("{") + spec + "}");
    assert_int_equal(pod_request_milli(pod, "cpu"), cpu_milli);
    assert_int_equal(pod_request_milli(pod, "memory"), mib * INT64_C(1048576000));
  }
}

void is_bounded(void**) {
  const Json pod = *Json::parse(R"({"containers": [{"resources": {"requests": {"cpu": "9000000000000000"}}},
                                                   {"resources": {"requests": {"cpu": "9000000000000000"}}},
                                                   {"resources": {"requests": {"cpu": "much", "memory": -1}}}]})");
  assert_int_equal(pod_request_milli(pod, "cpu"), std::numeric_limits<std::int64_t>::max());
  assert_int_equal(pod_request_milli(pod, "memory"), 0);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(adds_requests_up),
      SLURMK8S_TEST(is_bounded),
  };
  return cmocka_run_group_tests_name("nodeset_pod_request", tests, nullptr, nullptr);
}
