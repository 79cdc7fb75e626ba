// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong with a field of an object, as all readers of NodeSets say it. Pure; any thread.
#pragma once

#include <string>

#include "base/result.hpp"

namespace slurmk8s {

/** Error (invalid) "spec.replicas: must be …". */
inline Error wrong(const std::string& field, const std::string& what) {
  return Error(Errc::invalid, field + ": " + what);
}

}  // namespace slurmk8s
