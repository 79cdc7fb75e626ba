// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/reasons: Reasons as we write them, and as slurmctld leaves them.
#include "slurm/reasons.hpp"

#include "slurm/node_state.hpp"
#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

void tells_its_own_reasons(void**) {
  enum class Is { other, failure, drain, timeout };
  const bool kPoweredDown = true;
  const struct {
    const char* name;
    const char* reason;
    bool powered_down;
    Is is;
  } cases[] = {
      {"set DOWN by us", "slurm-k8s: pod is gone", false, Is::failure},
      {"ResumeTimeout, no Reason before", "ResumeTimeout reached", kPoweredDown, Is::timeout},
      {"ResumeTimeout with a time", "ResumeTimeout reached [slurm@now]", kPoweredDown, Is::timeout},
      {"24.11: an administrator's is kept", "disk check : ResumeTimeout reached", kPoweredDown, Is::timeout},
      {"24.11: our earlier one is kept", "slurm-k8s: kubernetes node m1 is cordoned : ResumeTimeout reached",
       kPoweredDown, Is::timeout},
      {"24.11: so, of a drain that was over", "slurm-k8s: back in service : ResumeTimeout reached", kPoweredDown,
       Is::timeout},
      {"24.11: once more", "disk check : ResumeTimeout reached : Not responding", kPoweredDown, Is::timeout},
      {"a silent slurmd", "Not responding", false, Is::other},
      {"24.11: so, our earlier one is kept", "slurm-k8s: pod is gone : Not responding", false, Is::other},
      {"24.11: so, after a ResumeTimeout", "disk check : ResumeTimeout reached : Not responding", false, Is::other},
      {"24.11: so, drained by us", "slurm-k8s: kubernetes node m1 is not ready: x : Not responding", false, Is::drain},
      {"22.05: so, drained by us", "slurm-k8s: kubernetes node m1 is not ready: x", false, Is::drain},
      {"drained by us, DOWN for another cause", "slurm-k8s: scale-in : Low RealMemory", false, Is::other},
      {"our drain is over", kReasonReleased, false, Is::other},
      {"an administrator's", "disk check", false, Is::other},
      {"an administrator's of ResumeTimeout", "see ticket: ResumeTimeout reached too often", kPoweredDown, Is::other},
      {"drained: scale-in", "slurm-k8s: scale-in", false, Is::drain},
      {"drained: update", "slurm-k8s: update of the template", false, Is::drain},
      {"drained: protected", "slurm-k8s: protected: ErrImagePull: not found", false, Is::drain},
      {"drained: its pod doesn't go", "slurm-k8s: pod not deleted: still terminating", false, Is::drain},
      {"no Reason", "", false, Is::other},
  };
  for (const auto& row : cases) {
    SlurmNode node;
    node.cloud = true;
    node.base = SlurmNode::Base::down;
    node.reason = row.reason;
    node.powered_down = row.powered_down;
    const Is is = is_failure_reason(row.reason)                     ? Is::failure
                  : is_drain_reason(row.reason)                     ? Is::drain
                  : is_resume_timeout(row.reason, row.powered_down) ? Is::timeout
                                                                    : Is::other;
    const bool is_given = row.is == Is::failure || row.is == Is::timeout;
    if (is_given_up(node) != is_given) fail_msg("%s: given up %d", row.name, !is_given);
    // A Reason can be both: of a drain, which ResumeTimeout has ended.
    const bool is_both = row.is == Is::timeout && is == Is::drain;
    if (is != row.is && !is_both) fail_msg("%s: %d", row.name, static_cast<int>(is));
  }
  assert_text(build_reason(kReason, "pull : ResumeTimeout reached : x"), "slurm-k8s: pull: ResumeTimeout reached: x");
  assert_text(cause_of("disk check : ResumeTimeout reached"), kReasonResumeTimeout);
  assert_text(cause_of("slurm-k8s: protected: no image"), "no image");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(tells_its_own_reasons),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
