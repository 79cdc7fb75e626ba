// SPDX-License-Identifier: GPL-2.0-or-later
// LeaseOptions: the options --leader-elect…, with the names and defaults that Kubernetes' own components have.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

struct LeaseOptions {
  bool elect = false;
  std::string name = "slurm-k8s-sidecar";   ///< of the Lease, in the namespace of the NodeSets
  std::string identity;                     ///< who we are; no other process may have the same
  std::chrono::seconds lease_duration{15};  ///< others wait for so long after they last saw it renewed
  std::chrono::seconds renew_deadline{10};  ///< without a renewal for so long it counts as lost to us
  std::chrono::seconds retry_period{2};     ///< between two renewals, and between two looks of those that wait
};

/**
 * Sets what `--leader-elect…` says; `option` without the dashes, `value` empty where none was given. Durations are as
 * Go writes them, in whole seconds: "15s", "1m30s". Error: the option and what is wrong. Pure.
 */
Status set_lease_option(std::string_view option, std::string_view value, LeaseOptions& options);

/** What doesn't fit together, as an error: renewals must come before the deadline, and this before others take over. */
Status check_lease_options(const LeaseOptions& options);

/** "HOST_RANDOM": unique also among the processes of one host, and forgotten with the process. */
std::string make_identity();

}  // namespace slurmk8s
