// SPDX-License-Identifier: GPL-2.0-or-later
// The functions that glibc calls.
#include <arpa/inet.h>
#include <netdb.h>
#include <nss.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "base/export.hpp"
#include "base/guarded.hpp"
#include "base/log.hpp"
#include "nss/answer.hpp"
#include "nss/control.h"
#include "nss/name_cache.hpp"
#include "nss/user.hpp"

using namespace slurmk8s;

namespace {

constexpr std::size_t kMaxName = 253;
constexpr char kForward = 'n', kReverse = 'a';  // the first letter of a key

/** The state while names are served; never freed, since threads may use it while the process ends. */
struct Names {
  explicit Names(NameCache::Resolve resolve) : cache(std::move(resolve)) {}
  NameCache cache;
  std::set<std::string, std::less<>> others;
  void (*log)(const char* format, ...) = nullptr;
  pid_t process = getpid();
  std::mutex mutex;
  LogLimiter limiter{std::chrono::seconds(30)};  // under the mutex
};

std::atomic<Names*> names{nullptr};
thread_local const slurm_k8s_user* thread_user = nullptr;

/** Whether this thread may block: then the sources that follow answer. */
bool may_wait() {
  char name[16] = "";
  if (pthread_getname_np(pthread_self(), name, sizeof name) != 0) return false;
  return std::string_view(name).starts_with(SLURM_K8S_WAITING_THREAD);
}

/** Null where names are not served: in a child of a fork, for example, which lacks the cache's threads. */
Names* serving(std::string_view name) {
  Names* const here = names;
  if (!here || here->process != getpid() || may_wait()) return nullptr;
  return here->others.contains(name) ? nullptr : here;
}

NameAnswer answer_of(int error) {
  // Not an answer: no reachable server, or no usable source.
  const bool answered = error == EAI_NONAME || error == EAI_NODATA || error == EAI_ADDRFAMILY;
  return {.answered = answered, .values = {}};
}

NameAnswer resolve_name(const char* name) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int error = getaddrinfo(name, nullptr, &hints, &list); error != 0) return answer_of(error);
  NameAnswer answer{.answered = true, .values = {}};
  for (const addrinfo* item = list; item && answer.values.size() < 16; item = item->ai_next) {
    const char* bytes = nullptr;
    std::size_t size = 0;
    if (item->ai_family == AF_INET) {
      bytes = reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in*>(item->ai_addr)->sin_addr);
      size = sizeof(in_addr);
    } else if (item->ai_family == AF_INET6) {
      bytes = reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in6*>(item->ai_addr)->sin6_addr);
      size = sizeof(in6_addr);
    }
    if (bytes) answer.values.emplace_back(bytes, size);
  }
  freeaddrinfo(list);
  return answer;
}

NameAnswer resolve_address(std::string_view bytes) {
  sockaddr_storage address{};
  socklen_t size = 0;
  if (bytes.size() == sizeof(in_addr)) {
    auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
    ipv4.sin_family = AF_INET;
    std::memcpy(&ipv4.sin_addr, bytes.data(), bytes.size());
    size = sizeof ipv4;
  } else {
    auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
    ipv6.sin6_family = AF_INET6;
    std::memcpy(&ipv6.sin6_addr, bytes.data(), bytes.size());
    size = sizeof ipv6;
  }
  char name[NI_MAXHOST] = "";
  const int error =
      getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, name, sizeof name, nullptr, 0, NI_NAMEREQD);
  if (error != 0) return answer_of(error);
  return {.answered = true, .values = {name}};
}

/** On a thread of the cache. Its name lets it block: otherwise this library would answer its query again. */
NameAnswer resolve(const std::string& key) {
  pthread_setname_np(pthread_self(), SLURM_K8S_WAITING_THREAD "-names");
  return guarded("names resolve", NameAnswer(), [&] {
    return key[0] == kForward ? resolve_name(key.c_str() + 1) : resolve_address(std::string_view(key).substr(1));
  });
}

void note_missing(Names& here, const char* name, bool answered) {
  if (!here.log) return;
  unsigned suppressed = 0;
  {
    const std::lock_guard lock(here.mutex);
    if (!here.limiter.allow(std::chrono::steady_clock::now(), suppressed)) return;
  }
  here.log("slurm-k8s: name \"%s\": %s: messages to it fail (%u similar messages suppressed)", name,
           answered ? "not known" : "no name server has answered yet", suppressed);
}

/** At least one address for `family`. */
std::vector<std::string> find_addresses(Names& here, const char* name, int family) {
  const std::size_t size = strnlen(name, kMaxName + 1);
  if (size > kMaxName) return addresses_of({}, family);
  const NameAnswer answer = here.cache.find(kForward + std::string(name, size));
  if (answer.values.empty()) note_missing(here, name, answer.answered);
  return addresses_of(answer.values, family);
}

nss_status by_name(const char* name, int family, hostent* host, const HostBuffer& buffer) {
  return guarded("gethostbyname", not_ours(buffer), [&] {
    Names* const here = serving(name);
    if (!here || (family != AF_INET && family != AF_INET6)) return not_ours(buffer);
    return fill_host(name, family, find_addresses(*here, name, family), *host, buffer);
  });
}

nss_status by_address(const void* address, socklen_t size, int family, hostent* host, const HostBuffer& buffer) {
  return guarded("gethostbyaddr", not_ours(buffer), [&] {
    Names* const here = serving({});
    if (!here || (size != sizeof(in_addr) && size != sizeof(in6_addr))) return not_ours(buffer);
    const std::string bytes(static_cast<const char*>(address), size);
    const NameAnswer answer = here->cache.find(kReverse + bytes);
    if (answer.values.empty()) return not_found(buffer);
    return fill_host(answer.values[0], family, {bytes}, *host, buffer);
  });
}

bool is_thread_user(const char* name) {
  return thread_user && thread_user->name && std::strcmp(thread_user->name, name) == 0;
}

nss_status not_found(int* error) {
  *error = ENOENT;
  return NSS_STATUS_NOTFOUND;
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT int slurm_k8s_names_serve(const char* const* others, unsigned long count,
                                          void (*log)(const char* format, ...)) {
  return guarded("names", -1, [&] {
    if (names) return -1;
    auto made = std::make_unique<Names>(resolve);
    made->log = log;
    for (unsigned long i = 0; i < count; i++) made->others.emplace(others[i]);
    names = made.release();
    return 0;
  });
}

SLURMK8S_EXPORT void slurm_k8s_names_user(const slurm_k8s_user* user) { thread_user = user; }

SLURMK8S_EXPORT nss_status _nss_slurm_k8s_getpwuid_r(uid_t uid, passwd* entry, char* data, std::size_t size,
                                                     int* error) {
  if (!thread_user || thread_user->uid != uid) return not_found(error);
  return fill_passwd(*thread_user, *entry, data, size, error);
}

SLURMK8S_EXPORT nss_status _nss_slurm_k8s_getpwnam_r(const char* name, passwd* entry, char* data, std::size_t size,
                                                     int* error) {
  if (!is_thread_user(name)) return not_found(error);
  return fill_passwd(*thread_user, *entry, data, size, error);
}

SLURMK8S_EXPORT nss_status _nss_slurm_k8s_initgroups_dyn(const char* name, gid_t own, long* start, long* size,
                                                         gid_t** list, long limit, int* error) {
  if (!is_thread_user(name)) return not_found(error);
  return add_groups(*thread_user, own, {start, size, list, limit}, error);
}

SLURMK8S_EXPORT nss_status _nss_slurm_k8s_gethostbyname4_r(const char* name, gaih_addrtuple** list, char* data,
                                                           std::size_t size, int* error, int* host_error, int32_t*) {
  const HostBuffer buffer{data, size, error, host_error};
  return guarded("gethostbyname", not_ours(buffer), [&] {
    Names* const here = serving(name);
    if (!here) return not_ours(buffer);
    return fill_tuples(name, find_addresses(*here, name, AF_UNSPEC), *list, buffer);
  });
}

SLURMK8S_EXPORT nss_status _nss_slurm_k8s_gethostbyname3_r(const char* name, int family, hostent* host, char* data,
                                                           std::size_t size, int* error, int* host_error, int32_t*,
                                                           char** canonical) {
  const nss_status status = by_name(name, family, host, {data, size, error, host_error});
  if (status == NSS_STATUS_SUCCESS && canonical) *canonical = host->h_name;
  return status;
}

SLURMK8S_EXPORT nss_status _nss_slurm_k8s_gethostbyname2_r(const char* name, int family, hostent* host, char* data,
                                                           std::size_t size, int* error, int* host_error) {
  return by_name(name, family, host, {data, size, error, host_error});
}

SLURMK8S_EXPORT nss_status _nss_slurm_k8s_gethostbyname_r(const char* name, hostent* host, char* data, std::size_t size,
                                                          int* error, int* host_error) {
  return by_name(name, AF_INET, host, {data, size, error, host_error});
}

SLURMK8S_EXPORT nss_status _nss_slurm_k8s_gethostbyaddr2_r(const void* address, socklen_t length, int family,
                                                           hostent* host, char* data, std::size_t size, int* error,
                                                           int* host_error, int32_t*) {
  return by_address(address, length, family, host, {data, size, error, host_error});
}

SLURMK8S_EXPORT nss_status _nss_slurm_k8s_gethostbyaddr_r(const void* address, socklen_t length, int family,
                                                          hostent* host, char* data, std::size_t size, int* error,
                                                          int* host_error) {
  return by_address(address, length, family, host, {data, size, error, host_error});
}

}  // extern "C"
