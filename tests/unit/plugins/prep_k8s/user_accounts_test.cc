// SPDX-License-Identifier: GPL-2.0-or-later
// prep_k8s/user_accounts: who gets a name in a pod, and until when.
#include "prep_k8s/user_accounts.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/strings.hpp"
#include "support/temporary_folder.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kPasswd = "root:x:0:0:root:/root:/bin/bash\nslurm:x:401:401::/home/slurm:/bin/bash\n";
constexpr const char* kGroup = "root:x:0:\nslurm:x:401:\nusers:x:100:\n";

/** "NAME UID GID GROUP=GID,…": gecos, home and shell follow from the name. */
UserAccount user(std::string_view text) {
  const auto words = split(text, ' ');
  const std::string name(words.at(0));
  UserAccount account{static_cast<uid_t>(*parse_int(words.at(1))),
                      static_cast<gid_t>(*parse_int(words.at(2))),
                      name,
                      name + " of Physics",
                      "/home/" + name,
                      "/bin/bash",
                      {}};
  for (const std::string_view group : split(words.size() > 3 ? words[3] : "", ',')) {
    const auto parts = split(group, '=');
    if (parts.size() == 2) account.groups.push_back({static_cast<gid_t>(*parse_int(parts[1])), std::string(parts[0])});
  }
  return account;
}

/** "NAME:UID" of each passwd line, "|", each group line. */
std::string shown(const std::vector<UserAccount>& users) {
  const AccountFiles files = build_account_files(users, parse_names(kPasswd), parse_names(kGroup));
  std::string text;
  for (const std::string_view line : split(files.passwd, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() == 7) text += std::string(fields[0]) + ":" + std::string(fields[2]) + " ";
  }
  text += "|";
  for (const std::string_view line : split(files.group, '\n')) {
    if (!line.empty()) text += " " + std::string(line);
  }
  return text;
}

void users_of_a_pod(void**) {
  const struct {
    const char* title;
    std::vector<UserAccount> users;
    const char* expected;
  } cases[] = {
      {"none", {}, "|"},
      {"one, with groups", {user("ada 1001 1001 ada=1001,physics=2000")}, "ada:1001 | ada:x:1001: physics:x:2000:ada"},
      {"two jobs of one user",
       {user("ada 1001 1001 ada=1001"), user("ada 1001 1001 ada=1001")},
       "ada:1001 | ada:x:1001:"},
      {"two users share a group",
       {user("bob 1002 2000 physics=2000"), user("ada 1001 1001 physics=2000")},
       "bob:1002 ada:1001 | physics:x:2000:ada"},
      {"root", {user("ada 0 1001")}, "|"},
      {"the group of root", {user("ada 1001 0")}, "|"},
      {"called root", {user("root 1001 1001")}, "|"},
      {"called slurm", {user("slurm 1001 1001")}, "|"},
      {"the id of slurm", {user("ada 401 1001")}, "|"},
      {"groups of the image", {user("ada 1001 100 users=100,root=7,ada=401,wheel=0")}, "ada:1001 |"},
      {"the name of a neighbour", {user("ada 1001 1001"), user("ada 1002 1002 evil=1002")}, "ada:1001 |"},
      {"the id of a neighbour", {user("ada 1001 1001"), user("eve 1001 1001 evil=1002")}, "ada:1001 |"},
      {"a group's name with another id",
       {user("ada 1001 1001 ada=1001"), user("eve 1002 1002 ada=1002")},
       "ada:1001 eve:1002 | ada:x:1001:"},
      {"a line in the name", {user("ada\nroot:x:0:0::/:/bin/sh 1001 1001")}, "|"},
      {"a field in the name", {user("ada:x:0 1001 1001")}, "|"},
      {"a member in the name", {user("ada,bob 1001 1001")}, "|"},
      {"all users of a directory", {user("+ 1001 1001")}, "|"},
      {"no name", {user(" 1001 1001")}, "|"},
      {"a line in the group", {user("ada 1001 1001 x\nroot:x:0:ada=1005,good=1006")}, "ada:1001 | good:x:1006:ada"},
  };
  for (const auto& c : cases) {
    print_message("%s\n", c.title);
    assert_text(shown(c.users), c.expected);
  }
}

void texts_of_a_user(void**) {
  UserAccount account = user("ada 1001 1001 physics=2000");
  assert_text(encode_account(account), "ada:x:1001:1001:ada of Physics:/home/ada:/bin/bash\nphysics:x:2000\n");
  const auto again = decode_account(encode_account(account));
  assert_true(again.has_value());
  assert_text(encode_account(*again), encode_account(account));

  account.gecos = "Ada:x\nroot::0:0::/:";
  account.home = "/home/ada\nroot::0:0::/:/bin/sh";
  account.shell = "bash";
  assert_text(encode_account(account), "ada:x:1001:1001::/:/bin/sh\nphysics:x:2000\n");

  for (const char* bad : {"", "ada", "ada:x:-1:1001::/:/bin/sh", "ada:x:1001:4294967295::/:/bin/sh"}) {
    assert_false(decode_account(bad).has_value());
  }
}

struct Pod {
  TemporaryFolder folder;
  AccountPaths paths{folder.path() + "/jobs", folder.path() + "/lock", folder.path() + "/etc", folder.path() + "/out"};

  Pod() {
    std::filesystem::create_directory(paths.image);
    std::ofstream(paths.image + "/passwd") << kPasswd;
    std::ofstream(paths.image + "/group") << kGroup;
  }
  void take_names() const { std::filesystem::create_directory(paths.output); }
  std::string passwd() const { return read_file(paths.output + "/passwd", 4096).value_or("none"); }
  std::string group() const { return read_file(paths.output + "/group", 4096).value_or("none"); }
};

void names_come_and_go_with_jobs(void**) {
  constexpr const char* kAda = "ada:x:1001:1001:ada of Physics:/home/ada:/bin/bash\n";
  constexpr const char* kBob = "bob:x:1002:1002:bob of Physics:/home/bob:/bin/bash\n";
  Pod pod;
  pod.take_names();
  assert_ok(add_account(pod.paths, 7, user("ada 1001 1001 ada=1001")));
  assert_text(pod.passwd(), kAda);
  assert_text(pod.group(), "ada:x:1001:\n");
  struct stat found {};
  assert_int_equal(::stat((pod.paths.output + "/passwd").c_str(), &found), 0);
  assert_int_equal(found.st_mode & 07777, 0644);
  assert_ok(add_account(pod.paths, 8, user("bob 1002 1002")));
  assert_ok(add_account(pod.paths, 10, user("ada 1001 1001 ada=1001")));
  assert_text(pod.passwd(), std::string(kAda) + kBob);
  assert_ok(remove_account(pod.paths, 7));
  assert_text(pod.passwd(), std::string(kBob) + kAda);
  assert_ok(remove_account(pod.paths, 10));
  assert_ok(remove_account(pod.paths, 10));
  assert_text(pod.passwd(), kBob);
  assert_text(pod.group(), "");
  assert_ok(remove_account(pod.paths, 8));
  assert_text(pod.passwd(), "");
}

void leaves_alone(void**) {
  Pod pod;
  assert_ok(add_account(pod.paths, 7, user("ada 1001 1001")));  // an image without libnss-extrausers
  assert_false(std::filesystem::exists(pod.paths.jobs));
  pod.take_names();
  assert_ok(add_account(pod.paths, 8, user("slurm 401 401")));
  assert_ok(add_account(pod.paths, 9, user("root 0 0")));
  assert_ok(add_account(pod.paths, 10, user("slurm 1001 1001")));
  assert_false(std::filesystem::exists(pod.paths.jobs));
  assert_text(pod.passwd(), "none");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(users_of_a_pod),
      SLURMK8S_TEST(texts_of_a_user),
      SLURMK8S_TEST(names_come_and_go_with_jobs),
      SLURMK8S_TEST(leaves_alone),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
