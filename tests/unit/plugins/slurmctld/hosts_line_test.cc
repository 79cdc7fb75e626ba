// SPDX-License-Identifier: GPL-2.0-or-later
// plugins/slurmctld/hosts_line: the sources of host names.
#include "slurmctld/hosts_line.hpp"

#include "base/words.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void lines(void**) {
  const struct {
    const char* nsswitch;
    const char* hosts;
  } cases[] = {
      {"", "files slurm_k8s [!UNAVAIL=return] dns"},
      {"passwd: files\nhosts:          files dns\nnetworks: files\n", "files slurm_k8s [!UNAVAIL=return] dns"},
      {"hosts: files mdns4_minimal [NOTFOUND=return] dns myhostname # home",
       "files slurm_k8s [!UNAVAIL=return] mdns4_minimal [NOTFOUND=return] dns myhostname"},
      {"hosts: dns [!UNAVAIL=return] files", "slurm_k8s [!UNAVAIL=return] dns [!UNAVAIL=return] files"},
      {"hosts:\tfiles\n", "files slurm_k8s [!UNAVAIL=return]"},
      {"hosts: files [NOTFOUND=return] dns", "files slurm_k8s [!UNAVAIL=return] dns"},
      {"hosts: files[NOTFOUND=return] dns", "files slurm_k8s [!UNAVAIL=return] dns"},
      {"hosts: files [NOTFOUND", "files slurm_k8s [!UNAVAIL=return]"},
      {"hosts: filesystem dns", "slurm_k8s [!UNAVAIL=return] filesystem dns"},
      {"#hosts: db\n  hosts: resolve files", "slurm_k8s [!UNAVAIL=return] resolve files"},
      {"hosts:", "slurm_k8s [!UNAVAIL=return]"},
  };
  for (const auto& c : cases) assert_text(compose_hosts(c.nsswitch), c.hosts);
}

void users(void**) {
  const struct {
    const char* nsswitch;
    const char* database;
    const char* sources;
  } cases[] = {
      {"", "passwd", "files slurm_k8s"},
      {"passwd: files extrausers\ngroup: files\n", "passwd", "files extrausers slurm_k8s"},
      {"passwd: files extrausers\ngroup: files\n", "group", "files slurm_k8s"},
      {"passwd_compat: nis\npasswd: files systemd # home", "passwd", "files systemd slurm_k8s"},
      {"passwd:", "passwd", "slurm_k8s"},
  };
  for (const auto& c : cases) assert_text(compose_users(c.nsswitch, c.database), c.sources);
}

void names(void**) {
  const struct {
    const char* hostlist;
    const char* names;
  } cases[] = {
      {nullptr, ""},
      {"", ""},
      {"metal-[0-1],head", "metal-0,metal-1,head"},
      {"10.0.0.1", ""},
      {"10.0.0.[1-3],a", "a"},
      {"::1", ""},
      {"metal-[0", ""},
      {"db.example.org", "db.example.org"},
  };
  for (const auto& c : cases) {
    Words words;
    for (const std::string& name : names_of(c.hostlist)) words.push_back(name);
    assert_text(join_words(words), c.names);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(lines), SLURMK8S_TEST(users), SLURMK8S_TEST(names)};
  return cmocka_run_group_tests_name("plugins_hosts_line", tests, nullptr, nullptr);
}
