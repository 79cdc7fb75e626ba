// SPDX-License-Identifier: GPL-2.0-or-later
// libnss_slurm_k8s, as glibc uses it in slurmctld: getaddrinfo() and its siblings.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <grp.h>
#include <netdb.h>
#include <nss.h>
#include <pthread.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "nss/control.h"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kNowhere = "127.255.255.255";

/** "ADDRESS ADDRESS" or an error's text. */
std::string addresses(const char* name, int family, int flags = 0) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_family = family;
  hints.ai_flags = flags;
  hints.ai_socktype = SOCK_STREAM;
  if (const int error = getaddrinfo(name, "6818", &hints, &list); error != 0) return gai_strerror(error);
  std::string text;
  for (const addrinfo* item = list; item; item = item->ai_next) {
    char address[NI_MAXHOST] = "";
    getnameinfo(item->ai_addr, item->ai_addrlen, address, sizeof address, nullptr, 0, NI_NUMERICHOST);
    text += (text.empty() ? "" : " ") + std::string(address);
  }
  if ((flags & AI_CANONNAME) != 0) text += std::string(" is ") + (list->ai_canonname ? list->ai_canonname : "?");
  freeaddrinfo(list);
  return text;
}

// Slurm's own flags.
constexpr int kSlurm = AI_ADDRCONFIG | AI_NUMERICSERV | AI_PASSIVE | AI_CANONNAME;

decltype(&slurm_k8s_names_user) set_user = nullptr;

int serve(void**) {
  const char* const build = std::getenv("TOP_BUILDDIR");
  const std::string path = std::string(build ? build : "..") + "/nss/.libs/libnss_slurm_k8s.so.2";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    print_error("%s\n", dlerror());
    return -1;
  }
  const auto begin = reinterpret_cast<decltype(&slurm_k8s_names_serve)>(dlsym(library, "slurm_k8s_names_serve"));
  const char* const others[] = {"metal-0"};
  if (!begin || begin(others, 1, nullptr) != 0 || begin(others, 1, nullptr) != -1) return -1;
  set_user = reinterpret_cast<decltype(&slurm_k8s_names_user)>(dlsym(library, "slurm_k8s_names_user"));
  if (!set_user || __nss_configure_lookup("passwd", "files slurm_k8s") != 0 ||
      __nss_configure_lookup("group", "files slurm_k8s") != 0) {
    return -1;
  }
  return __nss_configure_lookup("hosts", "slurm_k8s [!UNAVAIL=return] files");
}

void a_name_that_is_known(void**) {
  assert_text(addresses("localhost", AF_INET), "127.0.0.1");
  const hostent* const host = gethostbyname("localhost");
  assert_non_null(host);
  assert_int_equal(host->h_addrtype, AF_INET);
}

void a_name_that_is_not(void**) {
  assert_text(addresses("compute-99", AF_INET), kNowhere);
  assert_text(addresses("compute-99", AF_INET, kSlurm), "127.255.255.255 is compute-99");
  assert_text(addresses("compute-99", AF_UNSPEC, kSlurm), "127.255.255.255 is compute-99");
  assert_text(addresses("compute-99", AF_INET6), "::ffff:127.255.255.255");
  assert_text(addresses("login.example.org", AF_INET), kNowhere);
  assert_non_null(gethostbyname("compute-99"));
  assert_non_null(gethostbyname2("compute-99", AF_INET6));
}

void names_of_any_length(void**) {
  for (const std::size_t length : {1UL, 63UL, 253UL, 254UL, 900UL, 1000000UL}) {
    // A C library may refuse the longest itself.
    const std::string found = addresses(std::string(length, 'x').c_str(), AF_INET);
    assert_true(found == kNowhere || length > 253);
  }
}

void names_of_slurm_conf_are_left_alone(void**) {
  assert_text(addresses("metal-0", AF_INET), gai_strerror(EAI_NONAME));
  assert_text(addresses("metal-1", AF_INET), kNowhere);
}

void threads_that_may_block_get_the_real_answer(void**) {
  std::string found;
  std::thread([&] {
    pthread_setname_np(pthread_self(), SLURM_K8S_WAITING_THREAD);
    found = addresses("compute-99", AF_INET);
  }).join();
  assert_text(found, gai_strerror(EAI_NONAME));
}

std::string name_of(const char* address) {
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  inet_pton(AF_INET, address, &ipv4.sin_addr);
  char name[NI_MAXHOST] = "";
  const int error =
      getnameinfo(reinterpret_cast<sockaddr*>(&ipv4), sizeof ipv4, name, sizeof name, nullptr, 0, NI_NAMEREQD);
  return error == 0 ? name : gai_strerror(error);
}

void names_of_addresses(void**) {
  assert_text(name_of("127.0.0.1"), "localhost");
  assert_text(name_of("192.0.2.1"), gai_strerror(EAI_NONAME));
}

int connect_to(int family, const char* address) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_family = family;
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(address, "6818", &hints, &list) != 0) return -1;
  const int fd = socket(family, SOCK_STREAM, 0);
  const int error = fd < 0 ? 0 : connect(fd, list->ai_addr, list->ai_addrlen) == 0 ? -1 : errno;
  close(fd);
  freeaddrinfo(list);
  return error;
}

/** connect() to the address fails. A host without IPv6 has no such socket. */
void nowhere_is_nowhere(void**) {
  assert_int_equal(connect_to(AF_INET, kNowhere), ENETUNREACH);
  const int ipv6 = connect_to(AF_INET6, "::ffff:127.255.255.255");
  assert_true(ipv6 == ENETUNREACH || ipv6 == 0);
}

void a_child_has_no_lookup_threads(void**) {
  (void)addresses("compute-99", AF_INET);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(addresses("compute-98", AF_INET) == gai_strerror(EAI_NONAME) ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

std::string user_by_id(uid_t uid) {
  const passwd* const found = getpwuid(uid);
  return found ? std::string(found->pw_name) + " " + found->pw_dir + " " + found->pw_shell : "none";
}

std::string groups_of(const char* name, gid_t own) {
  gid_t groups[32];
  int count = 32;
  if (getgrouplist(name, own, groups, &count) < 0) return "too many";
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? " " : "") + std::to_string(groups[i]);
  return text;
}

void the_user_of_a_thread(void**) {
  assert_text(user_by_id(200123), "none");
  gid_t groups[20];
  for (gid_t i = 0; i < 20; ++i) groups[i] = 300000 + i;
  groups[1] = 200123;  // the user's own, which the caller adds
  const slurm_k8s_user ada{200123, 200123, "ada", "Ada", "/home/ada", "/bin/sh", 3, groups};
  set_user(&ada);
  assert_text(user_by_id(200123), "ada /home/ada /bin/sh");
  assert_text(user_by_id(200124), "none");
  assert_non_null(getpwnam("ada"));
  assert_null(getpwnam("bob"));
  assert_text(groups_of("ada", 200123), "200123 300000 300002");
  assert_text(groups_of("bob", 200124), "200124");
  std::string elsewhere;
  std::thread([&] { elsewhere = user_by_id(200123); }).join();
  assert_text(elsewhere, "none");
  set_user(nullptr);
  assert_text(user_by_id(200123), "none");
}

void a_user_of_the_machine_stays(void**) {
  const slurm_k8s_user root{0, 0, "root", "", "/nowhere", "/bin/false", 0, nullptr};
  set_user(&root);
  assert_true(user_by_id(0).find("/nowhere") == std::string::npos);
  set_user(nullptr);
}

void a_user_without_texts_and_with_many_groups(void**) {
  gid_t groups[30];
  for (gid_t i = 0; i < 30; ++i) groups[i] = 300000 + i;
  const slurm_k8s_user user{200125, 200125, "many", nullptr, nullptr, nullptr, 30, groups};
  set_user(&user);
  assert_text(user_by_id(200125), "many  ");
  assert_true(groups_of("many", 200125).ends_with(" 300029"));
  char small[4];
  passwd entry{}, *found = nullptr;
  assert_int_equal(getpwuid_r(200125, &entry, small, sizeof small, &found), ERANGE);
  set_user(nullptr);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(a_name_that_is_known),
                              SLURMK8S_TEST(a_name_that_is_not),
                              SLURMK8S_TEST(names_of_any_length),
                              SLURMK8S_TEST(names_of_slurm_conf_are_left_alone),
                              SLURMK8S_TEST(threads_that_may_block_get_the_real_answer),
                              SLURMK8S_TEST(names_of_addresses),
                              SLURMK8S_TEST(nowhere_is_nowhere),
                              SLURMK8S_TEST(a_child_has_no_lookup_threads),
                              SLURMK8S_TEST(the_user_of_a_thread),
                              SLURMK8S_TEST(a_user_of_the_machine_stays),
                              SLURMK8S_TEST(a_user_without_texts_and_with_many_groups)};
  return cmocka_run_group_tests_name("nss_module", tests, serve, nullptr);
}
