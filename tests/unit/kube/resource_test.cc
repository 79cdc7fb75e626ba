// SPDX-License-Identifier: GPL-2.0-or-later
// kube/resource: paths and escaping.
#include "kube/resource.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s::kube {
namespace {

void paths(void**) {
  const struct {
    Resource resource;
    const char* name_space;
    const char* name;
    const char* subresource;
    const char* expected;
  } cases[] = {
      {kPods, "slurm", "", "", "/api/v1/namespaces/slurm/pods"},
      {kPods, "slurm", "compute-0", "", "/api/v1/namespaces/slurm/pods/compute-0"},
      {kPods, "slurm", "compute-0", "status", "/api/v1/namespaces/slurm/pods/compute-0/status"},
      {kPods, "", "", "", "/api/v1/pods"},
      {kNodeSets, "a", "b", "status", "/apis/slurm-k8s.io/v1alpha1/namespaces/a/nodesets/b/status"},
      {kEvents, "a", "", "", "/apis/events.k8s.io/v1/namespaces/a/events"},
      {kPods, "a/b", "../x?y=z#%", "", "/api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy%3Dz%23%25"},
  };
  for (const auto& c : cases) {
    assert_text(resource_path(c.resource, c.name_space, c.name, c.subresource), c.expected);
  }
}

void escapes(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"", ""},
      {"azAZ09-._~", "azAZ09-._~"},
      {"a=b,c in (d,e)", "a%3Db%2Cc%20in%20%28d%2Ce%29"},
      {"\xc3\xa4\x7f\x01+/", "%C3%A4%7F%01%2B%2F"},
  };
  for (const auto& c : cases) assert_text(escape(c.text), c.expected);
}

}  // namespace
}  // namespace slurmk8s::kube

int main() {
  using namespace slurmk8s::kube;
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(paths), SLURMK8S_TEST(escapes)};
  return cmocka_run_group_tests_name("kube_resource", tests, nullptr, nullptr);
}
