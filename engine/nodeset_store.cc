// SPDX-License-Identifier: GPL-2.0-or-later
// NodeSets by name, and by their nodes' names.
#include "engine/nodeset_store.hpp"

#include "base/log.hpp"
#include "base/strings.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {

const Result<NodeSet>& NodeSetStore::set(const Json& object) {
  auto decoded = decode_nodeset(object);
  if (!decoded) log_error("%s", decoded.error().message().c_str());
  std::string name(object.at({"metadata", "name"}).text());
  return nodesets_.insert_or_assign(std::move(name), std::move(decoded)).first->second;
}

Owner NodeSetStore::owner(const std::string& node) const {
  const Result<NodeSet>* nodeset = find(name_of(node));
  if (nodeset == nullptr) {
    return Error(Errc::not_found, format("no nodeset in namespace %s owns node %s", name_space_.c_str(), node.c_str()));
  }
  if (!*nodeset) return nodeset->error();
  if (!(*nodeset)->has_pods()) {
    return Error(Errc::invalid, format("nodeset %s: scalingMode External: node %s has no pod", (*nodeset)->name.c_str(),
                                       node.c_str()));
  }
  return &**nodeset;
}

std::string NodeSetStore::name_of(const std::string& node) const {
  if (auto name = owner_name(node, [this](const std::string& nodeset) { return find(nodeset); })) return *name;
  const auto parsed = parse_node_name(node);  // of one that is gone
  return parsed ? std::string(parsed->nodeset) : node;
}

const Result<NodeSet>* NodeSetStore::find(const std::string& name) const {
  const auto found = nodesets_.find(name);
  return found == nodesets_.end() ? nullptr : &found->second;
}

}  // namespace slurmk8s
