// SPDX-License-Identifier: GPL-2.0-or-later
// JobShares: whether the pods of a user may have one more job. Pure; values; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

namespace slurmk8s {

/** A user has nine tenths of what the others leave, at most: there is room for pods of others at any time. */
class JobShares {
 public:
  /** `max`: jobs of all users. */
  explicit JobShares(std::size_t max) : max_(max) {}

  /** A job of this uid. */
  void add(std::uint32_t user) {
    ++jobs_[user];
    ++all_;
  }
  std::size_t all() const { return all_; }
  bool has_room(std::uint32_t user) const {
    const auto found = jobs_.find(user);
    const std::size_t own = found == jobs_.end() ? 0 : found->second;
    const std::size_t left = max_ - std::min(all_ - own, max_);
    return own < (9 * left + 9) / 10;
  }

 private:
  const std::size_t max_;
  std::size_t all_ = 0;
  std::map<std::uint32_t, std::size_t> jobs_;  // by uid
};

}  // namespace slurmk8s
