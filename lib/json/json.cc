// SPDX-License-Identifier: GPL-2.0-or-later
// Json on json-c. Getters of json-c lend, its setters take ownership: here every handle owns one reference.
#include "json/json.hpp"

#include <json-c/json.h>

#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "base/strings.hpp"
#include "json/lexer.hpp"

namespace slurmk8s {
namespace {

constexpr int kMaxDepth = 128;

struct TokenerDeleter {
  void operator()(json_tokener* tokener) const { json_tokener_free(tokener); }
};

json_object* checked(json_object* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

int length_of(std::string_view text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) throw std::bad_alloc();
  return static_cast<int>(text.size());
}

Error parse_error(const char* why, std::size_t at) {
  return Error(Errc::invalid, format("JSON: %s at byte %zu", why, at));
}

}  // namespace

Json::Json(const Json& other) : value_(json_object_get(other.value_)) {}
Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
Json& Json::operator=(Json other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}
Json::~Json() { json_object_put(value_); }

Json Json::object() { return Json(checked(json_object_new_object())); }
Json Json::array() { return Json(checked(json_object_new_array())); }
Json Json::string(std::string_view text) {
  return Json(checked(json_object_new_string_len(text.data() == nullptr ? "" : text.data(), length_of(text))));
}
Json Json::integer(std::int64_t value) { return Json(checked(json_object_new_int64(value))); }
Json Json::number(double value) { return Json(checked(json_object_new_double(value))); }
Json Json::boolean(bool value) { return Json(checked(json_object_new_boolean(value ? 1 : 0))); }

Result<Json> Json::parse(std::string_view text) {
  if (text.size() >= static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return parse_error("text too long", text.size());
  }
  SLURMK8S_CHECK(check_json_words(text));
  const std::unique_ptr<json_tokener, TokenerDeleter> tokener(json_tokener_new_ex(kMaxDepth));
  if (tokener == nullptr) throw std::bad_alloc();
  // Without its strict mode, which refuses every byte above 127 in json-c 0.18: check_json_words() is stricter.
  // Trailing characters are looked at below.
  Json value;
  std::size_t end = 0;
  if (!text.empty()) {
    value.value_ = json_tokener_parse_ex(tokener.get(), text.data(), length_of(text));
    end = json_tokener_get_parse_end(tokener.get());
  }
  if (json_tokener_get_error(tokener.get()) == json_tokener_continue && end == text.size()) {
    value = Json(json_tokener_parse_ex(tokener.get(), "", 1));  // the end of a number is seen only after it
  }
  const auto error = json_tokener_get_error(tokener.get());
  if (error == json_tokener_continue || (text.empty() && error == json_tokener_success)) {
    return parse_error("unexpected end", end);
  }
  if (error != json_tokener_success) return parse_error(json_tokener_error_desc(error), end);
  const auto rest = text.substr(end).find_first_not_of(" \t\r\n");
  if (rest != std::string_view::npos) return parse_error("text after the value", end + rest);
  return value;
}

bool Json::is_object() const { return json_object_is_type(value_, json_type_object) != 0; }
bool Json::is_array() const { return json_object_is_type(value_, json_type_array) != 0; }
bool Json::is_string() const { return json_object_is_type(value_, json_type_string) != 0; }
bool Json::is_integer() const { return json_object_is_type(value_, json_type_int) != 0; }
bool Json::is_number() const { return is_integer() || json_object_is_type(value_, json_type_double) != 0; }
bool Json::is_boolean() const { return json_object_is_type(value_, json_type_boolean) != 0; }

std::string_view Json::type_name() const {
  switch (json_object_get_type(value_)) {
    case json_type_null: return "null";
    case json_type_boolean: return "boolean";
    case json_type_double: return "number";
    case json_type_int: return "integer";
    case json_type_object: return "object";
    case json_type_array: return "array";
    case json_type_string: return "string";
  }
  return "unknown";
}

Json Json::operator[](std::string_view key) const {
  json_object* member = nullptr;
  if (!is_object() || !json_object_object_get_ex(value_, std::string(key).c_str(), &member)) return {};
  return Json(json_object_get(member));
}

bool Json::has(std::string_view key) const {
  return is_object() && json_object_object_get_ex(value_, std::string(key).c_str(), nullptr) != 0;
}

Json Json::at(std::initializer_list<std::string_view> path) const {
  Json value = *this;
  for (const auto key : path) value = value[key];
  return value;
}

Json Json::operator[](std::size_t index) const {
  if (!is_array()) return {};
  return Json(json_object_get(json_object_array_get_idx(value_, index)));
}

std::size_t Json::size() const {
  if (is_array()) return json_object_array_length(value_);
  return is_object() ? static_cast<std::size_t>(json_object_object_length(value_)) : 0;
}

void Json::each(const std::function<void(std::string_view key, const Json& value)>& fn) const {
  if (!is_object()) return;
  auto member = json_object_iter_begin(value_);
  const auto end = json_object_iter_end(value_);
  for (; !json_object_iter_equal(&member, &end); json_object_iter_next(&member)) {
    fn(json_object_iter_peek_name(&member), Json(json_object_get(json_object_iter_peek_value(&member))));
  }
}

void Json::each(const std::function<void(const Json& value)>& fn) const {
  if (!is_array()) return;
  for (std::size_t i = 0; i < size(); ++i) fn((*this)[i]);
}

std::string_view Json::text(std::string_view fallback) const {
  if (!is_string()) return fallback;
  return {json_object_get_string(value_), static_cast<std::size_t>(json_object_get_string_len(value_))};
}

std::int64_t Json::integer_or(std::int64_t fallback) const {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  if (!is_integer()) return fallback;
  const auto value = json_object_get_int64(value_);  // json-c saturates what an int64 doesn't hold
  const bool too_large = value == kMax && json_object_get_uint64(value_) > static_cast<std::uint64_t>(kMax);
  return too_large ? fallback : value;
}

double Json::number_or(double fallback) const { return is_number() ? json_object_get_double(value_) : fallback; }
bool Json::boolean_or(bool fallback) const { return is_boolean() ? json_object_get_boolean(value_) != 0 : fallback; }

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) *this = object();
  if (!is_object()) return *this;
  if (json_object_object_add(value_, std::string(key).c_str(), value.value_) != 0) throw std::bad_alloc();
  value.value_ = nullptr;  // ours no longer
  return *this;
}

Json& Json::push(Json value) {
  if (is_null()) *this = array();
  if (!is_array()) return *this;
  if (json_object_array_add(value_, value.value_) != 0) throw std::bad_alloc();
  value.value_ = nullptr;
  return *this;
}

void Json::erase(std::string_view key) {
  if (is_object()) json_object_object_del(value_, std::string(key).c_str());
}

Json Json::clone() const {
  if (is_null()) return {};
  json_object* copy = nullptr;
  if (json_object_deep_copy(value_, &copy, nullptr) != 0) throw std::bad_alloc();
  return Json(copy);
}

bool Json::equals(const Json& other) const { return json_object_equal(value_, other.value_) != 0; }

std::string Json::dump() const {
  std::size_t length = 0;
  const char* text =
      json_object_to_json_string_length(value_, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
  if (text == nullptr) throw std::bad_alloc();
  return std::string(text, length);
}

}  // namespace slurmk8s
