// SPDX-License-Identifier: GPL-2.0-or-later
// kube/status: what each answer of the API server means.
#include "kube/status.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s::kube {
namespace {

Result<Json> decoded(int status, const std::string& body) { return decode_response(http::Response{status, body, {}}); }

std::string status_body(const std::string& reason, const std::string& message) {
  return "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" + reason + "\",\"message\":\"" + message + "\"}";
}

void codes(void**) {
  const struct {
    int http;
    const char* reason;
    Errc code;
  } cases[] = {
      {400, "BadRequest", Errc::invalid},
      {401, "Unauthorized", Errc::unauthorized},
      {403, "Forbidden", Errc::forbidden},
      {404, "NotFound", Errc::not_found},
      {405, "MethodNotAllowed", Errc::invalid},
      {408, "Timeout", Errc::timeout},
      {409, "AlreadyExists", Errc::already_exists},
      {409, "Conflict", Errc::conflict},
      {409, "", Errc::conflict},
      {410, "Expired", Errc::gone},
      {410, "Gone", Errc::gone},
      {413, "RequestEntityTooLarge", Errc::invalid},
      {415, "UnsupportedMediaType", Errc::invalid},
      {422, "Invalid", Errc::invalid},
      {429, "TooManyRequests", Errc::throttled},
      {500, "InternalError", Errc::unavailable},
      {502, "", Errc::unavailable},
      {503, "ServiceUnavailable", Errc::unavailable},
      {504, "Timeout", Errc::timeout},
      {301, "", Errc::protocol},
      {100, "", Errc::protocol},
  };
  for (const auto& c : cases) {
    const auto result = decoded(c.http, status_body(c.reason, "what the server said"));
    if (result.ok() || result.error().code() != c.code) fail_msg("%d %s", c.http, c.reason);
    assert_text(result.error().message(), "what the server said");
  }
}

// As kube-apiserver 1.34 says it in its first second.
void a_server_that_has_not_read_its_roles(void**) {
  constexpr const char* kRefused = R"(pods is forbidden: User \"a\" cannot create resource \"pods\" in API group \"\")";
  const struct {
    const char* more;
    Errc code;
  } cases[] = {
      {R"( in the namespace \"s\": RBAC: clusterrole.rbac.authorization.k8s.io \"system:discovery\" not found)",
       Errc::unavailable},
      {R"( in the namespace \"s\": RBAC: [role.rbac.authorization.k8s.io \"r\" not found, x])", Errc::unavailable},
      {R"( in the namespace \"s\")", Errc::forbidden},
      {R"( in the namespace \"not found\")", Errc::forbidden},
      {": exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1", Errc::forbidden},
  };
  for (const auto& c : cases) {
    const auto result = decoded(403, status_body("Forbidden", std::string(kRefused) + c.more));
    if (result.ok() || result.error().code() != c.code) fail_msg("%s", c.more);
  }
}

void messages_of_bodies_that_are_no_status(void**) {
  const struct {
    const char* body;
    const char* message;
  } cases[] = {
      {"", "HTTP 503"},
      {"  \n", "HTTP 503"},
      {"<html>Bad\nGateway</html>\n", "HTTP 503: <html>Bad\nGateway</html>"},
      {"{\"kind\":\"Pod\"}", "HTTP 503: {\"kind\":\"Pod\"}"},
      {"{\"kind\":\"Status\"}", "HTTP 503"},
      {"{\"kind\":\"Status\",\"reason\":\"Weird\"}", "Weird"},
  };
  for (const auto& c : cases) {
    const auto result = decoded(503, c.body);
    assert_error(result, Errc::unavailable, "");
    assert_text(result.error().message(), c.message);
  }
  assert_true(decoded(503, std::string(100000, 'x')).error().message().size() < 250);
}

void waits(void**) {
  const std::string details = "{\"kind\":\"Status\",\"message\":\"m\",\"details\":{\"retryAfterSeconds\":7}}";
  assert_int_equal(decode_response(http::Response{429, details, {}}).error().retry_after()->count(), 7);
  assert_int_equal(
      decode_response(http::Response{429, details, std::chrono::seconds(3)}).error().retry_after()->count(), 3);
  assert_int_equal(decode_response(http::Response{503, "", std::chrono::seconds(2)}).error().retry_after()->count(), 2);
  assert_false(decoded(429, "").error().retry_after().has_value());
  assert_false(
      decoded(429, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":-1}}").error().retry_after().has_value());
}

void successes(void**) {
  for (const int status : {200, 201, 202}) assert_text((*decoded(status, "{\"a\":1}")).dump(), "{\"a\":1}");
  for (const char* body : {"", "[]", "null", "7", "{\"a\"", "<html>"}) {
    assert_error(decoded(200, body), Errc::protocol, "");
  }
}

void errors_of_the_transport_pass(void**) {
  const Error error(Errc::timeout, "no answer");
  assert_error(decode_response(error), Errc::timeout, "no answer");
}

void error_events(void**) {
  const struct {
    const char* status;
    Errc code;
  } cases[] = {
      {"{\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}", Errc::gone},
      {"{\"code\":410,\"reason\":\"Gone\"}", Errc::gone},
      {"{\"reason\":\"Expired\"}", Errc::gone},
      {"{\"code\":500,\"reason\":\"InternalError\"}", Errc::unavailable},
      {"{\"code\":504,\"reason\":\"Timeout\"}", Errc::timeout},
      {"{\"code\":9999999999}", Errc::protocol},
      {"{\"code\":\"410\"}", Errc::protocol},
      {"{}", Errc::protocol},
  };
  for (const auto& c : cases) {
    const auto error = decode_status(*Json::parse(c.status), 0);
    assert_text(to_string(error.code()), to_string(c.code));
    assert_false(error.message().empty());
  }
  assert_int_equal(decode_status(Json(), 0).code(), Errc::protocol);
}

}  // namespace
}  // namespace slurmk8s::kube

int main() {
  using namespace slurmk8s::kube;
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(codes),
      SLURMK8S_TEST(a_server_that_has_not_read_its_roles),
      SLURMK8S_TEST(messages_of_bodies_that_are_no_status),
      SLURMK8S_TEST(waits),
      SLURMK8S_TEST(successes),
      SLURMK8S_TEST(errors_of_the_transport_pass),
      SLURMK8S_TEST(error_events),
  };
  return cmocka_run_group_tests_name("kube_status", tests, nullptr, nullptr);
}
