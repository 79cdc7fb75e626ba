// SPDX-License-Identifier: GPL-2.0-or-later
// Texts of field errors.
#include "nodeset/field_error.hpp"

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxShown = 256;

Error field_error(const std::string& path, const std::string& text) { return Error(Errc::invalid, path + ": " + text); }

/** A long value, cut between two characters of UTF-8. */
std::string shorten(std::string value) {
  if (value.size() <= kMaxShown) return value;
  std::size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) end--;
  return value.substr(0, end) + "...";
}

}  // namespace

Error required_field(const std::string& path) { return field_error(path, "Required value"); }

Error invalid_field(const std::string& path, const Json& value, const std::string& detail) {
  return field_error(path, "Invalid value: " + shorten(value.dump()) + ": " + detail);
}

Error invalid_field(const std::string& path, std::string_view value, const std::string& detail) {
  return field_error(path, "Invalid value: " + shorten("\"" + std::string(value) + "\"") + ": " + detail);
}

Error unsupported_field(const std::string& path, const Json& value, std::initializer_list<std::string_view> supported) {
  std::string list;
  for (const std::string_view one : supported) list += (list.empty() ? "\"" : ", \"") + std::string(one) + "\"";
  return field_error(path, "Unsupported value: " + shorten(value.dump()) + ": supported values: " + list);
}

Error duplicate_field(const std::string& path, std::string_view value) {
  return field_error(path, "Duplicate value: \"" + std::string(value) + "\"");
}

Error not_found_field(const std::string& path, std::string_view value) {
  return field_error(path, "Not found: " + shorten("\"" + std::string(value) + "\""));
}

Error forbidden_field(const std::string& path, const std::string& detail) {
  return field_error(path, "Forbidden: " + detail);
}

Error too_many_items(const std::string& path, std::size_t items, std::size_t max) {
  return field_error(path, format("Too many: %zu: must have at most %zu items", items, max));
}

Error too_long_field(const std::string& path, std::size_t max) {
  return field_error(path, format("Too long: may not be more than %zu bytes", max));
}

}  // namespace slurmk8s
