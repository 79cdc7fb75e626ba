// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/engine_link: a real socket, the engine's side of it by hand. No pod may be bound before slurmctld has seen its
// job run while it knew where the pods would be.
#include "bridge/engine_link.hpp"

#include <vector>

#include "control/control.hpp"
#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/temporary_folder.hpp"

namespace slurmk8s {
namespace {

struct Fixture {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/engine.sock";
  const std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  const std::unique_ptr<EventLoop> loop = std::move(EventLoop::open(clock)).value();
  std::unique_ptr<ControlServer> server;
  ControlServer::Id bridge = 0;
  std::string heard;  // by the engine
  std::string told;   // to the bridge: "12+ ", "!" for a change of the connection
  bool refuses = false;
  PodJobs last;
  EngineLink link{*loop, path, [this](const std::map<std::uint32_t, bool>& running) {
                    if (running.empty()) told += "!";
                    for (const auto& [job, runs] : running) told += std::to_string(job) + (runs ? "+ " : "- ");
                  }};

  /** All jobs of the bridge, of which it knows no better what has changed. */
  void set(const PodJobs& jobs) {
    std::set<std::uint32_t> about;
    for (const PodJobs* all : {static_cast<const PodJobs*>(&last), &jobs}) {
      for (const auto& [id, where] : *all) about.insert(id);
    }
    link.set(about, jobs);
    last = jobs;
  }
  void listen() {
    server = std::move(ControlServer::listen(path, *loop, [this](const Json& message, ControlServer::Id connection) {
               if (message["all"].boolean_or(false)) heard += "all";
               heard += message["jobs"].dump();
               if (message["gone"].size() != 0) heard += "-" + message["gone"].dump();
               bridge = connection;
               if (refuses) return Json::object().set("ok", Json::boolean(false)).set("error", "not now");
               server->keep(connection);
               return Json::object().set("ok", Json::boolean(true));
             })).value();
  }
  void turn() {
    for (int i = 0; i < 6; ++i) loop->turn(std::chrono::milliseconds(0));
  }
  void pass(std::chrono::milliseconds time) {
    clock->advance(time);
    turn();
  }
  void report(std::uint64_t taken, std::map<std::uint32_t, bool> running) {
    server->push(bridge, encode_report({taken, std::move(running)}));
    turn();
  }
};

void pods_wait_for_slurmctld(void**) {
  Fixture f;
  f.listen();
  f.set({{12, {}}});
  f.link.start();
  f.turn();
  assert_text(f.heard, R"(all{"12":""})");
  assert_false(f.link.is_up());
  f.report(1, {{12, false}});
  assert_true(f.link.is_up());
  f.report(1, {{12, true}});
  assert_text(f.told, "12- 12+ ");

  f.set({{12, {"c-0"}}});  // now it has nodes
  f.turn();
  assert_text(f.heard, R"(all{"12":""}{"12":"c-0"})");
  assert_false(f.link.may_bind(12));  // slurmctld may not know yet where pods will be
  f.report(2, {});
  assert_true(f.link.may_bind(12));
  assert_false(f.link.may_bind(13));
  f.report(2, {{12, false}});
  assert_false(f.link.may_bind(12));
}

void a_change_of_what_is_over_is_sent_and_binds_on(void**) {
  Fixture f;
  f.listen();
  f.set({{12, {"c-0", "c-0"}}});
  f.link.start();
  f.turn();
  f.report(1, {{12, true}});
  assert_true(f.link.may_bind(12));
  f.heard.clear();
  f.set({{12, {"c-0"}}});
  f.turn();
  assert_text(f.heard, R"({"12":"c-0"})");
  assert_true(f.link.may_bind(12));
}

void a_job_that_ended_before_slurmctld_knew_gets_no_pods(void**) {
  Fixture f;
  f.listen();
  f.set({{12, {"c-0"}}});
  f.link.start();
  f.turn();
  f.report(1, {{12, false}});
  assert_false(f.link.may_bind(12));
}

void one_message_at_a_time(void**) {
  Fixture f;
  f.listen();
  f.link.start();
  f.turn();
  for (std::uint32_t job = 1; job <= 3; ++job) f.set({{job, {}}});
  f.turn();
  assert_text(f.heard, "all{}");
  f.report(1, {});
  assert_text(f.heard, R"(all{}{"3":""})");
  f.report(2, {});
  f.set({{3, {}}});
  f.turn();
  assert_text(f.heard, R"(all{}{"3":""})");
  f.set({{4, {}}, {5, {"c-0"}}});
  f.turn();
  f.report(3, {});
  f.set({{4, {"c-1"}}, {5, {"c-0"}}});
  f.turn();
  assert_text(f.heard, R"(all{}{"3":""}{"4":"","5":"c-0"}-[3]{"4":"c-1"})");
}

void it_connects_again(void**) {
  Fixture f;
  f.set({{12, {"c-0"}}});
  f.link.start();
  f.turn();  // no engine yet
  assert_false(EngineLink::is_there(f.path));
  f.listen();
  assert_true(EngineLink::is_there(f.path));
  f.pass(std::chrono::milliseconds(600));
  f.report(1, {{12, true}});
  assert_true(f.link.may_bind(12));
  f.server.reset();
  f.turn();
  assert_false(f.link.is_up() || f.link.may_bind(12));
  assert_text(f.told, "12+ !");
  f.listen();
  f.pass(std::chrono::milliseconds(600));
  assert_text(f.heard, R"(all{"12":"c-0"}all{"12":"c-0"})");
  assert_false(f.link.may_bind(12));  // this slurmctld has said nothing yet
  f.report(1, {{12, true}});
  assert_true(f.link.may_bind(12));
}

void a_refusal_is_tried_again(void**) {
  Fixture f;
  f.listen();
  f.refuses = true;
  f.link.start();
  f.turn();
  assert_text(f.heard, "all{}");
  f.pass(std::chrono::milliseconds(600));
  assert_text(f.heard, "all{}all{}");
  assert_false(f.link.is_up());
  f.refuses = false;
  f.pass(std::chrono::milliseconds(600));
  f.report(1, {});
  assert_true(f.link.is_up());
}

void large_messages_arrive(void**) {
  Fixture f;
  f.listen();
  PodJobs jobs;
  for (std::uint32_t id = 1; id <= kMaxPodJobs; ++id) jobs[id] = {std::string(200, 'n')};  // 2 MB
  f.set(jobs);
  f.link.start();
  for (int i = 0; i < 200; ++i) f.turn();
  assert_true(f.heard.size() > 2000000);
  std::map<std::uint32_t, bool> all;
  for (std::uint32_t id = 1; id <= kMaxPodJobs; ++id) all[id] = true;
  f.report(1, all);
  for (int i = 0; i < 20; ++i) f.turn();
  assert_true(f.link.may_bind(1) && f.link.may_bind(kMaxPodJobs));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(pods_wait_for_slurmctld),
      SLURMK8S_TEST(a_change_of_what_is_over_is_sent_and_binds_on),
      SLURMK8S_TEST(a_job_that_ended_before_slurmctld_knew_gets_no_pods),
      SLURMK8S_TEST(one_message_at_a_time),
      SLURMK8S_TEST(it_connects_again),
      SLURMK8S_TEST(a_refusal_is_tried_again),
      SLURMK8S_TEST(large_messages_arrive),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
