// SPDX-License-Identifier: GPL-2.0-or-later
// A constraint that is taken keeps the limits, and names features of its text.
#include "fuzz/target.hpp"
#include "nodeset/constraint.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const std::string_view text = as_text(data, size);
  const auto words = features_in(text);
  const auto constraint = parse_constraint(text);
  if (!constraint.ok()) {
    const Errc code = constraint.error().code();
    require(code == Errc::invalid || code == Errc::forbidden, "an error of another code");
    return 0;
  }
  require(text.size() <= kMaxConstraint && words.size() <= kMaxConstraintFeatures, "a text over the limits was taken");
  require(constraint->alternatives.size() <= kMaxAlternatives, "too many alternatives");
  require(constraint->work <= kMaxConstraintWork, "too much work");
  for (const auto& alternative : constraint->alternatives) {
    for (const std::uint16_t index : alternative) require(index < constraint->features.size(), "a feature of nowhere");
    require(constraint->names(alternative).size() == alternative.size(), "an alternative with other names");
  }
  for (const std::string_view feature : constraint->features) {
    require(!feature.empty() && text.find(feature) != std::string_view::npos, "a feature that is not in the text");
  }
  return 0;
}
