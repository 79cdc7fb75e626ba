// SPDX-License-Identifier: GPL-2.0-or-later
// The environment that a user has after a login, for batch jobs that ask for it: sbatch --export=NONE,
// --export=NAME=VALUE and --get-user-env. slurmd's own way needs namespaces of processes and mounts, which a pod may
// not make.
//
// But for login_output() everything here is pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spank/env_change.hpp"

namespace slurmk8s {

/** Set to 1, these ask for it: sbatch's, and the name that job_submit/k8s gives it so that slurmd doesn't see it. */
inline constexpr const char* kGetUserEnv = "SLURM_GET_USER_ENV";
inline constexpr const char* kLoginEnv = "SLURM_K8S_USER_ENV";

/** Of the user database. */
struct Account {
  std::string name;
  std::string home;
  std::string shell;
};

/** HOME, LOGNAME, PATH, SHELL and USER, which a login sets before any profile is read. */
EnvChanges basic_environment(const Account& account);

/** Arguments of a login shell (bash, dash, zsh, csh …) that prints its environment between two lines `mark`. */
std::vector<std::string> login_arguments(const std::string& shell, const std::string& mark);

/**
 * What such a shell printed: variables in order, but for those that belong to the shell or to a terminal. What a
 * profile prints before `mark` is skipped. Error (invalid): the second mark is missing, so that the environment isn't
 * whole.
 */
Result<EnvChanges> parse_login_output(std::string_view output, const std::string& mark);

/** `login` without the variables that the job has already, by `names`: what a user passed to sbatch has precedence. */
EnvChanges without_names(EnvChanges login, const std::vector<std::string_view>& names);

/**
 * Runs the account's shell with `arguments` and `environment` as the effective user and group of the caller, for good,
 * in its home or, when that isn't there, in "/": without input, in a session of its own, which is killed at the end.
 * Blocks for `limit` at most, and a second for a process that can't be killed. Returns what it printed until the second
 * line `mark`. Errors: forbidden (the caller is root), timeout, invalid (more than 256 KiB), unavailable. Any thread;
 * safe in a process with threads.
 */
Result<std::string> login_output(const Account& account, const std::vector<std::string>& arguments,
                                 const EnvChanges& environment, const std::string& mark,
                                 std::chrono::milliseconds limit);

/** "slurm-k8s-" and eight random bytes in hexadecimal. */
std::string new_mark();

}  // namespace slurmk8s
