// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/gpu_count: GPUs in Slurm's text of Gres.
#include "slurm/gpu_count.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void gpus_are_counted(void**) {
  const struct {
    const char* gres;
    std::uint64_t count;
  } cases[] = {{"", 0},
               {"gpu", 1},
               {"gpu:2", 2},
               {"gpu:a100", 1},
               {"gpu:a100:4", 4},
               {"gpu:a100:2(S:0-1),gpu:v100:1(S:2,3)", 3},
               {"shard:8,mps:100", 0},
               {"gpux:8", 0},
               {"gpu:0(IDX:N/A)", 0},
               {"gpu:a100:-1", 0}};
  for (const auto& c : cases) {
    if (count_gpus(c.gres) != c.count) fail_msg("%s: %d", c.gres, static_cast<int>(count_gpus(c.gres)));
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(gpus_are_counted)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
