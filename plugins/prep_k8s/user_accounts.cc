// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of passwd and group, and the files of jobs that they are built from.
#include "prep_k8s/user_accounts.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/file.hpp"
#include "base/file_lock.hpp"
#include "base/strings.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxBytes = 4 << 20;
constexpr std::size_t kMaxName = 256;

bool is_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c == ':' || c < 0x20 || c == 0x7f; });
}

/** '+', '-' and '#' begin lines of another meaning; a comma separates the members of a group. */
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && is_text(name) &&
         name.find_first_of(",/") == std::string_view::npos &&
         std::string_view("+-#").find(name.front()) == std::string_view::npos;
}

bool is_path(std::string_view path) { return path.starts_with('/') && is_text(path); }

std::optional<std::uint32_t> parse_id(std::string_view text) {
  const auto id = parse_int(text);
  if (!id || *id < 0 || *id >= UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*id);
}

bool is_taken(const TakenNames& taken, const std::string& name, std::uint32_t id) {
  return taken.names.contains(name) || taken.ids.contains(id);
}

void take(TakenNames& taken, const std::string& name, std::uint32_t id) {
  taken.names.insert(name);
  taken.ids.insert(id);
}

std::string passwd_line(const UserAccount& account) {
  return account.name + ":x:" + std::to_string(account.uid) + ":" + std::to_string(account.gid) + ":" +
         (is_text(account.gecos) ? account.gecos : "") + ":" + (is_path(account.home) ? account.home : "/") + ":" +
         (is_path(account.shell) ? account.shell : "/bin/sh") + "\n";
}

bool is_valid(const UserAccount& account) { return is_name(account.name) && account.uid != 0 && account.gid != 0; }

/** Of the jobs, those that began first before others. */
std::vector<UserAccount> accounts_of_jobs(const std::string& folder) {
  std::map<std::uint32_t, UserAccount> jobs;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto job = parse_id(entry->path().filename().string());
    if (!job) continue;
    const auto text = read_file(entry->path().string(), kMaxBytes);
    if (!text) continue;
    if (auto account = decode_account(*text)) jobs.emplace(*job, std::move(*account));
  }
  std::vector<UserAccount> accounts;
  accounts.reserve(jobs.size());
  for (auto& [job, account] : jobs) accounts.push_back(std::move(account));
  return accounts;
}

Result<TakenNames> names_in(const std::string& path) { return parse_names(SLURMK8S_TRY(read_file(path, kMaxBytes))); }

Status put_changed(const std::string& path, const std::string& text) {
  const auto before = read_file(path, kMaxBytes);
  if (before && *before == text) return {};
  return put_file(path, text, 0644);
}

/** The group first: whoever finds the user finds the groups. */
Status write_files(const AccountPaths& paths) {
  const AccountFiles files =
      build_account_files(accounts_of_jobs(paths.jobs), SLURMK8S_TRY(names_in(paths.image + "/passwd")),
                          SLURMK8S_TRY(names_in(paths.image + "/group")));
  SLURMK8S_CHECK(put_changed(paths.output + "/group", files.group));
  return put_changed(paths.output + "/passwd", files.passwd);
}

}  // namespace

TakenNames parse_names(std::string_view text) {
  TakenNames taken;
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    const auto id = parse_id(fields[2]);
    if (!id) continue;
    take(taken, std::string(fields[0]), *id);
  }
  return taken;
}

std::string encode_account(const UserAccount& account) {
  std::string text = passwd_line(account);
  for (const UserGroup& group : account.groups) {
    if (is_name(group.name)) text += group.name + ":x:" + std::to_string(group.id) + "\n";
  }
  return text;
}

std::optional<UserAccount> decode_account(std::string_view text) {
  const auto lines = split(text, '\n');
  const auto fields = split(lines.front(), ':');
  if (fields.size() != 7) return std::nullopt;
  const auto uid = parse_id(fields[2]);
  const auto gid = parse_id(fields[3]);
  if (!uid || !gid) return std::nullopt;
  UserAccount account{
      *uid, *gid, std::string(fields[0]), std::string(fields[4]), std::string(fields[5]), std::string(fields[6]), {}};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto words = split(lines[i], ':');
    if (words.size() != 3) continue;
    if (const auto id = parse_id(words[2])) account.groups.push_back({*id, std::string(words[0])});
  }
  return account;
}

AccountFiles build_account_files(const std::vector<UserAccount>& accounts, TakenNames users, TakenNames groups) {
  AccountFiles files;
  std::vector<UserGroup> order;
  std::map<std::pair<std::string, gid_t>, std::set<std::string>> members;
  std::map<uid_t, std::string> listed;
  for (const UserAccount& account : accounts) {
    if (!is_valid(account)) continue;
    const auto same = listed.find(account.uid);
    if (same == listed.end()) {
      if (is_taken(users, account.name, account.uid)) continue;
      take(users, account.name, account.uid);
      listed.emplace(account.uid, account.name);
      files.passwd += passwd_line(account);
    } else if (same->second != account.name) {
      continue;
    }
    for (const UserGroup& group : account.groups) {
      const auto key = std::make_pair(group.name, group.id);
      if (!members.contains(key)) {
        if (!is_name(group.name) || group.id == 0 || is_taken(groups, group.name, group.id)) continue;
        take(groups, group.name, group.id);
        order.push_back(group);
        members[key] = {};
      }
      if (group.id != account.gid) members[key].insert(account.name);
    }
  }
  for (const UserGroup& group : order) {
    files.group += group.name + ":x:" + std::to_string(group.id) + ":";
    const char* separator = "";
    for (const std::string& member : members[{group.name, group.id}]) {
      files.group += separator + member;
      separator = ",";
    }
    files.group += "\n";
  }
  return files;
}

Status add_account(const AccountPaths& paths, std::uint32_t job, const UserAccount& account) {
  if (!is_valid(account) || ::access(paths.output.c_str(), F_OK) != 0) return {};
  if (is_taken(SLURMK8S_TRY(names_in(paths.image + "/passwd")), account.name, account.uid)) return {};
  const UniqueFd locked = SLURMK8S_TRY(take_file_lock(paths.lock));
  ::mkdir(paths.jobs.c_str(), 0700);
  SLURMK8S_CHECK(put_file(paths.jobs + "/" + std::to_string(job), encode_account(account), 0600));
  return write_files(paths);
}

Status remove_account(const AccountPaths& paths, std::uint32_t job) {
  const std::string file = paths.jobs + "/" + std::to_string(job);
  if (::access(file.c_str(), F_OK) != 0) return {};
  const UniqueFd locked = SLURMK8S_TRY(take_file_lock(paths.lock));
  ::unlink(file.c_str());
  return write_files(paths);
}

}  // namespace slurmk8s
