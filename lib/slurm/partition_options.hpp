// SPDX-License-Identifier: GPL-2.0-or-later
// Options of a partition, as slurm.conf has them, in one spelling: what is wanted and what Slurm has can be compared.
// Pure; values; any thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

/** Key in Slurm's spelling to value: numbers in digits, times in minutes, "UNLIMITED", YES or NO, lists as given. */
using PartitionOptions = std::map<std::string, std::string>;

struct PartitionOption {
  enum class Kind {
    minutes,
    count,
    number16,
    number32,
    yes_no,
    list,
    text,
    state,
    over_subscribe,
    preempt_mode,
    memory
  };
  const char* key;
  Kind kind;
  /** What holds when it isn't given; null: it stays as it is, since Slurm can't take it back, or others may set it. */
  const char* fallback;
};
/** All that a NodeSet may give. */
std::span<const PartitionOption> partition_options();

/**
 * "MaxTime=1-0 Default=YES" → every option that has a fallback, and those that are given. Error (invalid) quotes the
 * word: an unknown key, a wrong value, the same key twice.
 */
Result<PartitionOptions> parse_partition_options(std::string_view config);

}  // namespace slurmk8s
