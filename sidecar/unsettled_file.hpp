// SPDX-License-Identifier: GPL-2.0-or-later
// UnsettledFile: whether slurmctld has records that its scheduler may not see, kept for the next sidecar.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"

namespace slurmk8s {

/** A file that exists from before a create until the reconfiguration after it. One thread. */
class UnsettledFile {
 public:
  /** An empty path: nothing is kept. */
  explicit UnsettledFile(std::string path) : path_(std::move(path)) {}

  bool exists() const;
  /** Creates or removes it. Errors name the path. */
  Status keep(bool unsettled) const;

 private:
  std::string path_;
};

}  // namespace slurmk8s
