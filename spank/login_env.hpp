// SPDX-License-Identifier: GPL-2.0-or-later
// A user's login environment, for batch jobs with --export=NONE, --export=NAME=VALUE or --get-user-env. slurmd's own
// way needs process and mount namespaces, which a pod may not create.
//
// All functions but login_output() are pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spank/env_change.hpp"

namespace slurmk8s {

/** Set to 1, these request it: sbatch's variable, and job_submit/k8s's name for it, which slurmd ignores. */
inline constexpr const char* kGetUserEnv = "SLURM_GET_USER_ENV";
inline constexpr const char* kLoginEnv = "SLURM_K8S_USER_ENV";

/** A user, from the user database. */
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
 * Parses such a shell's output: variables in order, without those of the shell or a terminal. Skips what a profile
 * prints before `mark`. Error (invalid): without the second mark the environment is incomplete.
 */
Result<EnvChanges> parse_login_output(std::string_view output, const std::string& mark);

/** `login` without the job's variables, `names`: those passed to sbatch have precedence. */
EnvChanges without_names(EnvChanges login, const std::vector<std::string_view>& names);

/**
 * Runs the account's shell with `arguments` and `environment` as the effective user and group of the caller,
 * permanently, in its home or else in "/": without input, in its own session, which is killed at the end. Blocks for
 * `limit` at most, plus a second for a process that cannot be killed. Returns its output up to the second line `mark`.
 * Errors: forbidden (the caller is root), timeout, invalid (more than 256 KiB), unavailable. Any thread; safe in a
 * process with threads.
 */
Result<std::string> login_output(const Account& account, const std::vector<std::string>& arguments,
                                 const EnvChanges& environment, const std::string& mark,
                                 std::chrono::milliseconds limit);

/** "slurm-k8s-" and eight random bytes in hexadecimal. */
std::string new_mark();

}  // namespace slurmk8s
