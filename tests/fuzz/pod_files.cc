// SPDX-License-Identifier: GPL-2.0-or-later
// What SPANK plugin and prep/k8s read in a pod: lists of CPUs, confinement, accounts of users, files of GPUs.
#include <algorithm>

#include "fuzz/target.hpp"
#include "prep_k8s/gpu_files.hpp"
#include "prep_k8s/user_accounts.hpp"
#include "spank/confinement.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view text = as_text(data, size);
  if (const auto cpus = parse_cpu_list(text); cpus.ok()) {
    for (std::size_t i = 1; i < cpus->size(); ++i) require((*cpus)[i - 1] < (*cpus)[i], "CPUs that do not ascend");
    require(cpus->empty() || cpus->back() <= 65535, "a CPU out of range");
  }
  if (const auto pod = parse_pod_confinement(text); pod.ok()) {
    require(pod->cpus > 0 && pod->threads > 0, "a pod without CPUs");
    const auto files = plan_cgroups(*pod, text, {"0", "0"}, {0});
    require(!files.ok() || !files->empty(), "groups without a limit");
  }
  parse_names(text);
  if (const auto account = decode_account(text)) {
    const AccountFiles files = build_account_files({*account}, {{"root"}, {0}}, {{"root"}, {0}});
    require(std::ranges::count(files.passwd, '\n') <= 1, "two users of one");
    require(!files.passwd.starts_with("root:"), "root");
  }
  for (const GpuFile& file : parse_gpu_files(text)) {
    require(!file.path.empty(), "a file without a path");
    require(file.original.mode <= 07777, "a mode out of range");
  }
  parse_gpus(text);
  why_not_own(text, "/dev/nvidia0");
  return 0;
}
