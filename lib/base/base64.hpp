// SPDX-License-Identifier: GPL-2.0-or-later
// Base64, as Kubernetes has it in YAML. No library that we link decodes it. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slurmk8s {

/** RFC 4648 with padding; white space between characters is skipped, as in folded YAML. Empty when malformed. */
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace slurmk8s
