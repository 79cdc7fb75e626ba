// SPDX-License-Identifier: GPL-2.0-or-later
// SteadyResources: each amount by itself.
#include "sidecar/steady_resources.hpp"

#include <algorithm>
#include <utility>

namespace slurmk8s {

void SteadyAmount::observe(std::int64_t amount, TimePoint now) {
  if (amount <= value_) {
    value_ = amount;
    larger_.reset();
    return;
  }
  if (!larger_) larger_ = Larger{amount, now};
  larger_->amount = std::min(larger_->amount, amount);
  if (now - larger_->since < kGrowAfter) return;
  value_ = larger_->amount;
  larger_.reset();
  if (amount > value_) larger_ = Larger{amount, now};
}

bool SteadyResources::observe(const ResourcesByKubeNode& left, TimePoint now) {
  std::erase_if(amounts_, [&](const auto& one) { return !left.contains(one.first); });
  ResourcesByKubeNode values;
  for (const auto& [kube_node, resources] : left) {
    auto& [cpu_milli, memory_bytes] =
        amounts_
            .try_emplace(kube_node, Amounts{SteadyAmount(resources.cpu_milli), SteadyAmount(resources.memory_bytes)})
            .first->second;
    cpu_milli.observe(resources.cpu_milli, now);
    memory_bytes.observe(resources.memory_bytes, now);
    values.emplace(kube_node, Resources{cpu_milli.value(), memory_bytes.value()});
  }
  return std::exchange(values_, std::move(values)) != values_;
}

}  // namespace slurmk8s
