// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 7386, JSON merge patch.
#include "json/json.hpp"

namespace slurmk8s {
namespace {

/** Applies an object to `target`, of which nobody else holds a part. */
void apply(Json& target, const Json& patch) {
  if (!target.is_object()) target = Json::object();
  patch.each([&target](std::string_view key, const Json& value) {
    if (value.is_null()) {
      target.erase(key);
    } else if (value.is_object()) {
      Json member = target[key];
      apply(member, value);
      target.set(key, std::move(member));
    } else {
      target.set(key, value.clone());
    }
  });
}

}  // namespace

Json merge_patch(const Json& target, const Json& patch) {
  if (!patch.is_object()) return patch.clone();
  Json result = target.clone();
  apply(result, patch);
  return result;
}

}  // namespace slurmk8s
