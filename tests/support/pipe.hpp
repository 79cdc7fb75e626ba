// SPDX-License-Identifier: GPL-2.0-or-later
// Pipe: both ends of a pipe(2) that doesn't block, for tests of what waits for descriptors.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {

struct Pipe {
  UniqueFd out, in;
};

inline Pipe make_pipe() {
  int ends[2];
  assert_int_equal(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

inline void write_byte(const Pipe& pipe) { assert_int_equal(::write(pipe.in.get(), "a", 1), 1); }

}  // namespace slurmk8s
