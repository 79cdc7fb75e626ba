// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/admin_http: what is answered when, and the server itself on a loopback port.
#include "daemon/admin_http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/strings.hpp"
#include "base/unique_fd.hpp"
#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

void says_healthy_while_the_loop_turns(void**) {
  FakeClock clock;
  AdminState state(clock);
  assert_int_equal(state.answer("/healthz").status, 200);
  clock.advance(seconds(59));
  assert_int_equal(state.answer("/healthz").status, 200);
  clock.advance(seconds(1));
  assert_int_equal(state.answer("/healthz").status, 503);
  assert_text(state.answer("/healthz").body, "main loop: stuck for 60 s\n");
  state.turned();
  assert_int_equal(state.answer("/healthz").status, 200);
}

void says_ready_when_both_sides_are_there(void**) {
  FakeClock clock;
  AdminState state(clock);
  assert_text(state.answer("/readyz").body, "nodesets: not listed yet\n");
  state.publish({.listed = true});
  assert_text(state.answer("/readyz").body, "slurmctld: no answer yet\n");
  assert_int_equal(state.answer("/readyz").status, 503);
  state.publish({.listed = true, .slurm_answered = clock.now()});
  assert_int_equal(state.answer("/readyz").status, 200);
  clock.advance(seconds(29));
  assert_int_equal(state.answer("/readyz").status, 200);
  clock.advance(seconds(1));
  assert_int_equal(state.answer("/readyz").status, 503);
  assert_text(state.answer("/readyz").body, "slurmctld: no answer in the last 30 s\n");
  state.publish({.stands_by = true});
  assert_int_equal(state.answer("/readyz").status, 200);
}

// A client that asks in a loop costs the engine one message a second.
void asks_for_more_metrics_once_a_second(void**) {
  FakeClock clock;
  int asked = 0;
  AdminState state(clock, [&asked] { return format("asked %d\n", ++asked); });
  state.publish({.metrics = "own 1\n"});
  for (int i = 0; i < 100; i++) assert_text(state.answer("/metrics").body, "own 1\nasked 1\n");
  clock.advance(std::chrono::milliseconds(999));
  assert_text(state.answer("/metrics").body, "own 1\nasked 1\n");
  clock.advance(std::chrono::milliseconds(1));
  state.publish({.metrics = "own 2\n"});
  assert_text(state.answer("/metrics").body, "own 2\nasked 2\n");
}

void has_pages_of_slurms_state(void**) {
  FakeClock clock;
  int read = 0;
  AdminState state(clock, [] { return "engine 1\n"; },
                   {.paths = {"/metrics/jobs", "/metrics/nodes"}, .read = [&](const std::string& path) {
                      read++;
                      return path + " 1\n";
                    }});
  // Nothing is known before slurmctld has answered, and of a sidecar that stands by.
  for (const AdminPage& page : {AdminPage{.metrics = "own 1\n"},
                                AdminPage{.slurm_answered = clock.now(), .metrics = "own 1\n", .stands_by = true}}) {
    state.publish(page);
    assert_int_equal(state.answer("/metrics/jobs").status, 200);
    assert_text(state.answer("/metrics/jobs").body, "");
    assert_text(state.answer("/metrics/all").body, "own 1\nengine 1\n");
  }
  assert_int_equal(read, 0);
  state.publish({.slurm_answered = clock.now(), .metrics = "own 1\n"});
  assert_text(state.answer("/metrics").body, "own 1\nengine 1\n");
  assert_int_equal(read, 0);
  assert_text(state.answer("/metrics/nodes").body, "/metrics/nodes 1\n");
  assert_text(state.answer("/metrics/all").body, "own 1\nengine 1\n/metrics/jobs 1\n/metrics/nodes 1\n");
  assert_int_equal(state.answer("/metrics/users").status, 404);
}

UniqueFd connect_from(const char* source, int port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  assert_int_equal(inet_pton(AF_INET, source, &address.sin_addr), 1);
  assert_int_equal(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  assert_int_equal(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

/** Sends `request` to the port on 127.0.0.1, from `source`, and returns all that comes back. */
std::string talk(int port, const std::string& request, const char* source = "127.0.0.1") {
  const UniqueFd fd = connect_from(source, port);
  timeval limit{.tv_sec = 10, .tv_usec = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return "not sent";
  std::string all;
  char buffer[4096];
  for (ssize_t count; (count = recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) {
    all.append(buffer, static_cast<std::size_t>(count));
  }
  return all;
}

std::string get(int port, const std::string& path, const char* method = "GET") {
  return talk(port, std::string(method) + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

void serves(void**) {
  FakeClock clock;
  AdminState state(clock);
  const auto server = start_admin_server("127.0.0.1:0", state);
  assert_true(server.ok());
  const int port = (*server)->port();
  assert_true(port > 0);
  const struct {
    const char* method;
    const char* path;
    const char* status_line;
    const char* body;
  } cases[] = {
      {"GET", "/healthz", "HTTP/1.1 200", "\r\n\r\nok\n"},
      {"GET", "/readyz", "HTTP/1.1 200", "\r\n\r\nok\n"},
      {"GET", "/metrics", "HTTP/1.1 200", "\r\n\r\nsome 1\n"},
      {"HEAD", "/healthz", "HTTP/1.1 200", "\r\n\r\n"},
      {"GET", "/healthz?verbose", "HTTP/1.1 200", "ok\n"},
      {"GET", "/", "HTTP/1.1 404", "/healthz, /readyz or /metrics\n"},
      {"POST", "/healthz", "HTTP/1.1 405", "only GET and HEAD\n"},
  };
  state.publish({.listed = true, .slurm_answered = clock.now(), .metrics = "some 1\n"});
  for (const auto& c : cases) {
    const std::string answer = get(port, c.path, c.method);
    assert_memory_equal(answer.c_str(), c.status_line, strlen(c.status_line));
    assert_true(answer.ends_with(c.body));
  }
  assert_contains(get(port, "/metrics"), "Content-Type: text/plain; version=0.0.4");
  assert_null(strstr(talk(port, "nonsense\r\n\r\n").c_str(), "200"));
  clock.advance(seconds(100));
  assert_contains(get(port, "/healthz"), "HTTP/1.1 503");
}

// 127.0.0.2 stands for a job's pod that opens connections and says nothing.
void one_address_can_not_keep_others_out(void**) {
  SystemClock clock;
  AdminState state(clock);
  const auto server = start_admin_server("127.0.0.1:0", state);
  assert_true(server.ok());
  const int port = (*server)->port();
  std::vector<UniqueFd> held;
  for (int i = 0; i < 200; i++) held.push_back(connect_from("127.0.0.2", port));
  assert_contains(get(port, "/healthz"), "HTTP/1.1 200");
  // The fifth and later ones are closed at once; the others have their time, after which there is room again.
  std::string fifth = "not asked";
  for (int i = 0; i < 5 && !fifth.empty(); i++) {
    std::vector<UniqueFd> four;
    while (four.size() < 4) four.push_back(connect_from("127.0.0.3", port));
    fifth = talk(port, "GET /healthz HTTP/1.0\r\n\r\n", "127.0.0.3");
    if (fifth == "not sent") fifth.clear();
  }
  assert_text(fifth, "");
  char byte;
  assert_int_equal(recv(held.back().get(), &byte, 1, 0) > 0, 0);
}

// Pages are published while others are read: a sanitizer's business mostly.
void publishes_under_way(void**) {
  FakeClock clock;
  AdminState state(clock);
  std::atomic<bool> stop{false};
  std::atomic<bool> torn{false};
  std::thread reader([&] {
    while (!stop) {
      const std::string text = state.answer("/metrics").body;
      if (!text.empty() && text.find_first_not_of(text[0]) != std::string::npos) torn = true;
    }
  });
  for (int i = 0; i < 2000; i++) {
    state.publish({.metrics = std::string(100, static_cast<char>('a' + i % 26))});
    state.turned();
  }
  stop = true;
  reader.join();
  assert_false(torn);
}

void refuses_addresses(void**) {
  FakeClock clock;
  AdminState state(clock);
  for (const char* listen : {"9100", "nowhere.example:9100", "127.0.0.1:x"}) {
    const auto server = start_admin_server(listen, state);
    assert_false(server.ok());
    assert_int_equal(server.error().code(), Errc::invalid);
    assert_contains(server.error().message(), listen);
  }
  const auto other = start_admin_server("192.0.2.1:9100", state);  // not an address of this machine
  assert_false(other.ok());
  assert_int_equal(other.error().code(), Errc::unavailable);
  const auto any = start_admin_server(":0", state);
  assert_true(any.ok());
  assert_contains(get((*any)->port(), "/healthz"), "HTTP/1.1 200");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(says_healthy_while_the_loop_turns),
      SLURMK8S_TEST(says_ready_when_both_sides_are_there),
      SLURMK8S_TEST(asks_for_more_metrics_once_a_second),
      SLURMK8S_TEST(has_pages_of_slurms_state),
      SLURMK8S_TEST(serves),
      SLURMK8S_TEST(one_address_can_not_keep_others_out),
      SLURMK8S_TEST(publishes_under_way),
      SLURMK8S_TEST(refuses_addresses),
  };
  return cmocka_run_group_tests_name("sidecar_admin_http", tests, nullptr, nullptr);
}
