// SPDX-License-Identifier: GPL-2.0-or-later
// Names of nodes and of Kubernetes nodes there and back.
#include <string>

#include "fuzz/target.hpp"
#include "nodeset/names.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view text = as_text(data, size);
  if (text.find('\0') != std::string_view::npos) return 0;  // no name of Slurm's, or in JSON, has one
  if (const auto name = parse_node_name(text)) {
    require(name->ordinal >= 0, "a number below zero");
    const int padding = static_cast<int>(text.size() - name->nodeset.size() - 1);
    require(node_name(name->nodeset, name->ordinal, padding) == text, "another name than before");
  }
  if (const auto kube_node = decode_kube_node(text)) {
    require(encode_kube_node(*kube_node) == text, "another Kubernetes node than before");
  }
  return 0;
}
