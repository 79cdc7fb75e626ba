// SPDX-License-Identifier: GPL-2.0-or-later
// base/base64: each number of bytes at the end, white space, and what is malformed.
#include "base/base64.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

void decodes(void**) {
  const struct {
    std::string_view text;
    std::string_view decoded;
  } rows[] = {
      {"", ""},
      {"YQ==", "a"},
      {"YWI=", "ab"},
      {"YWJj", "abc"},
      {"YWJjZA==", "abcd"},
      {"YWJj\n  ZGVm\r\n", "abcdef"},
      {"+/+/", "\xfb\xff\xbf"},
      {"AAAA", std::string_view("\0\0\0", 3)},
  };
  for (const auto& row : rows) {
    const auto decoded = decode_base64(row.text);
    if (!decoded || *decoded != row.decoded) fail_msg("%s", std::string(row.text).c_str());
  }
}

void refuses_what_is_malformed(void**) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zm8", "Zg===", "Z===", "====", "Zg==Zg==", "Zm9v-_", "Zm9v!", "Z=g="}) {
    if (decode_base64(text)) fail_msg("%s", text);
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(decodes),
      SLURMK8S_TEST(refuses_what_is_malformed),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
