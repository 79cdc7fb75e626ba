// SPDX-License-Identifier: GPL-2.0-or-later
// Identity: as whom a workload's job is submitted. The administrator's rules decide; a workload may choose what its
// rule allows. Pure; values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bridge/workload_pod.hpp"

namespace slurmk8s {

struct IdentityRule {
  std::string name_space;                      ///< "*": any
  std::string service_account;                 ///< empty: any
  std::string user;                            ///< name in Slurm's accounting; empty: slurmctld knows it by the uid
  std::uint32_t uid = 0;                       ///< never 0
  std::uint32_t gid = 0;                       ///< never 0
  std::string account;                         ///< empty: Slurm's default
  std::string partition;                       ///< empty: Slurm's default
  std::string qos;                             ///< empty: Slurm's default
  std::set<std::string> allow;                 ///< of kRestricted: what a workload may choose
  std::optional<std::uint32_t> priority = {};  ///< of the pod's PriorityClass: apply_priority_class()
};

/** What a PriorityClass of Kubernetes means for a job. */
struct PriorityRule {
  std::string qos;                        ///< empty: that of the rule of users
  std::optional<std::uint32_t> priority;  ///< none: Slurm's
};
using PriorityRules = std::map<std::string, PriorityRule>;  // by the name of the PriorityClass

/** Annotations that a rule must allow. */
inline constexpr std::string_view kRestricted[] = {"account", "partition", "priority", "qos", "reservation"};

/**
 * `rules` of a YAML document: a list under "users". Error (invalid) names the field: "users[1].uid: Required value". A
 * user has one uid, and a uid one user.
 */
Result<std::vector<IdentityRule>> parse_identity_rules(std::string_view yaml);

/**
 * The first rule that fits. Error (forbidden) when there is none, or when an annotation asks for what the rule doesn't
 * allow. An annotation that says what the rule says is fine.
 */
Result<IdentityRule> find_identity(const std::vector<IdentityRule>& rules, const WorkloadPod& pod,
                                   const JobAnnotations& annotations);

/**
 * The list under "priorityClasses" of the same document. Error (invalid) names the field: "priorityClasses[0].qos:
 * Required value".
 */
Result<PriorityRules> parse_priority_rules(std::string_view yaml);

/** Puts what the pod's PriorityClass means into `identity`; nothing for a class without a rule. */
void apply_priority_class(const PriorityRules& rules, const WorkloadPod& pod, IdentityRule& identity);

}  // namespace slurmk8s
