// SPDX-License-Identifier: GPL-2.0-or-later
// kube/token: rotation, and files that went bad.
#include "kube/token.hpp"

#include <cstdio>

#include "support/fake_clock.hpp"
#include "support/temporary_folder.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s::kube {
namespace {

struct World {
  TemporaryFolder folder;
  FakeClock clock;
  std::string path = folder.write("token", "first\n");
  Token token{path, clock};
};

int make_world(void** state) {
  *state = new World;
  return 0;
}

int remove_world(void** state) {
  delete static_cast<World*>(*state);
  return 0;
}

World& world_of(void** state) { return *static_cast<World*>(*state); }

void is_read_again_after_a_second(void** state) {
  World& world = world_of(state);
  assert_text(*world.token.read(), "first");
  world.folder.write("token", "second");
  world.clock.advance(std::chrono::milliseconds(999));
  assert_text(*world.token.read(), "first");
  world.clock.advance(std::chrono::milliseconds(1));
  assert_text(*world.token.read(), "second");
}

void is_read_again_when_the_server_refused_it(void** state) {
  World& world = world_of(state);
  assert_text(*world.token.read(), "first");
  world.folder.write("token", "second");
  world.token.refused();
  assert_text(*world.token.read(), "second");
}

void a_bad_file_is_an_error_and_not_the_old_token(void** state) {
  World& world = world_of(state);
  assert_text(*world.token.read(), "first");
  const struct {
    const char* content;  // null: no file
    const char* why;
  } cases[] = {{nullptr, "No such file"}, {"", "empty"}, {" \n", "empty"}};
  for (const auto& c : cases) {
    std::remove(world.path.c_str());
    if (c.content != nullptr) world.folder.write("token", c.content);
    world.clock.advance(std::chrono::seconds(2));
    assert_error(world.token.read(), Errc::unauthorized, c.why);
    assert_error(world.token.read(), Errc::unauthorized, world.path);
  }
  world.folder.write("token", std::string(70000, 'x'));
  assert_error(world.token.read(), Errc::unauthorized, "more than");
  world.folder.write("token", "back");
  assert_text(*world.token.read(), "back");  // at once: an error is not kept for a second
}

}  // namespace
}  // namespace slurmk8s::kube

int main() {
  using namespace slurmk8s::kube;
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST_WITH(is_read_again_after_a_second, make_world, remove_world),
      SLURMK8S_TEST_WITH(is_read_again_when_the_server_refused_it, make_world, remove_world),
      SLURMK8S_TEST_WITH(a_bad_file_is_an_error_and_not_the_old_token, make_world, remove_world),
  };
  return cmocka_run_group_tests_name("kube_token", tests, nullptr, nullptr);
}
