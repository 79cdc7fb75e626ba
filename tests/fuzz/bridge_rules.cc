// SPDX-License-Identifier: GPL-2.0-or-later
// The rules of the bridge's administrator: users, priority classes, device classes.
#include "bridge/device_classes.hpp"
#include "bridge/identity.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view text = as_text(data, size);
  const auto rules = parse_identity_rules(text);
  if (rules.ok()) {
    for (const IdentityRule& rule : *rules) {
      require(rule.uid != 0 && rule.gid != 0, "root");
      require(!rule.name_space.empty(), "a rule of no namespace");
    }
  } else {
    require(!rules.error().message().empty(), "an error without words");
  }
  if (const auto priorities = parse_priority_rules(text); priorities.ok()) {
    for (const auto& [name, rule] : *priorities) require(!name.empty(), "a priority class without a name");
  }
  if (const auto classes = parse_device_classes(text); classes.ok()) {
    for (const auto& [name, resource] : *classes) require(!name.empty() && !resource.empty(), "a class without a name");
  }
  return 0;
}
