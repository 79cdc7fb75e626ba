// SPDX-License-Identifier: GPL-2.0-or-later
// What Json takes it writes as JSON that it takes again; merge patches of it don't change their input; members that are
// cut from its text are missing, and nothing else.
#include <array>

#include "json/cut.hpp"
#include "json/json.hpp"

#include "fuzz/target.hpp"

namespace {

using slurmk8s::Json;

constexpr std::array<std::string_view, 2> kCut{"a", "spec"};

/** What cut_members() is to leave, the slow way. */
Json without(const Json& value) {
  if (!value.is_object() && !value.is_array()) return value;
  Json out = value.is_object() ? Json::object() : Json::array();
  value.each([&out](const Json& element) { out.push(without(element)); });
  value.each([&out](std::string_view name, const Json& member) {
    if (name != kCut[0] && name != kCut[1]) out.set(name, without(member));
  });
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view input = as_text(data, size);
  const auto value = Json::parse(input);
  const auto rest = Json::parse(cut_members(input, kCut));
  if (!value.ok()) {
    require(value.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
  require(rest.ok(), "what was cut is JSON no more");
  const bool plain_names = input.find('\\') == std::string_view::npos;
  require(!plain_names || rest->dump() == without(*value).dump(), "something else was cut");

  const std::string text = value->dump();
  const auto again = Json::parse(text);
  require(again.ok(), "its own text is refused");
  require(again->dump() == text, "another text the second time");
  require(value->clone().dump() == text, "a clone differs");

  const Json patched = merge_patch(*value, *value);
  require(value->dump() == text, "a merge patch changed its input");
  require(!value->is_object() || patched.is_object(), "an object patched by an object is none");
  require(patched.is_object() || patched.dump() == text, "a patch that is no object is not the result");
  return 0;
}
