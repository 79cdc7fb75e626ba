// SPDX-License-Identifier: GPL-2.0-or-later
// base/hostlist: both directions, and the round.
#include "slurm/hostlist.hpp"

#include <algorithm>

#include "base/strings.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  for (const auto word : split(text, ' ')) {
    if (!word.empty()) all.emplace_back(word);
  }
  return all;
}

void expands(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"", ""},
      {"login", "login"},
      {"a,b,a", "a b a"},
      {"gpu-[01-03]", "gpu-01 gpu-02 gpu-03"},
      {"gpu-[8-11]", "gpu-8 gpu-9 gpu-10 gpu-11"},
      {"gpu-[08-11]", "gpu-08 gpu-09 gpu-10 gpu-11"},
      {"gpu-[098-101]", "gpu-098 gpu-099 gpu-100 gpu-101"},
      {"gpu-[1-2,7,9-10],login", "gpu-1 gpu-2 gpu-7 gpu-9 gpu-10 login"},
      {"r[1-2]n[1-3]", "r1n1 r1n2 r1n3 r2n1 r2n2 r2n3"},
      {"r[1-2]-ib", "r1-ib r2-ib"},
      {"[1-2]", "1 2"},
      {"a_b.c-[0]", "a_b.c-0"},
      {"x[0001]", "x0001"},
      {"x[5,5]", "x5 x5"},
      {"x[999999999999999998-999999999999999999]", "x999999999999999998 x999999999999999999"},
  };
  for (const auto& c : cases) {
    const auto names = expand_hostlist(c.text);
    assert_ok(names);
    assert_text(joined(*names), c.expected);
  }
}

void refuses(void**) {
  const struct {
    const char* text;
    const char* why;
  } cases[] = {
      {"a[1-2", "unbalanced"},
      {"a1-2]", "unbalanced"},
      {"a[1[2]]", "unbalanced"},
      {"]a[", "unbalanced"},
      {"a[]", "numbers"},
      {"a[,1]", "numbers"},
      {"a[1-]", "numbers"},
      {"a[-1]", "numbers"},
      {"a[1-2-3]", "numbers"},
      {"a[x-y]", "numbers"},
      {"a[2-1]", "falling"},
      {",a", "empty name"},
      {"a,", "empty name"},
      {"a,,b", "empty name"},
      {"a b", "not a host name"},
      {"a/b", "not a host name"},
      {"$(x)", "not a host name"},
      {"a\nb", "not a host name"},
      {"a[0-65536]", "more than"},
      {"a[0-999999999999999999]", "more than"},
      {"a[0-299]b[0-299]", "more than"},
      {"a[0-40000],b[0-40000]", "more than"},
      {"a[1-9999999999999999999]", "numbers"},
      {"\xc3\xa4[1-2]", "not a host name"},
  };
  for (const auto& c : cases) assert_error(expand_hostlist(c.text), Errc::invalid, c.why);
  assert_contains(expand_hostlist("a[2-1]").error().message(), "hostlist \"a[2-1]\"");
  assert_true(expand_hostlist(std::string(100000, '[')).error().message().size() < 400);
}

void limits(void**) {
  assert_int_equal(expand_hostlist("a[0-65535]")->size(), kMaxHosts);
  assert_int_equal(expand_hostlist("a[0-255]b[0-255]")->size(), kMaxHosts);
}

void compresses(void**) {
  const struct {
    const char* names;
    const char* expected;
  } cases[] = {
      {"", ""},
      {"login", "login"},
      {"gpu-1", "gpu-1"},
      {"gpu-01 gpu-02 gpu-03", "gpu-[01-03]"},
      {"gpu-9 gpu-10", "gpu-[9-10]"},
      {"gpu-09 gpu-10 gpu-11", "gpu-[09-11]"},
      {"gpu-3 gpu-1 gpu-2 gpu-2", "gpu-[1-3]"},
      {"gpu-1 gpu-3 gpu-5 gpu-6", "gpu-[1,3,5-6]"},
      {"gpu-1 login gpu-2 cpu-7", "gpu-[1-2],login,cpu-7"},
      {"gpu-1 gpu-01", "gpu-1,gpu-01"},
      {"gpu-01 gpu-02 gpu-1 gpu-2", "gpu-[01-02],gpu-[1-2]"},
      {"gpu-098 gpu-099 gpu-100 gpu-1000", "gpu-[098-100,1000]"},
      {"r1n1 r1n2 r2n1", "r1n[1-2],r2n1"},
      {"r1-ib r2-ib", "r1-ib,r2-ib"},
      {"1 2 3", "[1-3]"},
      {"a a a", "a"},
      {"x-1234567890123456789 x-1234567890123456790", "x-1234567890123456789,x-1234567890123456790"},
      {"compute-0 compute-1 compute-2 compute-3", "compute-[0-3]"},
  };
  for (const auto& c : cases) assert_text(compress_hostlist(words(c.names)), c.expected);
}

void survives_the_round(void**) {
  const char* cases[] = {
      "",
      "a b c",
      "n1 n2 n3 n10 n11 n100",
      "n01 n02 n1 n2 n001",
      "n08 n09 n10 n99 n100 n101",
      "r1n1 r1n2 r2n1 r2n2 r10n1",
      "0 00 000 1 01",
      "x0 x-0 x.0 x_0",
      "gpu-1 gpu-01 gpu-001 gpu-0001 gpu-10 gpu-100 gpu-1000 gpu-10000",
      "a99999999999999999999 a1",
  };
  for (const char* text : cases) {
    std::vector<std::string> names = words(text);
    const auto back = expand_hostlist(compress_hostlist(names));
    assert_ok(back);
    std::vector<std::string> sorted = *back;
    std::sort(names.begin(), names.end());
    std::sort(sorted.begin(), sorted.end());
    assert_text(joined(sorted), joined(names));
  }
}

void large_sets(void**) {
  std::vector<std::string> names;
  for (int i = 0; i < 65536; ++i) names.push_back(format("compute-%d", 65535 - i));
  assert_text(compress_hostlist(names), "compute-[0-65535]");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(expands),
      SLURMK8S_TEST(refuses),
      SLURMK8S_TEST(limits),
      SLURMK8S_TEST(compresses),
      SLURMK8S_TEST(survives_the_round),
      SLURMK8S_TEST(large_sets),
  };
  return cmocka_run_group_tests_name("base_hostlist", tests, nullptr, nullptr);
}
