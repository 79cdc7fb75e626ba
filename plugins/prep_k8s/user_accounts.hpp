// SPDX-License-Identifier: GPL-2.0-or-later
// Names for the users of a pod's jobs whom the image does not know: lines of passwd and group that libnss-extrausers
// reads. They are those of the jobs' credentials, which slurmctld signs, and stay while the user has a job on the pod.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

struct UserGroup {
  gid_t id = 0;
  std::string name;
};

/** A user as a job's credential has them. */
struct UserAccount {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  std::string gecos;
  std::string home;
  std::string shell;
  std::vector<UserGroup> groups;
};

/** Names and ids that are taken. */
struct TakenNames {
  std::set<std::string, std::less<>> names;
  std::set<std::uint32_t> ids;
};

/** Of passwd or group. Skips other lines. Pure. */
TakenNames parse_names(std::string_view text);

/** Passwd and group lines of one user. Pure. */
std::string encode_account(const UserAccount& account);

/** What encode_account() made; nullopt for other text. Pure. */
std::optional<UserAccount> decode_account(std::string_view text);

struct AccountFiles {
  std::string passwd;
  std::string group;
};

/**
 * The files for these users. Never has root, a name or an id of the image, or a text that would be another line. Of two
 * users or groups with one name or id the first stays. Pure.
 */
AccountFiles build_account_files(const std::vector<UserAccount>& accounts, TakenNames users, TakenNames groups);

struct AccountPaths {
  std::string jobs = "/run/slurm-k8s/accounts";  ///< a file for each job
  std::string lock = "/run/slurm-k8s/accounts.lock";
  std::string image = "/etc";                  ///< has passwd and group
  std::string output = "/var/lib/extrausers";  ///< gets passwd and group
};

/**
 * The job of that user has begun: writes the files. Does nothing without the output folder, or for a user whom the
 * image knows. Errors name the file. As root in slurmd, in any thread.
 */
Status add_account(const AccountPaths& paths, std::uint32_t job, const UserAccount& account);

/** The job has ended: writes the files without its user, unless another job has the same one. */
Status remove_account(const AccountPaths& paths, std::uint32_t job);

}  // namespace slurmk8s
