// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever a Kubernetes node says of itself: its labels, taints, features and topology.
#include "fuzz/target.hpp"
#include "sidecar/kube_node_facts.hpp"
#include "sidecar/pod_facts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto object = Json::parse(as_text(data, size));
  if (!object.ok()) return 0;
  const KubeNodeFacts facts = decode_kube_node_facts(*object);
  require(!facts.ready || facts.why_not_ready.empty(), "ready, and a cause why it is not");
  require(decode_kube_node_facts(*object) == facts, "other facts the second time");
  find_untolerated(facts.taints, decode_tolerations((*object)["spec"]["tolerations"]));
  decode_pod_facts(*object);
  return 0;
}
