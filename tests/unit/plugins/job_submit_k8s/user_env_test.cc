// SPDX-License-Identifier: GPL-2.0-or-later
// job_submit/k8s: the variable of a batch job that is renamed, so that slurmd ignores it, and the one that is removed.
#include <string>
#include <vector>

#include "base/strings.hpp"
#include "job_submit_k8s/user_env.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

std::string after(const char* variables) {
  std::vector<std::string> texts;
  for (const std::string_view variable : split(variables, ' ')) texts.emplace_back(variable);
  std::vector<char*> environment;
  for (std::string& text : texts) environment.push_back(text == "NULL" ? nullptr : text.data());
  leave_user_env_to_spank(environment.data(), static_cast<std::uint32_t>(environment.size()));
  std::string shown;
  for (const std::string& text : texts) shown += (shown.empty() ? "" : " ") + std::string(text.c_str());
  return shown;
}

void requests(void**) {
  const struct {
    const char* variables;
    const char* expected;
  } cases[] = {
      {"A=1 SLURM_GET_USER_ENV=1 B=2", "A=1 SLURM_K8S_USER_ENV=1 B=2"},
      {"SLURM_GET_USER_ENV=1 SLURM_GET_USER_ENV=1", "SLURM_K8S_USER_ENV=1 SLURM_K8S_USER_ENV=1"},
      // Variables that slurmd ignores stay.
      {"SLURM_GET_USER_ENV=0 SLURM_GET_USER_ENV=10", "SLURM_GET_USER_ENV=0 SLURM_GET_USER_ENV=10"},
      {"XSLURM_GET_USER_ENV=1 slurm_get_user_env=1", "XSLURM_GET_USER_ENV=1 slurm_get_user_env=1"},
      {"NULL SLURM_GET_USER_ENV=1", "NULL SLURM_K8S_USER_ENV=1"},
  };
  for (const auto& row : cases) assert_text(after(row.variables), row.expected);
  leave_user_env_to_spank(nullptr, 5);
}

void tokens(void**) {
  const struct {
    const char* variables;
    const char* expected;
    std::size_t released;
  } cases[] = {
      {"A=1 SLURM_JWT=x B=2", "A=1 B=2", 1},
      {"SLURM_JWT=x SLURM_JWT=y", "", 2},
      {"SLURM_JWT=", "", 1},
      {"A=1 B=2", "A=1 B=2", 0},
      {"SLURM_JWT XSLURM_JWT=x SLURM_JWTS=x", "SLURM_JWT XSLURM_JWT=x SLURM_JWTS=x", 0},
      {"NULL SLURM_JWT=x B=2", "NULL B=2", 1},
  };
  for (const auto& row : cases) {
    std::vector<std::string> texts;
    for (const std::string_view variable : split(row.variables, ' ')) texts.emplace_back(variable);
    std::vector<char*> environment;
    for (std::string& text : texts) environment.push_back(text == "NULL" ? nullptr : text.data());
    std::size_t released = 0;
    const auto count = static_cast<std::uint32_t>(environment.size());
    const std::uint32_t left = remove_tokens(environment.data(), count, [&](char*) { released++; });
    std::string shown;
    for (std::uint32_t i = 0; i < left; ++i) {
      shown += (i == 0 ? "" : " ") + std::string(environment[i] ? environment[i] : "NULL");
    }
    assert_text(shown, row.expected);
    assert_int_equal(released, row.released);
    if (left < count) assert_null(environment[left]);
  }
  assert_int_equal(remove_tokens(nullptr, 5, [](char*) {}), 5);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {cmocka_unit_test(requests), cmocka_unit_test(tokens)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
