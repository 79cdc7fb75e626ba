// SPDX-License-Identifier: GPL-2.0-or-later
// Placeholders in the labels and annotations of a NodeSet's pods, filled in from the node's job, for example
// to charge a pod's cost to an account. Pure; any thread.
//
//   $(JOB_ID) $(JOB_NAME) $(JOB_USER) $(JOB_ACCOUNT) $(JOB_PARTITION) $(JOB_QOS) $(JOB_RESERVATION) $(JOB_EXTRA)
//   $(JOB_CONSTRAINT) $(JOB_CPUS) $(JOB_MEMORY) $(JOB_GRES) $(JOB_NODES)
//
// They have no effect elsewhere in a pod: users' texts cannot enter a command, an image or a volume.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "slurm/records.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/**
 * Whether labels or annotations have placeholders. Error (invalid): an unknown one; `field` is the path of the
 * metadata.
 */
Result<bool> find_placeholders(const Json& metadata, const std::string& field);

/**
 * `metadata` with placeholders replaced by values of `job`, or by nothing without a job. Values in labels become valid:
 * at most 63 letters, digits, '-', '_' and '.' (others become '_'), with a letter or digit at both ends. In an
 * annotation control characters become blanks, and a value has at most 1024 bytes.
 */
Json expand_placeholders(const Json& metadata, const std::optional<SlurmJob>& job);

}  // namespace slurmk8s
