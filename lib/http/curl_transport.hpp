// SPDX-License-Identifier: GPL-2.0-or-later
// CurlTransport: Transport on libcurl's multi interface. curl_transport.cc and endpoint.cc alone know libcurl.
#pragma once

#include <memory>

#include "event/event_loop.hpp"
#include "http/transport.hpp"

namespace slurmk8s::http {

struct CurlOptions {
  std::string base_url;         ///< "https://host:port", no slash at the end
  std::string ca_pem;           ///< trusted CAs, PEM; empty: the system's
  std::string client_cert_pem;  ///< with client_key_pem: client certificate; both may be empty
  std::string client_key_pem;
  std::string tls_server_name;                        ///< name to verify instead of the URL's host; empty: the URL's
  std::function<Result<std::string>()> bearer_token;  ///< asked before each request; empty function: none
  std::function<void()> token_refused;                ///< called on each 401; empty function: nothing
  std::string user_agent = "slurm-k8s";
  std::chrono::milliseconds connect_timeout{5000};
  std::size_t max_connections = 16;   ///< of send(); further ones wait. Each stream has one of its own beside them
  std::size_t max_body = 256u << 20;  ///< of a response, bytes
  std::size_t max_line = 16u << 20;   ///< of a stream, bytes
};

/**
 * Makes one for the thread of `loop`, which must outlive it. Only https (http for a loopback address, as tests need),
 * TLS 1.2 or later, always verified; no proxy, no redirects, no netrc. HTTP/1.1: one dead HTTP/2 connection would stall
 * all requests at once. Error (invalid): a URL that is none of these, text where PEM belongs, a certificate without its
 * key. What is inside the PEM is only looked at with the first connection (unavailable). Call curl_global_setup() once
 * in the process before the first thread that uses this starts.
 */
Result<std::unique_ptr<Transport>> make_curl_transport(EventLoop& loop, CurlOptions options);

/** libcurl's global initialisation; reference-counted by libcurl. */
Status curl_global_setup();
void curl_global_teardown();

}  // namespace slurmk8s::http
