// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/reconciler: rounds while jobs wait for nodes, have them, are suspended or cancelled.
#include "sidecar/reconciler.hpp"

#include <algorithm>

#include "support/cmocka.hpp"
#include "support/reconciler_world.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using Fixture = ReconcilerWorld;
using std::chrono::milliseconds;

// The job had got its node when the records were read, but not when slurmctld was last asked for jobs.
void recycles_no_node_for_a_job_that_has_one(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.reconciler.upsert(
      f.object("g", R"({"replicas":2,"slurmd":{"image":"i","resources":{"limits":{"cpu":"2",)"
                    R"("memory":"1000Mi"}}},"variants":[{"name":"v1","patch":{}},{"name":"v2","patch":{}}]})"));
  f.rounds(2);
  SlurmNode& other = f.slurm.node("g-0");
  other.powered_down = false;
  other.active_features = "g,v2";
  other.address = "10.0.0.1";
  SlurmJob job;
  job.id = 7;
  job.features = "v1";
  job.nodes = 1;
  job.waits = true;
  job.partition_nodes = "g-[0-1]";
  f.slurm.jobs[7] = job;
  f.slurm.touch_jobs();
  f.slurm.on_load_jobs = [&f] { f.clock.advance(milliseconds(100)); };  // many jobs: not asked again for 2 s
  f.slurm.calls.clear();
  f.reconciler.round();

  f.slurm.node("g-1").base = Base::allocated;
  f.slurm.node("g-1").powering_up = true;
  f.slurm.node("g-1").powered_down = false;
  f.slurm.jobs[7].waits = false;
  f.slurm.touch_jobs();
  f.rounds(5);
  assert_int_equal(f.slurm.calls.size(), 0);

  // One that still waits gets the idle one, once slurmctld has said that it does.
  f.slurm.jobs[7].waits = true;
  f.slurm.touch_jobs();
  f.rounds(3);
  assert_int_equal(f.slurm.calls.size(), 1);
  assert_text(f.slurm.calls.back(), "power_down g-0");
}

bool has_suspended_job(const Reconciler& reconciler, const std::string& name) {
  const auto& nodes = reconciler.nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const SlurmNode& node) { return node.name == name && node.has_suspended_job; });
}

// slurmctld calls its node idle.
void a_suspended_job_has_its_node(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 3);
  f.rounds(1);
  for (const char* name : {"c-0", "c-1"}) f.slurm.node(name).powered_down = false;
  SlurmJob job;
  job.id = 7;
  job.suspended = true;
  job.suspended_on = "c-[0,9]";
  f.slurm.jobs[7] = job;
  f.slurm.touch_jobs();
  f.rounds(1);
  assert_true(has_suspended_job(f.reconciler, "c-0"));
  assert_false(has_suspended_job(f.reconciler, "c-1"));
  assert_int_equal(f.reconciler.states().at("c").counts.allocated, 1);
  // Fewer nodes: idle ones go, this one is drained.
  f.slurm.calls.clear();
  f.scale("c", 0);
  f.rounds(1);
  for (const auto& call : f.slurm.calls) print_message("%s\n", call.c_str());
  assert_int_equal(std::count(f.slurm.calls.begin(), f.slurm.calls.end(), "power_down c-0"), 0);
  for (const auto& call : f.slurm.calls) print_message("%s\n", call.c_str());
  assert_int_equal(std::count(f.slurm.calls.begin(), f.slurm.calls.end(), "drain c-0 slurm-k8s: scale-in"), 1);
  // It runs on, and ends.
  const std::uint64_t version = f.reconciler.version();
  f.slurm.jobs.clear();
  f.slurm.touch_jobs();
  f.rounds(2);
  assert_false(has_suspended_job(f.reconciler, "c-0"));
  assert_true(f.reconciler.version() != version);
}

// With thousands of jobs slurmctld isn't asked each second: a node whose job is gone may have it suspended.
void a_node_is_in_use_until_slurmctld_has_told_its_jobs(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 2);
  f.slurm.node("c-0").powered_down = false;
  f.slurm.node("c-1").powered_down = false;
  f.slurm.node("c-1").base = Base::allocated;
  f.slurm.on_load_jobs = [&f] { f.clock.advance(milliseconds(200)); };  // not asked again for 4 s
  f.rounds(1);
  assert_false(has_suspended_job(f.reconciler, "c-0"));
  f.slurm.node("c-1").base = Base::idle;
  f.slurm.touch_jobs();
  f.rounds(2);
  assert_true(has_suspended_job(f.reconciler, "c-1"));
  assert_false(has_suspended_job(f.reconciler, "c-0"));
  f.rounds(5);
  assert_false(has_suspended_job(f.reconciler, "c-1"));
}

void jobs_are_not_asked_for_without_need(void**) {
  Fixture f;
  f.reconciler.set_listed();
  int asked = 0;
  f.slurm.on_load_jobs = [&asked] { asked++; };
  f.scale("c", 2);
  f.slurm.touch_jobs();
  f.rounds(10);
  f.slurm.node("c-0").powered_down = false;
  f.slurm.node("c-0").base = Base::allocated;
  f.rounds(10);
  assert_int_equal(asked, 0);
  f.slurm.node("c-0").base = Base::idle;
  f.rounds(10);
  assert_int_equal(asked, 1);  // no job has changed since
}

/** The NodeSet c with 6 nodes, 2 spares; c-0 and c-1 are up. */
void keep_two_spares(Fixture& f) {
  f.reconciler.set_listed();
  f.reconciler.upsert(f.object("c", R"({"replicas":6,"spareReplicas":2,"slurmd":{"image":"i","resources":{"limits":)"
                                    R"({"cpu":"2","memory":"1000Mi"}}}})"));
  f.rounds(1);
  f.slurm.power_up_asked();
}

/** A job gets c-0 and c-1. */
void take_spares(Fixture& f) {
  f.slurm.node("c-0").base = f.slurm.node("c-1").base = Base::allocated;
  f.slurm.calls.clear();
}

// slurmctld powers them up at once, and its jobs, of which one may be suspended, are not asked for again for 4 s.
void spares_are_replaced_once(void**) {
  Fixture f;
  f.slurm.on_load_jobs = [&f] { f.clock.advance(milliseconds(200)); };
  keep_two_spares(f);
  f.rounds(1);
  take_spares(f);
  f.on_wake = [&f] { f.slurm.resume_asked(); };
  f.rounds(8);
  assert_int_equal(f.slurm.calls.size(), 2);
  assert_text(f.slurm.calls[0], "exempt c-[2-3]");
  assert_text(f.slurm.calls[1], "power_up c-[2-3]");
  assert_false(has_suspended_job(f.reconciler, "c-2"));
}

// The thread is slow: slurmctld shows for a while that they are asked for.
void spares_are_replaced_once_by_a_slow_slurmctld(void**) {
  Fixture f;
  f.slurm.on_load_jobs = [&f] { f.clock.advance(milliseconds(500)); };  // not asked again for 10 s
  keep_two_spares(f);
  f.rounds(1);
  take_spares(f);
  f.rounds(2);
  f.slurm.resume_asked();
  f.rounds(10);
  assert_int_equal(f.slurm.calls.size(), 2);
  assert_text(f.slurm.calls[1], "power_up c-[2-3]");
}

// Until slurmctld shows the variant of a node that is asked for, the sidecar knows it.
void spares_of_a_variant_are_powered_up_once(void**) {
  Fixture f;
  const auto put = [&f](const std::string& variant) {
    f.reconciler.upsert(f.object("c", R"({"replicas":4,"variants":[)" + variant +
                                          R"(],"slurmd":{"image":"i","resources":{"limits":{"cpu":"2",)"
                                          R"("memory":"1000Mi"}}}})"));
  };
  f.reconciler.set_listed();
  put(R"({"name":"v1"})");
  f.rounds(3);
  f.slurm.calls.clear();
  put(R"({"name":"v1","spareReplicas":1})");
  f.slurm.on_update = [&f] { f.slurm.sees_no_change = true; };
  f.rounds(4);
  assert_int_equal(f.slurm.calls.size(), 2);
  assert_text(f.slurm.calls[1], "power_up c-0");
  assert_text(f.slurm.node("c-0").active_features, "c,v1");
}

void spares_are_replaced_once_though_slurmctld_sees_no_change(void**) {
  Fixture f;
  keep_two_spares(f);
  f.rounds(1);
  take_spares(f);
  f.slurm.on_update = [&f] { f.slurm.sees_no_change = true; };
  f.rounds(3);
  assert_int_equal(f.slurm.calls.size(), 2);
  assert_text(f.slurm.calls[1], "power_up c-[2-3]");
  // They failed meanwhile.
  f.slurm.on_update = nullptr;
  f.slurm.sees_no_change = false;
  for (const char* name : {"c-2", "c-3"}) {
    f.slurm.node(name).power_up_asked = false;
    f.slurm.node(name).draining = true;
  }
  f.rounds(1);
  assert_text(f.slurm.calls.back(), "subject c-[2-3]");
}

void a_cancelled_job_takes_its_pods_with_it(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 2);
  f.rounds(1);
  for (const char* name : {"c-0", "c-1"}) {
    f.slurm.node(name).powered_down = false;
    f.slurm.node(name).powering_up = true;
    f.slurm.node(name).base = Base::allocated;
  }
  f.rounds(3);
  f.slurm.node("c-0").base = Base::idle;  // scancel
  f.slurm.calls.clear();
  f.rounds(4);
  assert_int_equal(f.slurm.calls.size(), 0);  // another job may get it
  f.rounds(3);
  assert_int_equal(f.slurm.calls.size(), 1);
  assert_text(f.slurm.calls.front(), "power_down c-0");
  assert_true(f.slurm.harmed.empty());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(recycles_no_node_for_a_job_that_has_one),
      SLURMK8S_TEST(a_suspended_job_has_its_node),
      SLURMK8S_TEST(a_node_is_in_use_until_slurmctld_has_told_its_jobs),
      SLURMK8S_TEST(jobs_are_not_asked_for_without_need),
      SLURMK8S_TEST(spares_are_replaced_once),
      SLURMK8S_TEST(spares_are_replaced_once_by_a_slow_slurmctld),
      SLURMK8S_TEST(spares_are_replaced_once_though_slurmctld_sees_no_change),
      SLURMK8S_TEST(spares_of_a_variant_are_powered_up_once),
      SLURMK8S_TEST(a_cancelled_job_takes_its_pods_with_it),
  };
  return cmocka_run_group_tests_name("sidecar_reconciler_jobs", tests, nullptr, nullptr);
}
