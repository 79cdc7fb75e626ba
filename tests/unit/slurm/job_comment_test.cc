// SPDX-License-Identifier: GPL-2.0-or-later
// AdminComment: ours is told by its form; nothing else is touched.
#include "slurm/job_comment.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;

namespace {

constexpr const char* kWaiting = "slurm-k8s: waiting: c-[0-1]: unschedulable: no room";
constexpr const char* kFailed = "slurm-k8s: node c-0: pod is gone";

struct Row {
  const char* present;
  const char* text;
  bool replaced;
};

constexpr Row kRows[] = {
    {"", kWaiting, true},
    {"", "", false},
    {"{\"account\":\"chemistry\"}", kWaiting, false},
    {"{\"account\":\"chemistry\"}", kFailed, false},
    {"slurm-k8s: ask before you cancel this", kFailed, false},
    {"slurm-k8s: node of Ann's: don't touch", kFailed, false},
    {"slurm-k8s: waiting: for Ann: until Monday", kFailed, false},
    {"slurm-k8s: waiting", kFailed, false},
    {"see slurm-k8s: node c-0: pod is gone", kFailed, false},
    {kWaiting, kWaiting, false},
    {kWaiting, "slurm-k8s: waiting: c-0: unschedulable: no room", true},
    {kWaiting, kFailed, true},
    {kFailed, kWaiting, true},
    {kFailed, "slurm-k8s: node c-1: pod is gone", false},  // the same cause: told once
    {kFailed, "slurm-k8s: node c-1: pod ended: OOMKilled", true},
};

void replaces_its_own_alone(void**) {
  for (const Row& row : kRows) {
    if (may_replace(row.present, row.text) != row.replaced) fail_msg("%s <- %s", row.present, row.text);
  }
}

void clears_what_it_said(void**) {
  const std::vector<std::string> over{"unschedulable: no room"};
  assert_true(is_over(kWaiting, over));
  assert_false(is_over(kWaiting, {"pulling"}));
  assert_false(is_over(kWaiting, {}));
  assert_false(is_over(kFailed, {"pod is gone"}));
  assert_false(is_over("", over));
  assert_false(is_over("{\"a\":\"unschedulable: no room\"}", over));
  assert_false(is_over("slurm-k8s: waiting: for Ann: unschedulable: no room", over));
}

void reads_what_it_writes(void**) {
  for (const JobComment& comment : {JobComment{"c-[0-1,7]", "a: b", true}, JobComment{"gpu-node1.example", "x"}}) {
    const auto parsed = parse_job_comment(build_job_comment(comment));
    assert_true(parsed && *parsed == comment);
  }
}

void one_write_per_change(void**) {
  FakeSlurm slurm;
  for (std::uint32_t id = 1; id <= 100; ++id) slurm.jobs[id].id = id;
  slurm.jobs[2].admin_comment = "an administrator's";
  slurm.jobs[100].ended = true;  // since its node's jobs were listed
  comment_jobs(slurm, {1, 2, 100, 999}, kFailed);
  assert_int_equal(slurm.comment_writes, 1);
  for (int node = 0; node < 50; ++node) {
    comment_jobs(slurm, {1, 2}, "slurm-k8s: node c-" + std::to_string(node) + ": pod is gone");
  }
  assert_int_equal(slurm.comment_writes, 1);
  assert_text(slurm.jobs[1].admin_comment, kFailed);
  assert_text(slurm.jobs[2].admin_comment, "an administrator's");
  std::vector<std::uint32_t> all;
  for (std::uint32_t id = 3; id <= 100; ++id) all.push_back(id);
  comment_jobs(slurm, all, kWaiting);
  assert_int_equal(slurm.comment_writes, 1 + static_cast<int>(kMaxComments));
  clear_job_comments(slurm, {1, 2, 3}, {"unschedulable: no room"});
  assert_text(slurm.jobs[1].admin_comment, kFailed);
  assert_text(slurm.jobs[2].admin_comment, "an administrator's");
  assert_text(slurm.jobs[3].admin_comment, "");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(replaces_its_own_alone),
      SLURMK8S_TEST(clears_what_it_said),
      SLURMK8S_TEST(reads_what_it_writes),
      SLURMK8S_TEST(one_write_per_change),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
