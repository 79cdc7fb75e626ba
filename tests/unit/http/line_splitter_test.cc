// SPDX-License-Identifier: GPL-2.0-or-later
// http/line_splitter: the same lines come out wherever the bytes are split.
#include "http/line_splitter.hpp"

#include <vector>

#include "support/cmocka.hpp"

namespace slurmk8s::http {
namespace {

/** Lines in <>, then "+" when a partial line is held, or "!" and the error's message. */
std::string fed(const std::vector<std::string_view>& pieces, std::size_t max_line = 1000) {
  LineSplitter splitter(max_line);
  std::string seen;
  for (const auto piece : pieces) {
    const Status status =
        splitter.feed(piece, [&](std::string_view line) { seen.append("<").append(line).append(">"); });
    if (!status.ok()) return seen + "!" + status.error().message();
  }
  return seen + (splitter.partial() ? "+" : "");
}

void lines(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"", ""},       {"\n", ""},       {"\n\n\n", ""},         {"a", "+"},
      {"a\n", "<a>"}, {"a\nb", "<a>+"}, {"a\n\nb\n", "<a><b>"}, {"a\r\n", "<a\r>"},
      {" \n", "< >"},
  };
  for (const auto& c : cases) assert_text(fed({c.text}), c.expected);
}

void every_split_point(void**) {
  const std::string text = "{\"a\":1}\n\n{\"b\":\"\xc3\xa4\"}\nlast one\nrest";
  const std::string expected = "<{\"a\":1}><{\"b\":\"\xc3\xa4\"}><last one>+";
  const std::string_view all = text;
  for (std::size_t i = 0; i <= all.size(); ++i) {
    for (std::size_t j = i; j <= all.size(); ++j) {
      assert_text(fed({all.substr(0, i), all.substr(i, j - i), all.substr(j)}), expected);
    }
  }
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < all.size(); ++i) bytes.push_back(all.substr(i, 1));
  assert_text(fed(bytes), expected);
}

void the_cap_holds_however_bytes_come(void**) {
  const char* why = "!a line of more than 4 bytes";
  assert_text(fed({"1234\n12345\n"}, 4), std::string("<1234>") + why);
  assert_text(fed({"12345"}, 4), why);
  assert_text(fed({"123", "45\n"}, 4), why);
  assert_text(fed({"1234", "5"}, 4), why);
  assert_text(fed({"1234", "\n", "1234\n"}, 4), "<1234><1234>");
  assert_text(fed({"1", "2", "3", "4", "\n"}, 4), "<1234>");
  assert_int_equal(LineSplitter(4).feed("12345", [](std::string_view) {}).error().code(), Errc::protocol);
}

}  // namespace
}  // namespace slurmk8s::http

int main() {
  using namespace slurmk8s::http;
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(lines),
      SLURMK8S_TEST(every_split_point),
      SLURMK8S_TEST(the_cap_holds_however_bytes_come),
  };
  return cmocka_run_group_tests_name("http_line_splitter", tests, nullptr, nullptr);
}
