// SPDX-License-Identifier: GPL-2.0-or-later
// Opens libnss_slurm_k8s in slurmctld.
#include "slurmctld/names.hpp"

#include <dlfcn.h>
#include <nss.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "slurmctld/compat.hpp"
#include "slurmctld/hosts_line.hpp"
#include "nss/control.h"

namespace slurmk8s {
namespace {

constexpr const char* kLibrary = SLURMK8S_NAMES_LIBRARY;
constexpr const char* kNsswitch = "/etc/nsswitch.conf";
constexpr std::size_t kMaxBytes = 65536;

/** Names of slurm.conf that slurmctld looks up. */
std::vector<std::string> names_of_slurm_conf() {
  std::vector<std::string> names;
  const auto add = [&names](const char* hostlist) {
    for (std::string& name : names_of(hostlist)) names.push_back(std::move(name));
  };
  for (unsigned i = 0; i < slurm_conf.control_cnt; i++) {
    add(slurm_conf.control_machine[i]);
    add(slurm_conf.control_addr[i]);
  }
  add(slurm_conf.accounting_storage_host);
  add(slurm_conf.accounting_storage_backup_host);
  add(slurm_conf.job_comp_host);
  slurm_conf_node_t** lines = nullptr;
  const int count = slurm_conf_nodename_array ? slurm_conf_nodename_array(&lines) : 0;
  for (int i = 0; i < count; i++) {
    add(lines[i]->addresses ? lines[i]->addresses : lines[i]->hostnames ? lines[i]->hostnames : lines[i]->nodenames);
  }
  return names;
}

std::atomic<decltype(&slurm_k8s_names_user)> names_user{nullptr};

/** False when done before, or on failure. */
bool open_library() {
  // glibc finds a source by the soname of its library: the open one.
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  const auto serve =
      library ? reinterpret_cast<decltype(&slurm_k8s_names_serve)>(dlsym(library, "slurm_k8s_names_serve")) : nullptr;
  if (!serve) {
    slurm_error("slurm-k8s: %s; lookups of unknown names may block slurmctld", dlerror());
    return false;
  }
  // Each plugin has its own, whichever of them has opened the library first.
  names_user = reinterpret_cast<decltype(&slurm_k8s_names_user)>(dlsym(library, "slurm_k8s_names_user"));
  const std::vector<std::string> names = names_of_slurm_conf();
  std::vector<const char*> others;
  others.reserve(names.size());
  for (const std::string& name : names) others.push_back(name.c_str());
  return serve(others.data(), others.size(), slurm_info) == 0;
}

void set_sources(const char* database, const std::string& sources) {
  if (__nss_configure_lookup(database, sources.c_str()) != 0) {
    slurm_error("slurm-k8s: %s: %s: not accepted by the C library", database, sources.c_str());
    return;
  }
  slurm_info("slurm-k8s: sources of %s: %s", database, sources.c_str());
}

}  // namespace

void serve_names() {
  if (!open_library()) return;
  const auto file = read_file(kNsswitch, kMaxBytes);
  const std::string nsswitch = file.ok() ? *file : "";
  set_sources("hosts", compose_hosts(nsswitch));
  for (const char* database : {"passwd", "group"}) set_sources(database, compose_users(nsswitch, database));
}

ThreadUser::ThreadUser(const slurm_k8s_user& user) {
  if (const auto set = names_user.load()) set(&user);
}

ThreadUser::~ThreadUser() {
  if (const auto set = names_user.load()) set(nullptr);
}

}  // namespace slurmk8s
