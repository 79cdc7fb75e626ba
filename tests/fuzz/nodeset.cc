// SPDX-License-Identifier: GPL-2.0-or-later
// Any NodeSet is decoded or refused with its name and field; what is decoded can be made into node records.
#include "fuzz/target.hpp"
#include "nodeset/nodeset.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto object = Json::parse(as_text(data, size));
  if (!object.ok()) return 0;
  const auto nodeset = decode_nodeset(*object);
  if (!nodeset.ok()) {
    require(nodeset.error().code() == Errc::invalid, "an error of another code");
    require(nodeset.error().message().starts_with("nodeset"), "an error that does not name the NodeSet");
    return 0;
  }
  require(nodeset->replicas >= 0 && nodeset->replicas <= kMaxReplicas, "a number of nodes that Slurm does not have");
  require(nodeset->size.cpus >= 1 && nodeset->size.real_memory_mib >= 1, "nodes without CPUs or memory");
  const std::string definition = node_definition(*nodeset);
  require(definition.starts_with("CPUs="), "a definition without CPUs");
  require(definition.find('\n') == std::string::npos, "a definition of two lines");
  require(!revision_of(*nodeset).empty() && !nodeset->template_hash.empty(), "no hash");
  for (const auto& [name, variant] : nodeset->variants) {
    require(node_definition(with_variant(*nodeset, name)).starts_with("CPUs="), "a variant without CPUs");
    require(find_variant(*nodeset, nodeset->name + "," + name) == name, "a variant that is not found");
  }
  const auto again = decode_nodeset(*object);
  require(again.ok() && revision_of(*again) == revision_of(*nodeset), "another NodeSet the second time");
  return 0;
}
