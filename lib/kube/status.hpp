// SPDX-License-Identifier: GPL-2.0-or-later
// Status: an HTTP answer of the API server as an Error. The only place that maps HTTP codes.
#pragma once

#include "http/transport.hpp"
#include "json/json.hpp"
#include "kube/resource.hpp"

namespace slurmk8s::kube {

/**
 * The parsed body of a 2xx response without the members in `omit`, or the Error that the code and the body's Status
 * say. 409 is already_exists when the reason is AlreadyExists and conflict otherwise; 403 is unavailable while the
 * server lacks roles, and forbidden otherwise. The message is the server's own.
 */
Result<Json> decode_response(const Result<http::Response>& response, Omit omit = {});

/** The Error of a Status object, as a watch's ERROR event carries it. */
Error decode_status(const Json& status, int http_code);

}  // namespace slurmk8s::kube
