// SPDX-License-Identifier: GPL-2.0-or-later
// Endpoint: where to connect, and what the server's certificate must say. Pure; any thread.
#pragma once

#include <string>

#include "base/result.hpp"

namespace slurmk8s::http {

struct Endpoint {
  std::string url;  ///< prefix of every request's URL, no slash at the end
  /** "::host:port" (CURLOPT_CONNECT_TO) when the URL has another name than the machine; else empty. */
  std::string connect_to;
  bool tls = true;
};

/**
 * Of a server's URL and the name to verify (empty: the URL's host). Error (invalid): not https (or http to a loopback
 * address), with a user, a query or a fragment, or a name that is none.
 */
Result<Endpoint> parse_endpoint(const std::string& base_url, const std::string& tls_server_name);

}  // namespace slurmk8s::http
