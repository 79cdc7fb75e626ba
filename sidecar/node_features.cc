// SPDX-License-Identifier: GPL-2.0-or-later
// features_change(): lists of words, whose order says nothing.
#include "sidecar/node_features.hpp"

#include <set>

#include "base/words.hpp"

namespace slurmk8s {
namespace {

bool are_same(const Words& a, const Words& b) { return std::set(a.begin(), a.end()) == std::set(b.begin(), b.end()); }

/** What they are to be; without variants where those are slurmctld's own business. */
Words change(Words words, const WantedFeatures& wanted, bool with_variants) {
  const Words own = words_of(wanted.nodeset.features);
  for (const std::string& former : words_of(wanted.before)) {
    if (!has_word(own, former)) std::erase(words, former);
  }
  for (const std::string& feature : own) {
    if (with_variants || !wanted.nodeset.variants.contains(feature)) {
      add_word(words, feature);
    } else {
      std::erase(words, feature);
    }
  }
  if (!wanted.knows_kube_nodes) return words;
  std::erase_if(words, is_kube_node_feature);
  if (wanted.kube_node) {
    for (const std::string& feature : wanted.kube_node->features) add_word(words, feature);
  }
  return words;
}

/** Where nothing is said of it, all of them are active. */
Words active_features(const SlurmNode& node) {
  return words_of(node.active_features.empty() ? node.features : node.active_features);
}

Words without_variants(Words words, const NodeSet& nodeset) {
  std::erase_if(words, [&](const std::string& word) { return nodeset.variants.contains(word); });
  return words;
}

}  // namespace

std::optional<SlurmNodeUpdate> features_change(const SlurmNode& node, const WantedFeatures& wanted) {
  const Words available = words_of(node.features);
  const Words active = active_features(node);
  const Words new_available = change(available, wanted, wanted.knows_variants);
  const Words new_active = change(active, wanted, false);
  const bool is_active_same = are_same(without_variants(active, wanted.nodeset), new_active);
  if (are_same(available, new_available) && is_active_same) return std::nullopt;
  SlurmNodeUpdate update;
  update.features = join_words(new_available);
  update.active_features = join_words(new_active);
  return update;
}

std::optional<std::string> active_with_variant(const SlurmNode& node, const NodeSet& nodeset,
                                               std::string_view variant) {
  if (variant.empty()) return std::nullopt;
  Words active = without_variants(active_features(node), nodeset);
  add_word(active, variant);
  return join_words(active);
}

}  // namespace slurmk8s
