// SPDX-License-Identifier: GPL-2.0-or-later
// ChildProcess: a fork of a process with threads, which then runs a program.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {

/** The exit code of a child that could not run its program. */
inline constexpr int kCannotRun = 127;

/** A process, and the non-blocking read end of its output. */
struct ChildProcess {
  pid_t pid = -1;
  UniqueFd output;
};

/**
 * Forks. The child calls `become` with the write end of the output; `become` does not return, and makes system calls
 * only: other threads' locks stay locked in the child. Error: unavailable. Any thread.
 */
Result<ChildProcess> start_child(const std::function<void(int output)>& become);

/** In the child: unblocks all signals, and resets their handlers. */
void reset_signals();

/** For execve(): pointers into `texts`, which must outlive them, and a null pointer. */
std::vector<char*> pointers(const std::vector<std::string>& texts);

/** Error (unavailable): `what`, with the text of errno. */
Error system_error(const std::string& what);

}  // namespace slurmk8s
