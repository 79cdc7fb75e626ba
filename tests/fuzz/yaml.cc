// SPDX-License-Identifier: GPL-2.0-or-later
// What parse_yaml() takes can be written as JSON, and as YAML again.
#include "convert/yaml_writer.hpp"
#include "json/yaml.hpp"

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto value = parse_yaml(as_text(data, size));
  if (!value.ok()) {
    require(value.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
  const auto again = Json::parse(value->dump());
  require(again.ok(), "its JSON is refused");
  require(again->equals(*value), "its JSON says something else");
  const auto text = dump_yaml(*value);
  require(text.ok(), "it can't be written");
  const auto back = parse_yaml(*text);
  require(back.ok(), "its YAML is refused");
  require(back->equals(*value), "its YAML says something else");
  return 0;
}
