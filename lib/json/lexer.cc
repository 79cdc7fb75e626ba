// SPDX-License-Identifier: GPL-2.0-or-later
// Lexer: one pass over the text.
#include "json/lexer.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word_char(char c) { return is_digit(c) || is_letter(c) || c == '-' || c == '+' || c == '.'; }

std::size_t take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

bool is_number(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  const bool zero = word.starts_with('0');
  const std::size_t whole = take_digits(word);
  if (whole == 0 || (zero && whole > 1)) return false;
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    if (take_digits(word) == 0) return false;
  }
  if (word.starts_with('e') || word.starts_with('E')) {
    word.remove_prefix(1);
    if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
    if (take_digits(word) == 0) return false;
  }
  return word.empty();
}

/** Of a number: json-c would take the nearest integer that fits for it. */
bool is_beyond_64_bits(std::string_view number) {
  constexpr std::size_t kAlwaysFits = 18;  // digits
  if (number.size() <= kAlwaysFits || number.find_first_of(".eE") != std::string_view::npos) return false;
  const char* end = number.data() + number.size();
  std::int64_t negative = 0;
  std::uint64_t positive = 0;
  const auto result = number.starts_with('-') ? std::from_chars(number.data(), end, negative)
                                              : std::from_chars(number.data(), end, positive);
  return result.ec == std::errc::result_out_of_range;
}

/** Bytes of the UTF-8 sequence at the front of `text`: 0 when it is none, overlong, a surrogate or out of range. */
std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  std::uint32_t point = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = (point << 6) | (byte(i) & 0x3fu);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return overlong || surrogate || point > 0x10ffff ? 0 : length;
}

Error refuse(const char* why, std::size_t at) { return Error(Errc::invalid, format("JSON: %s at byte %zu", why, at)); }

/** Checks the string that opens at `at`, and moves behind it. One that doesn't end is left to the parser. */
Status pass_string(std::string_view text, std::size_t& at) {
  for (++at; at < text.size() && text[at] != '"';) {
    if (text[at] == '\\') {
      at += 2;
      continue;
    }
    if (static_cast<unsigned char>(text[at]) < 0x20) return refuse("control character in a string", at);
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return refuse("no UTF-8", at);
    at += length;
  }
  ++at;
  return {};
}

Status pass_word(std::string_view text, std::size_t& at) {
  const std::size_t start = at;
  while (at < text.size() && is_word_char(text[at])) ++at;
  const std::string_view word = text.substr(start, at - start);
  if (word == "true" || word == "false" || word == "null") return {};
  if (!is_number(word)) return refuse("no value", start);
  if (is_beyond_64_bits(word)) return refuse("integer beyond 64 bits", start);
  return {};
}

}  // namespace

Status check_json_words(std::string_view text) {
  constexpr std::string_view kPunctuation = "{}[],:";
  constexpr std::string_view kSpace = " \t\r\n";
  char last = 0;  // but for white space
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      SLURMK8S_CHECK(pass_string(text, at));
    } else if (is_digit(c) || is_letter(c) || c == '-') {
      SLURMK8S_CHECK(pass_word(text, at));
    } else if (kPunctuation.find(c) != std::string_view::npos) {
      if (last == ',' && (c == '}' || c == ']')) return refuse("trailing comma", at);
      ++at;
    } else if (kSpace.find(c) != std::string_view::npos) {
      ++at;
      continue;
    } else {
      return refuse("unexpected character", at);
    }
    last = c;
  }
  return {};
}

}  // namespace slurmk8s
