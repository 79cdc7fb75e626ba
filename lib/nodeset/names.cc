// SPDX-License-Identifier: GPL-2.0-or-later
// Builds and parses names of nodes.
#include "nodeset/names.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kInLabel = "abcdefghijklmnopqrstuvwxyz0123456789-";

}  // namespace

std::string node_name(std::string_view nodeset, std::int64_t ordinal, int padding) {
  return format("%.*s-%0*lld", static_cast<int>(nodeset.size()), nodeset.data(), padding,
                static_cast<long long>(ordinal));
}

bool is_dns_label(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLabel && text.find_first_not_of(kInLabel) == std::string_view::npos &&
         text.front() != '-' && text.back() != '-';
}

std::optional<NodeName> parse_node_name(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const std::string_view digits = name.substr(dash + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> ordinal = parse_int(digits);
  if (!ordinal) return std::nullopt;
  return NodeName{.nodeset = name.substr(0, dash), .ordinal = *ordinal};
}

std::string encode_kube_node(std::string_view kube_node) {
  std::string text;
  for (std::size_t i = 0; i < kube_node.size(); i++) {
    const bool continues = kube_node[i] == '-' && i + 1 < kube_node.size() && kube_node[i + 1] == '-';
    const bool ends_run = kube_node[i] == '-' && !continues && i > 0 && kube_node[i - 1] == '-';
    if (kube_node[i] == '.') {
      text += "--";
    } else {
      text += kube_node[i];
      if (ends_run) text += '-';
    }
  }
  return text;
}

std::optional<std::string> decode_kube_node(std::string_view text) {
  if (text.empty() || text.find_first_not_of(kInLabel) != std::string_view::npos) return std::nullopt;
  if (text.front() == '-' || text.back() == '-') return std::nullopt;
  std::string kube_node;
  while (!text.empty()) {
    const std::size_t run = std::min(text.find_first_not_of('-'), text.size());
    if (run == 2) kube_node += '.';
    if (run != 2) kube_node.append(run > 2 ? run - 1 : run, '-');
    text.remove_prefix(run);
    const std::size_t plain = std::min(text.find('-'), text.size());
    kube_node += text.substr(0, plain);
    text.remove_prefix(plain);
  }
  return kube_node;
}

}  // namespace slurmk8s
