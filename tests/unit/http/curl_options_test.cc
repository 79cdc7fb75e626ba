// SPDX-License-Identifier: GPL-2.0-or-later
// http/curl_transport: which options make no transport.
#include <functional>
#include <string>

#include "http/curl_transport.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s::http {
namespace {

void bad_options(void**) {
  const struct {
    const char* url;
    const char* why;  // null: good
  } urls[] = {
      {"https://h:6443", nullptr},
      {"https://[::1]:6443", nullptr},
      {"http://localhost:8001", nullptr},
      {"http://[::1]:8001", nullptr},
      {"https://h/k8s/clusters/c-1", nullptr},
      {"http://h:8080", "not https"},
      {"http://127.example.org", "not https"},
      {"ftp://h", "not https"},
      {"file:///etc/passwd", "not https"},
      {"", "not a URL"},
      {"https://", "not a URL"},
      {"https://h:99999", "not a URL"},
      {"https://u:p@h", "only https://host:port"},
      {"https://h?x=y", "only https://host:port"},
      {"https://h#f", "only https://host:port"},
  };
  const auto loop = std::move(EventLoop::open()).value();
  for (const auto& c : urls) {
    CurlOptions options;
    options.base_url = c.url;
    const auto made = make_curl_transport(*loop, options);
    if (made.ok() != (c.why == nullptr)) fail_msg("%s", c.url);
    if (c.why != nullptr) assert_error(made, Errc::invalid, c.why);
  }
  const auto refused = [&loop](const std::function<void(CurlOptions&)>& change) {
    CurlOptions options;
    options.base_url = "https://h";
    change(options);
    return make_curl_transport(*loop, options);
  };
  const std::string pem = "-----BEGIN X-----\n";
  assert_error(refused([](auto& o) { o.ca_pem = "x"; }), Errc::invalid, "CA certificate: not PEM");
  assert_error(refused([](auto& o) { o.client_cert_pem = "x"; }), Errc::invalid, "client certificate: not PEM");
  assert_error(refused([&](auto& o) { o.client_cert_pem = pem; }), Errc::invalid, "one without the other");
  assert_error(refused([&](auto& o) { o.client_key_pem = pem; }), Errc::invalid, "one without the other");
  assert_error(refused([](auto& o) { o.max_connections = 0; }), Errc::invalid, "max_connections");
  assert_ok(refused([](auto& o) { o.tls_server_name = "kubernetes"; }));
}

}  // namespace
}  // namespace slurmk8s::http

int main() {
  using namespace slurmk8s::http;
  using namespace slurmk8s;
  if (!curl_global_setup().ok()) return 1;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(bad_options),
  };
  const int failed = cmocka_run_group_tests_name("http_curl_options", tests, nullptr, nullptr);
  curl_global_teardown();
  return failed;
}
