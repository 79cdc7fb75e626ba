// SPDX-License-Identifier: GPL-2.0-or-later
// Bringing libslurmfull in.
#include "libslurm.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulator::slurm {
namespace {

constexpr long kApi = 42;
constexpr int kPackedGres = 1024;

[[noreturn]] void die(const char* what, const char* why) {
  std::fprintf(stderr, "slurmd-emulator: %s: %s\n", what, why);
  std::exit(1);
}

template <typename Function>
void find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  if (!function) die(name, "not in libslurmfull");
}

/** The layout of messages changes with releases, not within them: 24.11 is the library's version 42. */
void check_release() {
  long (*version)() = nullptr;
  find("slurm_api_version", version);
  const long found = (version() >> 16) & 0xff;
  if (found != kApi) die("libslurmfull", ("version " + std::to_string(found) + ", not 42 (Slurm 24.11)").c_str());
}

}  // namespace

void preload_library(const std::string& path, char** argv) {
  if (dlsym(RTLD_DEFAULT, "slurm_init")) return;
  if (getenv("LD_PRELOAD")) die(path.c_str(), "LD_PRELOAD doesn't bring it in");
  setenv("LD_PRELOAD", path.c_str(), 1);
  char self[PATH_MAX] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) > 0) execv(self, argv);
  die(argv[0], std::strerror(errno));
}

Library Library::init() {
  check_release();
  Library self{};
  find("slurm_msg_t_init", self.init_message);
  find("slurm_msg_set_r_uid", self.set_recipient);
  find("slurm_receive_msg", self.receive);
  find("slurm_receive_msg_and_forward", self.receive_and_forward);
  find("slurm_send_node_msg", self.send);
  find("send_msg_response", self.answer);
  find("slurm_send_rc_msg", self.answer_code);
  find("slurm_free_msg_members", self.free_members);

  char** program = nullptr;
  int (*init_conf)(const char*) = nullptr;
  int (*init_auth)() = nullptr;
  void (*init_all)(const char*) = nullptr;
  int (*init_switch)(bool) = nullptr;
  int (*init_select)(bool) = nullptr;
  int (*init_topology)() = nullptr;
  void* (*new_buffer)(std::uint32_t) = nullptr;
  int (*pack_gres)(void*) = nullptr;
  find("slurm_prog_name", program);
  find("slurm_conf_init", init_conf);
  find("auth_g_init", init_auth);
  find("slurm_init", init_all);
  find("switch_g_init", init_switch);
  find("select_g_init", init_select);
  find("topology_g_init", init_topology);
  find("init_buf", new_buffer);
  find("gres_node_config_pack", pack_gres);
  // auth/slurm signs by itself, without a daemon's help, only for programs of these names.
  static char name[] = "slurmd";
  *program = name;
  init_conf(nullptr);
  setenv("SLURM_CONFIG_FETCH", "1", 1);  // the only way to keep it from opening slurmd's socket for others
  if (init_auth() != 0) die("libslurmfull", "auth plugin: see above");
  unsetenv("SLURM_CONFIG_FETCH");
  init_all(nullptr);
  // Plugins that unpack parts of a job's launch and end.
  if (init_switch(false) != 0 || init_select(true) != 0 || init_topology() != 0) {
    die("libslurmfull", "plugins: see above");
  }
  self.no_gres = new_buffer(kPackedGres);
  if (pack_gres(self.no_gres) != 0) die("gres_node_config_pack", "refused");
  return self;
}

}  // namespace emulator::slurm
