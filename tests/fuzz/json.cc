// SPDX-License-Identifier: GPL-2.0-or-later
// What Json takes it writes as JSON that it takes again; merge patches of it don't change their input.
#include "json/json.hpp"

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto value = Json::parse(as_text(data, size));
  if (!value.ok()) {
    require(value.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
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
