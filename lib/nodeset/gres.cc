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

#include "base/text.hpp"

namespace slurmk8s {
namespace {

/**
 * Largest count of one entry, its suffix included: the entries that fit into the 2048 characters of extraConf can't add
 * up to an overflow.
 */
constexpr std::int64_t kMaxCount = std::int64_t{1} << 52;

struct Entry {
  std::string name;
  std::string type;
  std::int64_t count = 1;
};

/** What Slurm has for "k", "KiB", "kB" …; empty: no suffix of a count. */
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
  if (!factor) return Error(Errc::invalid, std::string(word) + " isn't a count: a type needs one behind it");
  if (!number || *number > kMaxCount / *factor) return Error(Errc::invalid, std::string(word) + ": too many");
  return *number * *factor;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || c == '.' || c == '/';
  });
}

Result<Entry> parse_entry(std::string_view text) {
  text = text.substr(0, text.rfind('('));  // which sockets; slurmctld reads it so, too
  std::vector<std::string_view> words = split(text, ':');
  if (!std::all_of(words.begin(), words.end(), is_word)) {
    return Error(Errc::invalid, "NAME, NAME:COUNT or NAME:TYPE:COUNT is needed");
  }
  Entry entry{.name = std::string(words.front()), .type = {}};
  words.erase(words.begin());
  if (!words.empty() && words.back()[0] >= '0' && words.back()[0] <= '9') {
    entry.count = SLURMK8S_TRY(parse_count(words.back()));
    words.pop_back();
  }
  std::erase_if(words, [](std::string_view word) { return to_lower(word) == "no_consume"; });
  if (words.size() > 1) return Error(Errc::invalid, "has more than one type");
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
      return Error(Errc::invalid, entry->name + ": some have a type and others have none");
    }
    counts[entry->name] += entry->count;
  }
  for (const char* shared : {"mps", "shard"}) {
    if (counts[shared] > 0 && counts["gpu"] == 0) {
      return Error(Errc::invalid, std::string(shared) + ": the node needs a gpu to share");
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
