// SPDX-License-Identifier: GPL-2.0-or-later
// Error: names of the codes, context, which codes can be retried.
#include "base/error.hpp"

#include <utility>

namespace slurmk8s {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::invalid: return "invalid";
    case Errc::not_found: return "not_found";
    case Errc::already_exists: return "already_exists";
    case Errc::conflict: return "conflict";
    case Errc::gone: return "gone";
    case Errc::unauthorized: return "unauthorized";
    case Errc::forbidden: return "forbidden";
    case Errc::throttled: return "throttled";
    case Errc::timeout: return "timeout";
    case Errc::interrupted: return "interrupted";
    case Errc::unavailable: return "unavailable";
    case Errc::cancelled: return "cancelled";
    case Errc::protocol: return "protocol";
    case Errc::internal: return "internal";
  }
  return "internal";
}

Error::Error(Errc code, std::string message, std::optional<std::chrono::seconds> retry_after)
    : code_(code), message_(std::move(message)), retry_after_(retry_after) {}

Error Error::wrap(std::string_view context) const {
  std::string message(context);
  message.append(": ").append(message_);
  return Error(code_, std::move(message), retry_after_);
}

bool Error::retryable() const {
  switch (code_) {
    case Errc::throttled:
    case Errc::timeout:
    case Errc::interrupted:
    case Errc::unavailable:
    case Errc::unauthorized:  // the token is reloaded
    case Errc::protocol:      // garbage from a proxy, a truncated response
      return true;
    default: return false;
  }
}

Error invalid_value(std::string_view name, std::string_view value, std::string_view detail) {
  std::string message(name);
  message.append(": invalid value \"").append(value).append("\": ").append(detail);
  return Error(Errc::invalid, std::move(message));
}

Error required_value(std::string_view name) { return Error(Errc::invalid, std::string(name) + ": required"); }

}  // namespace slurmk8s
