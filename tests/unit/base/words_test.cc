// SPDX-License-Identifier: GPL-2.0-or-later
// base/words: lists with commas.
#include "base/words.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void takes_lists_apart_and_together(void**) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},       {",", ""},         {"a", "a"},
                                                       {"a,b", "a,b"}, {",a,,b,", "a,b"}, {"a,a", "a,a"}};
  for (const auto& [list, again] : cases) assert_text(join_words(words_of(list)), again);
}

void finds_whole_words(void**) {
  const struct {
    const char* list;
    const char* word;
    bool expected;
  } cases[] = {
      {"", "a", false},    {"a", "a", true},           {"ab", "a", false},      {"ba", "a", false},
      {"ab,a", "a", true}, {"a,ab", "a", true},        {"b,a,c", "a", true},    {"b,aa,c", "a", false},
      {"a", "", false},    {"aa,aa,aaa", "aaa", true}, {"v1,v12", "v12", true},
  };
  for (const auto& c : cases) {
    assert_int_equal(has_word(std::string_view(c.list), c.word), c.expected);
    assert_int_equal(has_word(words_of(c.list), c.word), c.expected);
  }
}

void adds_what_is_missing(void**) {
  Words words = words_of("a,b");
  add_word(words, "b");
  add_word(words, "c");
  assert_text(join_words(words), "a,b,c");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(takes_lists_apart_and_together),
      SLURMK8S_TEST(finds_whole_words),
      SLURMK8S_TEST(adds_what_is_missing),
  };
  return cmocka_run_group_tests_name("base_words", tests, nullptr, nullptr);
}
