// SPDX-License-Identifier: GPL-2.0-or-later
// VariantStore: what is known from the file, from the engine, and of another slurmctld's file.
#include "engine/variant_store.hpp"

#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kFile = "slurm-k8s-variants.json";
constexpr const char* kV1 = R"({"nodesets":{"gpu":{"features":["gpu"],"variants":{"v1":{}}}}})";
constexpr const char* kOther = R"({"nodesets":{"cpu":{"features":["cpu"],"variants":{"other":{}}}}})";

VariantCatalog catalog(const char* text) { return *VariantCatalog::decode(*Json::parse(text)); }

/** Only refresh() reads the file: slurmctld asks for the index under its locks. */
void a_stand_by_follows_the_file(void**) {
  const TemporaryFolder folder;
  folder.write(kFile, kV1);
  VariantStore store;
  assert_false(store.index()->is_variant("v1"));
  store.open(folder.path());
  assert_true(store.index()->is_variant("v1"));
  folder.write(kFile, kOther);
  assert_false(store.index()->is_variant("other"));
  store.refresh();
  assert_true(store.index()->is_variant("other"));
  folder.write(kFile, "no JSON");
  store.refresh();
  assert_true(store.index()->is_variant("other"));  // what was known stays
  store.close();
  assert_false(store.index()->is_variant("other"));
}

/** In control, the engine is the one that knows, and writes the file. */
void the_engine_is_believed(void**) {
  const TemporaryFolder folder;
  VariantStore store;
  store.open(folder.path());
  const VariantCatalog v1 = catalog(kV1);
  store.publish(&v1);
  folder.write(kFile, kOther);
  store.refresh();
  assert_true(store.index()->is_variant("v1"));
  store.publish(nullptr);  // control is lost: another slurmctld has written the file since
  store.refresh();
  assert_true(store.index()->is_variant("other"));
  store.publish(&v1);
  VariantStore other;
  other.open(folder.path());
  assert_true(other.index()->is_variant("v1"));
}

void a_file_that_is_not_saved_is_said(void**) {
  const VariantCatalog v1 = catalog(kV1);
  VariantStore store;
  std::string path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    store.open(path);
    assert_true(store.publish(&v1));
  }
  assert_false(store.publish(&v1));  // its folder is gone
  assert_true(store.index()->is_variant("v1"));
  assert_true(store.publish(nullptr));
}

/** Also those that another slurmctld has found since. */
void ids_of_users_are_stored(void**) {
  const TemporaryFolder folder;
  VariantStore store;
  assert_true(store.stored_ids().empty());
  store.open(folder.path());
  assert_true(store.stored_ids().empty());
  VariantCatalog known = catalog(kV1);
  known.uids["alice"] = 1001;
  VariantStore other;
  other.open(folder.path());
  other.publish(&known);
  assert_int_equal(store.stored_ids().at("alice"), 1001);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_stand_by_follows_the_file),
      SLURMK8S_TEST(the_engine_is_believed),
      SLURMK8S_TEST(a_file_that_is_not_saved_is_said),
      SLURMK8S_TEST(ids_of_users_are_stored),
  };
  return cmocka_run_group_tests_name("engine_variant_store", tests, nullptr, nullptr);
}
