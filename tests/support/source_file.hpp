// SPDX-License-Identifier: GPL-2.0-or-later
// Files of the source tree, for tests that compare with one.
#pragma once

#include <cstdlib>
#include <string>

#include "base/file.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {

/** The content of `path` below $TOP_SRCDIR, which `make check` sets; without it below the current folder. */
inline std::string read_source(const std::string& path) {
  const char* top = std::getenv("TOP_SRCDIR");
  const auto text = read_file(std::string(top != nullptr ? top : ".") + "/" + path, 1 << 20);
  assert_ok(text);
  return *text;
}

}  // namespace slurmk8s
