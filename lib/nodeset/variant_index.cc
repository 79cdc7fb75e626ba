// SPDX-License-Identifier: GPL-2.0-or-later
// The index: from each feature to the NodeSets and records that have it.
#include "nodeset/variant_index.hpp"

#include <algorithm>
#include <utility>

#include "base/words.hpp"

namespace slurmk8s {
namespace {

/** Approximate maximum of a list of names in a sentence, and of a sentence about NodeSets. */
constexpr std::size_t kMaxList = 300;
constexpr std::size_t kMaxDescription = 1000;

/** As "a, b and c"; a long list ends with "and others". */
template <typename Names>
std::string join(const Names& names) {
  std::string text;
  std::size_t left = names.size();
  for (const auto& name : names) {
    if (text.size() > kMaxList) return text + "others";
    text += name;
    left--;
    if (left > 0) text += left == 1 || text.size() > kMaxList ? " and " : ", ";
  }
  return text;
}

}  // namespace

VariantIndex::VariantIndex(const VariantCatalog& catalog) {
  for (const auto& [name, entry] : catalog.nodesets) add_nodeset(name, entry, catalog);
  auto group = static_cast<std::uint32_t>(nodesets_.size());
  for (const std::string& record : catalog.records) {
    for (const std::string& word : words_of(record)) {
      std::vector<std::uint32_t>& groups = features_[word].groups;
      if (groups.empty() || groups.back() != group) groups.push_back(group);
    }
    group++;
  }
}

VariantIndex::Access VariantIndex::resolve(const VariantAccess& access, const VariantCatalog& catalog) {
  Access resolved{.open = access.is_open(), .uids = {}, .accounts = access.accounts};
  for (const std::string& user : access.users) {
    const auto uid = catalog.uids.find(user);
    if (uid != catalog.uids.end()) resolved.uids.insert(uid->second);
  }
  return resolved;
}

void VariantIndex::add_nodeset(const std::string& name, const VariantCatalog::Entry& entry,
                               const VariantCatalog& catalog) {
  const auto number = static_cast<std::uint32_t>(nodesets_.size());
  Group& group = nodesets_.emplace_back();
  group.name = name;
  numbers_.emplace(name, number);
  std::set<std::string> others = entry.features;
  others.erase(name);
  group.features = join(others);
  for (const std::string& feature : entry.features) features_[feature].groups.push_back(number);
  for (const auto& [variant, access] : entry.variants) {
    const Access& own = group.variants.emplace(variant, resolve(access, catalog)).first->second;
    Feature& feature = features_[variant];
    if (feature.groups.empty() || feature.groups.back() != number) feature.groups.push_back(number);
    if (!feature.variant) feature.variant = Access();
    feature.variant->open |= own.open;
    feature.variant->uids.insert(own.uids.begin(), own.uids.end());
    feature.variant->accounts.insert(own.accounts.begin(), own.accounts.end());
  }
}

/** Null: any user. Of several NodeSets with a variant, access to one is enough. */
bool VariantIndex::Access::admits(const Applicant* applicant) const {
  return open || !applicant || applicant->is_operator || uids.contains(applicant->uid) ||
         accounts.contains(applicant->account);
}

const VariantIndex::Feature* VariantIndex::find(std::string_view feature) const {
  const auto found = features_.find(feature);
  return found == features_.end() ? nullptr : &found->second;
}

bool VariantIndex::is_variant(std::string_view feature) const {
  const Feature* found = find(feature);
  return found && found->variant;
}

/** One constraint, with its features looked up once. */
class VariantIndex::Question {
 public:
  using Alternative = Constraint::Alternative;

  Question(const VariantIndex& index, const Constraint& constraint, const Applicant* applicant)
      : index_(index), constraint_(constraint), applicant_(applicant) {
    features_.reserve(constraint.features.size());
    for (const std::string_view name : constraint.features) {
      features_.push_back(index.find(name));
      has_variant_ |= features_.back() && features_.back()->variant;
    }
  }

  bool has_variant() const { return has_variant_; }
  std::size_t work() const { return work_; }

  /** The features of an alternative that are variants. */
  std::vector<std::uint16_t> variants_in(const Alternative& alternative) const {
    std::vector<std::uint16_t> variants;
    for (const std::uint16_t i : alternative) {
      if (features_[i] && features_[i]->variant) variants.push_back(i);
    }
    return variants;
  }

  /**
   * Whether a group has all of the features; a NodeSet, if `only_nodesets`. True when the check takes too long.
   */
  bool is_fulfilled(const Alternative& alternative, bool only_nodesets) {
    const std::vector<std::uint32_t>* shortest = nullptr;
    for (const std::uint16_t i : alternative) {
      if (!features_[i]) return false;
      if (!shortest || features_[i]->groups.size() < shortest->size()) shortest = &features_[i]->groups;
    }
    if (!shortest) return true;
    for (const std::uint32_t group : *shortest) {
      if (only_nodesets && group >= index_.nodesets_.size()) return false;
      if (has_all(group, alternative)) return true;
    }
    return false;
  }

  /** The first that a NodeSet fulfils and the applicant has access to; else the first fulfilled; else the first. */
  const Alternative& settle() {
    const Alternative* fulfilled = nullptr;
    for (const Alternative& alternative : constraint_.alternatives) {
      if (!is_fulfilled(alternative, true)) continue;
      if (may_have(alternative)) return alternative;
      if (!fulfilled) fulfilled = &alternative;
    }
    return fulfilled ? *fulfilled : constraint_.alternatives.front();
  }

  /** Why slurmctld cannot fulfil the alternatives, or the applicant has no access; empty: no problem. */
  std::string refuse(const std::vector<Alternative>& alternatives) const {
    std::set<std::uint16_t> wanted;
    for (const Alternative& alternative : alternatives) {
      const std::vector<std::uint16_t> here = variants_in(alternative);
      if (here.size() > 1) return "constraint: a node has one variant at a time, and not " + names(here);
      wanted.insert(here.begin(), here.end());
    }
    if (wanted.empty()) return {};
    if (constraint_.has_count) {
      return "constraint: all nodes of a job have the same variant: " + names(wanted) +
             " cannot be used with a count (*) or in [a&b]; a heterogeneous job can have several";
    }
    if (alternatives.size() > 1) {
      return "constraint: alternatives (|) with " + names(wanted) + " need JobSubmitPlugins=k8s in slurm.conf";
    }
    return refuse_access(*wanted.begin());
  }

  std::string text_of(const Alternative& alternative) const {
    std::string text;
    for (const std::uint16_t i : alternative) {
      if (!text.empty()) text += '&';
      text += constraint_.features[i];
    }
    return text;
  }

  /**
   * Whether a node of a NodeSet, or of none, can have all of the features. A feature without a NodeSet may be the
   * node's own.
   */
  bool can_have(const std::optional<std::uint32_t>& nodeset, const Alternative& alternative) {
    if (!nodeset) return variants_in(alternative).empty();
    return std::all_of(alternative.begin(), alternative.end(), [&](std::uint16_t i) {
      work_++;
      const Feature* feature = features_[i];
      return !feature || feature->groups.front() >= index_.nodesets_.size() || has(*feature, *nodeset);
    });
  }

  bool is_over() const { return work_ >= kMaxQuestionWork; }

 private:
  static bool has(const Feature& feature, std::uint32_t group) {
    return std::binary_search(feature.groups.begin(), feature.groups.end(), group);
  }

  bool has_all(std::uint32_t group, const Alternative& alternative) {
    return std::all_of(alternative.begin(), alternative.end(), [&](std::uint16_t i) {
      if (is_over()) return true;
      work_++;
      return has(*features_[i], group);
    });
  }

  bool may_have(const Alternative& alternative) const {
    const std::vector<std::uint16_t> variants = variants_in(alternative);
    return variants.empty() || (variants.size() == 1 && features_[variants.front()]->variant->admits(applicant_));
  }

  std::string refuse_access(std::uint16_t variant) const {
    const Access& access = *features_[variant]->variant;
    if (access.admits(applicant_)) return {};
    std::string text = "constraint: variant " + std::string(constraint_.features[variant]) + " is not for ";
    const std::string& account = applicant_->account;
    text += access.accounts.empty() ? "you" : account.empty() ? "your jobs without an --account" : "account " + account;
    if (!access.accounts.empty()) text += ": it is for " + join(access.accounts);
    return text;
  }

  template <typename Indices>
  std::string names(const Indices& indices) const {
    std::set<std::string_view> sorted;
    for (const std::uint16_t i : indices) sorted.insert(constraint_.features[i]);
    return join(sorted);
  }

  const VariantIndex& index_;
  const Constraint& constraint_;
  const Applicant* applicant_;
  std::vector<const Feature*> features_;  ///< null: nothing has it
  bool has_variant_ = false;
  std::size_t work_ = 0;
};

ConstraintVerdict VariantIndex::judge(std::string_view constraint, const Applicant* applicant) const {
  const std::vector<std::string_view> features = features_in(constraint);
  const bool has_variant = std::any_of(features.begin(), features.end(), [&](const auto& f) { return is_variant(f); });
  if (!applicant && !has_variant && constraint.size() <= kMaxConstraint) return {};
  const auto parsed = parse_constraint(constraint);
  ConstraintVerdict verdict;
  if (!parsed) {
    verdict.work = features.size();
    verdict.refused = has_variant || parsed.error().code() == Errc::forbidden;
    if (verdict.refused) verdict.text = parsed.error().message();
    return verdict;
  }
  verdict.work = parsed->work;
  if (parsed->alternatives.empty()) return verdict;
  Question question(*this, *parsed, applicant);
  std::vector<Constraint::Alternative> alternatives = parsed->alternatives;
  if (applicant && question.has_variant() && !parsed->has_count && alternatives.size() > 1) {
    alternatives = {question.settle()};
    verdict.settled = question.text_of(alternatives.front());
  }
  if (question.has_variant()) verdict.text = question.refuse(alternatives);
  verdict.refused = !verdict.text.empty();
  if (applicant && !verdict.refused && !nodesets_.empty()) {
    const auto is_there = [&](const auto& alternative) { return question.is_fulfilled(alternative, false); };
    if (std::ranges::none_of(alternatives, is_there)) verdict.text = describe(*applicant);
  }
  verdict.work += question.work();
  return verdict;
}

/** The NodeSets, for a user whose constraint none fulfils; without variants to which the user has no access. */
std::string VariantIndex::describe(const Applicant& applicant) const {
  std::string text = "constraint: no NodeSet has it; there are";
  const char* before = " ";
  for (const Group& nodeset : nodesets_) {
    text += before + nodeset.name;
    if (!nodeset.features.empty()) text += " (" + nodeset.features + ")";
    std::vector<std::string_view> variants;
    for (const auto& [variant, access] : nodeset.variants) {
      if (access.admits(&applicant)) variants.push_back(variant);
    }
    if (!variants.empty()) text += " with the variants " + join(variants);
    before = "; ";
    if (text.size() > kMaxDescription) return text + "; and others";
  }
  return text;
}

/** Nodes of NodeSets are named NAME-…: the longest matching name. Other nodes have no owner. */
std::optional<std::uint32_t> VariantIndex::owner_of(std::string_view node) const {
  for (std::size_t dash = node.rfind('-'); dash != std::string_view::npos && dash > 0;
       dash = node.rfind('-', dash - 1)) {
    const auto found = numbers_.find(node.substr(0, dash));
    if (found != numbers_.end()) return found->second;
  }
  return std::nullopt;
}

/** Each once. Brackets hold the number at the end of a name: they are not expanded. */
std::vector<std::optional<std::uint32_t>> VariantIndex::owners_of(std::string_view hostlist) const {
  std::set<std::optional<std::uint32_t>> owners;
  for (std::size_t at = 0; at < hostlist.size();) {
    const std::size_t end = std::min(hostlist.find_first_of(",[", at), hostlist.size());
    if (end > at) owners.insert(owner_of(hostlist.substr(at, end - at)));
    at = end;
    if (at < hostlist.size() && hostlist[at] == '[') at = std::min(hostlist.find(']', at), hostlist.size());
    at = std::min(hostlist.find(',', at), hostlist.size());
    at++;
  }
  return {owners.begin(), owners.end()};
}

std::optional<std::string> VariantIndex::choose(std::string_view constraint, const char* nodes) const {
  const auto parsed = parse_constraint(constraint);
  if (!parsed || parsed->has_count || parsed->alternatives.empty()) return std::string();
  Question question(*this, *parsed, nullptr);
  if (!question.has_variant()) return std::string();
  const std::vector<Constraint::Alternative>& alternatives = parsed->alternatives;
  if (alternatives.size() > 1 && !nodes) return std::nullopt;
  std::vector<std::optional<std::uint32_t>> owners;
  if (alternatives.size() > 1) owners = owners_of(nodes);
  for (const Constraint::Alternative& alternative : alternatives) {
    if (question.is_over()) break;
    const bool fits = std::all_of(owners.begin(), owners.end(),
                                  [&](const auto& owner) { return question.can_have(owner, alternative); });
    if (!fits) continue;
    const std::vector<std::uint16_t> variants = question.variants_in(alternative);
    return variants.empty() ? std::string() : std::string(parsed->features[variants.front()]);
  }
  return std::string();
}

}  // namespace slurmk8s
