// SPDX-License-Identifier: GPL-2.0-or-later
// engine/nodeset_store: whose a node is.
#include "engine/nodeset_store.hpp"

#include "base/strings.hpp"
#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

Json nodeset(const char* name, const char* mode = "OnDemand") {
  return *Json::parse(format(R"({"metadata":{"namespace":"slurm","name":"%s"},"spec":{"scalingMode":"%s",)"
                             R"("slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi"}}}}})",
                             name, mode));
}

/** "=NAME" of an owner, or the error. */
std::string owner_of(const NodeSetStore& store, const char* node) {
  const Owner owner = store.owner(node);
  return owner.ok() ? "=" + (*owner)->name : std::string(to_string(owner.error().code()));
}

void nodes_have_owners(void**) {
  NodeSetStore store("slurm");
  assert_true(store.set(nodeset("gpu")).ok());
  assert_true(store.set(nodeset("gpu-big")).ok());
  assert_true(store.set(nodeset("ds", "DaemonSet")).ok());
  assert_true(store.set(nodeset("ex", "External")).ok());
  assert_false(store.set(nodeset("bad", "Sometimes")).ok());
  const struct {
    const char* node;
    const char* owner;
    const char* name;
  } rows[] = {
      {"gpu-0", "=gpu", "gpu"},
      {"gpu-99", "=gpu", "gpu"},  // replicas don't count
      {"gpu-big-3", "=gpu-big", "gpu-big"},
      {"ds-m-1", "=ds", "ds"},     // of the Kubernetes node m-1
      {"ex-m1", "invalid", "ex"},  // it has no pod
      {"bad-0", "invalid", "bad"},
      {"gone-5", "not_found", "gone"},
      {"login", "not_found", "login"},
  };
  for (const auto& row : rows) {
    const std::string owner = owner_of(store, row.node);
    if (owner != row.owner || store.name_of(row.node) != row.name) {
      fail_msg("%s: %s of %s", row.node, owner.c_str(), store.name_of(row.node).c_str());
    }
  }
  assert_contains(store.owner("gone-5").error().message(), "no nodeset in namespace slurm owns node gone-5");
}

void the_last_object_counts(void**) {
  NodeSetStore store("slurm");
  store.set(nodeset("gpu", "Sometimes"));
  assert_text(owner_of(store, "gpu-0"), "invalid");
  store.set(nodeset("gpu"));
  assert_text(owner_of(store, "gpu-0"), "=gpu");
  store.remove("gpu");
  assert_text(owner_of(store, "gpu-0"), "not_found");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(nodes_have_owners),
      SLURMK8S_TEST(the_last_object_counts),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
