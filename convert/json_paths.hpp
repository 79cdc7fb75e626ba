// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of members in documents, and how values look in notes. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** Note of a field that is in no table. */
inline constexpr const char* kUnknownField = "unknown: no field of Slinky's that slurm-k8s knows";

/** An empty value: false, 0, "", {}, [] or null. */
inline bool is_empty(const Json& value) {
  if (value.is_string()) return value.text().empty();
  if (value.is_object() || value.is_array()) return value.size() == 0;
  return value.is_null() || value.equals(Json::boolean(false)) || value.equals(Json::integer(0));
}

/** A value in a note: a text without quotes. */
inline std::string shown(const Json& value) { return value.is_string() ? std::string(value.text()) : value.dump(); }

/** "a.b" of "a" and "b"; a key with dots is a["b.c"]. */
inline std::string member_path(const std::string& path, std::string_view key) {
  if (key.find('.') != std::string_view::npos) return path + "[\"" + std::string(key) + "\"]";
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

/** Sets a nested member, and creates missing parents. */
inline void put(const Json& root, std::string_view path, Json value) {
  const std::vector<std::string_view> keys = split(path, '.');
  Json at = root;
  for (std::size_t i = 0; i + 1 < keys.size(); i++) {
    if (at[keys[i]].is_null()) at.set(keys[i], Json::object());
    at = at[keys[i]];
  }
  at.set(keys.back(), std::move(value));
}

/** The member at a path of the root; null when there is none. */
inline Json find_member(const Json& root, std::string_view path) {
  Json at = root;
  for (const std::string_view key : split(path, '.')) at = at[key];
  return at;
}

/** Parameters of Slurm: {"A": "x", "B": ["y", "z"]} as "A=x B=y,z". */
inline std::string join_parameters(const Json& map) {
  std::string text;
  map.each([&](std::string_view key, const Json& value) {
    if (is_empty(value) && !value.is_number()) return;
    std::string list;
    value.each([&](const Json& element) { list += (list.empty() ? "" : ",") + shown(element); });
    text += (text.empty() ? "" : " ") + std::string(key) + "=" + (value.is_array() ? list : shown(value));
  });
  return text;
}

}  // namespace slurmk8s
