// SPDX-License-Identifier: GPL-2.0-or-later
// Every predicate of node_state.hpp, on every record that slurmctld can show: each is stated once more as the flags
// that it requires and forbids. Then states by the names that `sinfo` gives them, with all that holds for each.
#include "slurm/node_state.hpp"

#include <string>
#include <vector>

#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

using Base = SlurmNode::Base;

// A record as bits.

enum Flag : unsigned {
  kPowerUp = 1 << 0,
  kPoweringUp = 1 << 1,
  kPoweredDown = 1 << 2,
  kPoweringDown = 1 << 3,
  kPowerDown = 1 << 4,
  kDrain = 1 << 5,
  kNoRespond = 1 << 6,
  kCompleting = 1 << 7,
  kSuspendedJob = 1 << 8,
  kCloud = 1 << 9,
  kFlagsWithReasons = (1 << 10) - 1,
  // No predicate asks for one of these and for the Reason of a drain or a failure.
  kReserved = 1 << 10,
  kDynamic = 1 << 11,
  kBootTime = 1 << 12,
  kOwnAddress = 1 << 13,  ///< another address than its name
  kReboot = 1 << 14,      ///< REBOOT_ISSUED
  kExternal = 1 << 15,
  kAllFlags = (1 << 16) - 1,
};
constexpr unsigned kNoPower = kPoweringUp | kPoweredDown | kPoweringDown | kPowerDown;
constexpr unsigned kGoing = kPoweringDown | kPowerDown;
constexpr unsigned kStarting = kPowerUp | kPoweringUp;

constexpr Base kBases[] = {Base::unknown, Base::down,  Base::idle,  Base::allocated,
                           Base::mixed,   Base::error, Base::future};
constexpr unsigned bit(Base base) { return 1U << static_cast<unsigned>(base); }
constexpr unsigned kAnyBase = ~0U;
constexpr unsigned kAllocated = bit(Base::allocated) | bit(Base::mixed);
constexpr unsigned kDown = bit(Base::down) | bit(Base::error);

enum Said : unsigned {
  kNothing = 1 << 0,
  kFailed = 1 << 1,         ///< ours: its pod is lost, or could not start
  kTimeout = 1 << 2,        ///< ResumeTimeout
  kTimeoutBefore = 1 << 3,  ///< ResumeTimeout, and then silence
  kSilent = 1 << 4,         ///< slurmctld's: not responding
  kForPod = 1 << 5,         ///< ours, of a drain; and so on
  kForProtection = 1 << 6,
  kForScaleIn = 1 << 7,
  kForUpdate = 1 << 8,
  kForKubeNode = 1 << 9,
  kReleased = 1 << 10,  ///< a drain of ours that is over
  kNoAddress = 1 << 11,
  kByAdministrator = 1 << 12,
  kAnything = ~0U,
};
constexpr unsigned kOurDrains = kForPod | kForProtection | kForScaleIn | kForUpdate | kForKubeNode;

const struct {
  Said said;
  std::string text;
} kReasons[] = {
    {kNothing, ""},
    {kFailed, "slurm-k8s: pod is gone"},
    {kTimeout, "ResumeTimeout reached"},
    {kTimeoutBefore, "disk check : ResumeTimeout reached : Not responding"},
    {kSilent, "Not responding"},
    {kForPod, std::string(kReasonNotDeleted) + "still terminating"},
    {kForProtection, std::string(kReasonProtected) + "no image"},
    {kForScaleIn, kReasonScaleIn},
    {kForUpdate, kReasonUpdate},
    {kForKubeNode, std::string(kReasonKubeNode) + "m1 is cordoned"},
    {kReleased, kReasonReleased},
    {kNoAddress, "NO NETWORK ADDRESS FOUND"},
    {kByAdministrator, "disk check"},
};

SlurmNode make_node(Base base, unsigned flags, const std::string& reason) {
  SlurmNode node;
  node.name = "c-0";
  node.base = base;
  node.power_up_asked = flags & kPowerUp;
  node.powering_up = flags & kPoweringUp;
  node.powered_down = flags & kPoweredDown;
  node.powering_down = flags & kPoweringDown;
  node.power_down_asked = flags & kPowerDown;
  node.draining = flags & kDrain;
  node.not_responding = flags & kNoRespond;
  node.completing = flags & kCompleting;
  node.has_suspended_job = flags & kSuspendedJob;
  node.reserved = flags & kReserved;
  node.cloud = flags & kCloud;
  node.external = flags & kExternal;
  node.dynamic = flags & kDynamic;
  node.reboot_issued = flags & kReboot;
  if (flags & kBootTime) node.boot_time = std::chrono::system_clock::time_point(std::chrono::seconds(1));
  node.address = flags & kOwnAddress ? "10.1.2.3" : "c-0";
  node.reason = reason;
  return node;
}

// The predicates once more: true when one of its cases fits.

struct Case {
  unsigned bases = kAnyBase;
  unsigned required = 0;
  unsigned forbidden = 0;
  unsigned said = kAnything;
};

struct Predicate {
  const char* name;
  bool (*holds)(const SlurmNode&);
  std::vector<Case> cases;
};

bool is_going_down(const SlurmNode& node) { return node.going_down(); }

const Predicate kPredicates[] = {
    {"going_down", is_going_down, {{kAnyBase, kPoweringDown}, {kAnyBase, kPowerDown}}},
    {"is_allocated", is_allocated, {{kAllocated}}},
    {"is_busy", is_busy, {{kAllocated}, {kAnyBase, kCompleting}, {kAnyBase, kSuspendedJob}}},
    {"is_idle", is_idle, {{bit(Base::idle), 0, kCompleting | kSuspendedJob}}},
    {"is_free", is_free, {{bit(Base::idle), 0, kCompleting | kSuspendedJob | kDrain | kReserved}}},
    {"is_in_use",
     is_in_use,
     {{kAllocated}, {kAnyBase, kCompleting}, {kAnyBase, kSuspendedJob}, {kAnyBase, kPowerUp}, {kAnyBase, kPoweringUp}}},
    {"must_stay", must_stay, {{bit(Base::unknown)}, {kAnyBase, kReserved}}},
    {"may_have_suspended_job",
     may_have_suspended_job,
     {{bit(Base::idle), kCloud, kCompleting | kPoweredDown | kPoweringDown},
      {bit(Base::idle), kExternal, kCompleting | kPoweredDown | kPoweringDown}}},
    {"is_starting", is_starting, {{kAnyBase, kPowerUp}, {kAnyBase, kPoweringUp}}},
    {"is_changing",
     is_changing,
     {{kAnyBase, kPowerUp}, {kAnyBase, kPoweringUp}, {kAnyBase, kPoweringDown}, {kAnyBase, kPowerDown}}},
    {"will_start",
     will_start,
     {{kAnyBase, kPowerUp},
      {kAnyBase, kPoweringUp},
      {kAllocated, kPoweredDown},
      {kAnyBase, kPoweredDown | kCompleting},
      {kAnyBase, kPoweredDown | kSuspendedJob}}},
    {"is_booted_for_next_job",
     is_booted_for_next_job,
     {{kAnyBase, kPoweredDown}, {kAnyBase, kPoweringDown}, {kAnyBase, kPowerDown}}},
    {"is_leaving_without_job", is_leaving_without_job, {{~kAllocated, kPowerDown, kCompleting | kSuspendedJob}}},
    {"is_leaving_unregistered",
     is_leaving_unregistered,
     {{bit(Base::idle), kCloud | kPoweringUp | kPowerDown,
       kPoweredDown | kPoweringDown | kCompleting | kSuspendedJob}}},
    {"awaits_registration", awaits_registration, {{kAnyBase, kPoweringUp, kGoing}}},
    {"is_rebooting", is_rebooting, {{kAnyBase, kCloud | kReboot, kPoweredDown | kGoing}}},
    {"is_booting", is_booting, {{kAnyBase, kPoweringUp}, {kAnyBase, kCloud | kReboot, kPoweredDown | kGoing}}},
    {"is_suspended", is_suspended, {{kAnyBase, kPoweredDown}, {kAnyBase, kPoweringDown}}},
    {"awaits_suspend_timeout",
     awaits_suspend_timeout,
     {{bit(Base::idle), kPoweringDown, kPoweredDown | kPowerDown | kCompleting | kSuspendedJob}}},
    {"can_finish_power_down",
     can_finish_power_down,
     {{bit(Base::idle), kCloud | kPoweringDown, kCompleting | kSuspendedJob | kDrain}}},
    {"has_finished_power_down",
     has_finished_power_down,
     {{bit(Base::idle), kCloud | kPoweredDown, kCompleting | kSuspendedJob | kDrain}}},
    {"may_be_protected", may_be_protected, {{bit(Base::idle), kPoweredDown, kPowerUp | kDrain}}},
    {"can_power_up",
     can_power_up,
     {{bit(Base::idle), kPoweredDown, kGoing | kStarting | kCompleting | kSuspendedJob | kDrain}}},
    {"is_powered_up", is_powered_up, {{kAnyBase, 0, kNoPower}}},
    {"is_registered", is_registered, {{~kDown, 0, kNoPower | kPowerUp}}},
    {"is_responding", is_responding, {{~bit(Base::down), 0, kNoPower | kNoRespond}}},
    {"is_schedulable",
     is_schedulable,
     {{bit(Base::idle) | kAllocated, 0, kNoPower | kNoRespond | kDrain},
      {kAnyBase, kCompleting, kNoPower | kNoRespond | kDrain},
      {kAnyBase, kSuspendedJob, kNoPower | kNoRespond | kDrain}}},
    {"is_in_service", is_in_service, {{~(kDown | bit(Base::unknown)), 0, kNoPower | kPowerUp | kDrain}}},
    {"has_ever_registered", has_ever_registered, {{kAnyBase, kBootTime}, {kAnyBase, kOwnAddress}}},
    {"needs_pod",
     needs_pod,
     {{kAllocated},
      {kAnyBase, kCompleting},
      {kAnyBase, kSuspendedJob},
      {kAnyBase, kNoRespond},
      {kAnyBase, kBootTime},
      {kAnyBase, kOwnAddress}}},
    {"is_down", is_down, {{kDown}}},
    {"is_given_up",
     is_given_up,
     {{bit(Base::down), kCloud, kGoing, kFailed | kTimeout},
      {bit(Base::down), kCloud | kPoweredDown, kGoing, kTimeoutBefore}}},
    {"is_down_for_silence",
     is_down_for_silence,
     {{bit(Base::down), 0, kGoing, kSilent | kOurDrains},
      {bit(Base::down), 0, kGoing | kPoweredDown, kTimeoutBefore},
      {bit(Base::down), kPoweredDown, kGoing | kCloud, kTimeoutBefore}}},
    {"is_held_by_administrator",
     is_held_by_administrator,
     {{bit(Base::error)},
      {bit(Base::down), 0, kCloud},
      {bit(Base::down), kPoweringDown},
      {bit(Base::down), kPowerDown},
      {bit(Base::down), 0, 0, kAnything & ~(kFailed | kTimeout | kTimeoutBefore)},
      {bit(Base::down), 0, kPoweredDown, kTimeoutBefore},
      {~kDown, kDrain, 0, kAnything & ~kOurDrains}}},
    {"is_drained_for_pod", is_drained_for_pod, {{kAnyBase, kDrain | kCloud, 0, kForPod}}},
    {"can_end_drain_for_pod", can_end_drain_for_pod, {{kAnyBase, kDrain | kCloud, kPowerDown, kForPod}}},
    {"is_waiting_for_pod",
     is_waiting_for_pod,
     {{~bit(Base::down), kPoweringUp}, {kAnyBase, kDrain | kCloud, 0, kForPod}}},
    {"is_drained_for_protection", is_drained_for_protection, {{kAnyBase, kDrain, 0, kForProtection}}},
    {"is_drained_for_scale_in", is_drained_for_scale_in, {{kAnyBase, kDrain, 0, kForScaleIn}}},
    {"is_drained_but_for_scale_in", is_drained_but_for_scale_in, {{kAnyBase, kDrain, 0, kAnything & ~kForScaleIn}}},
    {"is_drained_for_update", is_drained_for_update, {{kAnyBase, kDrain, 0, kForUpdate}}},
    {"is_going_down_for_update",
     is_going_down_for_update,
     {{kAnyBase, kPoweringDown, 0, kForUpdate}, {kAnyBase, kPowerDown, 0, kForUpdate}}},
    {"is_drained_for_kube_node", is_drained_for_kube_node, {{kAnyBase, kDrain, 0, kForKubeNode}}},
    {"has_former_reason", has_former_reason, {{~kDown, 0, kNoPower | kPowerUp | kDrain, kOurDrains}}},
    {"is_orphaned_allocation",
     is_orphaned_allocation,
     {{kAllocated, kCloud | kPoweredDown, kStarting | kGoing | kCompleting}}},
    {"is_powered_down_unresponsive",
     is_powered_down_unresponsive,
     {{bit(Base::idle), kCloud | kPoweredDown | kNoRespond, kStarting | kGoing | kDrain | kCompleting}}},
    {"is_lost", is_lost, {{bit(Base::future), 0, kDynamic | kCloud, kNoAddress}}},
    {"is_removable",
     is_removable,
     {{~kAllocated, kPoweredDown, kGoing | kStarting | kCompleting | kSuspendedJob | kReserved},
      {~kAllocated, kExternal, kGoing | kStarting | kCompleting | kSuspendedJob | kReserved}}},
};

bool fits(const Case& one, Base base, unsigned flags, unsigned said) {
  return (one.bases & bit(base)) && (flags & one.required) == one.required && !(flags & one.forbidden) &&
         (one.said & said);
}

void each_predicate_on_every_record(void**) {
  for (const Base base : kBases) {
    for (const auto& [said, reason] : kReasons) {
      const unsigned last = said & (kNothing | kNoAddress) ? kAllFlags : kFlagsWithReasons;
      for (unsigned flags = 0; flags <= last; flags++) {
        const SlurmNode node = make_node(base, flags, reason);
        for (const Predicate& predicate : kPredicates) {
          bool expected = false;
          for (const Case& one : predicate.cases) expected |= fits(one, base, flags, said);
          if (predicate.holds(node) != expected) {
            fail_msg("%s: base %d, flags %#x, reason '%s': %d", predicate.name, static_cast<int>(base), flags,
                     reason.c_str(), !expected);
          }
        }
      }
    }
  }
}

/** Names of the predicates that hold, with blanks. */
std::string all_that_holds(const SlurmNode& node) {
  std::string names;
  for (const Predicate& predicate : kPredicates) {
    if (predicate.holds(node)) names += std::string(names.empty() ? "" : " ") + predicate.name;
  }
  return names;
}

void states_by_their_names(void**) {
  constexpr unsigned kOurs = kCloud | kDynamic;
  constexpr unsigned kThere = kOurs | kBootTime | kOwnAddress;
  const struct {
    const char* state;
    SlurmNode node;
    const char* holds;
  } rows[] = {
      {"idle~", make_node(Base::idle, kOurs | kPoweredDown, ""),
       "is_idle is_free is_booted_for_next_job is_suspended has_finished_power_down may_be_protected can_power_up "
       "is_removable"},
      {"alloc~ for a moment", make_node(Base::allocated, kOurs | kPoweredDown, ""),
       "is_allocated is_busy is_in_use will_start is_booted_for_next_job is_suspended needs_pod "
       "is_orphaned_allocation"},
      {"alloc# of a job that is being configured", make_node(Base::allocated, kOurs | kPoweringUp | kNoRespond, ""),
       "is_allocated is_busy is_in_use is_starting is_changing will_start awaits_registration is_booting needs_pod "
       "is_waiting_for_pod"},
      {"idle# (scontrol update state=power_up)", make_node(Base::idle, kOurs | kPoweringUp | kNoRespond, ""),
       "is_idle is_free is_in_use may_have_suspended_job is_starting is_changing will_start awaits_registration "
       "is_booting needs_pod "
       "is_waiting_for_pod"},
      {"idle#! (a power-down while it powers up)",
       make_node(Base::idle, kOurs | kPoweringUp | kPowerDown | kNoRespond, ""),
       "going_down is_idle is_free is_in_use may_have_suspended_job is_starting is_changing will_start "
       "is_booted_for_next_job is_leaving_without_job is_leaving_unregistered is_booting needs_pod is_waiting_for_pod"},
      {"idle, POWER_UP", make_node(Base::idle, kOurs | kPoweredDown | kPowerUp, ""),
       "is_idle is_free is_in_use is_starting is_changing will_start is_booted_for_next_job is_suspended "
       "has_finished_power_down"},
      {"idle", make_node(Base::idle, kThere, ""),
       "is_idle is_free may_have_suspended_job is_powered_up is_registered is_responding is_schedulable "
       "is_in_service has_ever_registered needs_pod"},
      {"idle, before its first power-up", make_node(Base::idle, kOurs, ""),
       "is_idle is_free may_have_suspended_job is_powered_up is_registered is_responding is_schedulable is_in_service"},
      {"mix", make_node(Base::mixed, kThere, ""),
       "is_allocated is_busy is_in_use is_powered_up is_registered is_responding is_schedulable is_in_service "
       "has_ever_registered needs_pod"},
      {"comp", make_node(Base::idle, kThere | kCompleting, ""),
       "is_busy is_in_use is_powered_up is_registered is_responding is_schedulable is_in_service has_ever_registered "
       "needs_pod"},
      {"idle*", make_node(Base::idle, kThere | kNoRespond, ""),
       "is_idle is_free may_have_suspended_job is_powered_up is_registered is_in_service has_ever_registered "
       "needs_pod"},
      {"mix! (power_down with a job)", make_node(Base::mixed, kThere | kPowerDown, ""),
       "going_down is_allocated is_busy is_in_use is_changing is_booted_for_next_job has_ever_registered needs_pod"},
      {"idle%", make_node(Base::idle, kThere | kPoweringDown, ""),
       "going_down is_idle is_free is_changing is_booted_for_next_job is_suspended awaits_suspend_timeout "
       "can_finish_power_down has_ever_registered needs_pod"},
      {"drng, by an administrator", make_node(Base::mixed, kThere | kDrain, "disk check"),
       "is_allocated is_busy is_in_use is_powered_up is_registered is_responding has_ever_registered needs_pod "
       "is_held_by_administrator is_drained_but_for_scale_in"},
      {"drain~, since its pod does not go", make_node(Base::idle, kOurs | kPoweredDown | kDrain, kReasons[5].text),
       "is_idle is_booted_for_next_job is_suspended is_drained_for_pod can_end_drain_for_pod is_waiting_for_pod "
       "is_drained_but_for_scale_in is_removable"},
      {"down#, its power-up failed", make_node(Base::down, kOurs | kPoweringUp | kNoRespond, "slurm-k8s: ErrImagePull"),
       "is_in_use is_starting is_changing will_start awaits_registration is_booting needs_pod is_down is_given_up"},
      {"down~, ResumeTimeout", make_node(Base::down, kOurs | kPoweredDown, "ResumeTimeout reached"),
       "is_booted_for_next_job is_suspended is_down is_given_up is_removable"},
      {"idle~*, resumed after ResumeTimeout", make_node(Base::idle, kOurs | kPoweredDown | kNoRespond, ""),
       "is_idle is_free is_booted_for_next_job is_suspended has_finished_power_down may_be_protected can_power_up "
       "needs_pod is_powered_down_unresponsive is_removable"},
      {"down*", make_node(Base::down, kThere | kNoRespond, "Not responding"),
       "is_powered_up has_ever_registered needs_pod is_down is_down_for_silence is_held_by_administrator"},
      {"down, by an administrator", make_node(Base::down, kThere, "disk check"),
       "is_powered_up has_ever_registered needs_pod is_down is_held_by_administrator"},
      {"boot^ (scontrol reboot)", make_node(Base::down, kThere | kReboot, ""),
       "is_rebooting is_booting is_powered_up has_ever_registered needs_pod is_down is_held_by_administrator"},
      {"boot^, as libslurm tells it while a former job is counted", make_node(Base::mixed, kThere | kReboot, ""),
       "is_allocated is_busy is_in_use is_rebooting is_booting is_powered_up is_registered is_responding "
       "is_schedulable is_in_service has_ever_registered needs_pod"},
      {"idle, external", make_node(Base::idle, kExternal | kDynamic, ""),
       "is_idle is_free may_have_suspended_job is_powered_up is_registered is_responding is_schedulable is_in_service "
       "is_removable"},
      {"futr, lost", make_node(Base::future, 0, "NO NETWORK ADDRESS FOUND"),
       "is_powered_up is_registered is_responding is_in_service is_lost"},
  };
  for (const auto& row : rows) {
    const std::string holds = all_that_holds(row.node);
    if (holds != row.holds) fail_msg("%s: %s", row.state, holds.c_str());
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(each_predicate_on_every_record),
      SLURMK8S_TEST(states_by_their_names),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
