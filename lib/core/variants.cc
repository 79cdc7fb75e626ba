// SPDX-License-Identifier: GPL-2.0-or-later
// The catalog: questions of slurmctld's plugins, under its locks. Everything here is in memory.
#include "core/variants.hpp"

#include <algorithm>

#include "base/words.hpp"

namespace slurmk8s {
namespace {

/** Sorted, as "a, b and c". */
std::string join(const std::set<std::string>& words) {
  std::string text;
  std::size_t left = words.size();
  for (const std::string& word : words) {
    text += word;
    left--;
    if (left > 0) text += left == 1 ? " and " : ", ";
  }
  return text;
}

Json encode_names(const std::set<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push(name);
  return list;
}

std::set<std::string> decode_names(const Json& list) {
  std::set<std::string> names;
  list.each([&](const Json& name) { names.emplace(name.text()); });
  return names;
}

}  // namespace

bool VariantCatalog::is_variant(const std::string& feature) const {
  return std::any_of(nodesets.begin(), nodesets.end(),
                     [&](const auto& nodeset) { return nodeset.second.variants.contains(feature); });
}

bool VariantCatalog::is_fulfilled(const FeatureSet& features) const {
  return std::any_of(nodesets.begin(), nodesets.end(), [&](const auto& nodeset) {
    const Entry& entry = nodeset.second;
    return std::all_of(features.begin(), features.end(), [&](const std::string& feature) {
      return entry.features.contains(feature) || entry.variants.contains(feature);
    });
  });
}

bool VariantCatalog::has_record(const FeatureSet& features) const {
  return std::any_of(records.begin(), records.end(), [&](const std::string& record) {
    return std::all_of(features.begin(), features.end(),
                       [&](const std::string& feature) { return has_word(record, feature); });
  });
}

std::string VariantCatalog::settle(std::string_view constraint) const {
  const auto parsed = parse_constraint(constraint);
  if (!parsed || parsed->has_count || parsed->alternatives.size() < 2) return {};
  const std::vector<FeatureSet>& all = parsed->alternatives;
  if (std::none_of(all.begin(), all.end(), [&](const FeatureSet& f) { return variant_in(f).has_value(); })) return {};
  const auto found = std::find_if(all.begin(), all.end(), [&](const FeatureSet& f) { return is_fulfilled(f); });
  std::string text;
  for (const std::string& feature : found == all.end() ? all.front() : *found) text += (text.empty() ? "" : "&") + feature;
  return text;
}

Status VariantCatalog::check(std::string_view constraint, const Applicant* applicant) const {
  const auto parsed = parse_constraint(constraint);
  if (!parsed) return {};
  std::set<std::string> wanted;
  for (const FeatureSet& features : parsed->alternatives) {
    std::set<std::string> here;
    for (const std::string& feature : features) {
      if (is_variant(feature)) here.insert(feature);
    }
    if (here.size() > 1) {
      return Error(Errc::invalid, "constraint: a node has one variant at a time, and not " + join(here));
    }
    wanted.merge(here);
  }
  if (wanted.empty()) return {};
  if (parsed->has_count) {
    return Error(Errc::invalid, "constraint: all nodes of a job have the same variant: " + join(wanted) +
                                    " can't be given with a count (*) or in [a&b]; a heterogeneous job can have several");
  }
  if (parsed->alternatives.size() > 1) {
    return Error(Errc::invalid, "constraint: alternatives (|) with " + join(wanted) +
                                    " need JobSubmitPlugins=k8s in slurm.conf");
  }
  if (applicant) {
    for (const std::string& variant : wanted) SLURMK8S_CHECK(check_access(variant, *applicant));
  }
  return {};
}

/** Of several NodeSets that have the variant, one that lets them in is enough to be refused nothing here. */
Status VariantCatalog::check_access(const std::string& variant, const Applicant& applicant) const {
  if (applicant.is_operator) return {};
  std::set<std::string> accounts;
  for (const auto& [name, nodeset] : nodesets) {
    const auto found = nodeset.variants.find(variant);
    if (found == nodeset.variants.end()) continue;
    const VariantAccess& access = found->second;
    if (access.is_open() || access.accounts.contains(applicant.account)) return {};
    for (const std::string& user : access.users) {
      const auto uid = uids.find(user);
      if (uid != uids.end() && uid->second == applicant.uid) return {};
    }
    accounts.insert(access.accounts.begin(), access.accounts.end());
  }
  std::string text = "constraint: variant " + variant + " is not for ";
  text += accounts.empty() ? "you" : applicant.account.empty() ? "your jobs without an --account" : "account " + applicant.account;
  if (!accounts.empty()) text += ": it is for " + join(accounts);
  return Error(Errc::forbidden, std::move(text));
}

std::string VariantCatalog::describe_unknown(std::string_view constraint) const {
  const auto parsed = parse_constraint(constraint);
  if (!parsed || parsed->alternatives.empty() || nodesets.empty()) return {};
  if (std::any_of(parsed->alternatives.begin(), parsed->alternatives.end(),
                  [&](const FeatureSet& features) { return is_fulfilled(features) || has_record(features); })) {
    return {};
  }
  std::string text = "constraint: no NodeSet has it; there are";
  const char* before = " ";
  for (const auto& [name, nodeset] : nodesets) {
    text += before + name;
    std::set<std::string> features = nodeset.features;
    features.erase(name);
    if (!features.empty()) text += " (" + join(features) + ")";
    std::set<std::string> variants;
    for (const auto& [variant, access] : nodeset.variants) variants.insert(variant);
    if (!variants.empty()) text += " with the variants " + join(variants);
    before = "; ";
    if (text.size() > 1000) return text + "; and others";
  }
  return text;
}

std::optional<std::string> VariantCatalog::variant_in(const FeatureSet& features) const {
  const auto found = std::find_if(features.begin(), features.end(), [&](const std::string& f) { return is_variant(f); });
  if (found == features.end()) return std::nullopt;
  return *found;
}

/** Whether a NodeSet has it; others may be features that a node has beside those of its NodeSet. */
bool VariantCatalog::is_known(const std::string& feature) const {
  return std::any_of(nodesets.begin(), nodesets.end(), [&](const auto& nodeset) {
    return nodeset.second.features.contains(feature) || nodeset.second.variants.contains(feature);
  });
}

/** Nodes of NodeSets are named NAME-…: the longest name that fits. Of other nodes nothing is known here. */
bool VariantCatalog::can_fulfil(const std::string& node, const FeatureSet& features) const {
  for (std::size_t dash = node.rfind('-'); dash != std::string::npos && dash > 0; dash = node.rfind('-', dash - 1)) {
    const auto found = nodesets.find(node.substr(0, dash));
    if (found == nodesets.end()) continue;
    const Entry& entry = found->second;
    return std::all_of(features.begin(), features.end(), [&](const std::string& feature) {
      return entry.variants.contains(feature) || entry.features.contains(feature) || !is_known(feature);
    });
  }
  return !variant_in(features);
}

std::string VariantCatalog::choose(std::string_view constraint, const std::vector<std::string>& nodes) const {
  const auto parsed = parse_constraint(constraint);
  if (!parsed || parsed->has_count) return {};
  for (const FeatureSet& features : parsed->alternatives) {
    const bool fits = std::all_of(nodes.begin(), nodes.end(),
                                  [&](const std::string& node) { return can_fulfil(node, features); });
    if (fits) return variant_in(features).value_or(std::string());
  }
  return {};
}

Json VariantCatalog::encode() const {
  Json all = Json::object();
  for (const auto& [name, nodeset] : nodesets) {
    Json variants = Json::object();
    for (const auto& [variant, access] : nodeset.variants) {
      variants.set(variant, Json::object()
                                .set("users", encode_names(access.users))
                                .set("accounts", encode_names(access.accounts)));
    }
    all.set(name, Json::object().set("features", encode_names(nodeset.features)).set("variants", std::move(variants)));
  }
  Json ids = Json::object();
  for (const auto& [user, uid] : uids) ids.set(user, Json::integer(uid));
  return Json::object()
      .set("nodesets", std::move(all))
      .set("uids", std::move(ids))
      .set("records", encode_names(records));
}

Result<VariantCatalog> VariantCatalog::decode(const Json& object) {
  if (!object["nodesets"].is_object()) return Error(Errc::invalid, "nodesets: an object was expected");
  VariantCatalog catalog;
  object["nodesets"].each([&](std::string_view name, const Json& value) {
    Entry& entry = catalog.nodesets[std::string(name)];
    entry.features = decode_names(value["features"]);
    value["variants"].each([&](std::string_view variant, const Json& access) {
      entry.variants[std::string(variant)] = {.users = decode_names(access["users"]),
                                              .accounts = decode_names(access["accounts"])};
    });
  });
  object["uids"].each([&](std::string_view user, const Json& uid) {
    const std::int64_t id = uid.integer_or(-1);
    if (id >= 0 && id <= UINT32_MAX) catalog.uids[std::string(user)] = static_cast<std::uint32_t>(id);
  });
  catalog.records = decode_names(object["records"]);
  return catalog;
}

}  // namespace slurmk8s
