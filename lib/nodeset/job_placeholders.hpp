// SPDX-License-Identifier: GPL-2.0-or-later
// Placeholders in the labels and annotations of a NodeSet's pods, for what the job of a node asks for: so that a pod's
// cost can be told to belong to an account. Pure; any thread.
//
//   $(JOB_ID) $(JOB_NAME) $(JOB_USER) $(JOB_ACCOUNT) $(JOB_PARTITION) $(JOB_QOS) $(JOB_RESERVATION) $(JOB_EXTRA)
//   $(JOB_CONSTRAINT) $(JOB_CPUS) $(JOB_MEMORY) $(JOB_GRES) $(JOB_NODES)
//
// Nowhere else in a pod do they mean anything: what a user writes can't get into a command, an image or a volume.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "slurm/slurm.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/**
 * Whether labels or annotations have placeholders. Error (invalid): one that doesn't exist; `field` is the metadata's.
 */
Result<bool> find_placeholders(const Json& metadata, const std::string& field);

/**
 * `metadata` with the values of `job` in the place of placeholders; without a job they are empty. A label's value is
 * cut to what a label may be: other characters than letters, digits, '-', '_' and '.' become '_', at most 63, and a
 * letter or digit at both ends. In an annotation control characters become blanks, and a value has at most 1024 bytes.
 */
Json expand_placeholders(const Json& metadata, const std::optional<SlurmJob>& job);

}  // namespace slurmk8s
