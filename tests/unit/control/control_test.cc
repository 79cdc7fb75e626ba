// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's socket, both ends for real: a server on its loop in a thread, and clients, good and bad.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "control/control.hpp"

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;

static std::atomic<int> umask_calls{0};

/** In the place of libc's. */
extern "C" mode_t umask(mode_t) noexcept {
  ++umask_calls;
  return 0;
}

static std::atomic<int> accept_calls{0};
static std::atomic<bool> lacks_descriptors{false};

/** In the place of libc's. */
extern "C" int accept4(int socket, sockaddr* address, socklen_t* size, int flags) {
  ++accept_calls;
  if (!lacks_descriptors) return static_cast<int>(syscall(SYS_accept4, socket, address, size, flags));
  errno = EMFILE;
  return -1;
}

namespace {

/** Echoes what it understood; refuses op "no". */
class Server {
 public:
  Server() {
    thread_ = std::thread([this] { run(); });
    while (!listening_) std::this_thread::yield();
  }
  ~Server() {
    stop_ = true;
    loop_->wake();
    thread_.join();
  }
  const std::string& path() const { return path_; }

 private:
  void run() {
    auto server = ControlServer::listen(path_, *loop_, [](const Json& message, ControlServer::Id) {
      Json answer = Json::object();
      if (message["op"].text() == "no") return answer.set("ok", Json::boolean(false)).set("error", "said no");
      return answer.set("ok", Json::boolean(true)).set("nodes", message["nodes"].clone());
    });
    listening_ = true;
    loop_->run([this] { return !stop_; });
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/engine.sock";
  const std::unique_ptr<EventLoop> loop_ = std::move(EventLoop::open()).value();
  std::atomic<bool> stop_{false};
  std::atomic<bool> listening_{false};
  std::thread thread_;
};

struct Fixture {
  Server server;
};

int set_up(void** state) {
  *state = new Fixture;
  return 0;
}
int tear_down(void** state) {
  delete static_cast<Fixture*>(*state);
  return 0;
}
const std::string& path_of(void** state) { return static_cast<Fixture*>(*state)->server.path(); }

constexpr std::chrono::seconds kPatience{5};

std::string call(const std::string& path, const Json& message) {
  const auto answer = control_call(path, message, kPatience);
  return answer ? answer->dump() : std::string(to_string(answer.error().code())) + ": " + answer.error().message();
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

UniqueFd connect_raw(const std::string& path) {
  sockaddr_un address = address_of(path);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return UniqueFd();
  return fd;
}

/** It does not listen yet. */
UniqueFd bind_raw(const std::string& path) {
  sockaddr_un address = address_of(path);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  assert_int_equal(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

std::string raw(const std::string& path, const std::string& bytes) {
  const UniqueFd fd = connect_raw(path);
  if (!fd) return "no connection";
  (void)!send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  shutdown(fd.get(), SHUT_WR);
  char buffer[4096];
  const ssize_t count = recv(fd.get(), buffer, sizeof buffer, 0);
  return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : "";
}

void answers(void** state) {
  assert_string_equal(call(path_of(state), encode_suspend({"c-0", "c-1"})).c_str(), R"({"ok":true,"nodes":"c-[0-1]"})");
  assert_string_equal(call(path_of(state), Json::object().set("op", "no")).c_str(), "invalid: said no");
}

void only_its_owner_may_write_to_it(void** state) {
  struct stat info {};
  assert_int_equal(stat(path_of(state).c_str(), &info), 0);
  assert_int_equal(info.st_mode & 0777, 0600);
}

/** slurmctld's other threads make files meanwhile. */
void the_process_keeps_its_umask(void**) { assert_int_equal(umask_calls, 0); }

void large_messages(void** state) {
  std::vector<std::string> nodes;
  for (int i = 0; i < 20000; ++i) nodes.push_back("n" + std::to_string(i * 3) + "x");  // no ranges: 150 kB
  const std::string answer = call(path_of(state), encode_suspend(nodes));
  assert_true(answer.size() > 100000 && answer.starts_with(R"({"ok":true)"));
}

void bad_clients_do_not_disturb_others(void** state) {
  const std::string& path = path_of(state);
  const UniqueFd silent = connect_raw(path);
  assert_true(static_cast<bool>(silent));
  assert_true(raw(path, "rubbish\n").find("not JSON") != std::string::npos);
  assert_string_equal(raw(path, "{\"op\":").c_str(), "");
  assert_string_equal(raw(path, "").c_str(), "");
  for (int i = 0; i < 200; ++i) (void)connect_raw(path);
  assert_string_equal(call(path, encode_suspend({"c-0"})).c_str(), R"({"ok":true,"nodes":"c-0"})");
}

/** Of a connection without an answer yet: whether the server has closed it. */
bool is_closed(const UniqueFd& fd) {
  char byte = 0;
  return recv(fd.get(), &byte, 1, MSG_DONTWAIT) == 0;
}

// The mode of the file keeps other users out. If it did not, the server would.
void other_users_get_no_answer(void** state) {
  if (geteuid() != 0) skip();
  const std::string& path = path_of(state);
  assert_int_equal(chmod(path.substr(0, path.rfind('/')).c_str(), 0711), 0);
  assert_int_equal(chmod(path.c_str(), 0666), 0);
  const std::string message = encode_suspend({"c-0"}).dump() + "\n";
  const pid_t child = fork();
  if (child == 0) {
    const bool other = setgid(65534) == 0 && setuid(65534) == 0;
    _exit(!other ? 2 : raw(path, message).empty() ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_string_equal(raw(path, message).c_str(), "{\"ok\":true,\"nodes\":\"c-0\"}\n");
}

void a_message_without_an_end_is_not_kept(void** state) {
  const UniqueFd fd = connect_raw(path_of(state));
  const std::string part(1u << 20, 'x');
  std::size_t sent = 0;
  // The server ends the connection: sending fails then.
  while (sent < 4 * kMaxControlMessage) {
    pollfd entry{fd.get(), POLLOUT, 0};
    if (poll(&entry, 1, 5000) != 1) break;
    const ssize_t count = send(fd.get(), part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) break;
    sent += static_cast<std::size_t>(count);
  }
  assert_in_range(sent, kMaxControlMessage, 2 * kMaxControlMessage);
}

/** A server that acts in turns of the test, by the test's clock. */
struct TurnedServer {
  TurnedServer() {
    auto handler = [this](const Json& message, ControlServer::Id connection) {
      last = connection;
      if (message["op"].text() == "stay") server->keep(connection);
      return Json::object().set("op", message["op"].text());
    };
    server = std::move(ControlServer::listen(path, *loop, handler)).value();
  }
  void turn() { loop->turn(std::chrono::milliseconds(0)); }
  UniqueFd connect() {
    UniqueFd fd = connect_raw(path);
    loop->turn(std::chrono::milliseconds(0));
    return fd;
  }
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/engine.sock";
  const std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  const std::unique_ptr<EventLoop> loop = std::move(EventLoop::open(clock)).value();
  std::unique_ptr<ControlServer> server;
  ControlServer::Id last = 0;  // connection that has said something
};

void put(const UniqueFd& fd, const std::string& text) {
  assert_int_equal(send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), text.size());
}
std::string take(const UniqueFd& fd) {
  char buffer[4096];
  const ssize_t count = recv(fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : count == 0 ? "closed" : "";
}

/** A slurmctld that ended while it began had taken the name over; a successor that lives keeps it. */
void the_name_comes_back(void**) {
  TurnedServer first;
  const auto look = [&first] {
    first.clock->advance(std::chrono::milliseconds(1000));
    first.turn();
  };
  const auto reaches_first = [&first] {
    const UniqueFd fd = first.connect();
    if (!fd) return false;
    put(fd, "{\"op\":\"stay\"}\n");
    first.turn();
    return take(fd) == "{\"op\":\"stay\"}\n";
  };
  unlink(first.path.c_str());
  UniqueFd second = bind_raw(first.path);
  look();  // it does not listen yet
  assert_int_equal(listen(second.get(), 8), 0);
  for (int i = 0; i < 3; ++i) look();
  assert_false(reaches_first());
  second.reset();
  look();
  assert_false(reaches_first());
  look();
  assert_true(reaches_first());
  assert_int_equal(unlink(first.path.c_str()), 0);
  look();
  look();
  assert_true(reaches_first());
}

/** The client stays in the listen queue. epoll reports the socket for as long as it is watched. */
void without_a_descriptor_it_waits(void**) {
  TurnedServer server;
  lacks_descriptors = true;
  const int before = accept_calls;
  const UniqueFd fd = server.connect();
  put(fd, "{\"op\":\"stay\"}\n");
  for (int i = 0; i < 5; ++i) server.turn();
  assert_int_equal(accept_calls - before, 1);
  lacks_descriptors = false;
  server.clock->advance(std::chrono::milliseconds(1000));
  for (int i = 0; i < 3; ++i) server.turn();
  assert_string_equal(take(fd).c_str(), "{\"op\":\"stay\"}\n");
}

void a_connection_that_is_kept(void**) {
  TurnedServer server;
  const UniqueFd fd = server.connect();
  put(fd, "{\"op\":\"stay\"}\n{\"op\":\"more\"}\n{\"op\"");
  server.turn();
  assert_string_equal(take(fd).c_str(), "{\"op\":\"stay\"}\n{\"op\":\"more\"}\n");
  server.clock->advance(std::chrono::milliseconds(60000));
  server.turn();
  put(fd, ":\"rest\"}\n");
  server.turn();
  assert_string_equal(take(fd).c_str(), "{\"op\":\"rest\"}\n");
  assert_true(server.server->push(server.last, Json::object().set("told", "x")));
  assert_string_equal(take(fd).c_str(), "{\"told\":\"x\"}\n");
  assert_false(server.server->push(server.last + 1, Json::object()));

  const UniqueFd other = server.connect();
  put(other, "{\"op\":\"once\"}\n{\"op\":\"more\"}\n");
  server.turn();
  assert_string_equal(take(other).c_str(), "{\"op\":\"once\"}\n");
  assert_string_equal(take(other).c_str(), "closed");
}

// slurmctld's memory is not the place for what a client doesn't read.
void a_client_that_does_not_read_is_dropped(void**) {
  TurnedServer server;
  const UniqueFd fd = server.connect();
  put(fd, "{\"op\":\"stay\"}\n");
  server.turn();
  const Json text = Json::object().set("told", std::string(10000, 'x'));
  int pushed = 0;
  while (pushed < 1000 && server.server->push(server.last, text)) ++pushed;
  assert_in_range(pushed, 5, 500);
  assert_false(server.server->push(server.last, Json::object()));
}

void a_silent_client_is_dropped(void**) {
  TurnedServer server;
  const UniqueFd fd = server.connect();
  server.clock->advance(std::chrono::milliseconds(9900));
  server.loop->turn(std::chrono::milliseconds(0));
  assert_false(is_closed(fd));
  server.clock->advance(std::chrono::milliseconds(200));
  server.loop->turn(std::chrono::milliseconds(0));
  assert_true(is_closed(fd));
}

/** Its program does the work itself by then: carried out later, an old request would undo a newer one. */
void a_client_that_gave_up_is_not_served(void**) {
  TurnedServer server;
  put(server.connect(), "{\"op\":\"suspend\"}\n");
  server.turn();
  assert_int_equal(server.last, 0);

  const UniqueFd half = server.connect();
  put(half, "{\"op\":\"once\"}\n");
  assert_int_equal(shutdown(half.get(), SHUT_WR), 0);
  server.turn();
  assert_string_equal(take(half).c_str(), "{\"op\":\"once\"}\n");
}

void connections_are_bounded(void**) {
  TurnedServer server;
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 64; ++i) clients.push_back(server.connect());
  for (const UniqueFd& client : clients) assert_false(is_closed(client));
  assert_true(is_closed(server.connect()));
  clients.pop_back();
  server.loop->turn(std::chrono::milliseconds(0));  // sees its end
  assert_false(is_closed(server.connect()));
}

void no_server(void**) {
  const auto answer = control_call("/nonexistent/engine.sock", encode_suspend({"c-0"}), kPatience);
  assert_false(answer.ok());
  assert_int_equal(static_cast<int>(answer.error().code()), static_cast<int>(Errc::unavailable));
  assert_true(answer.error().message().find("/nonexistent/engine.sock") != std::string::npos);
}

void a_server_that_takes_no_connections(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/engine.sock";
  const UniqueFd listener = bind_raw(path);
  assert_int_equal(listen(listener.get(), 0), 0);
  std::vector<UniqueFd> waiting;
  for (auto one = connect_control(path, SOCK_NONBLOCK); one.ok(); one = connect_control(path, SOCK_NONBLOCK))
    waiting.push_back(std::move(one).value());
  struct sigaction interrupt {};
  interrupt.sa_handler = [](int) {};
  sigaction(SIGALRM, &interrupt, nullptr);
  alarm(10);  // ends a connect() that waits
  const auto answer = control_call(path, encode_suspend({"c-0"}), std::chrono::milliseconds(200));
  alarm(0);
  assert_false(answer.ok());
  assert_true(answer.error().code() == Errc::timeout);
}

void requests_survive_the_way(void**) {
  ResumeRequest request;
  request.id = "4f";
  request.nodes = {"c-0", "c-2"};
  request.jobs["c-0"] = {12, 13};
  request.warning = "resume file x: truncated";
  const auto decoded = decode_resume(encode_resume(request));
  assert_true(decoded.ok());
  assert_string_equal(decoded->id.c_str(), "4f");
  assert_true(decoded->nodes == request.nodes && decoded->jobs == request.jobs && decoded->warning == request.warning);
}

void bad_requests_name_the_member(void**) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {R"({"op":"resume","nodes":"c-0"})", "id"},
      {R"({"op":"resume","id":7,"nodes":"c-0"})", "id"},
      {R"({"op":"resume","id":"x"})", "nodes"},
      {R"({"op":"resume","id":"x","nodes":["c-0"]})", "nodes"},
      {R"({"op":"resume","id":"x","nodes":"c-[0"})", "nodes"},
  };
  for (const auto& row : cases) {
    const auto decoded = decode_resume(*Json::parse(row.text));
    if (decoded.ok() || !decoded.error().message().starts_with(row.message)) fail_msg("%s", row.text);
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(answers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(only_its_owner_may_write_to_it, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_process_keeps_its_umask, set_up, tear_down),
      cmocka_unit_test_setup_teardown(large_messages, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bad_clients_do_not_disturb_others, set_up, tear_down),
      cmocka_unit_test_setup_teardown(other_users_get_no_answer, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_message_without_an_end_is_not_kept, set_up, tear_down),
      SLURMK8S_TEST(the_name_comes_back),
      SLURMK8S_TEST(without_a_descriptor_it_waits),
      SLURMK8S_TEST(a_connection_that_is_kept),
      SLURMK8S_TEST(a_client_that_does_not_read_is_dropped),
      SLURMK8S_TEST(a_silent_client_is_dropped),
      SLURMK8S_TEST(a_client_that_gave_up_is_not_served),
      SLURMK8S_TEST(connections_are_bounded),
      SLURMK8S_TEST(no_server),
      SLURMK8S_TEST(a_server_that_takes_no_connections),
      SLURMK8S_TEST(requests_survive_the_way),
      SLURMK8S_TEST(bad_requests_name_the_member),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
