// SPDX-License-Identifier: GPL-2.0-or-later
// What we assume of slurmctld's answers.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "slurm/hostlist.hpp"
#include "slurm/reasons.hpp"

#include "contract/slurm_tests.hpp"

namespace slurmk8s::contract {

SlurmUnderTest under_test;

namespace {

using State = SlurmNodeUpdate::State;

constexpr const char* kNodes = "k-[0-3]";
constexpr const char* kPartition = "kp";
constexpr std::uint32_t kNoJob = 4000000;

Slurm& slurm() { return *under_test.slurm; }

std::map<std::string, SlurmNode> nodes() {
  const auto all = slurm().load_nodes();
  assert_ok(all);
  std::map<std::string, SlurmNode> by_name;
  for (const SlurmNode& node : *all) by_name[node.name] = node;
  return by_name;
}

std::string names() {
  std::vector<std::string> all;
  for (const auto& [name, node] : nodes()) all.push_back(name);
  return compress_hostlist(all);
}

SlurmNode node(const char* name) {
  const auto loaded = slurm().load_node(name);
  assert_ok(loaded);
  return *loaded;
}

/** Waits until it is so. */
template <typename Fits>
void await(const char* what, Fits fits) {
  for (int i = 0; i < 600 && !fits(); ++i) under_test.wait();
  if (!fits()) fail_msg("%s: not in time", what);
}

std::optional<SlurmPartition> partition() {
  std::time_t since = 0;
  const auto all = slurm().load_partitions_since(since);
  assert_ok(all);
  assert_true(all->has_value());
  const auto found =
      std::find_if((*all)->begin(), (*all)->end(), [](const SlurmPartition& one) { return one.name == kPartition; });
  return found == (*all)->end() ? std::nullopt : std::optional(*found);
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

void a_line_makes_a_range_of_nodes(void**) {
  assert_text(names(), kNodes);
  for (const auto& [name, made] : nodes()) {
    assert_true(made.cloud && made.dynamic && made.base == SlurmNode::Base::idle);
    assert_false(made.powering_up || made.draining || made.completing || made.reserved);
    assert_int_equal(made.cpus, 2);
    assert_int_equal(made.real_memory_mib, 936);
    assert_int_equal(made.weight, 10);
    assert_text(made.features, "k,fast");
    assert_text(made.address, name);
    assert_text(made.reason + made.comment, "");
    assert_true(made.boot_time == std::chrono::system_clock::time_point{});
  }
}

void bad_lines_make_no_node(void**) {
  const Status again = slurm().create_nodes("NodeName=k-1 State=CLOUD CPUs=2 Feature=other");
  if (under_test.refuses_known_names) assert_error(again, Errc::already_exists, "");
  if (under_test.deletes_known_names) {
    assert_error(slurm().load_node("k-1"), Errc::not_found, "");
    assert_ok(slurm().create_nodes("NodeName=k-1 State=CLOUD CPUs=2 Feature=k,fast"));
  }
  assert_text(node("k-1").features, "k,fast");
  assert_error(slurm().create_nodes("NodeName=k-[8-9] State=IDLE CPUs=2"), Errc::conflict, "");
  assert_text(names(), kNodes);
}

void a_node_that_is_not_there(void**) {
  assert_error(slurm().load_node("k-9"), Errc::not_found, "");
  assert_error(slurm().update_nodes("k-9", {.weight = 5}), Errc::not_found, "");
  assert_error(slurm().delete_nodes("k-9"), Errc::not_found, "");
  assert_error(slurm().schedule_jobs("k-9"), Errc::not_found, "");
  assert_ok(slurm().schedule_jobs("k-1"));
  // Those before it are changed.
  assert_error(slurm().update_nodes("k-[0,9]", {.comment = "c"}), Errc::not_found, "");
  assert_text(node("k-0").comment, "c");
}

void an_update_changes_what_it_says(void**) {
  assert_ok(slurm().update_nodes(
      "k-[0-1]", {.comment = "slurm-k8s: waiting: x", .features = "k,slow", .active_features = "k,slow", .weight = 7}));
  for (const char* name : {"k-0", "k-1"}) {
    assert_text(node(name).comment, "slurm-k8s: waiting: x");
    assert_text(node(name).features, "k,slow");
    assert_int_equal(node(name).weight, 7);
  }
  assert_text(node("k-2").features + node("k-2").comment, "k,fast");
  assert_ok(slurm().update_nodes("k-0", {.comment = "other"}));
  assert_text(node("k-0").comment + node("k-0").features, "otherk,slow");
  assert_ok(slurm().update_nodes("k-0", {.clear_comment = true}));
  assert_text(node("k-0").comment, "");
}

void a_drain_has_a_reason_and_ends(void**) {
  assert_ok(slurm().update_nodes("k-0", {.state = State::drain, .reason = "disk check"}));
  assert_true(node("k-0").draining);
  assert_text(node("k-0").reason, "disk check");
  assert_ok(slurm().update_nodes("k-0", {.state = State::undrain}));
  assert_false(node("k-0").draining);
  const std::string reason = node("k-0").reason;
  assert_true(reason.empty() || reason == kReasonReleased);
}

void down_and_resumed(void**) {
  assert_ok(slurm().update_nodes("k-0", {.state = State::down, .reason = "slurm-k8s: pod is gone"}));
  assert_true(node("k-0").base == SlurmNode::Base::down);
  assert_text(node("k-0").reason, "slurm-k8s: pod is gone");
  assert_ok(slurm().update_nodes("k-0", {.state = State::resume}));
  assert_true(node("k-0").base == SlurmNode::Base::idle);
}

void a_power_down_is_under_way_until_it_is_done(void**) {
  assert_ok(slurm().update_nodes("k-0", {.state = State::power_down}));
  assert_true(node("k-0").going_down() || node("k-0").powered_down);
  assert_ok(slurm().update_nodes("k-1", {.state = State::power_down_asap, .reason = "e2e"}));
  assert_true(node("k-1").going_down() || node("k-1").powered_down);
}

void reads_say_whether_anything_has_changed(void**) {
  std::time_t since = 0;
  const auto is_quiet = [&] {
    const auto read = slurm().load_nodes_since(since);
    assert_ok(read);
    return !read->has_value();
  };
  await("nothing changes", is_quiet);
  const std::time_t before = since;
  under_test.wait();  // Slurm's time has whole seconds
  assert_ok(slurm().update_nodes("k-0", {.weight = 3}));
  const auto read = slurm().load_nodes_since(since);
  assert_ok(read);
  assert_true(read->has_value() && since >= before);
  assert_int_equal((*read)->size(), 4);
}

void deletes_what_is_there(void**) {
  assert_ok(slurm().delete_nodes("k-[0-1]"));
  assert_text(names(), "k-[2-3]");
  assert_error(slurm().delete_nodes("k-[1-2]"), Errc::not_found, "");
  assert_text(names(), "k-3");
}

// ---- configuration, partitions --------------------------------------------------------------------------------------

void the_configuration(void**) {
  const auto config = slurm().load_config();
  assert_ok(config);
  assert_true(config->max_nodes >= 4 && config->booted > 0);
  assert_int_equal(config->suspend_exc_nodes.has_value(), under_test.changes_exempt);
  const Status exempted = slurm().exempt_from_suspend("k-[1-2]", true);
  if (!under_test.changes_exempt) return assert_false(exempted.ok());
  assert_ok(exempted);
  assert_text(*slurm().load_config()->suspend_exc_nodes, "k-[1-2]");
  assert_ok(slurm().exempt_from_suspend("k-1", false));
  assert_text(*slurm().load_config()->suspend_exc_nodes, "k-2");
  assert_ok(slurm().exempt_from_suspend("k-2", false));
}

void partitions_come_and_go(void**) {
  assert_false(partition().has_value());
  assert_error(slurm().update_partition({.name = kPartition, .nodes = "k-0"}), Errc::invalid, "");
  assert_error(slurm().delete_partition(kPartition), Errc::invalid, "");
  assert_ok(slurm().create_partition({.name = kPartition, .nodes = "k-[0-1]", .options = {{"MaxTime", "60"}}}));
  assert_false(slurm().create_partition({.name = kPartition, .nodes = "k-2"}).ok());
  assert_text(partition()->nodes, "k-[0-1]");
  assert_text(partition()->options["State"], "UP");
  const std::string max_time = partition()->options["MaxTime"];
  assert_ok(slurm().update_partition({.name = kPartition, .nodes = "k-[0-2]"}));
  assert_text(partition()->nodes, "k-[0-2]");
  assert_text(partition()->options["MaxTime"], max_time);
  assert_error(slurm().update_partition({.name = kPartition, .nodes = "k-9"}), Errc::not_found, "");
  assert_ok(slurm().delete_partition(kPartition));
  assert_false(partition().has_value());
}

// ---- jobs -----------------------------------------------------------------------------------------------------------

void a_job_that_is_not_there(void**) {
  assert_error(slurm().load_job(kNoJob), Errc::not_found, "no such job");
  assert_error(slurm().comment_job(kNoJob, "c"), Errc::invalid, "");
  assert_error(slurm().hold_job(kNoJob), Errc::invalid, "");
  assert_error(slurm().clear_begin_time(kNoJob), Errc::invalid, "");
  assert_error(slurm().end_out_of_memory(kNoJob), Errc::invalid, "");
}

void a_job_that_is_held(void**) {
  const auto job = slurm().load_job(under_test.held_job);
  assert_ok(job);
  assert_int_equal(job->id, under_test.held_job);
  assert_true(job->pending && job->held && !job->waits && !job->completing && !job->suspended);
  assert_int_equal(job->restarts, 0);
  assert_text(job->admin_comment, "");
  assert_ok(slurm().comment_job(under_test.held_job, "slurm-k8s: waiting: k-0: x"));
  assert_text(slurm().load_job(under_test.held_job)->admin_comment, "slurm-k8s: waiting: k-0: x");
  assert_ok(slurm().comment_job(under_test.held_job, ""));
  assert_text(slurm().load_job(under_test.held_job)->admin_comment, "");
  assert_ok(slurm().hold_job(under_test.held_job));
  assert_true(slurm().load_job(under_test.held_job)->held);
  assert_true(slurm().load_nodes_of_jobs()->empty());
  assert_true(slurm().load_runs()->empty());
  const auto unended = slurm().load_job_needs();
  assert_ok(unended);
  assert_int_equal(unended->size(), 1);
  assert_int_equal(unended->front().id, under_test.held_job);
  assert_text(unended->front().partitions, job->partitions);
  assert_text(unended->front().nodes, "");
}

// ---- the end --------------------------------------------------------------------------------------------------------

/** The last one: nothing is changed after it. */
void changes_are_refused_after_the_end(void**) {
  slurm().end();
  const Status refused[] = {
      slurm().create_nodes("NodeName=k-9 State=CLOUD CPUs=2"),
      slurm().update_nodes("k-0", {.weight = 2}),
      slurm().delete_nodes("k-0"),
      slurm().schedule_jobs("k-0"),
      slurm().exempt_from_suspend("k-0", true),
      slurm().create_partition({.name = kPartition, .nodes = "k-0"}),
      slurm().update_partition({.name = kPartition, .nodes = "k-0"}),
      slurm().delete_partition(kPartition),
      slurm().comment_job(under_test.held_job, "c"),
      slurm().hold_job(under_test.held_job),
      slurm().clear_begin_time(under_test.held_job),
      slurm().end_out_of_memory(under_test.held_job),
      slurm().drop_lost_nodes(),
  };
  for (const Status& status : refused) assert_error(status, Errc::cancelled, "the engine has ended");
  assert_text(names(), kNodes);
}

// ---- fixture --------------------------------------------------------------------------------------------------------

int make_nodes(void**) {
  const Status made =
      slurm().create_nodes("NodeName=k-[0-3] State=CLOUD CPUs=2 RealMemory=936 Weight=10 Feature=k,fast");
  if (!made.ok()) print_error("%s\n", made.error().message().c_str());
  return made.ok() ? 0 : -1;
}

int delete_nodes(void**) {
  const std::string left = names();
  return left.empty() || slurm().delete_nodes(left).ok() ? 0 : -1;
}

}  // namespace

std::vector<CMUnitTest> slurm_tests() {
#define ON_NODES(fn) SLURMK8S_TEST_WITH(fn, make_nodes, delete_nodes)
  return {
      ON_NODES(a_line_makes_a_range_of_nodes),
      ON_NODES(bad_lines_make_no_node),
      ON_NODES(a_node_that_is_not_there),
      ON_NODES(an_update_changes_what_it_says),
      ON_NODES(a_drain_has_a_reason_and_ends),
      ON_NODES(down_and_resumed),
      ON_NODES(a_power_down_is_under_way_until_it_is_done),
      ON_NODES(reads_say_whether_anything_has_changed),
      ON_NODES(deletes_what_is_there),
      ON_NODES(the_configuration),
      ON_NODES(partitions_come_and_go),
      ON_NODES(a_job_that_is_not_there),
      ON_NODES(a_job_that_is_held),
      SLURMK8S_TEST_WITH(changes_are_refused_after_the_end, make_nodes, nullptr),
  };
}

}  // namespace slurmk8s::contract
