// SPDX-License-Identifier: GPL-2.0-or-later
// parse_constraint(): recursive descent, with alternatives multiplied out on the way.
#include "core/constraint.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxAlternatives = 256;
constexpr std::string_view kOperators = "&,|()[]*";

using Alternatives = std::vector<FeatureSet>;

/** Each of `left` with each of `right`. */
Alternatives multiply(const Alternatives& left, const Alternatives& right) {
  Alternatives product;
  for (const FeatureSet& a : left) {
    for (const FeatureSet& b : right) {
      FeatureSet both = a;
      for (const std::string& feature : b) {
        if (std::find(both.begin(), both.end(), feature) == both.end()) both.push_back(feature);
      }
      product.push_back(std::move(both));
    }
  }
  return product;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Constraint> parse() {
    skip_blanks();
    if (at_ == text_.size()) return constraint_;
    constraint_.alternatives = SLURMK8S_TRY(any());
    if (at_ < text_.size()) return wrong(format("unexpected '%c'", text_[at_]));
    return std::move(constraint_);
  }

 private:
  Error wrong(const std::string& what) const {
    return Error(Errc::invalid, format("constraint \"%.*s\": %s", static_cast<int>(std::min<std::size_t>(text_.size(), 200)),
                                       text_.data(), what.c_str()));
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
  }

  bool take(std::string_view characters) {
    skip_blanks();
    if (at_ == text_.size() || characters.find(text_[at_]) == std::string_view::npos) return false;
    at_++;
    return true;
  }

  Result<Alternatives> any() {
    Alternatives all = SLURMK8S_TRY(every());
    while (take("|")) {
      Alternatives more = SLURMK8S_TRY(every());
      all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
      if (all.size() > kMaxAlternatives) return wrong("too many alternatives");
    }
    return all;
  }

  Result<Alternatives> every() {
    Alternatives all = SLURMK8S_TRY(one());
    while (take("&,")) {
      if (in_brackets_ && !in_parentheses_) constraint_.has_count = true;  // Slurm's XAND: each for some of the nodes
      const Alternatives more = SLURMK8S_TRY(one());
      if (all.size() * more.size() > kMaxAlternatives) return wrong("too many alternatives");
      all = multiply(all, more);
    }
    return all;
  }

  Result<Alternatives> one() {
    Alternatives result;
    if (take("[")) {
      if (in_brackets_ || had_brackets_) return wrong("more than one pair of brackets");
      had_brackets_ = in_brackets_ = true;
      result = SLURMK8S_TRY(any());
      in_brackets_ = false;
      if (!take("]")) return wrong("a ']' is missing");
    } else if (take("(")) {
      if (in_parentheses_) return wrong("parentheses within parentheses");
      in_parentheses_ = true;
      result = SLURMK8S_TRY(any());
      in_parentheses_ = false;
      if (!take(")")) return wrong("a ')' is missing");
    } else {
      result = SLURMK8S_TRY(feature());
    }
    if (take("*")) SLURMK8S_CHECK(count());
    return result;
  }

  Result<Alternatives> feature() {
    skip_blanks();
    const std::size_t end = std::min(text_.find_first_of(kOperators, at_), text_.size());
    const std::string_view name = trim(text_.substr(at_, end - at_));
    if (name.empty()) return wrong(end < text_.size() ? format("a feature is missing before '%c'", text_[end])
                                                      : std::string("a feature is missing at its end"));
    at_ = end;
    return Alternatives{{std::string(name)}};
  }

  Status count() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') at_++;
    const auto number = parse_int(text_.substr(begin, at_ - begin));
    if (!number || *number <= 0) return wrong("a positive number is needed after '*'");
    constraint_.has_count = true;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_brackets_ = false;
  bool had_brackets_ = false;
  bool in_parentheses_ = false;
  Constraint constraint_;
};

}  // namespace

Result<Constraint> parse_constraint(std::string_view text) { return Parser(text).parse(); }

}  // namespace slurmk8s
