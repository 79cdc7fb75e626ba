// SPDX-License-Identifier: GPL-2.0-or-later
// Error: a closed set of codes plus a message that names the object. Values; any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace slurmk8s {

/** Kinds of errors. The set is closed: add a code only when a caller acts on it. */
enum class Errc {
  invalid,         ///< bad input: a file, an object's field, an argument
  not_found,       ///< no such object
  already_exists,  ///< create: the object exists
  conflict,        ///< a precondition (uid, resourceVersion) did not hold
  gone,            ///< a resourceVersion or continue token is too old: list again
  unauthorized,    ///< the token is missing, expired or unknown
  forbidden,       ///< refused by RBAC, admission or quota
  throttled,       ///< 429: try again after retry_after
  timeout,         ///< no response in time; the request may have been carried out
  interrupted,     ///< the connection ended without a response: the request may have crashed the server
  unavailable,     ///< no connection, or the server is not ready
  cancelled,       ///< cancelled by the client
  protocol,        ///< invalid response
  internal,        ///< a bug, or out of memory
};

/** Lower-case name of a code, as logs and metrics show it. */
std::string_view to_string(Errc code);

/** An error: code, text, and for throttled or unavailable the server's Retry-After. */
class Error {
 public:
  Error(Errc code, std::string message, std::optional<std::chrono::seconds> retry_after = std::nullopt);

  Errc code() const { return code_; }
  const std::string& message() const { return message_; }
  std::optional<std::chrono::seconds> retry_after() const { return retry_after_; }

  /** Puts `context` before the message ("pod slurm/c-1: create: conflict"); code and retry_after stay. */
  Error wrap(std::string_view context) const;

  /** True when the same request may succeed later without a change of its input. */
  bool retryable() const;

 private:
  Errc code_;
  std::string message_;
  std::optional<std::chrono::seconds> retry_after_;
};

/** Error (invalid) of a setting or an option: "MaxRequests: invalid value "0": must be 1 to 1000". */
Error invalid_value(std::string_view name, std::string_view value, std::string_view detail);
/** Error (invalid) "KeySecret: required". */
Error required_value(std::string_view name);

}  // namespace slurmk8s
