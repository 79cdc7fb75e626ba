// SPDX-License-Identifier: GPL-2.0-or-later
// Which member of Slurm's struct has which option. Every option of partition_options() is here.
#include "slurm/rpc/partition_fields.hpp"

#include <type_traits>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

using Info = partition_info_t;
using Flags = std::remove_cvref_t<decltype(Info::flags)>;

struct TextField {
  const char* key;
  char* Info::*member;
};
constexpr TextField kTexts[] = {
    {"AllowAccounts", &Info::allow_accounts},
    {"AllowGroups", &Info::allow_groups},
    {"AllowQos", &Info::allow_qos},
    {"DenyAccounts", &Info::deny_accounts},
    {"DenyQos", &Info::deny_qos},
    {"QOS", &Info::qos_char},
    {"TRESBillingWeights", &Info::billing_weights_str},
};

/** UNLIMITED is INFINITE. */
struct Field32 {
  const char* key;
  std::uint32_t Info::*member;
};
constexpr Field32 kNumbers32[] = {
    {"DefaultTime", &Info::default_time},
    {"GraceTime", &Info::grace_time},
    {"MaxCPUsPerNode", &Info::max_cpus_per_node},
    {"MaxNodes", &Info::max_nodes},
    {"MaxTime", &Info::max_time},
    {"MinNodes", &Info::min_nodes},
};

struct Field16 {
  const char* key;
  std::uint16_t Info::*member;
};
constexpr Field16 kNumbers16[] = {
    {"OverTimeLimit", &Info::over_time_limit},
    {"PriorityJobFactor", &Info::priority_job_factor},
    {"PriorityTier", &Info::priority_tier},
};

struct FlagField {
  const char* key;
  Flags set;
  Flags clear;
};
constexpr FlagField kFlags[] = {
    {"Default", PART_FLAG_DEFAULT, PART_FLAG_DEFAULT_CLR},
    {"DisableRootJobs", PART_FLAG_NO_ROOT, PART_FLAG_NO_ROOT_CLR},
    {"ExclusiveUser", PART_FLAG_EXCLUSIVE_USER, PART_FLAG_EXC_USER_CLR},
    {"Hidden", PART_FLAG_HIDDEN, PART_FLAG_HIDDEN_CLR},
    {"LLN", PART_FLAG_LLN, PART_FLAG_LLN_CLR},
    {"ReqResv", PART_FLAG_REQ_RESV, PART_FLAG_REQ_RESV_CLR},
    {"RootOnly", PART_FLAG_ROOT_ONLY, PART_FLAG_ROOT_ONLY_CLR},
};

/** With a bit that says whether it is of each CPU or of the node. */
struct MemoryField {
  const char* of_cpu;
  const char* of_node;
  std::uint64_t Info::*member;
};
constexpr MemoryField kMemories[] = {
    {"DefMemPerCPU", "DefMemPerNode", &Info::def_mem_per_cpu},
    {"MaxMemPerCPU", "MaxMemPerNode", &Info::max_mem_per_cpu},
};

struct Word {
  const char* text;
  std::uint16_t value;
};
constexpr Word kStates[] = {
    {"UP", PARTITION_UP}, {"DOWN", PARTITION_DOWN}, {"DRAIN", PARTITION_DRAIN}, {"INACTIVE", PARTITION_INACTIVE}};
constexpr Word kPreemptModes[] = {{"OFF", PREEMPT_MODE_OFF},
                                  {"CANCEL", PREEMPT_MODE_CANCEL},
                                  {"REQUEUE", PREEMPT_MODE_REQUEUE},
                                  {"SUSPEND", PREEMPT_MODE_SUSPEND}};

template <std::size_t N>
void decode_word(const char* key, std::uint16_t value, const Word (&words)[N], PartitionOptions& options) {
  for (const Word& word : words) {
    if (word.value == value) options[key] = word.text;
  }
}

template <std::size_t N>
std::uint16_t encode_word(const std::string& text, const Word (&words)[N]) {
  for (const Word& word : words) {
    if (text == word.text) return word.value;
  }
  return NO_VAL16;
}

std::string decode_max_share(std::uint16_t value) {
  const int jobs = value & ~SHARED_FORCE;
  if (jobs == 0) return "EXCLUSIVE";
  if ((value & SHARED_FORCE) != 0) return "FORCE:" + std::to_string(jobs);
  return jobs == 1 ? "NO" : "YES:" + std::to_string(jobs);
}

std::uint16_t encode_max_share(const std::string& text) {
  if (text == "NO") return 1;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return 0;  // EXCLUSIVE
  const auto jobs = static_cast<std::uint16_t>(parse_int(std::string_view(text).substr(colon + 1)).value_or(1));
  return text.starts_with("FORCE") ? static_cast<std::uint16_t>(jobs | SHARED_FORCE) : jobs;
}

const std::string* find(const PartitionOptions& options, const char* key) {
  const auto found = options.find(key);
  return found == options.end() ? nullptr : &found->second;
}

std::int64_t number(const std::string& text) { return parse_int(text).value_or(0); }

}  // namespace

SlurmPartition decode_partition(const partition_info_t& info) {
  SlurmPartition partition;
  const auto text = [](const char* value) { return value == nullptr ? std::string() : std::string(value); };
  partition.name = text(info.name);
  partition.nodes = text(info.nodes);
  PartitionOptions& options = partition.options;
  for (const TextField& field : kTexts) options[field.key] = text(info.*field.member);
  for (const Field32& field : kNumbers32) {
    const std::uint32_t value = info.*field.member;
    options[field.key] = value == INFINITE ? "UNLIMITED" : value == NO_VAL ? "NONE" : std::to_string(value);
  }
  for (const Field16& field : kNumbers16) {
    const std::uint16_t value = info.*field.member;
    options[field.key] = value == NO_VAL16 ? "NONE" : std::to_string(value);
  }
  for (const FlagField& field : kFlags) options[field.key] = (info.flags & field.set) != 0 ? "YES" : "NO";
  for (const MemoryField& field : kMemories) {
    const std::uint64_t value = info.*field.member;
    if (value == NO_VAL64) continue;
    const bool of_cpu = (value & MEM_PER_CPU) != 0;
    options[of_cpu ? field.of_cpu : field.of_node] = std::to_string(value & ~std::uint64_t{MEM_PER_CPU});
  }
  options["OverSubscribe"] = decode_max_share(info.max_share);
  decode_word("State", info.state_up, kStates, options);
  const auto mode = static_cast<std::uint16_t>(info.preempt_mode & ~PREEMPT_MODE_GANG);
  if (info.preempt_mode != NO_VAL16) decode_word("PreemptMode", mode, kPreemptModes, options);
  return partition;
}

void encode_partition(const SlurmPartition& partition, update_part_msg_t& message) {
  // libslurm's structs have `char *` for texts that it only reads.
  const auto unconst = [](const std::string& value) { return const_cast<char*>(value.c_str()); };
  const PartitionOptions& options = partition.options;
  message.name = unconst(partition.name);
  if (!partition.nodes.empty()) message.nodes = unconst(partition.nodes);
  for (const TextField& field : kTexts) {
    if (const std::string* value = find(options, field.key)) message.*field.member = unconst(*value);
  }
  for (const Field32& field : kNumbers32) {
    if (const std::string* value = find(options, field.key)) {
      message.*field.member = *value == "UNLIMITED" ? INFINITE : static_cast<std::uint32_t>(number(*value));
    }
  }
  for (const Field16& field : kNumbers16) {
    if (const std::string* value = find(options, field.key)) {
      message.*field.member = static_cast<std::uint16_t>(number(*value));
    }
  }
  for (const FlagField& field : kFlags) {
    if (const std::string* value = find(options, field.key)) {
      message.flags = static_cast<Flags>(message.flags | (*value == "YES" ? field.set : field.clear));
    }
  }
  for (const MemoryField& field : kMemories) {
    const std::string* of_cpu = find(options, field.of_cpu);
    const std::string* of_node = find(options, field.of_node);
    if (of_cpu != nullptr) message.*field.member = static_cast<std::uint64_t>(number(*of_cpu)) | MEM_PER_CPU;
    if (of_node != nullptr) message.*field.member = static_cast<std::uint64_t>(number(*of_node));
  }
  if (const std::string* value = find(options, "OverSubscribe")) message.max_share = encode_max_share(*value);
  if (const std::string* value = find(options, "State")) message.state_up = encode_word(*value, kStates);
  if (const std::string* value = find(options, "PreemptMode")) {
    message.preempt_mode = encode_word(*value, kPreemptModes);
  }
}

}  // namespace slurmk8s
