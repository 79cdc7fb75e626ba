// SPDX-License-Identifier: GPL-2.0-or-later
// check_gres(): NAME[:TYPE][:no_consume][:COUNT][(…)], with commas.
#include "nodeset/gres.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

/** Maximum count of an entry with its suffix: entries within the 2048 characters of extraConf cannot overflow. */
constexpr std::int64_t kMaxCount = std::int64_t{1} << 52;

struct Entry {
  std::string name;
  std::string type;
  std::int64_t count = 1;
};

/** Slurm's factor of "k", "KiB", "kB" …; empty: not a suffix. */
std::optional<std::int64_t> multiplier(std::string_view suffix) {
  const std::string lower = to_lower(suffix);
  if (lower.empty()) return 1;
  constexpr std::string_view kPrefixes = "kmgtp";
  const std::size_t power = kPrefixes.find(lower[0]);
  const std::string_view rest = std::string_view(lower).substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) return std::nullopt;
  std::int64_t value = 1;
  for (std::size_t i = 0; i <= power; i++) value *= rest == "b" ? 1000 : 1024;
  return value;
}

Result<std::int64_t> parse_count(std::string_view word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const std::optional<std::int64_t> number = parse_int(word.substr(0, digits));
  const std::optional<std::int64_t> factor = multiplier(word.substr(digits));
  if (!factor) return Error(Errc::invalid, std::string(word) + " is not a count: a type must be followed by a count");
  if (!number || *number > kMaxCount / *factor)
    return Error(Errc::invalid, std::string(word) + ": must be at most 2^52");
  return *number * *factor;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || c == '.' || c == '/';
  });
}

Result<Entry> parse_entry(std::string_view text) {
  text = text.substr(0, text.rfind('('));  // the sockets; slurmctld parses it in the same way
  std::vector<std::string_view> words = split(text, ':');
  if (!std::all_of(words.begin(), words.end(), is_word)) {
    return Error(Errc::invalid, "must be NAME, NAME:COUNT or NAME:TYPE:COUNT");
  }
  Entry entry{.name = std::string(words.front()), .type = {}};
  words.erase(words.begin());
  if (!words.empty() && words.back()[0] >= '0' && words.back()[0] <= '9') {
    entry.count = SLURMK8S_TRY(parse_count(words.back()));
    words.pop_back();
  }
  std::erase_if(words, [](std::string_view word) { return to_lower(word) == "no_consume"; });
  if (words.size() > 1) return Error(Errc::invalid, "must have one type");
  if (!words.empty()) entry.type = words.front();
  return entry;
}

}  // namespace

Status check_gres(std::string_view value) {
  std::map<std::string, bool> has_type;  // by name
  std::map<std::string, std::int64_t> counts;
  for (const std::string_view text : split(value, ',')) {
    const Result<Entry> entry = parse_entry(text);
    if (!entry) return entry.error().wrap(text);
    const bool is_typed = !entry->type.empty();
    if (has_type.try_emplace(entry->name, is_typed).first->second != is_typed) {
      return Error(Errc::invalid, entry->name + ": all entries of a name must have a type, or none");
    }
    counts[entry->name] += entry->count;
  }
  for (const char* shared : {"mps", "shard"}) {
    if (counts[shared] > 0 && counts["gpu"] == 0) {
      return Error(Errc::invalid, std::string(shared) + ": requires a gpu on the same node");
    }
  }
  return {};
}

std::set<std::string> gres_names(std::string_view value) {
  std::set<std::string> names;
  for (const std::string_view text : split(value, ',')) names.emplace(text.substr(0, text.find_first_of(":(")));
  return names;
}

}  // namespace slurmk8s
