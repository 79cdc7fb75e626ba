// SPDX-License-Identifier: GPL-2.0-or-later
// Histogram: durations counted in buckets, as Prometheus has them. One thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace slurmk8s {

/** `Bounds`: upper bounds of the buckets in seconds, inclusive; one more bucket is unbounded. */
template <const auto& Bounds>
class HistogramOf {
 public:
  static constexpr const auto& kBounds = Bounds;
  using Counts = std::array<std::uint64_t, Bounds.size() + 1>;

  HistogramOf() = default;
  /** What counts() and sum() of another one gave. */
  HistogramOf(const Counts& counts, double sum) : counts_(counts), sum_(sum) {}

  void observe(std::chrono::duration<double> time) {
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && time.count() > kBounds[bucket]) ++bucket;
    ++counts_[bucket];
    sum_ += time.count();
  }

  /** Per bucket, not cumulative. */
  const Counts& counts() const { return counts_; }
  double sum() const { return sum_; }

 private:
  Counts counts_{};
  double sum_ = 0;
};

inline constexpr std::array<double, 15> kRequestBounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
                                                       2.5,   5,    10,    30,   60,  120,  300};
/** For steps and requests. */
using Histogram = HistogramOf<kRequestBounds>;

}  // namespace slurmk8s
