// SPDX-License-Identifier: GPL-2.0-or-later
// What a request becomes of a bad answer, a bad connection, certificate or token.
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

#include "base/unique_fd.hpp"
#include "contract/faults.hpp"

namespace slurmk8s::contract {
namespace {

using kube::kPods;

// ---- answers --------------------------------------------------------------------------------------------------------

void bad_answers_become_errors(void**) {
  const struct {
    const char* fault;
    Errc code;
    const char* message;
  } cases[] = {
      {R"({"path":"/pods","action":"status","code":500,"body":"{\"kind\":\"Status\",\"message\":\"etcd is tired\"}"})",
       Errc::unavailable, "etcd is tired"},
      {R"({"path":"/pods","action":"status","code":503,"content_type":"text/html","body":"<html>Bad Gateway</html>"})",
       Errc::unavailable, "HTTP 503"},
      {R"({"path":"/pods","action":"status","code":504,"body":""})", Errc::timeout, "HTTP 504"},
      {R"({"path":"/pods","action":"status","code":429,"body":"{\"kind\":\"Status\",\"message\":\"slow down\"}"})",
       Errc::throttled, "slow down"},
      {R"({"path":"/pods","action":"status","code":302,"location":"https://127.0.0.1:1/","body":""})", Errc::protocol,
       "302"},
      {R"({"path":"/pods","action":"status","code":200,"body":"not json"})", Errc::protocol, "JSON"},
      {R"({"path":"/pods","action":"status","code":200,"body":"[]"})", Errc::protocol, "object"},
      {R"({"path":"/pods","action":"status","code":200,"body":"{\"items\":"})", Errc::protocol, "JSON"},
      {R"({"path":"/pods","action":"garbage"})", Errc::protocol, ""},
      {R"({"path":"/pods","action":"close","times":2})", Errc::unavailable, ""},  // libcurl itself tries twice
      {R"({"path":"/pods","action":"cut","bytes":20})", Errc::unavailable, ""},
  };
  for (const auto& c : cases) {
    fault(c.fault);
    const auto answer = session->list(kPods, name_space());
    assert_error(answer, c.code, c.message);
    assert_true(answer.error().retryable());
    assert_ok(session->list(kPods, name_space()));  // and the next one is fine
  }
}

void retry_after_is_passed_on(void**) {
  fault(R"({"path":"/pods","action":"status","code":429,"retry_after":7,"body":""})");
  const auto by_header = session->list(kPods, name_space());
  assert_error(by_header, Errc::throttled, "");
  assert_true(by_header.error().retry_after() == 7s);
  fault(R"({"path":"/pods","action":"status","code":503,
            "body":"{\"kind\":\"Status\",\"message\":\"m\",\"details\":{\"retryAfterSeconds\":3}}"})");
  const auto by_status = session->list(kPods, name_space());
  assert_error(by_status, Errc::unavailable, "m");
  assert_true(by_status.error().retry_after() == 3s);
}

void no_answer_is_a_timeout(void**) {
  for (const char* no_answer :
       {R"({"path":"/pods","action":"hang"})", R"({"path":"/pods","action":"headers","delay_ms":50})",
        R"({"path":"/pods","action":"slow","piece":1,"delay_ms":50})"}) {
    assert_ok(session->send(get_pods()));  // makes the connection, so that all of the time is left for the answer
    fault(no_answer);
    assert_error(session->send(get_pods(1500ms)), Errc::timeout, "");
  }
  assert_ok(session->send(get_pods()));
}

void slow_answers_are_read(void**) {
  make_pod("one");
  fault(R"({"path":"/pods","action":"slow","piece":1,"delay_ms":0})");
  const auto pods = session->list(kPods, name_space());
  assert_ok(pods);
  assert_int_equal((*pods)["items"].size(), 1);
  fault(R"({"path":"/pods","action":"headers","delay_ms":2})");
  assert_ok(session->list(kPods, name_space()));
}

void connections_that_went_away_are_made_again(void**) {
  for (int i = 0; i < 5; ++i) {
    fault(R"({"path":"/pods","action":"drop"})");
    assert_ok(session->list(kPods, name_space()));
  }
}

void a_body_over_the_cap_is_refused(void**) {
  make_pod("one");
  auto options = kube::transport_options(config(), std::make_shared<SystemClock>());
  options.max_body = 200;
  options.max_line = 200;
  auto small = Session::open(std::move(options));
  assert_ok(small);
  assert_error((*small)->list(kPods, name_space()), Errc::protocol, "more than 200 bytes");
  const auto watch = (*small)->watch(kPods, name_space(), {.resource_version = "0"});
  assert_true((*small)->run_until([&] { return watch->end.has_value(); }));
  assert_error(*watch->end, Errc::protocol, "more than 200 bytes");
}

// ---- connections ----------------------------------------------------------------------------------------------------

void requests_keep_to_their_connections(void**) {
  auto options = kube::transport_options(config(), std::make_shared<SystemClock>());
  options.max_connections = 4;
  auto few = Session::open(std::move(options));
  assert_ok(few);
  tell("stats", Json(), "DELETE");
  const auto before = count("connections");
  int done = 0;
  for (int i = 0; i < 60; ++i) {
    (*few)->transport().send(get_pods(),
                             [&done](const Result<http::Response>& answer) { done += answer.ok() ? 1 : 0; });
  }
  assert_true((*few)->run_until([&] { return done == 60; }));
  assert_true(count("most_connections") <= before + 4);
}

void hanging_requests_leave_room_for_a_watch(void**) {
  auto options = kube::transport_options(config(), std::make_shared<SystemClock>());
  options.max_connections = 3;
  auto few = Session::open(std::move(options));
  assert_ok(few);
  fault(R"({"path":"/pods$","action":"hang","times":0})");
  int ended = 0;
  for (int i = 0; i < 10; ++i) {
    (*few)->transport().send(get_pods(), [&ended](const Result<http::Response>&) { ++ended; });
  }
  const auto watch = (*few)->watch(kPods, name_space(), {.resource_version = list_version()});
  assert_true((*few)->run_until([&] { return watch->opened; }));
  assert_int_equal(ended, 0);
}

void no_connection_is_unavailable(void**) {
  kube::Config unreachable = config();
  unreachable.server = "https://127.0.0.1:1";
  assert_error(list_as(unreachable), Errc::unavailable, "https://127.0.0.1:1");
  unreachable.server = "https://no-such-host.invalid";
  assert_error(list_as(unreachable), Errc::unavailable, "no-such-host.invalid");
}

void a_host_that_takes_no_connection_is_unavailable(void**) {
  // A listener whose queue is full drops what comes: connecting hangs.
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  assert_int_equal(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  assert_int_equal(::listen(listener.get(), 0), 0);
  assert_int_equal(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::vector<UniqueFd> fillers;
  for (int i = 0; i < 4; ++i) {
    fillers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    static_cast<void>(::connect(fillers.back().get(), reinterpret_cast<sockaddr*>(&address), size));
  }
  kube::Config full = config();
  full.server = format("https://127.0.0.1:%d", ntohs(address.sin_port));
  auto options = kube::transport_options(full, std::make_shared<SystemClock>());
  options.connect_timeout = 300ms;
  auto opened = Session::open(std::move(options));
  assert_ok(opened);
  const auto begun = std::chrono::steady_clock::now();
  assert_error((*opened)->list(kPods, name_space()), Errc::unavailable, "");
  assert_true(std::chrono::steady_clock::now() - begun < 10s);
}

void certificates_are_verified(void**) {
  assert_ok(list_as(config()));
  kube::Config other_ca = config();
  other_ca.ca_pem = content("other-ca.crt");
  assert_error(list_as(other_ca), Errc::unavailable, "certificate");
  kube::Config system_ca = config();
  system_ca.ca_pem.clear();
  assert_error(list_as(system_ca), Errc::unavailable, "certificate");
  kube::Config other_name = config();
  other_name.tls_server_name = "other.example";
  assert_error(list_as(other_name), Errc::unavailable, "other.example");
  kube::Config right_name = config();
  right_name.tls_server_name = "kubernetes.default.svc";
  assert_ok(list_as(right_name));
  kube::Config no_certificate = config();
  no_certificate.ca_pem = "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n";
  assert_error(list_as(no_certificate), Errc::unavailable, "");
  kube::Config plain_http = config();
  plain_http.server.replace(0, 5, "http");
  const auto answer = list_as(plain_http);  // a TLS server has no word for it
  assert_false(answer.ok());
}

// A CA that the machine trusts could sign for the API server's name otherwise.
void only_the_clusters_ca_is_trusted(void**) {
  constexpr const char* kOfMachine = "/etc/ssl/certs";
  if (::geteuid() != 0 || ::unshare(CLONE_NEWNS) != 0) skip();
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) skip();
  if (::mount(in_folder("trusted").c_str(), kOfMachine, nullptr, MS_BIND, nullptr) != 0) skip();
  kube::Config of_machine = config(), of_cluster = config();
  of_machine.ca_pem.clear();
  of_cluster.ca_pem = content("other-ca.crt");
  const auto trusted = list_as(of_machine), refused = list_as(of_cluster);
  ::umount(kOfMachine);
  assert_ok(trusted);
  assert_error(refused, Errc::unavailable, "certificate");
}

void a_client_certificate_says_who_we_are(void**) {
  kube::Config by_certificate = config();
  by_certificate.token.clear();
  assert_error(list_as(by_certificate), Errc::forbidden, "system:anonymous");
  by_certificate.client_cert_pem = content("client.crt");
  by_certificate.client_key_pem = content("client.key");
  assert_ok(list_as(by_certificate));
  by_certificate.client_key_pem = content("server.key");  // of another certificate
  assert_error(list_as(by_certificate), Errc::unavailable, "");
}

void a_rotated_token_is_taken_up(void**) {
  const std::string path = in_folder("token");
  write_file(path, "first\n");
  kube::Config by_file = config();
  by_file.token.clear();
  by_file.token_file = path;
  auto opened = Session::open(by_file);
  assert_ok(opened);
  Session& other = **opened;
  const Json admin = Json().set("admin-token", "admin");
  tell("tokens", admin.clone().set("first", "admin"));
  assert_ok(other.list(kPods, name_space()));

  tell("tokens", admin.clone().set("second", "admin"));
  assert_error(other.list(kPods, name_space()), Errc::unauthorized, "Unauthorized");
  write_file(path, "second\n");
  assert_true(other.run_until([&] { return other.list(kPods, name_space()).ok(); }));

  std::remove(path.c_str());
  assert_true(other.run_until([&] { return !other.list(kPods, name_space()).ok(); }));
  assert_error(other.list(kPods, name_space()), Errc::unauthorized, path);
  tell("tokens", admin);
}

}  // namespace

std::vector<CMUnitTest> connection_faults() {
  return {
      SLURMK8S_FAULT_TEST(bad_answers_become_errors),
      SLURMK8S_FAULT_TEST(retry_after_is_passed_on),
      SLURMK8S_FAULT_TEST(no_answer_is_a_timeout),
      SLURMK8S_FAULT_TEST(slow_answers_are_read),
      SLURMK8S_FAULT_TEST(connections_that_went_away_are_made_again),
      SLURMK8S_FAULT_TEST(a_body_over_the_cap_is_refused),
      SLURMK8S_FAULT_TEST(requests_keep_to_their_connections),
      SLURMK8S_FAULT_TEST(hanging_requests_leave_room_for_a_watch),
      SLURMK8S_FAULT_TEST(no_connection_is_unavailable),
      SLURMK8S_FAULT_TEST(a_host_that_takes_no_connection_is_unavailable),
      SLURMK8S_FAULT_TEST(certificates_are_verified),
      SLURMK8S_FAULT_TEST(only_the_clusters_ca_is_trusted),
      SLURMK8S_FAULT_TEST(a_client_certificate_says_who_we_are),
      SLURMK8S_FAULT_TEST(a_rotated_token_is_taken_up),
  };
}

}  // namespace slurmk8s::contract
