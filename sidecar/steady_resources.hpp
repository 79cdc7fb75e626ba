// SPDX-License-Identifier: GPL-2.0-or-later
// SteadyResources: what is left of Kubernetes nodes, without what comes and goes: less counts at once, more only after
// a minute. So pods of a CronJob don't have Slurm's nodes made again and again. Pure: the time is passed in; one
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "sidecar/allocatable.hpp"

namespace slurmk8s {

/** A larger amount counts when it has been there for so long. */
inline constexpr std::chrono::seconds kGrowAfter{60};

/** An amount that shrinks at once and grows late. */
class SteadyAmount {
 public:
  explicit SteadyAmount(std::int64_t amount) : value_(amount) {}

  /** The amount at this time. */
  void observe(std::int64_t amount, TimePoint now);
  std::int64_t value() const { return value_; }

 private:
  struct Larger {
    std::int64_t amount;  ///< the smallest since then
    TimePoint since;
  };
  std::int64_t value_;
  std::optional<Larger> larger_;  ///< without a value: the last amount was no larger
};

class SteadyResources {
 public:
  /** What is left at this time, of all Kubernetes nodes. True when by_kube_node() changes. */
  bool observe(const ResourcesByKubeNode& left, TimePoint now);
  const ResourcesByKubeNode& by_kube_node() const { return values_; }

 private:
  struct Amounts {
    SteadyAmount cpu_milli;
    SteadyAmount memory_bytes;
  };
  std::map<std::string, Amounts, std::less<>> amounts_;
  ResourcesByKubeNode values_;
};

}  // namespace slurmk8s
