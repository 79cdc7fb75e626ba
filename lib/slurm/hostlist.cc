// SPDX-License-Identifier: GPL-2.0-or-later
// Hostlists: Slurm's bracket notation in both directions.
#include "slurm/hostlist.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/strings.hpp"

namespace slurmk8s {

namespace {

// A number of more digits is a part of the name: no range of it fits kMaxHosts or 64 bits.
constexpr std::size_t kMaxDigits = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kMaxDigits && std::all_of(text.begin(), text.end(), is_digit);
}

std::string padded(std::int64_t number, std::size_t width) {
  return format("%0*lld", static_cast<int>(width), static_cast<long long>(number));
}

/** Expands one hostlist; remembers the text for its messages. */
class Expander {
 public:
  explicit Expander(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> run() {
    std::vector<std::string> all;
    if (text_.empty()) return all;
    for (std::string_view item : items_) {
      std::vector<std::string> names = SLURMK8S_TRY(expand_item(item));
      if (names.size() > kMaxHosts - all.size()) return too_many();
      std::move(names.begin(), names.end(), std::back_inserter(all));
    }
    return all;
  }

  /** Cuts the text at the commas outside brackets, and checks that brackets pair. */
  Status cut() {
    std::size_t begin = 0;
    bool inside = false;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if ((c == '[' && inside) || (c == ']' && !inside)) return error("unbalanced brackets");
      if (c == '[') inside = true;
      if (c == ']') inside = false;
      if (c != ',' || inside) continue;
      items_.push_back(text_.substr(begin, i - begin));
      begin = i + 1;
    }
    if (inside) return error("unbalanced brackets");
    items_.push_back(text_.substr(begin));
    return {};
  }

 private:
  Error error(std::string_view what) const {
    constexpr std::size_t kQuoted = 200;
    std::string message("hostlist \"");
    message.append(text_.substr(0, kQuoted)).append(text_.size() > kQuoted ? "...\": " : "\": ").append(what);
    return Error(Errc::invalid, std::move(message));
  }

  Error too_many() const { return error(format("more than %zu names", kMaxHosts)); }

  /** The names of one item: the product of its literal parts and bracket groups. */
  Result<std::vector<std::string>> expand_item(std::string_view item) const {
    if (item.empty()) return error("an empty name");
    std::vector<std::string> names{""};
    while (!item.empty()) {
      std::vector<std::string> parts;
      if (item.front() == '[') {
        const std::size_t end = item.find(']');
        parts = SLURMK8S_TRY(expand_group(item.substr(1, end - 1)));
        item.remove_prefix(end + 1);
      } else {
        const std::string_view literal = item.substr(0, item.find('['));
        if (!std::all_of(literal.begin(), literal.end(), is_name_char)) return error("not a host name");
        parts.emplace_back(literal);
        item.remove_prefix(literal.size());
      }
      if (parts.size() > kMaxHosts / names.size()) return too_many();
      std::vector<std::string> product;
      product.reserve(names.size() * parts.size());
      for (const std::string& name : names) {
        for (const std::string& part : parts) product.push_back(name + part);
      }
      names = std::move(product);
    }
    return names;
  }

  /** "01-03,7" as 01, 02, 03, 7. */
  Result<std::vector<std::string>> expand_group(std::string_view group) const {
    std::vector<std::string> numbers;
    for (std::string_view range : split(group, ',')) {
      const std::size_t dash = range.find('-');
      const std::string_view low = range.substr(0, dash);
      const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
      if (!is_number(low) || !is_number(high)) return error("a bracket needs numbers and ranges");
      const std::int64_t first = *parse_int(low);
      const std::int64_t last = *parse_int(high);
      if (last < first) return error("a falling range");
      if (static_cast<std::size_t>(last - first) >= kMaxHosts - numbers.size()) return too_many();
      for (std::int64_t i = first; i <= last; ++i) numbers.push_back(padded(i, low.size()));
    }
    return numbers;
  }

  std::string_view text_;
  std::vector<std::string_view> items_;
};

/** A name cut before the number at its end; `digits` is empty when there is none. */
struct CutName {
  std::string_view prefix;
  std::string_view digits;
};

CutName cut_name(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (name.size() - begin > kMaxDigits) return {name, {}};
  return {name.substr(0, begin), name.substr(begin)};
}

bool has_padding(std::string_view digits) { return digits.size() > 1 && digits.front() == '0'; }

/** Numbers behind one prefix that one bracket can hold: zero-padded to `width`, or not padded (width 1). */
struct Group {
  std::string prefix;
  std::size_t width = 1;
  std::set<std::int64_t> numbers;  // empty: the prefix is a whole name
};

void append_group(const Group& group, std::string& text) {
  if (!text.empty()) text += ',';
  text += group.prefix;
  if (group.numbers.empty()) return;
  if (group.numbers.size() == 1) {
    text += padded(*group.numbers.begin(), group.width);
    return;
  }
  text += '[';
  for (auto it = group.numbers.begin(); it != group.numbers.end();) {
    const std::int64_t first = *it;
    std::int64_t last = first;
    while (++it != group.numbers.end() && *it == last + 1) last = *it;
    if (text.back() != '[') text += ',';
    text += padded(first, group.width);
    if (last > first) text += '-' + padded(last, group.width);
  }
  text += ']';
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text) {
  Expander expander(text);
  SLURMK8S_CHECK(expander.cut());
  return expander.run();
}

std::string compress_hostlist(const std::vector<std::string>& names) {
  // Paddings that occur behind each prefix: 10 belongs to a bracket of 08 and 09, but to one of 8 and 9 as well.
  std::map<std::string_view, std::set<std::size_t>> paddings;
  for (const std::string& name : names) {
    const CutName cut = cut_name(name);
    if (has_padding(cut.digits)) paddings[cut.prefix].insert(cut.digits.size());
  }

  std::vector<Group> groups;
  std::map<std::pair<std::string_view, std::size_t>, std::size_t> index;  // prefix, width (0: whole name) -> group
  for (const std::string& name : names) {
    const CutName cut = cut_name(name);
    std::size_t width = cut.digits.empty() ? 0 : 1;
    if (const auto found = paddings.find(cut.prefix); width == 1 && found != paddings.end()) {
      for (const std::size_t padding : found->second) {
        if (padding <= cut.digits.size()) width = padding;
      }
    }
    const auto [it, fresh] = index.try_emplace({cut.prefix, width}, groups.size());
    if (fresh) groups.push_back({std::string(cut.prefix), std::max<std::size_t>(width, 1), {}});
    if (width > 0) groups[it->second].numbers.insert(*parse_int(cut.digits));
  }

  std::string text;
  for (const Group& group : groups) append_group(group, text);
  return text;
}

std::string shorten(std::string hostlist) {
  constexpr std::size_t kMax = 200;
  if (hostlist.size() <= kMax) return hostlist;
  hostlist.resize(kMax);
  return hostlist + "...";
}

std::string describe_hostlist(const std::vector<std::string>& names) {
  return shorten(compress_hostlist(names)) + " (" + std::to_string(names.size()) + ")";
}

}  // namespace slurmk8s
