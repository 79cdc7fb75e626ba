// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/last_words: the reason in slurmd's log, a table.
#include "nodeset/last_words.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void of_logs(void**) {
  const struct {
    const char* name;
    std::string log;
    std::string words;
  } cases[] = {
      {"no log", "", ""},
      {"an end without a cause", "slurmd: Slurmd shutdown completing\n", ""},
      {"a fatal error", "slurmd: debug: a\nslurmd: fatal: clone: Operation not permitted\n",
       "fatal: clone: Operation not permitted"},
      {"with a time", "2026-11-23T05:00:00.000 fatal: can't stat gres.conf file /dev/nvidia0\n",
       "fatal: can't stat gres.conf file /dev/nvidia0"},
      {"fatal goes before what follows", "slurmd: fatal: first\nslurmd: error: cleaning up\n", "fatal: first"},
      {"the last error", "slurmd: error: one\nslurmd: error: two\nslurmd: bye", "error: two"},
      {"without an end of line", "slurmd: error: two", "error: two"},
      {"control characters",
       "fatal: a\tb\x01"
       "c\r\n",
       "fatal: a b c"},
      {"a long line", "fatal: " + std::string(1000, 'x'), "fatal: " + std::string(kMaxLastWords - 7, 'x')},
  };
  for (const auto& row : cases) {
    if (last_words(row.log) != row.words) fail_msg("%s: '%s'", row.name, last_words(row.log).c_str());
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(of_logs)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
