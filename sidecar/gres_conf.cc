// SPDX-License-Identifier: GPL-2.0-or-later
// build_gres_conf(): nodes by their Gres.
#include "sidecar/gres_conf.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <set>

#include "base/file.hpp"
#include "base/strings.hpp"
#include "nodeset/device_gres.hpp"
#include "sidecar/record_owner.hpp"
#include "slurm/hostlist.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kFiles = "/run/slurm-k8s/gpu";
constexpr std::size_t kMaxFile = 16u << 20;

/** Whether the GPUs of its records come from limits; also when its spec is invalid now. */
bool has_devices(const KnownNodeSet& nodeset) { return !nodeset.spec.ok() || !nodeset.spec->device_gres.empty(); }

struct Gpus {
  std::string type;  ///< may be empty
  std::int64_t count = 0;

  auto operator<=>(const Gpus&) const = default;
};

/** The GPUs in "gpu:a100:2(S:0),foo:1". */
std::vector<Gpus> parse_gpus(std::string_view gres) {
  std::vector<Gpus> gpus;
  for (const std::string_view entry : split(gres, ',')) {
    const std::vector<std::string_view> words = split(entry.substr(0, entry.find('(')), ':');
    if (words.size() < 2 || words.size() > 3 || words[0] != "gpu") continue;
    const std::int64_t count = parse_int(words.back()).value_or(0);
    if (count >= 1 && count <= kMaxGpus) gpus.push_back({std::string(words.size() == 3 ? words[1] : ""), count});
  }
  return gpus;
}

/** The GPUs of spec.extraConf. */
std::vector<Gpus> gpus_of(const NodeSet& nodeset) {
  for (const std::string_view word : split(nodeset.extra_conf, ' ')) {
    if (to_lower(word.substr(0, 5)) == "gres=") return parse_gpus(word.substr(5));
  }
  return {};
}

/**
 * Whether these lines are ours. A record whose NodeSet is gone, or has no such limits any more, keeps those that it has
 * until it is deleted, or made again as the administrator has written it: jobs may use its GPUs.
 */
bool has_our_lines(const SlurmNode& node, const std::vector<Gpus>& gpus, const NodeSets& nodesets,
                   const std::set<std::string>& former) {
  const std::optional<std::string> owner = record_owner(node, nodesets);
  if (!owner) return false;
  const auto nodeset = nodesets.find(*owner);
  if (nodeset == nodesets.end()) return former.contains(node.name);
  if (has_devices(nodeset->second)) return true;
  return former.contains(node.name) && gpus != gpus_of(*nodeset->second.spec);
}

/** Their lines: each has a file, counted from 0. */
std::string lines_of(const std::string& nodes, const std::vector<Gpus>& gpus) {
  std::string lines;
  std::int64_t first = 0;
  for (const auto& [type, count] : gpus) {
    lines += format("NodeName=%s Name=gpu%s File=%s[%lld-%lld]\n", nodes.c_str(),
                    type.empty() ? "" : (" Type=" + type).c_str(), kFiles, static_cast<long long>(first),
                    static_cast<long long>(first + count - 1));
    first += count;
  }
  return lines;
}

}  // namespace

std::string build_gres_conf(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes,
                            const std::vector<NodeAction>& actions, const std::set<std::string>& former) {
  std::map<std::vector<Gpus>, std::vector<std::string>> names;
  for (const SlurmNode& node : nodes) {
    if (node.gres.empty()) continue;
    const std::vector<Gpus> gpus = parse_gpus(node.gres);
    if (has_our_lines(node, gpus, nodesets, former)) names[gpus].push_back(node.name);
  }
  for (const NodeAction& action : actions) {
    if (action.kind != NodeAction::Kind::create) continue;
    const auto nodeset = nodesets.find(action.nodeset);
    if (nodeset == nodesets.end() || !nodeset->second.spec.ok() || nodeset->second.spec->device_gres.empty()) continue;
    const auto made = expand_hostlist(action.nodes);
    if (!made.ok()) continue;
    std::vector<std::string>& known = names[parse_gpus(nodeset->second.spec->device_gres)];
    known.insert(known.end(), made->begin(), made->end());
  }
  std::string text;
  for (const auto& [gpus, known] : names) text += lines_of(compress_hostlist(known), gpus);
  return text;
}

const std::optional<std::string>& GresConfFile::text_of_file() {
  if (!written_ && !path_.empty()) {
    if (const auto present = read_file(path_, kMaxFile); present.ok()) written_ = *present;
  }
  return written_;
}

std::set<std::string> GresConfFile::nodes() {
  constexpr std::string_view kWord = "NodeName=";
  std::set<std::string> nodes;
  const std::string text = text_of_file().value_or("");
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(kWord)) continue;
    const auto names = expand_hostlist(std::string(line.substr(kWord.size(), line.find(' ') - kWord.size())));
    if (names.ok()) nodes.insert(names->begin(), names->end());
  }
  return nodes;
}

Status GresConfFile::write(const std::string& lines) {
  const std::string text = kGresConfHead + lines;
  if (path_.empty()) return {};
  if (text_of_file() != text) SLURMK8S_CHECK(replace_file(path_, text));
  written_ = text;
  return {};
}

}  // namespace slurmk8s
