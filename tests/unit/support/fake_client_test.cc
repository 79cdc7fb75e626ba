// SPDX-License-Identifier: GPL-2.0-or-later
// support/fake_client: the fake is held to what the contract (tests/contract) says of an API server.

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"

namespace slurmk8s::kube {
namespace {

struct World {
  FakeClient client;
  std::vector<Result<Json>> answers;
  std::string events;

  OnObject keep() {
    return [this](Result<Json> result) { answers.push_back(std::move(result)); };
  }
  const Result<Json>& answer() {
    client.deliver();
    return answers.back();
  }
  http::RequestId watch(const std::string& version, const std::string& selector = "") {
    return client.watch(
        kPods, "slurm", {.label_selector = selector, .resource_version = version},
        [this](WatchEvent event, const Json& object) {
          static const char kNames[] = {'o', '+', '~', '-', 'b'};
          events += kNames[static_cast<int>(event)];
          events.append(object.at({"metadata", "name"}).text()).append(" ");
        },
        [this](Status status) {
          events += status.ok() ? "end" : "end:" + std::string(to_string(status.error().code()));
        });
  }
};

Json pod(const std::string& name, const std::string& label = "") {
  Json metadata = Json::object();
  metadata.set("name", name);
  if (!label.empty()) metadata.set("labels", Json::object().set("l", label));
  return Json::object().set("metadata", metadata);
}

void create_get_and_remove(void**) {
  World world;
  world.client.create({kPods, "slurm"}, pod("a"), world.keep());
  assert_int_equal(world.answers.size(), 0);  // not before delivery
  assert_ok(world.answer());
  const Json made = *world.answers[0];
  assert_text(made.at({"metadata", "namespace"}).text(), "slurm");
  assert_text(made.at({"metadata", "uid"}).text(), "uid-1");
  world.client.create({kPods, "slurm"}, pod("a"), world.keep());
  assert_error(world.answer(), Errc::already_exists, "pods \"a\" already exists");
  world.client.get({kPods, "slurm", "a"}, world.keep());
  assert_true(world.answer()->equals(made));
  world.client.get({kPods, "other", "a"}, world.keep());
  assert_error(world.answer(), Errc::not_found, "pods \"a\" not found");
  world.client.remove({kPods, "slurm", "a"}, {.uid = "uid-9"}, world.keep());
  assert_error(world.answer(), Errc::conflict, "Precondition failed");
  world.client.remove({kPods, "slurm", "a"}, {.uid = "uid-1"}, world.keep());
  assert_ok(world.answer());
  world.client.remove({kPods, "slurm", "a"}, {}, world.keep());
  assert_error(world.answer(), Errc::not_found, "");
  world.client.remove({kPods, "slurm", ""}, {}, world.keep());
  assert_error(world.answer(), Errc::invalid, "empty name");
  assert_int_equal(world.client.count(Verb::remove), 4);
}

void slow_deletion(void**) {
  World world;
  world.client.slow_deletion = true;
  world.client.put(kPods, "slurm", pod("a"));
  world.watch("");
  world.client.remove({kPods, "slurm", "a"}, {}, world.keep());
  assert_false(world.answer()->at({"metadata", "deletionTimestamp"}).is_null());
  world.client.remove({kPods, "slurm", "a"}, {}, world.keep());
  assert_ok(world.answer());
  assert_text(world.events, "o +a ~a ");
  world.client.erase(kPods, "slurm", "a");
  world.client.deliver();
  assert_text(world.events, "o +a ~a -a ");
}

void patches(void**) {
  World world;
  world.client.put(kPods, "slurm", pod("a"));
  const Json both = *Json::parse("{\"spec\":{\"x\":1},\"status\":{\"y\":2}}");
  world.client.patch({kPods, "slurm", "a", "status"}, PatchType::merge, both, world.keep());
  assert_true(world.answer()->at({"spec"}).is_null());
  assert_int_equal(world.answers.back()->at({"status", "y"}).integer_or(0), 2);
  const Json stale = *Json::parse("{\"metadata\":{\"resourceVersion\":\"1\"}}");
  world.client.patch({kPods, "slurm", "a"}, PatchType::merge, stale, world.keep());
  assert_error(world.answer(), Errc::conflict, "");
  world.client.patch({kPods, "slurm", "b"}, PatchType::merge, both, world.keep());
  assert_error(world.answer(), Errc::not_found, "");
  world.client.patch({kPods, "slurm", "a"}, PatchType::json, both, world.keep());
  assert_error(world.answer(), Errc::invalid, "");
}

void selectors(void**) {
  World world;
  world.client.put(kPods, "slurm", pod("one", "1"));
  world.client.put(kPods, "slurm", pod("two", "2"));
  world.client.put(kPods, "slurm", pod("none"));
  world.client.put(kPods, "other", pod("far", "1"));
  const struct {
    const char* selector;
    const char* names;
  } cases[] = {{"", "none one two "}, {"l=1", "one "}, {"l==2", "two "},  {"l!=1", "none two "},
               {"l", "one two "},     {"!l", "none "}, {"l,l!=2", "one "}};
  for (const auto& c : cases) {
    world.client.list(kPods, "slurm", {.label_selector = c.selector}, world.keep());
    std::string names;
    (*world.answer())["items"].each([&](const Json& item) {
      names.append(item.at({"metadata", "name"}).text()) += ' ';
    });
    assert_text(names, c.names);
  }
}

void pages(void**) {
  World world;
  for (const char* name : {"a", "b", "c", "d", "e"}) world.client.put(kPods, "slurm", pod(name));
  world.client.list(kPods, "slurm", {.limit = 2}, world.keep());
  const std::string token(world.answer()->at({"metadata", "continue"}).text());
  const std::string version(world.answers.back()->at({"metadata", "resourceVersion"}).text());
  world.client.erase(kPods, "slurm", "c");  // the second page is of the same moment
  world.client.list(kPods, "slurm", {.continue_token = token, .limit = 9}, world.keep());
  assert_int_equal((*world.answer())["items"].size(), 3);
  assert_text(world.answers.back()->at({"metadata", "resourceVersion"}).text(), version);
  assert_true(world.answers.back()->at({"metadata", "continue"}).is_null());
  world.client.forget_history();
  world.client.list(kPods, "slurm", {.continue_token = token}, world.keep());
  assert_error(world.answer(), Errc::gone, "continue");
}

void watches(void**) {
  World world;
  const std::string version(world.client.put(kPods, "slurm", pod("a", "1")).at({"metadata", "resourceVersion"}).text());
  world.client.put(kPods, "slurm", pod("b", "2"));
  world.client.put(kPods, "slurm", pod("a", "2"));
  world.client.put(kPods, "other", pod("far"));
  world.watch(version, "l=1");  // what leaves the selector is deleted, what enters it is added
  world.client.deliver();
  assert_text(world.events, "o -a ");
  world.client.put(kPods, "slurm", pod("b", "1"));
  world.client.send_bookmarks();
  world.client.end_watches({});
  world.client.deliver();
  assert_text(world.events, "o -a +b b end");
  assert_int_equal(world.client.open_watches(), 0);

  world.events.clear();
  world.client.forget_history();
  world.watch(version);
  world.client.deliver();
  assert_text(world.events, "end:gone");
}

void faults(void**) {
  World world;
  world.client.fail_next(Verb::create, Error(Errc::forbidden, "quota"), 2);
  world.client.lose_answers(Verb::create, Error(Errc::timeout, "lost"));
  world.client.create({kPods, "slurm"}, pod("a"), world.keep());
  world.client.get({kPods, "slurm", "a"}, world.keep());
  world.client.create({kPods, "slurm"}, pod("a"), world.keep());
  world.client.create({kPods, "slurm"}, pod("a"), world.keep());
  world.client.create({kPods, "slurm"}, pod("a"), world.keep());
  assert_int_equal(world.client.deliver(), 5);
  const Errc expected[] = {Errc::forbidden, Errc::not_found, Errc::forbidden, Errc::timeout, Errc::already_exists};
  for (std::size_t i = 0; i < 5; ++i) assert_error(world.answers[i], expected[i], "");
  assert_int_equal(world.client.names(kPods, "slurm").size(), 1);
  world.client.fail_next(Verb::watch, Error(Errc::unavailable, "down"));
  world.watch("");
  world.client.deliver();
  assert_text(world.events, "end:unavailable");
}

void order_and_cancelling(void**) {
  World world;
  world.watch("");
  world.client.create({kPods, "slurm"}, pod("a"), world.keep());
  assert_true(world.client.step());
  assert_int_equal(world.answers.size(), 1);  // answers first …
  world.client.deliver();
  world.client.events_first = true;
  world.client.put(kPods, "slurm", pod("b"));
  world.client.get({kPods, "slurm", "b"}, world.keep());
  assert_true(world.client.step());
  assert_text(world.events, "o +a +b ");  // … or events
  const auto pending = world.client.get({kPods, "slurm", "b"}, world.keep());
  world.client.cancel(pending);
  world.client.cancel(12345);
  world.client.deliver();
  assert_int_equal(world.answers.size(), 2);
  assert_false(world.client.step());
}

void binding_and_eviction(void**) {
  World world;
  world.client.put(kPods, "slurm", pod("a"));
  const auto target = [](const char* name) {
    return Json::object()
        .set("metadata", Json::object().set("name", name))
        .set("target", Json::object().set("name", "m1"));
  };
  world.client.create({kPods, "slurm", "a", "binding"}, target("a"), world.keep());
  world.client.create({kPods, "slurm", "a", "binding"}, target("a"), world.keep());
  world.client.create({kPods, "slurm", "b", "binding"}, target("b"), world.keep());
  world.client.create({kPods, "slurm", "a", "exec"}, target("a"), world.keep());
  world.client.deliver();
  assert_text(world.client.find(kPods, "slurm", "a").at({"spec", "nodeName"}).text(), "m1");
  world.client.create({kPods, "slurm", "a", "eviction"}, target("a"), world.keep());
  world.client.deliver();
  assert_false(world.client.find(kPods, "slurm", "a").at({"metadata", "deletionTimestamp"}).is_null());
  assert_text(world.client.calls[0].subresource, "binding");
  assert_text(world.client.calls[0].name, "a");
}

void propagation_waits_for_the_garbage_collector(void**) {
  World world;
  world.client.put(kPods, "slurm", pod("a"));
  world.client.remove({kPods, "slurm", "a"}, {.propagation = Propagation::foreground}, world.keep());
  world.client.deliver();
  const Json ending = world.client.find(kPods, "slurm", "a")["metadata"];
  assert_text(ending["finalizers"][0].text(), "foregroundDeletion");
  assert_false(ending["deletionTimestamp"].is_null());
  world.client.put(kPods, "slurm", pod("b"));
  world.client.remove({kPods, "slurm", "b"}, {.propagation = Propagation::background}, world.keep());
  world.client.deliver();
  assert_int_equal(world.client.names(kPods, "slurm").size(), 1);
}

}  // namespace
}  // namespace slurmk8s::kube

int main() {
  using namespace slurmk8s::kube;
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(create_get_and_remove),
      SLURMK8S_TEST(slow_deletion),
      SLURMK8S_TEST(patches),
      SLURMK8S_TEST(selectors),
      SLURMK8S_TEST(pages),
      SLURMK8S_TEST(watches),
      SLURMK8S_TEST(faults),
      SLURMK8S_TEST(order_and_cancelling),
      SLURMK8S_TEST(binding_and_eviction),
      SLURMK8S_TEST(propagation_waits_for_the_garbage_collector),
  };
  return cmocka_run_group_tests_name("support_fake_client", tests, nullptr, nullptr);
}
