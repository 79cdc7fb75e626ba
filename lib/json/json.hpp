// SPDX-License-Identifier: GPL-2.0-or-later
// Json: an owning handle of a JSON value. json.cc is the only file that knows json-c.
//
// A copy shares the value, as a shared_ptr does: use clone() before changing what somebody else holds. Reading never
// fails: what isn't there, or has another type, reads as null or as the given fallback, so that a decoder can first
// read and then check. A value belongs to one thread at a time (json-c's counts are not atomic).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct json_object;

namespace slurmk8s {

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): the one assignment copies and moves
class Json {
 public:
  Json() = default;  ///< null
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  static Json object();
  static Json array();
  static Json string(std::string_view text);
  static Json integer(std::int64_t value);
  static Json number(double value);  ///< finite
  static Json boolean(bool value);

  /**
   * Strict JSON: one value, valid UTF-8, integers of at most 64 bits, at most 128 levels deep, nothing but white space
   * around it; of members with the same name the last one wins.
   * Error (invalid): what is wrong and at which byte.
   */
  static Result<Json> parse(std::string_view text);

  bool is_null() const { return value_ == nullptr; }
  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_integer() const;
  bool is_number() const;  ///< integer or real
  bool is_boolean() const;
  /** "object", "array", "string", "integer", "number", "boolean" or "null": for messages. */
  std::string_view type_name() const;

  /** Member of an object; null when absent or when this is no object. */
  Json operator[](std::string_view key) const;
  /** True when an object has that member, be it null. */
  bool has(std::string_view key) const;
  /** Member of members; null as soon as one is absent. */
  Json at(std::initializer_list<std::string_view> path) const;
  /** Element of an array; null when out of range. */
  Json operator[](std::size_t index) const;
  /** Members of an object, elements of an array, otherwise 0. */
  std::size_t size() const;
  /** Calls `fn` for each member in order of insertion; nothing when this is no object. Don't change it meanwhile. */
  void each(const std::function<void(std::string_view key, const Json& value)>& fn) const;
  /** Calls `fn` for each element; nothing when this is no array. */
  void each(const std::function<void(const Json& value)>& fn) const;

  /** Text of a string; the view lives as long as this value. */
  std::string_view text(std::string_view fallback = {}) const;
  std::int64_t integer_or(std::int64_t fallback) const;  ///< fallback too for more than an int64 holds
  double number_or(double fallback) const;
  bool boolean_or(bool fallback) const;

  /**
   * Sets a member (replacing one of that name) or appends an element. Null becomes an object or array first; a value
   * of any other type stays as it is. The name ends at a NUL byte.
   */
  Json& set(std::string_view key, Json value);
  Json& set(std::string_view key, std::string_view value) { return set(key, string(value)); }
  Json& set(std::string_view key, const char* value) { return set(key, string(value)); }
  Json& push(Json value);
  Json& push(std::string_view value) { return push(string(value)); }
  /** Removes a member; nothing when it isn't there. */
  void erase(std::string_view key);

  Json clone() const;                    ///< deep copy
  bool equals(const Json& other) const;  ///< deep; members in any order
  std::string dump() const;              ///< compact text; '/' is not escaped

 private:
  explicit Json(json_object* owned) : value_(owned) {}
  json_object* value_ = nullptr;
};

/** RFC 7386: `patch` applied to `target`; neither is changed. */
Json merge_patch(const Json& target, const Json& patch);

}  // namespace slurmk8s
