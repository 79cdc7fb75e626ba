// SPDX-License-Identifier: GPL-2.0-or-later
// Transport: requests to one server, made by the thread of an event loop.
//
// Everything is called on the loop's thread, and every callback runs on it, from the loop's turns: never within send()
// or stream(). A callback may start and cancel requests; it may not destroy the Transport. Nothing blocks. Destroying
// it gives up what is under way without a callback.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s::http {

struct Request {
  std::string method = "GET";
  std::string target;  ///< path and query, percent-encoded: "/api/v1/namespaces/x/pods?limit=500"
  std::string body;
  std::string content_type = "application/json";
  /**
   * send(): from leaving the queue (behind the connections' limit) to the last byte. stream(): longest silence before
   * the stream counts as dead.
   */
  std::chrono::milliseconds timeout{30000};
};

struct Response {
  int status = 0;
  std::string body;  ///< of a stream: only when the status isn't 2xx
  std::optional<std::chrono::seconds> retry_after;
};

using RequestId = std::uint64_t;
using OnResponse = std::function<void(Result<Response>)>;
using OnLine = std::function<void(std::string_view line)>;

class Transport {
 public:
  virtual ~Transport() = default;

  /**
   * Starts a request. `done` is called once, with the response of any status or an Error: timeout (sent, no whole
   * answer in time), unavailable (no connection, TLS refused, cut: the message says why), protocol (not HTTP, body over
   * the size cap), unauthorized (no token to send), invalid (a target that isn't a path: nothing was sent).
   */
  virtual RequestId send(Request request, OnResponse done) = 0;
  /**
   * Starts a request whose 2xx body is handed out line by line (no newline, no empty lines) as it arrives; then as
   * send(). One empty line is handed out when a 2xx answer has begun, before its first byte. A last line without its
   * newline is never handed out: the stream then ends in an error.
   */
  virtual RequestId stream(Request request, OnLine line, OnResponse done) = 0;
  /** Gives a request up: its callbacks are not called any more. Unknown and finished ids are fine. */
  virtual void cancel(RequestId id) = 0;
};

}  // namespace slurmk8s::http
