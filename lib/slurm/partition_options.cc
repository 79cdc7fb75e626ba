// SPDX-License-Identifier: GPL-2.0-or-later
// The table of options, and how their values are read.
#include "slurm/partition_options.hpp"

#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

using Kind = PartitionOption::Kind;

constexpr const char* kUnlimited = "UNLIMITED";
constexpr std::int64_t kMax32 = 0xfffffff0;  // above are Slurm's NO_VAL and INFINITE
constexpr std::int64_t kMax16 = 0xfff0;

constexpr std::array<PartitionOption, 30> kOptions{{
    {"AllowAccounts", Kind::list, ""},
    {"AllowGroups", Kind::list, ""},
    {"AllowQos", Kind::list, ""},
    {"Default", Kind::yes_no, "NO"},
    {"DefaultTime", Kind::minutes, nullptr},
    {"DefMemPerCPU", Kind::memory, nullptr},
    {"DefMemPerNode", Kind::memory, nullptr},
    {"DenyAccounts", Kind::list, ""},
    {"DenyQos", Kind::list, ""},
    {"DisableRootJobs", Kind::yes_no, "YES"},  // as in slurm.conf: root in a pod can read Slurm's key
    {"ExclusiveUser", Kind::yes_no, "NO"},
    {"GraceTime", Kind::number32, "0"},
    {"Hidden", Kind::yes_no, "NO"},
    {"LLN", Kind::yes_no, "NO"},
    {"MaxCPUsPerNode", Kind::count, kUnlimited},
    {"MaxMemPerCPU", Kind::memory, nullptr},
    {"MaxMemPerNode", Kind::memory, nullptr},
    {"MaxNodes", Kind::count, kUnlimited},
    {"MaxTime", Kind::minutes, kUnlimited},
    {"MinNodes", Kind::number32, "0"},
    {"OverSubscribe", Kind::over_subscribe, "NO"},
    {"OverTimeLimit", Kind::number16, nullptr},
    {"PreemptMode", Kind::preempt_mode, nullptr},
    {"PriorityJobFactor", Kind::number16, "1"},
    {"PriorityTier", Kind::number16, "1"},
    {"QOS", Kind::text, ""},
    {"ReqResv", Kind::yes_no, "NO"},
    {"RootOnly", Kind::yes_no, "NO"},
    {"State", Kind::state, nullptr},  // an administrator's State=DRAIN stays
    {"TRESBillingWeights", Kind::text, nullptr},
}};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

const PartitionOption* find_option(std::string_view key) {
  for (const PartitionOption& option : kOptions) {
    if (upper(option.key) == upper(key)) return &option;
  }
  return nullptr;
}

Error must_be(const char* what) { return Error(Errc::invalid, std::string("must be ") + what); }

Result<std::string> read_number(std::string_view text, std::int64_t max) {
  const std::optional<std::int64_t> number = parse_int(text);
  if (!number || *number < 0 || *number > max) {
    return Error(Errc::invalid, format("must be a number from 0 to %lld", static_cast<long long>(max)));
  }
  return std::to_string(*number);
}

/** Slurm's "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours[:minutes[:seconds]]", in minutes. */
std::optional<std::int64_t> read_minutes(std::string_view text) {
  constexpr std::int64_t kMax = kMax32;  // of each part: nothing overflows
  std::int64_t days = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto number = parse_int(text.substr(0, dash));
    if (!number || *number < 0 || *number > kMax) return std::nullopt;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  std::vector<std::int64_t> parts;
  for (const std::string_view part : split(text, ':')) {
    const auto number = parse_int(part);
    if (!number || *number < 0 || *number > kMax) return std::nullopt;
    parts.push_back(*number);
  }
  if (parts.size() > 3) return std::nullopt;
  // With days the first part is hours; else one or two parts are minutes and seconds.
  if (dash == std::string_view::npos && parts.size() < 3) parts.insert(parts.begin(), 0);
  parts.resize(3);
  return days * 24 * 60 + parts[0] * 60 + parts[1] + (parts[2] + 59) / 60;
}

bool is_unlimited(const std::string& word) { return word == "UNLIMITED" || word == "INFINITE" || word == "-1"; }

Result<std::string> read_over_subscribe(const std::string& word) {
  const std::size_t colon = word.find(':');
  const std::string kind = word.substr(0, colon);
  if (colon == std::string::npos && (kind == "NO" || kind == "EXCLUSIVE")) return kind;
  if (kind != "YES" && kind != "FORCE") return must_be("NO, EXCLUSIVE, YES[:n] or FORCE[:n]");
  const std::string count = colon == std::string::npos ? "4" : word.substr(colon + 1);
  const auto number = parse_int(count);
  // Slurm has no YES:1: it is NO.
  if (!number || *number < (kind == "YES" ? 2 : 1) || *number > 0x7fff) return must_be("a number of jobs");
  return kind + ":" + std::to_string(*number);
}

template <std::size_t N>
Result<std::string> read_word(const std::string& word, const char* const (&words)[N], const char* what) {
  for (const char* one : words) {
    if (word == one) return word;
  }
  return must_be(what);
}

Result<std::string> read_value(Kind kind, std::string_view text) {
  static constexpr const char* kStates[] = {"UP", "DOWN", "DRAIN", "INACTIVE"};
  static constexpr const char* kModes[] = {"OFF", "CANCEL", "REQUEUE", "SUSPEND"};
  static constexpr const char* kAnswers[] = {"YES", "NO"};
  const std::string word = upper(text);
  switch (kind) {
    case Kind::minutes: {
      if (is_unlimited(word)) return std::string(kUnlimited);
      const auto minutes = read_minutes(text);
      if (!minutes || *minutes > kMax32) return must_be("a time such as 30, 1:00:00, 1-0 or UNLIMITED");
      return std::to_string(*minutes);
    }
    case Kind::count:
      if (is_unlimited(word)) return std::string(kUnlimited);
      return read_number(text, kMax32);
    case Kind::number16: return read_number(text, kMax16);
    case Kind::number32:
    case Kind::memory: return read_number(text, kMax32);
    case Kind::yes_no: return read_word(word, kAnswers, "YES or NO");
    case Kind::list: return word == "ALL" ? std::string() : std::string(text);
    case Kind::text: return std::string(text);
    case Kind::state: return read_word(word, kStates, "UP, DOWN, DRAIN or INACTIVE");
    case Kind::preempt_mode: return read_word(word, kModes, "OFF, CANCEL, REQUEUE or SUSPEND");
    case Kind::over_subscribe: return read_over_subscribe(word);
  }
  return Error(Errc::internal, "unknown kind of value");
}

}  // namespace

std::span<const PartitionOption> partition_options() { return kOptions; }

Result<PartitionOptions> parse_partition_options(std::string_view config) {
  for (const char c : config) {
    if (c < ' ' || c > '~' || c == '#' || c == '"' || c == '\'' || c == '\\') {
      return Error(Errc::invalid, "must be one line of printable characters without quotes, '#' and '\\'");
    }
  }
  PartitionOptions options;
  for (const std::string_view word : split(config, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    const auto wrong = [&](const Error& error) { return error.wrap(std::string(word)); };
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size())
      return wrong(must_be("KEY=VALUE"));
    const std::string_view key = word.substr(0, equals);
    const PartitionOption* option = find_option(key);
    if (option == nullptr) return wrong(Error(Errc::invalid, std::string(key) + " is not supported here"));
    Result<std::string> value = read_value(option->kind, word.substr(equals + 1));
    if (!value.ok()) return wrong(value.error());
    if (!options.emplace(option->key, *std::move(value)).second) return wrong(Error(Errc::invalid, "duplicate key"));
  }
  for (const char* limit : {"Def", "Max"}) {  // Slurm has one field for both
    if (options.contains(std::string(limit) + "MemPerCPU") && options.contains(std::string(limit) + "MemPerNode")) {
      return Error(Errc::invalid, std::string(limit) + "MemPerCPU and " + limit + "MemPerNode: only one may be set");
    }
  }
  for (const PartitionOption& option : kOptions) {
    if (option.fallback != nullptr) options.emplace(option.key, option.fallback);
  }
  return options;
}

}  // namespace slurmk8s
