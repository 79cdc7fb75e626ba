// SPDX-License-Identifier: GPL-2.0-or-later
// engine/catalog_keeper: when a catalog of variants is handed out, and when users are looked up.
#include "engine/catalog_keeper.hpp"

#include <vector>

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

/** Answers when the test says so. */
class LateUsers final : public UserLookup {
 public:
  void find(const std::set<std::string>& users, Done done) override {
    asked.push_back(users);
    done_ = std::move(done);
  }
  void answer(const Found& found) { done_(found); }

  std::vector<std::set<std::string>> asked;

 private:
  Done done_;
};

VariantCatalog::Entry entry(const char* variant, const std::set<std::string>& users = {}) {
  return {{"gpu"}, {{variant, {users, {}}}}};
}

struct World {
  LateUsers users;
  std::vector<VariantCatalog> published;
  int ended = 0;
  bool is_kept = true;
  CatalogKeeper keeper{&users, [this](const VariantCatalog* catalog) {
                         if (catalog) published.push_back(*catalog);
                         if (!catalog) ++ended;
                         return is_kept;
                       }};
};

void each_change_is_handed_out_once_all_are_there(void**) {
  World world;
  world.keeper.set("gpu", entry("v1"));
  world.keeper.set_records({"gpu,v1"});
  assert_int_equal(world.published.size(), 0);
  world.keeper.set_complete();
  world.keeper.set_complete();
  assert_int_equal(world.published.size(), 1);
  assert_true(world.published[0].nodesets.at("gpu") == entry("v1"));

  world.keeper.set("gpu", entry("v1"));  // as before
  world.keeper.set_records({"gpu,v1"});
  world.keeper.remove("cpu");
  assert_int_equal(world.published.size(), 1);
  world.keeper.set("gpu", entry("v2"));
  world.keeper.set_records({});
  world.keeper.remove("gpu");
  assert_int_equal(world.published.size(), 4);
  assert_true(world.published[3].nodesets.empty());
}

/** A full disk, for example: the comparison with Slurm's records tries again. */
void what_is_not_kept_is_handed_out_again(void**) {
  World world;
  world.keeper.set_complete();
  world.is_kept = false;
  world.keeper.set("gpu", entry("v1"));
  world.keeper.set_records({});
  assert_int_equal(world.published.size(), 3);
  world.is_kept = true;
  world.keeper.set_records({});
  assert_int_equal(world.published.size(), 4);
  assert_true(world.published[3].nodesets.at("gpu") == entry("v1"));
  world.keeper.set_records({});
  assert_int_equal(world.published.size(), 4);
}

void users_are_looked_up_until_they_are_known(void**) {
  World world;
  world.keeper.set("gpu", entry("v1", {"alice", "bob"}));
  world.keeper.find_users();
  assert_int_equal(world.users.asked.size(), 0);
  world.keeper.set_complete();
  assert_true(world.users.asked == (std::vector<std::set<std::string>>{{"alice", "bob"}}));
  world.users.answer({{"alice", 1001}});
  assert_int_equal(world.published.size(), 2);
  assert_int_equal(world.published[1].uids.at("alice"), 1001);

  world.keeper.find_users();
  assert_true(world.users.asked.back() == std::set<std::string>{"bob"});
  world.users.answer({});  // nothing new to hand out
  assert_int_equal(world.published.size(), 2);
  world.keeper.find_users();
  world.users.answer({{"bob", 1002}});
  world.keeper.find_users();
  assert_int_equal(world.users.asked.size(), 3);
}

/** The first catalog of an engine takes the place of the stored one, and a directory may take minutes. */
void users_are_known_from_before(void**) {
  LateUsers users;
  std::vector<VariantCatalog> published;
  const auto publish = [&](const VariantCatalog* catalog) {
    if (catalog) published.push_back(*catalog);
    return true;
  };
  const auto former_ids = [] {
    return std::map<std::string, std::uint32_t>{{"alice", 1001}, {"bob", 1002}, {"mallory", 6}};
  };
  CatalogKeeper keeper(&users, publish, former_ids);
  keeper.set("gpu", entry("v1", {"alice", "bob", "carol"}));
  keeper.set_complete();
  assert_int_equal(published.size(), 1);
  assert_true(published[0].uids == (std::map<std::string, std::uint32_t>{{"alice", 1001}, {"bob", 1002}}));

  // They are looked up all the same.
  assert_true(users.asked.back() == (std::set<std::string>{"alice", "bob", "carol"}));
  users.answer({{"alice", 1001}});
  assert_int_equal(published.size(), 1);
  keeper.find_users();
  assert_true(users.asked.back() == (std::set<std::string>{"bob", "carol"}));
  users.answer({{"bob", 2002}});
  assert_int_equal(published.size(), 2);
  assert_int_equal(published[1].uids.at("bob"), 2002);
}

void the_end_is_told(void**) {
  int ended = 0;
  {
    CatalogKeeper keeper(nullptr, [&](const VariantCatalog* catalog) {
      ended += catalog == nullptr;
      return true;
    });
    keeper.set("gpu", entry("v1", {"alice"}));
    keeper.set_complete();  // nobody looks users up
    assert_int_equal(ended, 0);
  }
  assert_int_equal(ended, 1);
  CatalogKeeper quiet(nullptr, {});
  quiet.set_complete();
  quiet.set("gpu", entry("v1"));
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(each_change_is_handed_out_once_all_are_there),
      SLURMK8S_TEST(what_is_not_kept_is_handed_out_again),
      SLURMK8S_TEST(users_are_looked_up_until_they_are_known),
      SLURMK8S_TEST(users_are_known_from_before),
      SLURMK8S_TEST(the_end_is_told),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
