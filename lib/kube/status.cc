// SPDX-License-Identifier: GPL-2.0-or-later
// Status: HTTP codes and Status objects as Errors.
#include "kube/status.hpp"

#include <algorithm>

#include "base/strings.hpp"
#include "json/cut.hpp"

namespace slurmk8s::kube {

namespace {

// Of a body that is no Status (a proxy's HTML page): enough to recognise it in a log.
constexpr std::size_t kQuoted = 200;

Errc code_of(int http_code, std::string_view reason) {
  switch (http_code) {
    case 401: return Errc::unauthorized;
    case 403: return Errc::forbidden;
    case 404: return Errc::not_found;
    case 408: return Errc::timeout;
    case 409: return reason == "AlreadyExists" ? Errc::already_exists : Errc::conflict;
    case 410: return Errc::gone;
    case 429: return Errc::throttled;
    case 504: return Errc::timeout;
    default: break;
  }
  if (http_code >= 500) return Errc::unavailable;
  if (http_code >= 400) return Errc::invalid;
  // An ERROR event whose Status has no code; else an answer that the API has no use for (a redirect).
  return reason == "Expired" || reason == "Gone" ? Errc::gone : Errc::protocol;
}

/**
 * An API server that has just started refuses everything until it has read the roles: its message ends with those that
 * it misses, 'RBAC: clusterrole.rbac.authorization.k8s.io "x" not found'. A binding of a role that was deleted says the
 * same.
 */
bool misses_roles(std::string_view message) {
  const std::size_t begin = message.find(": RBAC: ");
  return begin != std::string_view::npos && message.find(" not found", begin) != std::string_view::npos;
}

std::optional<std::chrono::seconds> retry_after_of(const Json& status) {
  const std::int64_t seconds = status.at({"details", "retryAfterSeconds"}).integer_or(0);
  if (seconds <= 0) return std::nullopt;
  return std::chrono::seconds(std::min<std::int64_t>(seconds, 24 * 3600));
}

Error error_of(const http::Response& response) {
  const Result<Json> body = Json::parse(response.body);
  if (body.ok() && (*body)["kind"].text() == "Status") {
    const Error error = decode_status(*body, response.status);
    return Error(error.code(), error.message(), response.retry_after ? response.retry_after : error.retry_after());
  }
  std::string message = format("HTTP %d", response.status);
  const std::string_view text = trim(std::string_view(response.body).substr(0, kQuoted));
  if (!text.empty()) message.append(": ").append(text);
  return Error(code_of(response.status, ""), std::move(message), response.retry_after);
}

}  // namespace

Error decode_status(const Json& status, int http_code) {
  const std::int64_t own_code = status["code"].integer_or(0);
  const int code = http_code != 0 ? http_code : static_cast<int>(own_code >= 100 && own_code <= 599 ? own_code : 0);
  const std::string reason(status["reason"].text());
  std::string message(status["message"].text());
  if (message.empty()) message = reason;
  if (message.empty()) message = format("HTTP %d", code);
  const bool is_starting = code == 403 && misses_roles(message);
  return Error(is_starting ? Errc::unavailable : code_of(code, reason), std::move(message), retry_after_of(status));
}

Result<Json> decode_response(const Result<http::Response>& response, Omit omit) {
  if (!response.ok()) return response.error();
  if (response->status < 200 || response->status > 299) return error_of(*response);
  Result<Json> body = Json::parse(cut_members(response->body, omit));
  if (!body.ok()) {
    return Error(Errc::protocol, "HTTP " + std::to_string(response->status) + ": " + body.error().message());
  }
  if (!body->is_object()) return Error(Errc::protocol, "an answer that is no object");
  return body;
}

}  // namespace slurmk8s::kube
