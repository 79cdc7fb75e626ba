// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever Slinky's YAML says: the result can be written, and NodeSets convert to themselves.
#include "convert/convert.hpp"

#include "fuzz/target.hpp"
#include "convert/yaml_writer.hpp"
#include "json/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto documents = parse_yaml_documents(as_text(data, size));
  if (!documents.ok()) return 0;
  Conversion conversion;
  convert_documents(*documents, conversion);
  for (const Json& nodeset : conversion.nodesets) {
    const auto text = dump_yaml(nodeset);
    require(text.ok(), "it can't be written");
    const auto read = parse_yaml_documents(*text);
    // What was in nodesetDefaults is deeper in the result than it was.
    if (!read.ok() && read.error().message().find("levels") != std::string::npos) continue;
    require(read.ok() && read->size() == 1, "its YAML is refused");
    Conversion again;
    convert_documents(*read, again);
    require(again.nodesets.size() == 1 && again.nodesets[0].equals(nodeset), "it converts to something else");
  }
  require(conversion.recognized || conversion.nodesets.empty(), "a NodeSet out of nothing");
  Conversion values;
  values.as_values = true;
  convert_documents(*documents, values);
  require(dump_yaml(values.values).ok(), "values that can't be written");
  return 0;
}
