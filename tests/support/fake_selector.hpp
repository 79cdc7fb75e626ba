// SPDX-License-Identifier: GPL-2.0-or-later
// FakeSelector: which objects a list or a watch of FakeClient is about. Pure; any thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s::kube {

class FakeSelector {
 public:
  /**
   * "a=b,c!=d,e,!f,g in (h,i),j notin (k)" of labels, "metadata.name=a,status.phase!=Running" of fields. Error
   * (invalid): the syntax, or a field by which `plural` can not be selected.
   */
  static Result<FakeSelector> parse(std::string_view labels, std::string_view fields, std::string_view plural);

  /** False of null. */
  bool matches(const Json& object) const;

 private:
  struct Requirement {
    std::string key;
    bool negated = false;
    bool any_value = false;  ///< that it is there is enough
    std::set<std::string, std::less<>> values;
  };

  static Result<Requirement> parse_requirement(std::string_view text);

  std::vector<Requirement> labels_;
  std::vector<Requirement> fields_;
};

}  // namespace slurmk8s::kube
