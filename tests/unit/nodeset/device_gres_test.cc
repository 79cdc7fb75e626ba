// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/device_gres: GPUs in limits as Gres.
#include "nodeset/device_gres.hpp"

#include "nodeset/gres.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using Limits = std::map<std::string, std::int64_t>;

void limits_become_gres(void**) {
  const struct {
    Limits limits;
    DeviceGresOptions options;
    const char* expected;
  } cases[] = {
      {{}, {}, ""},
      {{{"cpu", 4000}, {"memory", 1 << 30}, {"rdma/hca", 1000}, {"example.com/gpu", 1000}}, {}, ""},
      {{{"nvidia.com/gpu", 0}}, {}, ""},
      {{{"nvidia.com/gpu", 8000}}, {}, "gpu:8"},
      {{{"amd.com/gpu", 1000}}, {}, "gpu:1"},
      {{{"gpu.intel.com/i915", 1000}, {"gpu.intel.com/xe", 2000}}, {}, "gpu:3"},
      {{{"nvidia.com/gpu", 2000}, {"rdma/hca", 1000}}, {"a100", ""}, "gpu:a100:2"},
      {{{"habana.ai/gaudi", 8000}}, {"", "habana.ai/gaudi"}, "gpu:8"},
      {{{"nvidia.com/gpu.shared", 4000}}, {"t4", "nvidia.com/gpu.shared"}, "gpu:t4:4"},
      {{{"nvidia.com/mig-1g.10gb", 2000}}, {}, "gpu:1g.10gb:2"},
      {{{"nvidia.com/mig-1g.10gb", 2000}, {"nvidia.com/mig-3g.40gb", 1000}},
       {"a100", ""},
       "gpu:1g.10gb:2,gpu:3g.40gb:1"},
      {{{"nvidia.com/mig-1g.10gb", 2000}, {"nvidia.com/gpu", 1000}}, {"a100", ""}, "gpu:1g.10gb:2,gpu:a100:1"},
      {{{"nvidia.com/gpu", 256000}}, {}, "gpu:256"},
      {{{"cpu", 4000}}, {"", "", 2}, "gpu:2"},
      {{{"nvidia.com/gpu", 1000}}, {"a100", "", 2}, "gpu:a100:3"},
      {{{"nvidia.com/mig-1g.10gb", 2000}}, {"a100", "", 1}, "gpu:1g.10gb:2,gpu:a100:1"},
  };
  for (const auto& c : cases) {
    const auto gres = device_gres(c.limits, c.options);
    assert_true(gres.ok());
    assert_text(*gres, c.expected);
    if (!gres->empty() && !check_gres(*gres).ok()) fail_msg("%s: refused", gres->c_str());
  }
}

void refuses_limits(void**) {
  const struct {
    Limits limits;
    const char* message;
  } cases[] = {
      {{{"nvidia.com/gpu", 1500}}, "nvidia.com/gpu: must be an integer"},
      {{{"nvidia.com/gpu", 257000}}, "a node has at most 256 GPUs"},
      {{{"nvidia.com/mig-1g.10gb", 2000}, {"nvidia.com/gpu", 1000}},
       "whole GPUs beside MIG devices need spec.gresType"},
  };
  for (const auto& c : cases) {
    const auto gres = device_gres(c.limits, {});
    assert_false(gres.ok());
    assert_int_equal(gres.error().code(), Errc::invalid);
    assert_contains(gres.error().message(), c.message);
  }
}

void knows_types(void**) {
  for (const std::string& type : {std::string("a100"), std::string("A100-SXM4_80.x"), std::string(63, 'a')}) {
    if (!is_gres_type(type)) fail_msg("%s: refused", type.c_str());
  }
  // A digit at the beginning would be a count in --gres=gpu:TYPE.
  for (const std::string& type : {std::string(), std::string("4090"), std::string("a:1"), std::string("a,b"),
                                  std::string("a b"), std::string("-a"), std::string(64, 'a')}) {
    if (is_gres_type(type)) fail_msg("%s: accepted", type.c_str());
  }
}

void knows_resources(void**) {
  assert_true(is_resource_name("example.com/gpu"));
  assert_true(is_resource_name("nvidia.com/gpu.shared_4-x"));
  for (const std::string& name : {std::string(), std::string("gpu"), std::string("/gpu"), std::string("a.b/"),
                                  std::string("a/b/c"), std::string("a b/c"), std::string(250, 'a') + "/gpu"}) {
    if (is_resource_name(name)) fail_msg("%s: accepted", name.c_str());
  }
}

void adds_to_the_definition(void**) {
  const struct {
    const char* extra_conf;
    const char* expected;
  } cases[] = {
      {"", "Gres=gpu:2"},
      {"Weight=10", "Weight=10 Gres=gpu:2"},
      {"Gres=foo:1 Weight=10", "Gres=foo:1,gpu:2 Weight=10"},
      {"gres=foo:1", "gres=foo:1,gpu:2"},
  };
  for (const auto& c : cases) assert_text(with_gres(c.extra_conf, "gpu:2"), c.expected);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(adds_to_the_definition), SLURMK8S_TEST(knows_resources), SLURMK8S_TEST(knows_types),
      SLURMK8S_TEST(limits_become_gres),     SLURMK8S_TEST(refuses_limits),
  };
  return cmocka_run_group_tests_name("nodeset_device_gres", tests, nullptr, nullptr);
}
