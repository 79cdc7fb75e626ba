// SPDX-License-Identifier: GPL-2.0-or-later
// Errors of an object's fields, worded as Kubernetes' field errors. Pure; any thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** Error (invalid) "spec.slurmd.image: Required value". */
Error required_field(const std::string& path);

/** Error (invalid) "spec.replicas: Invalid value: -1: must be 0 to 65536". A long value is cut. */
Error invalid_field(const std::string& path, const Json& value, const std::string& detail);
/** The same of a text, which is quoted. */
Error invalid_field(const std::string& path, std::string_view value, const std::string& detail);

/** Error (invalid) "spec.scalingMode: Unsupported value: "x": supported values: "OnDemand", "Always"". */
Error unsupported_field(const std::string& path, const Json& value, std::initializer_list<std::string_view> supported);

/** Error (invalid) "spec.variants[1].name: Duplicate value: "a"". */
Error duplicate_field(const std::string& path, std::string_view value);

/** Error (invalid) "spec.spareSchedules[0].variant: Not found: "a"": another field has no such name. */
Error not_found_field(const std::string& path, std::string_view value);

/** Error (invalid) "spec.pinToNode: Forbidden: may not be set with scalingMode DaemonSet". */
Error forbidden_field(const std::string& path, const std::string& detail);

/** Error (invalid) "spec.variants: Too many: 33: must have at most 32 items". */
Error too_many_items(const std::string& path, std::size_t items, std::size_t max);

/** Error (invalid) "spec.extraConf: Too long: may not be more than 2048 bytes". */
Error too_long_field(const std::string& path, std::size_t max);

}  // namespace slurmk8s
