// SPDX-License-Identifier: GPL-2.0-or-later
// Opens libnss_slurm_k8s in slurmctld.
#include "slurmctld/names.hpp"

#include <dlfcn.h>
#include <nss.h>

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
  const std::vector<std::string> names = names_of_slurm_conf();
  std::vector<const char*> others;
  others.reserve(names.size());
  for (const std::string& name : names) others.push_back(name.c_str());
  return serve(others.data(), others.size(), slurm_info) == 0;
}

}  // namespace

void serve_names() {
  if (!open_library()) return;
  const auto nsswitch = read_file(kNsswitch, kMaxBytes);
  const std::string hosts = compose_hosts(nsswitch.ok() ? *nsswitch : "");
  if (__nss_configure_lookup("hosts", hosts.c_str()) != 0) {
    slurm_error("slurm-k8s: hosts: %s: not accepted by the C library", hosts.c_str());
    return;
  }
  slurm_info("slurm-k8s: names of hosts: %s", hosts.c_str());
}

}  // namespace slurmk8s
