// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes' quantities. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** "1500m" → 1500; "2" → 2000. Rounded up. Error (invalid) quotes the text. */
Result<std::int64_t> parse_quantity_milli(std::string_view text);

/** A quantity in a field, "2" or 2, in thousandths. Error (invalid) names the field: required, or no quantity. */
Result<std::int64_t> decode_quantity(const Json& value, const std::string& field);

}  // namespace slurmk8s
