// SPDX-License-Identifier: GPL-2.0-or-later
// ChildProcess: a fork of a process with threads, and what is safe in it until it runs a program.
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

/** A process, and the end of its output that is read from: it doesn't block. */
struct ChildProcess {
  pid_t pid = -1;
  UniqueFd output;
};

/**
 * Forks. The child calls `become` with the end of the output that is written to; that doesn't return, and may do
 * nothing but system calls: other threads' locks stay locked in it. Error: unavailable. Any thread.
 */
Result<ChildProcess> start_child(const std::function<void(int output)>& become);

/** In the child: no signal is blocked, and those that a program expects to end it do so. */
void reset_signals();

/** For execve(): pointers into `texts`, which must outlive them, and a null pointer. */
std::vector<char*> pointers(const std::vector<std::string>& texts);

/** Error (unavailable): `what`, and what errno says. */
Error system_error(const std::string& what);

}  // namespace slurmk8s
