// SPDX-License-Identifier: GPL-2.0-or-later
// guarded(): the log line of an exception.
#include "base/guarded.hpp"

#include "base/log.hpp"

namespace slurmk8s {

void log_escaped_exception(const char* where, const char* what) noexcept {
  log_error("%s: exception stopped at the boundary: %s", where, what);
}

}  // namespace slurmk8s
