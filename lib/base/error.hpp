// SPDX-License-Identifier: GPL-2.0-or-later
// Error: a closed set of codes plus a message that names the object. Values; any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace slurmk8s {

/** What went wrong, as a caller needs to know it. The set is closed: add a code only when a caller acts on it. */
enum class Errc {
  invalid,         ///< bad input: a file, an object's field, an argument
  not_found,       ///< the object is not there
  already_exists,  ///< create: an object of that name is there
  conflict,        ///< a precondition (uid, resourceVersion) did not hold
  gone,            ///< a resourceVersion or continue token is too old: list again
  unauthorized,    ///< the token is missing, expired or unknown
  forbidden,       ///< RBAC, admission or quota said no
  throttled,       ///< 429: try again after retry_after
  timeout,         ///< no answer in time; the request may have been carried out
  interrupted,     ///< the connection ended without an answer: the request may have ended the server
  unavailable,     ///< no connection, or the server says it can't serve now
  cancelled,       ///< given up by our own side
  protocol,        ///< the answer was not what the protocol says
  internal,        ///< a bug on our side, or out of memory
};

/** Lower-case name of a code, as logs and metrics show it. */
std::string_view to_string(Errc code);

/** An error: code, text, and for throttled or unavailable the wait that the server asked for. */
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

}  // namespace slurmk8s
