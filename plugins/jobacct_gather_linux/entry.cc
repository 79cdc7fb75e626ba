// SPDX-License-Identifier: GPL-2.0-or-later
// jobacct_gather/linux in a pod: Slurm's own plugin, which reads the job's processes as the job's user. Slurm's plugin
// leaves out a process whose /proc/PID/io it cannot read (_handle_stats() in jobacct_gather/common of 22.05 to 26.05):
// in a pod without CAP_SYS_PTRACE all of them, so that MaxRSS and sstat are empty (base/file_system_user.hpp).
//
// The image of slurmd has it in place of Slurm's plugin, which is in kSlurms (images/slurmd/divert.sh): the name
// stays, since slurm.conf is the same for all machines of a cluster, and for some values of JobAcctGatherParams Slurm
// wants a type with "linux".
//
// slurmstepd calls poll_data and add_task with its lock of tasks held (src/interfaces/jobacct_gather.c). Therefore
// there is no lock here. Other programs only load the plugin.
#include <dlfcn.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/spank.h>  // slurm_error()

#include "base/export.hpp"
#include "base/file_system_user.hpp"
#include "base/guarded.hpp"
#include "base/undestroyed.hpp"
#include "jobacct_gather_linux/task_user.hpp"

using namespace slurmk8s;

namespace {

constexpr const char* kSlurms = SLURMK8S_SLURMS_JOBACCT_GATHER;

/** Functions of Slurm's plugin. The lists, ids and records are Slurm's, and go on as they are. */
struct SlurmsPlugin {
  void* library = nullptr;
  int (*init)() = nullptr;
  void (*fini)() = nullptr;  ///< before 25.11 with a result: always success
  void (*poll_data)(void* tasks, std::uint64_t container, bool profile) = nullptr;
  int (*endpoll)() = nullptr;
  int (*add_task)(pid_t task, void* id) = nullptr;
  void (*stat_job)(void* usage) = nullptr;  ///< 26.05
};

struct Tasks {
  std::vector<pid_t> added;  ///< until their user is known
  std::optional<TaskUser> user;
};

SlurmsPlugin slurms;
Undestroyed<Tasks> tasks;

template <typename Function>
bool find(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(slurms.library, name));
  return function != nullptr;
}

bool load() {
  // As Slurm loads it: what it needs of proctrack is in slurmd and slurmstepd alone.
  slurms.library = dlopen(kSlurms, RTLD_LAZY | RTLD_LOCAL);
  if (!slurms.library) {
    slurm_error("slurm-k8s: Slurm's plugin jobacct_gather/linux: %s", dlerror());
    return false;
  }
  find("jobacct_gather_p_stat_job", slurms.stat_job);
  if (find("init", slurms.init) && find("fini", slurms.fini) && find("jobacct_gather_p_poll_data", slurms.poll_data) &&
      find("jobacct_gather_p_endpoll", slurms.endpoll) && find("jobacct_gather_p_add_task", slurms.add_task)) {
    return true;
  }
  slurm_error("slurm-k8s: %s: a function is missing", kSlurms);
  return false;
}

/** A step has one user. */
const std::optional<TaskUser>& user_of_step() {
  if (!tasks->user) {
    tasks->user = find_task_user(tasks->added);
    if (tasks->user) tasks->added = {};
  }
  return tasks->user;
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT extern const char plugin_name[] = "Job accounting gather LINUX plugin of a pod";
SLURMK8S_EXPORT extern const char plugin_type[] = "jobacct_gather/linux";
SLURMK8S_EXPORT extern const std::uint32_t plugin_version = SLURM_VERSION_NUMBER;

SLURMK8S_EXPORT int init() { return load() ? slurms.init() : SLURM_ERROR; }

SLURMK8S_EXPORT int fini() {
  slurms.fini();
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT void jobacct_gather_p_poll_data(void* list, std::uint64_t container, bool profile) {
  guarded_void("jobacct_gather_p_poll_data", [&] {
    std::optional<FileSystemUser> as_user;
    if (const auto& user = user_of_step()) as_user.emplace(user->uid, user->gid);
    slurms.poll_data(list, container, profile);
  });
}

SLURMK8S_EXPORT int jobacct_gather_p_endpoll() { return slurms.endpoll(); }

SLURMK8S_EXPORT int jobacct_gather_p_add_task(pid_t task, void* id) {
  guarded_void("jobacct_gather_p_add_task", [&] {
    if (!tasks->user) tasks->added.push_back(task);
  });
  return slurms.add_task(task, id);
}

SLURMK8S_EXPORT void jobacct_gather_p_stat_job(void* usage) {
  if (slurms.stat_job) slurms.stat_job(usage);
}

}  // extern "C"
