// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes' quantities.
#include "nodeset/quantity.hpp"

#include <array>
#include <limits>
#include <optional>

#include "base/strings.hpp"
#include "nodeset/field_error.hpp"

namespace slurmk8s {
namespace {

__extension__ using Wide = __int128;

struct Scale {
  std::string_view suffix;
  Wide numerator;
  Wide denominator;
};

// Kubernetes' suffixes; the value of "" is 1.
constexpr std::array<Scale, 16> kScales{{
    {"", 1, 1},
    {"n", 1, 1000000000},
    {"u", 1, 1000000},
    {"m", 1, 1000},
    {"k", 1000, 1},
    {"M", 1000000, 1},
    {"G", 1000000000, 1},
    {"T", 1000000000000, 1},
    {"P", 1000000000000000, 1},
    {"E", 1000000000000000000, 1},
    {"Ki", Wide(1) << 10, 1},
    {"Mi", Wide(1) << 20, 1},
    {"Gi", Wide(1) << 30, 1},
    {"Ti", Wide(1) << 40, 1},
    {"Pi", Wide(1) << 50, 1},
    {"Ei", Wide(1) << 60, 1},
}};

// "e3", "E-2", or one of the suffixes above.
std::optional<Scale> parse_scale(std::string_view text) {
  for (const Scale& scale : kScales) {
    if (scale.suffix == text) return scale;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text[0] == '+') text.remove_prefix(1);
  const std::optional<std::int64_t> exponent = parse_int(text);
  if (!exponent || *exponent < -18 || *exponent > 18) return std::nullopt;
  Scale scale{text, 1, 1};
  for (std::int64_t i = 0; i < *exponent; i++) scale.numerator *= 10;
  for (std::int64_t i = *exponent; i < 0; i++) scale.denominator *= 10;
  return scale;
}

}  // namespace

Result<std::int64_t> parse_quantity_milli(std::string_view text) {
  const auto malformed = [&] { return Error(Errc::invalid, "\"" + std::string(text) + "\": not a quantity"); };
  std::string_view rest = text;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  Wide mantissa = 0;
  Wide divisor = 1;
  bool point = false;
  int digits = 0;
  for (; !rest.empty() && (rest[0] == '.' || (rest[0] >= '0' && rest[0] <= '9')); rest.remove_prefix(1)) {
    if (rest[0] == '.') {
      if (point) return malformed();
      point = true;
      continue;
    }
    if (++digits > 18) return malformed();  // keeps the arithmetic below within 128 bits
    mantissa = mantissa * 10 + (rest[0] - '0');
    if (point) divisor *= 10;
  }
  const std::optional<Scale> scale = parse_scale(rest);
  if (digits == 0 || !scale) return malformed();
  // Both factors of the numerator are below 2^61, and 1000 is below 2^10: in two steps, to stay within 128 bits.
  const Wide whole = mantissa * scale->numerator;
  if (whole > std::numeric_limits<Wide>::max() / 1000) return malformed();
  divisor *= scale->denominator;
  const Wide milli = (whole * 1000 + divisor - 1) / divisor;  // rounded up, as Kubernetes does
  if (milli > std::numeric_limits<std::int64_t>::max()) return malformed();
  return static_cast<std::int64_t>(milli);
}

Result<std::int64_t> decode_quantity(const Json& value, const std::string& field) {
  constexpr const char* kMustBe = "must be a quantity such as 500m, 2 or 16Gi";
  if (value.is_null()) return required_field(field);
  if (!value.is_string() && !value.is_number()) return invalid_field(field, value, kMustBe);
  Result<std::int64_t> milli = parse_quantity_milli(value.is_string() ? std::string(value.text()) : value.dump());
  if (!milli.ok()) return invalid_field(field, value, kMustBe);
  return milli;
}

}  // namespace slurmk8s
