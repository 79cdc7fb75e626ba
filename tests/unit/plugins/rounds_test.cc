// SPDX-License-Identifier: GPL-2.0-or-later
// Loads and unloads the plugins many times, as years of reconfigurations do: no memory, thread or descriptor leaks.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "engine/c_api/engine_api.h"

#include "support/cmocka.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;

// Of slurmctld, not in libslurm: what plugins know it by, and a function that they call for jobs only.
extern "C" {
__attribute__((visibility("default"))) char slurmctld_config[65536] = {};
__attribute__((visibility("default"))) char* vxstrfmt(const char*, va_list) { return nullptr; }
}

namespace {

struct Use {
  std::size_t kib = 0;  // resident
  std::size_t threads = 0;
  std::size_t descriptors = 0;
};

std::size_t entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

Use use_of_this_process() {
  Use use;
  unsigned long pages = 0;
  std::FILE* statm = std::fopen("/proc/self/statm", "r");
  if (!statm || std::fscanf(statm, "%*u %lu", &pages) != 1) fail_msg("/proc/self/statm");
  std::fclose(statm);
  use.kib = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
  use.threads = entries("/proc/self/task");
  use.descriptors = entries("/proc/self/fd");
  return use;
}

/** The kernel lists a thread for a moment after pthread_join() has returned. */
Use use_without_threads_that_end(std::size_t threads) {
  Use use = use_of_this_process();
  for (int i = 0; i < 5000 && use.threads > threads; ++i) {
    usleep(1000);
    use = use_of_this_process();
  }
  return use;
}

void rounds(const char* what, int count, const std::function<void()>& round) {
  for (int i = 0; i < count / 10; ++i) round();  // what is set up once, and caches that fill
  const Use before = use_without_threads_that_end(1);
  for (int i = 0; i < count; ++i) round();
  const Use after = use_without_threads_that_end(before.threads);
  if (after.threads != before.threads) fail_msg("%s: %zu threads, then %zu", what, before.threads, after.threads);
  if (after.descriptors != before.descriptors) {
    fail_msg("%s: %zu descriptors, then %zu", what, before.descriptors, after.descriptors);
  }
  // A leak of 512 bytes a round would be half of `count` KiB. The sanitizers have their own checks.
  if (!kSanitized && after.kib > before.kib + static_cast<std::size_t>(count) / 2) {
    fail_msg("%s: %zu KiB, then %zu KiB after %d rounds", what, before.kib, after.kib, count);
  }
}

std::string built(const char* path) {
  const char* top = std::getenv("TOP_BUILDDIR");
  return std::string(top ? top : ".") + "/" + path;
}

template <typename Fn>
Fn symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) fail_msg("%s", dlerror());
  return reinterpret_cast<Fn>(found);
}

void* open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  return library;
}

#ifdef __clang__  // the type of the table of callbacks is in none of Slurm's installed headers
__attribute__((no_sanitize("function")))
#endif
/** As slurmctld does at its start and end, without a job. The engine's library is not installed. */
void plugin_round(const std::string& path) {
  void* plugin = open_library(path);
  assert_int_equal(symbol<int (*)()>(plugin, "init")(), 0);
  if (void* registers = dlsym(plugin, "prep_p_register_callbacks")) {
    void* callbacks[16] = {};
    reinterpret_cast<void (*)(void**)>(registers)(callbacks);  // makes the thread that waits for nodes
  }
  assert_int_equal(symbol<int (*)()>(plugin, "fini")(), 0);
  dlclose(plugin);
}

void plugins_leave_nothing(void**) {
  for (const char* path : {"plugins/.libs/prep_k8s.so", "plugins/.libs/power_k8s.so",
                           "plugins/.libs/node_features_k8s.so", "plugins/.libs/job_submit_k8s.so"}) {
    const bool is_power = std::string(path).find("power") != std::string::npos;
    if (is_power && !std::filesystem::exists(built(path))) continue;  // Slurm 24.05 and later have no such plugins
    rounds(path, 1000, [&] { plugin_round(built(path)); });
  }
}

void ignore(int, const char*) {}

/** The engine with its threads, its socket and a connection that is refused. */
void the_engine_leaves_nothing(void**) {
  const TemporaryFolder folder;
  const std::string socket = folder.path() + "/engine.sock";
  folder.write("ca", "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n");  // nobody gets as far as TLS
  const std::string kubeconfig = folder.write(
      "config",
      "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
      " clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', certificate-authority: ca}}],"
      " users: [{name: u, user: {token: x}}]}");
  const std::string conf =
      folder.write("slurm-k8s.conf", "Kubeconfig=" + kubeconfig + "\nNamespace=n\nEngineSocket=" + socket + "\n");
  setenv("SLURM_K8S_CONF", conf.c_str(), 1);
  void* engine = open_library(built("engine/.libs/libslurm_k8s_engine.so"));
  const auto acquire = symbol<int (*)(const slurm_k8s_host*)>(engine, "slurm_k8s_engine_acquire");
  const auto release = symbol<void (*)()>(engine, "slurm_k8s_engine_release");
  const slurm_k8s_host host{.size = sizeof(slurm_k8s_host),
                            .log = ignore,
                            .in_control = nullptr,
                            .lock_times = nullptr,
                            .wake_power_save = nullptr,
                            .wake_scheduler = nullptr};
  rounds("engine", 1000, [&] {
    assert_int_equal(acquire(&host), 0);
    for (int i = 0; access(socket.c_str(), F_OK) != 0; ++i) {
      if (i == 5000) fail_msg("%s: not there", socket.c_str());
      usleep(1000);
    }
    release();
    assert_int_equal(access(socket.c_str(), F_OK), -1);
  });
  dlclose(engine);
}

/** Only its size is read: the rest of a smaller one is not there. */
void a_plugin_of_another_build_gets_no_engine(void**) {
  void* engine = open_library(built("engine/.libs/libslurm_k8s_engine.so"));
  const auto acquire = symbol<int (*)(const slurm_k8s_host*)>(engine, "slurm_k8s_engine_acquire");
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t), sizeof(slurm_k8s_host) - 1, SIZE_MAX}) {
    const std::unique_ptr<std::size_t> host(new std::size_t(size));  // on the heap: a sanitizer sees what is read
    assert_int_equal(acquire(reinterpret_cast<const slurm_k8s_host*>(host.get())), SLURM_K8S_OTHER_BUILD);
  }
  dlclose(engine);
}

constexpr const char* kCatalog = R"({"nodesets":{"gpu":{"features":["gpu"],"variants":{
    "v1":{"users":[],"accounts":[]},"v2":{"users":["alice"],"accounts":[]}}}},"uids":{"alice":1001}})";

/** Queries of the plugins before the engine has the NodeSets, or without an engine. */
void variants_are_known_from_the_file(void**) {
  const TemporaryFolder folder;
  folder.write("slurm-k8s-variants.json", kCatalog);
  void* engine = open_library(built("engine/.libs/libslurm_k8s_engine.so"));
  const auto open = symbol<decltype(&slurm_k8s_variants_open)>(engine, "slurm_k8s_variants_open");
  const auto close = symbol<decltype(&slurm_k8s_variants_close)>(engine, "slurm_k8s_variants_close");
  const auto has = symbol<decltype(&slurm_k8s_variants_has)>(engine, "slurm_k8s_variants_has");
  const auto judge = symbol<decltype(&slurm_k8s_variants_judge)>(engine, "slurm_k8s_variants_judge");
  const auto choose = symbol<decltype(&slurm_k8s_variants_choose)>(engine, "slurm_k8s_variants_choose");

  assert_int_equal(has("v1"), 0);
  open(folder.path().c_str());
  assert_int_equal(has("v1"), 1);
  assert_int_equal(has("v3"), 0);
  assert_int_equal(has("v2"), 1);
  assert_int_equal(has(std::string(1 << 20, 'x').c_str()), 0);
  char text[200];
  char settled[32] = "";
  assert_int_equal(judge("v1&v2", nullptr, nullptr, 0, text, sizeof text), -1);
  assert_contains(text, "not v1 and v2");
  char small[8];
  assert_int_equal(judge("v1&v2", nullptr, nullptr, 0, small, sizeof small), -1);
  assert_text(small, "constra");
  const std::string account(1 << 20, 'a');
  slurm_k8s_applicant applicant{1002, account.c_str(), 0};
  assert_int_equal(judge("v2", &applicant, settled, sizeof settled, text, sizeof text), -1);
  applicant = {1001, nullptr, 0};
  assert_int_equal(judge("v2", &applicant, settled, sizeof settled, text, sizeof text), 0);
  assert_text(text, "");
  assert_int_equal(judge("v2|v1", &applicant, settled, sizeof settled, text, sizeof text), 1);
  assert_text(settled, "v2");
  assert_int_equal(judge("v3", &applicant, settled, sizeof settled, text, sizeof text), 0);
  assert_contains(text, "no NodeSet has it");
  assert_int_equal(judge(std::string(1 << 20, ',').c_str(), &applicant, settled, sizeof settled, text, sizeof text),
                   -1);
  assert_contains(text, "more than 1024 bytes");
  assert_int_equal(choose("v2|v1", "gpu-[0-3]", text, sizeof text), 0);
  assert_text(text, "v2");
  assert_int_equal(choose("v2|v1", nullptr, text, sizeof text), 1);
  assert_int_equal(choose("v2", nullptr, text, sizeof text), 0);
  assert_text(text, "v2");

  close();
  assert_int_equal(has("v1"), 0);

  folder.write("slurm-k8s-variants.json", kCatalog);
  rounds("variants", 1000, [&] {
    open(folder.path().c_str());
    assert_int_equal(has("v1"), 1);
    close();
  });
  dlclose(engine);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(plugins_leave_nothing),
      SLURMK8S_TEST(the_engine_leaves_nothing),
      SLURMK8S_TEST(a_plugin_of_another_build_gets_no_engine),
      SLURMK8S_TEST(variants_are_known_from_the_file),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
