// SPDX-License-Identifier: GPL-2.0-or-later
// parse_constraint(): recursive descent, with alternatives multiplied out on the way.
#include "nodeset/constraint.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kOperators = "&,|()[]*";

using Alternative = Constraint::Alternative;
using Alternatives = std::vector<Alternative>;

Error too_large(const char* what, std::size_t limit) {
  return Error(Errc::forbidden, format("constraint: more than %zu %s", limit, what));
}

void add(Alternative& alternative, std::uint16_t feature) {
  const auto place = std::lower_bound(alternative.begin(), alternative.end(), feature);
  if (place == alternative.end() || *place != feature) alternative.insert(place, feature);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Constraint> parse() {
    skip_blanks();
    if (at_ == text_.size()) return constraint_;
    constraint_.alternatives = SLURMK8S_TRY(any());
    if (at_ < text_.size()) return invalid(format("unexpected '%c'", text_[at_]));
    return std::move(constraint_);
  }

 private:
  Error invalid(const std::string& what) const {
    return Error(Errc::invalid,
                 format("constraint \"%.*s\": %s", static_cast<int>(std::min<std::size_t>(text_.size(), 200)),
                        text_.data(), what.c_str()));
  }

  Status spend(std::size_t steps) {
    constraint_.work += steps;
    if (constraint_.work > kMaxConstraintWork) return too_large("alternatives", kMaxAlternatives);
    return {};
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
  }

  bool is_at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  bool take(std::string_view characters) {
    if (is_at_end() || characters.find(text_[at_]) == std::string_view::npos) return false;
    at_++;
    return true;
  }

  Result<Alternatives> any() {
    Alternatives all = SLURMK8S_TRY(every());
    while (take("|") && !is_at_end()) {
      Alternatives more = SLURMK8S_TRY(every());
      if (all.size() + more.size() > kMaxAlternatives) return too_large("alternatives", kMaxAlternatives);
      all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    return all;
  }

  Result<Alternatives> every() {
    Alternatives all = SLURMK8S_TRY(one());
    while (take("&,") && !is_at_end()) {
      if (in_brackets_ && !in_parentheses_) constraint_.has_count = true;  // Slurm's XAND: each for some of the nodes
      const Alternatives more = SLURMK8S_TRY(one());
      SLURMK8S_CHECK(multiply(all, more));
    }
    return all;
  }

  /** Each of `all` with each of `more`. */
  Status multiply(Alternatives& all, const Alternatives& more) {
    if (all.size() * more.size() > kMaxAlternatives) return too_large("alternatives", kMaxAlternatives);
    std::size_t steps = 0;
    for (const Alternative& b : more) steps += all.size() * b.size();
    if (more.size() > 1) {
      for (const Alternative& a : all) steps += more.size() * a.size();
    }
    SLURMK8S_CHECK(spend(steps));
    if (more.size() == 1) {
      for (Alternative& a : all) {
        for (const std::uint16_t feature : more.front()) add(a, feature);
      }
      return {};
    }
    Alternatives product;
    for (const Alternative& a : all) {
      for (const Alternative& b : more) {
        std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(product.emplace_back()));
      }
    }
    all = std::move(product);
    return {};
  }

  Result<Alternatives> one() {
    Alternatives result;
    if (take("[")) {
      if (in_brackets_ || had_brackets_) return invalid("more than one pair of brackets");
      had_brackets_ = in_brackets_ = true;
      result = SLURMK8S_TRY(any());
      in_brackets_ = false;
      if (!take("]")) return invalid("a ']' is missing");
    } else if (take("(")) {
      if (in_parentheses_) return invalid("parentheses within parentheses");
      in_parentheses_ = true;
      result = SLURMK8S_TRY(any());
      in_parentheses_ = false;
      if (!take(")")) return invalid("a ')' is missing");
    } else {
      result = SLURMK8S_TRY(feature());
    }
    while (take("*")) SLURMK8S_CHECK(count());
    return result;
  }

  Result<Alternatives> feature() {
    skip_blanks();
    const std::size_t end = std::min(text_.find_first_of(kOperators, at_), text_.size());
    const std::string_view name = trim(text_.substr(at_, end - at_));
    if (name.empty())
      return invalid(end < text_.size() ? format("a feature is missing before '%c'", text_[end])
                                        : std::string("a feature is missing at its end"));
    at_ = end;
    if (++features_ > kMaxConstraintFeatures) return too_large("features", kMaxConstraintFeatures);
    SLURMK8S_CHECK(spend(1));
    const auto [known, is_new] = indices_.try_emplace(name, static_cast<std::uint16_t>(constraint_.features.size()));
    if (is_new) constraint_.features.push_back(name);
    return Alternatives{{known->second}};
  }

  /** Slurm ignores what follows the digits. */
  Status count() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '+') at_++;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') at_++;
    const auto number = parse_int(text_.substr(begin, at_ - begin));
    if (!number || *number <= 0) return invalid("'*' must be followed by a positive number");
    at_ = std::min(text_.find_first_of(kOperators, at_), text_.size());
    constraint_.has_count = true;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t features_ = 0;
  bool in_brackets_ = false;
  bool had_brackets_ = false;
  bool in_parentheses_ = false;
  std::unordered_map<std::string_view, std::uint16_t> indices_;
  Constraint constraint_;
};

}  // namespace

FeatureSet Constraint::names(const Alternative& alternative) const {
  FeatureSet set;
  set.reserve(alternative.size());
  for (const std::uint16_t feature : alternative) set.emplace_back(features[feature]);
  return set;
}

Result<Constraint> parse_constraint(std::string_view text) {
  if (text.size() > kMaxConstraint) return too_large("bytes", kMaxConstraint);
  return Parser(text).parse();
}

std::vector<std::string_view> features_in(std::string_view text) {
  std::vector<std::string_view> features;
  if (text.size() > kMaxConstraint) return features;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kOperators, at), text.size());
    const std::string_view name = trim(text.substr(at, end - at));
    if (!name.empty()) features.push_back(name);
    at = end + 1;
  }
  return features;
}

}  // namespace slurmk8s
