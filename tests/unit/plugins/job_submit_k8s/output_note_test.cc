// SPDX-License-Identifier: GPL-2.0-or-later
// job_submit/k8s: which output files are deleted with their pod, and what sbatch says of them.
#include "job_submit_k8s/output_note.hpp"

#include <optional>
#include <string>
#include <vector>

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

using Paths = std::optional<std::vector<std::string>>;

std::string note(const std::string& directory, const char* shared) {
  return "output file: " + directory + " is below no shared path (" + shared +
         "), and may be deleted with the pod of the job's first node";
}

void files(void**) {
  const Paths unknown;
  const Paths none(std::in_place);
  const Paths home({"/home", "/data/"});
  const Paths all({"/"});
  const struct {
    const char* output;
    const char* work_dir;
    const Paths& shared;
    std::string expected;
  } cases[] = {
      {nullptr, "/root", unknown, ""},
      {nullptr, "/root", none, note("/root", "there is none")},
      {nullptr, "/root", home, note("/root", "/home, /data/")},
      {"out-%j", "/root", home, note("/root", "/home, /data/")},
      {"logs/out", "/home/ada", home, ""},
      {"/home/ada/out", "/root", home, ""},
      {"/data/out", "/root", home, ""},
      {"/homes/out", "/home/ada", home, note("/homes", "/home, /data/")},
      {"/out", "/home", home, note("/", "/home, /data/")},
      {"/dev/null", "/root", home, ""},
      {"/tmp/out", nullptr, all, ""},
      // Where these are cannot be told.
      {nullptr, nullptr, home, ""},
      {"out", "", home, ""},
      {"/home/../root/out", "/root", home, ""},
      {"../home/ada/out", "/root", home, ""},
      {"/root/out", "/home/..", home, ""},
      {nullptr, "relative", home, ""},
  };
  for (const auto& row : cases) assert_text(output_note(row.output, row.work_dir, row.shared), row.expected);
}

void other_plugins(void**) {
  for (const char* last : {"k8s", "job_submit/k8s", "lua,k8s", "lua, k8s ", "lua,job_submit/k8s"}) {
    assert_true(is_last_job_submit(last));
  }
  for (const char* not_last : {"k8s,lua", "lua", "", "k8s,", "my_k8s"}) assert_false(is_last_job_submit(not_last));
  assert_false(is_last_job_submit(nullptr));
}

void long_paths(void**) {
  const Paths none(std::in_place);
  assert_text(output_note(nullptr, ("/" + std::string(300, 'x')).c_str(), none),
              note("its directory", "there is none"));
  assert_text(output_note(("/" + std::string(5000, 'x')).c_str(), "/root", none), "");
  assert_text(output_note(nullptr, ("/" + std::string(5000, 'x')).c_str(), none), "");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(files), SLURMK8S_TEST(other_plugins), SLURMK8S_TEST(long_paths)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
