// SPDX-License-Identifier: GPL-2.0-or-later
// http/curl_transport on plain HTTP: what is sent, what each fault becomes, streams, limits, cancelling. TLS and tokens
// against an API server are the contract's (tests/contract); options: curl_options_test.
#include "http/curl_transport.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "support/scripted_server.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr auto kDeadline = seconds(20);  // of what should take milliseconds, on a loaded machine

/** Counts how many requests are at the server at once. */
struct Gate {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<bool> open{false};

  void pass() {
    const int now = ++inside;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    const auto deadline = steady_clock::now() + kDeadline;
    while (!open && steady_clock::now() < deadline) std::this_thread::sleep_for(milliseconds(1));
    --inside;
  }
};

constexpr milliseconds kPace(300);  // of a slow server

/** A scripted server, a transport to it, and what came back. Torn down by the fixture, also after a failed test. */
struct World {
  Gate gate;                   // for handlers: they run until the server has gone
  Locked<std::string> script;  // the same
  std::atomic<milliseconds> pace{kPace};
  std::unique_ptr<ScriptedServer> server;
  std::unique_ptr<EventLoop> loop = std::move(EventLoop::open()).value();
  std::unique_ptr<Transport> transport;
  std::vector<std::string> results;  // "200 body" or "code: message"
  std::vector<std::string> lines;

  void start(ScriptedServer::Handler handler, CurlOptions options = {}) {
    server = std::make_unique<ScriptedServer>(std::move(handler));
    if (options.base_url.empty()) options.base_url = server->url();
    auto made = make_curl_transport(*loop, std::move(options));
    assert_ok(made);
    transport = std::move(made).value();
  }

  OnResponse keep() {
    return [this](Result<Response> result) { results.push_back(text_of(result)); };
  }
  OnLine keep_line() {
    return [this](std::string_view line) { lines.emplace_back(line); };
  }
  static std::string text_of(const Result<Response>& result) {
    if (result.ok()) return std::to_string(result->status) + " " + result->body;
    return std::string(to_string(result.error().code())) + ": " + result.error().message();
  }

  void run_until(const std::function<bool()>& done) {
    const auto deadline = steady_clock::now() + kDeadline;
    while (!done()) {
      assert_true(steady_clock::now() < deadline);
      loop->turn(milliseconds(100));
    }
  }
  /** Sends and waits for the answer. */
  std::string get(const std::string& target = "/x", milliseconds timeout = seconds(10)) {
    const std::size_t before = results.size();
    transport->send({.target = target, .timeout = timeout}, keep());
    run_until([&] { return results.size() > before; });
    return results.back();
  }
  /** Streams and waits for the end; returns "<line>…" and the result. */
  std::string stream(milliseconds silence = seconds(10)) {
    lines.clear();
    const std::size_t before = results.size();
    transport->stream({.target = "/s", .timeout = silence}, keep_line(), keep());
    run_until([&] { return results.size() > before; });
    std::string seen;
    for (const auto& line : lines) seen += "<" + line + ">";
    return seen + " " + results.back();
  }
};

int make_world(void** state) {
  *state = new World;
  return 0;
}

int remove_world(void** state) {
  auto* world = static_cast<World*>(*state);
  world->transport.reset();  // before what its callbacks refer to
  delete world;
  return 0;
}

World& world_of(void** state) { return *static_cast<World*>(*state); }

bool has_line(const std::string& request, const std::string& line) {
  return request.find("\r\n" + line + "\r\n") != std::string::npos;
}

// ---- requests and answers -------------------------------------------------------------------------------------------

void requests_on_the_wire(void** state) {
  World& world = world_of(state);
  CurlOptions options;
  options.user_agent = "agent/1";
  options.bearer_token = [] { return Result<std::string>("secret"); };
  world.start([](const std::string&, int fd) { return ScriptedServer::answer(fd, 200, "ok"); }, options);
  const struct {
    const char* method;
    std::string body;
  } cases[] = {{"GET", ""},      {"POST", "{\"a\":1}"}, {"PUT", "x"}, {"PATCH", std::string(200000, 'p')},
               {"DELETE", "{}"}, {"DELETE", ""},        {"POST", ""}};
  for (const auto& c : cases) {
    world.transport->send({.method = c.method, .target = "/a/../b%20?c=d&e", .body = c.body, .content_type = "t/u"},
                          world.keep());
    const std::size_t wanted = world.results.size() + 1;
    world.run_until([&] { return world.results.size() == wanted; });
    const std::string request = world.server->requests().back();
    assert_true(request.starts_with(std::string(c.method) + " /a/../b%20?c=d&e HTTP/1.1\r\n"));
    assert_true(has_line(request, "Authorization: Bearer secret"));
    assert_true(has_line(request, "User-Agent: agent/1"));
    assert_true(has_line(request, "Accept: application/json"));
    assert_int_equal(has_line(request, "Content-Type: t/u"), !c.body.empty());
    assert_true(request.find("Expect") == std::string::npos);
    assert_true(request.ends_with("\r\n\r\n" + c.body));
    assert_text(world.results.back(), "200 ok");
  }
}

void answers_of_any_status(void** state) {
  World& world = world_of(state);
  world.start([](const std::string& request, int fd) {
    const int status = std::stoi(request.substr(5, 3));
    return ScriptedServer::answer(fd, status, status == 204 ? "" : "body",
                                  status == 302 ? "Location: http://127.0.0.1:1/\r\n" : "");
  });
  for (const int status : {200, 201, 302, 400, 404, 409, 422, 500, 503}) {
    assert_text(world.get(format("/%d", status)), format("%d body", status));
  }
  assert_int_equal(world.server->connections(), 1);  // kept alive
}

void retry_after(void** state) {
  World& world = world_of(state);
  world.start([](const std::string& request, int fd) {
    return ScriptedServer::answer(fd, 429, "", request.starts_with("GET /with ") ? "Retry-After: 7\r\n" : "");
  });
  std::vector<std::optional<seconds>> waits;
  const auto keep = [&](Result<Response> result) { waits.push_back(result->retry_after); };
  world.transport->send({.target = "/with"}, keep);
  world.run_until([&] { return waits.size() == 1; });
  world.transport->send({.target = "/without"}, keep);
  world.run_until([&] { return waits.size() == 2; });
  assert_int_equal(waits[0]->count(), 7);
  assert_false(waits[1].has_value());
}

void large_bodies(void** state) {
  World& world = world_of(state);
  const std::string large(3000000, 'x');
  world.start([large](const std::string&, int fd) {
    ScriptedServer::start_chunked(fd);
    for (std::size_t i = 0; i < large.size(); i += 70000) ScriptedServer::chunk(fd, large.substr(i, 70000));
    return ScriptedServer::end_chunked(fd);
  });
  assert_true(world.get() == "200 " + large);
}

void a_token_is_asked_for_each_request(void** state) {
  World& world = world_of(state);
  int asked = 0;
  int refused = 0;
  CurlOptions options;
  options.bearer_token = [&]() -> Result<std::string> {
    ++asked;
    if (asked == 3) return Error(Errc::unauthorized, "token: /x: empty");
    if (asked == 4) return std::string("bad\r\nHost: evil");
    return "token-" + std::to_string(asked);
  };
  options.token_refused = [&] { ++refused; };
  world.start(
      [](const std::string& request, int fd) {
        return ScriptedServer::answer(fd, has_line(request, "Authorization: Bearer token-2") ? 401 : 200, "");
      },
      options);
  assert_text(world.get(), "200 ");
  assert_int_equal(refused, 0);
  assert_text(world.get(), "401 ");
  assert_int_equal(refused, 1);
  assert_contains(world.get(), "unauthorized: " + world.server->url() + ": token: /x: empty");
  assert_contains(world.get(), "unauthorized: ");
  assert_int_equal(world.server->requests().size(), 2);  // nothing was sent without a good token
  assert_text(world.get(), "200 ");
}

// ---- faults ---------------------------------------------------------------------------------------------------------

void faults_of_send(void** state) {
  const struct {
    const char* bytes;  // the server's answer, then it closes
    const char* expected;
  } cases[] = {
      {"", "unavailable: "},
      {"HTTP/1.1 200 X\r\nContent-Length: 10\r\n\r\nabc", "unavailable: "},
      {"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "unavailable: "},
      {"HTTP/1.1 200 X\r\nContent-Le", "unavailable: "},
      {"garbage\r\n\r\n", "protocol: "},
      {"220 mail.example.org ESMTP\r\n", "protocol: "},
      {"HTTP/1.1 200 X\r\nContent-Length: abc\r\n\r\n", "protocol: "},
      {"HTTP/1.1 200 X\r\nContent-Length: 2000\r\n\r\n", "unavailable: "},
  };
  World& world = world_of(state);
  world.start([&world](const std::string&, int fd) {
    ScriptedServer::write(fd, *world.script.lock());
    return false;
  });
  for (const auto& c : cases) {
    *world.script.lock() = c.bytes;
    const std::string result = world.get();
    if (!result.starts_with(c.expected)) fail_msg("%s: %s", c.bytes, result.c_str());
    assert_contains(result, world.server->url());  // says which server
  }
}

void nobody_listens(void** state) {
  World& world = world_of(state);
  CurlOptions options;
  options.base_url = "http://127.0.0.1:1";
  world.start([](const std::string&, int) { return false; }, options);
  assert_contains(world.get(), "unavailable: http://127.0.0.1:1: ");
  assert_contains(world.stream(), " unavailable: http://127.0.0.1:1: ");
}

void a_name_is_looked_up(void** state) {
  World& world = world_of(state);
  world.start([](const std::string&, int fd) { return ScriptedServer::answer(fd, 200, "found"); });
  CurlOptions options;
  options.base_url = world.server->url();
  options.base_url.replace(options.base_url.find("127.0.0.1"), 9, "localhost");
  auto made = make_curl_transport(*world.loop, std::move(options));
  assert_ok(made);
  world.transport = std::move(made).value();
  assert_text(world.get(), "200 found");
}

void no_answer_in_time(void** state) {
  World& world = world_of(state);
  world.start([](const std::string&, int fd) {
    char byte = 0;
    return ::recv(fd, &byte, 1, 0) > 0;  // until the client gives up
  });
  const auto begin = steady_clock::now();
  assert_contains(world.get("/x", milliseconds(200)), "timeout: ");
  assert_true(steady_clock::now() - begin >= milliseconds(190));  // libcurl's clock has whole milliseconds, and rounds
}

void a_body_over_the_cap(void** state) {
  World& world = world_of(state);
  CurlOptions options;
  options.max_body = 1000;
  world.start(
      [](const std::string& request, int fd) {
        return ScriptedServer::answer(fd, request.starts_with("GET /s") ? 500 : 200,
                                      std::string(request.starts_with("GET /fits") ? 1000 : 1001, 'x'));
      },
      options);
  assert_text(world.get("/fits"), "200 " + std::string(1000, 'x'));
  assert_contains(world.get("/over"), "protocol: " + world.server->url() + ": a response of more than 1000 bytes");
  assert_contains(world.stream(), "a response of more than 1000 bytes");  // of a refused stream as well
  assert_text(world.get("/fits"), "200 " + std::string(1000, 'x'));
}

void the_cap_is_for_all_pieces_of_a_body(void** state) {
  World& world = world_of(state);
  CurlOptions options;
  options.max_body = 300000;
  world.start(
      [](const std::string& request, int fd) {
        return ScriptedServer::answer(fd, 200, std::string(request.starts_with("GET /fits") ? 300000 : 400000, 'x'));
      },
      options);
  assert_text(world.get("/fits"), "200 " + std::string(300000, 'x'));
  assert_contains(world.get("/over"), "a response of more than 300000 bytes");
}

void bad_targets_are_not_sent(void** state) {
  World& world = world_of(state);
  world.start([](const std::string&, int fd) { return ScriptedServer::answer(fd, 200, ""); });
  for (const char* target : {"", "x", "http://evil/", "/a b", "/a\r\nHost: evil", "/\x7f"}) {
    assert_contains(world.get(target), "invalid: ");
  }
  assert_int_equal(world.server->requests().size(), 0);
}

void proxies_of_the_environment_are_not_used(void** state) {
  World& world = world_of(state);
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"}) {
    ::setenv(name, "http://127.0.0.1:1", 1);
  }
  world.start([](const std::string&, int fd) { return ScriptedServer::answer(fd, 200, "direct"); });
  const std::string result = world.get();
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
  assert_text(result, "200 direct");
}

// ---- streams --------------------------------------------------------------------------------------------------------

void a_stream_at_every_split_point(void** state) {
  World& world = world_of(state);
  const std::string text = "{\"a\":1}\n\nsecond \xc3\xa4\nthird\n";
  world.start([&world](const std::string&, int fd) {
    const std::string script = *world.script.lock();
    const std::size_t split = script.find('|');
    ScriptedServer::start_chunked(fd);
    if (split > 0) ScriptedServer::chunk(fd, script.substr(0, split));
    if (split + 1 < script.size()) ScriptedServer::chunk(fd, script.substr(split + 1));
    return ScriptedServer::end_chunked(fd);
  });
  for (std::size_t split = 0; split <= text.size(); ++split) {
    *world.script.lock() = std::string(text).insert(split, "|");
    assert_text(world.stream(), "<><{\"a\":1}><second \xc3\xa4><third> 200 ");
  }
}

void how_streams_end(void** state) {
  const struct {
    const char* bytes;
    const char* expected;
  } cases[] = {
      {"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na\nb\n\r\n0\r\n\r\n", "<><a><b> 200 "},
      {"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n0\r\n\r\n",
       "<><a> protocol: "},  // no last newline
      {"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na\nb\n\r\n", "<><a><b> unavailable: "},  // cut between
      {"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n9\r\na\nb", "<><a> unavailable: "},           // cut within
      {"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "<> "},
      {"HTTP/1.1 410 X\r\nContent-Length: 5\r\n\r\na\nb\nc", " 410 a\nb\nc"},  // an error's body is no line
      {"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", " 500 "},
      {"", " unavailable: "},
  };
  World& world = world_of(state);
  world.start([&world](const std::string&, int fd) {
    ScriptedServer::write(fd, *world.script.lock());
    return false;
  });
  for (const auto& c : cases) {
    *world.script.lock() = c.bytes;
    const std::string seen = world.stream();
    if (!seen.starts_with(c.expected)) fail_msg("%s: got %s", c.bytes, seen.c_str());
  }
}

void a_line_over_the_cap(void** state) {
  World& world = world_of(state);
  CurlOptions options;
  options.max_line = 100;
  world.start(
      [](const std::string&, int fd) {
        ScriptedServer::start_chunked(fd);
        ScriptedServer::chunk(fd, std::string(100, 'x') + "\nshort\n");
        ScriptedServer::chunk(fd, std::string(101, 'y'));
        char byte = 0;
        return ::recv(fd, &byte, 1, 0) > 0;
      },
      options);
  assert_contains(world.stream(), "<" + std::string(100, 'x') + "><short> protocol: ");
  assert_contains(world.results.back(), "a line of more than 100 bytes");
}

void silence_ends_a_stream(void** state) {
  World& world = world_of(state);
  world.start([](const std::string&, int fd) {
    ScriptedServer::start_chunked(fd);
    ScriptedServer::chunk(fd, "a\n");
    char byte = 0;
    return ::recv(fd, &byte, 1, 0) > 0;
  });
  const auto begin = steady_clock::now();
  milliseconds silence(300);
  std::string seen = world.stream(silence);
  // A busy machine lets the server wait: its line gets longer to come.
  while (world.lines.size() < 2 && silence < seconds(4)) seen = world.stream(silence *= 4);
  assert_contains(seen, "<><a> timeout: ");
  assert_contains(world.results.back(), "nothing heard for " + std::to_string(silence.count()) + " ms");
  assert_true(steady_clock::now() - begin >= silence);
}

void a_slow_stream_is_not_silent(void** state) {
  World& world = world_of(state);
  world.start([&world](const std::string&, int fd) {
    const milliseconds pace = world.pace;
    ScriptedServer::start_chunked(fd);
    for (int i = 0; i < 15; ++i) {
      std::this_thread::sleep_for(pace);  // the pace is what is tested
      ScriptedServer::chunk(fd, i % 5 == 4 ? "\n" : "x");
    }
    return ScriptedServer::end_chunked(fd);
  });
  // Far longer than the pace, and shorter than all of it.
  std::string seen = world.stream(seconds(4));
  if (!seen.ends_with(" 200 ")) {  // this process may get no processor for seconds
    world.pace = 3 * kPace;
    seen = world.stream(seconds(12));
  }
  assert_text(seen, "<><xxxx><xxxx><xxxx> 200 ");
}

// ---- limits ---------------------------------------------------------------------------------------------------------

void sends_wait_for_a_connection_and_streams_do_not(void** state) {
  World& world = world_of(state);
  Gate& gate = world.gate;
  CurlOptions options;
  options.max_connections = 3;
  world.start(
      [&](const std::string& request, int fd) {
        if (request.starts_with("GET /s")) {
          ScriptedServer::start_chunked(fd);
          ScriptedServer::chunk(fd, "event\n");
          return ScriptedServer::end_chunked(fd);
        }
        gate.pass();
        return ScriptedServer::answer(fd, 200, "");
      },
      options);
  for (int i = 0; i < 20; ++i) world.transport->send({.target = "/x"}, world.keep());
  world.run_until([&] { return gate.inside == 3; });
  assert_text(world.stream(), "<><event> 200 ");  // while all connections of sends are taken
  gate.open = true;
  world.run_until([&] { return world.results.size() == 21; });
  for (const auto& result : world.results) assert_text(result, "200 ");
  assert_int_equal(gate.most, 3);
  assert_in_range(world.server->connections(), 3, 5);
}

void waiting_is_not_part_of_the_timeout(void** state) {
  World& world = world_of(state);
  CurlOptions options;
  options.max_connections = 1;
  world.start(
      [&](const std::string&, int fd) {
        std::this_thread::sleep_for(world.pace.load());
        return ScriptedServer::answer(fd, 200, "");
      },
      options);
  const auto all_are_answered = [&](seconds timeout) {
    world.results.clear();
    for (int i = 0; i < 15; ++i) world.transport->send({.target = "/x", .timeout = timeout}, world.keep());
    world.run_until([&] { return world.results.size() == 15; });
    return std::ranges::count(world.results, "200 ") == 15;
  };
  if (all_are_answered(seconds(4))) return;  // 4.5 s in all
  world.pace = 3 * kPace;                    // this process may get no processor for seconds
  assert_true(all_are_answered(seconds(12)));
}

// ---- cancelling and callbacks ---------------------------------------------------------------------------------------

void cancelled_requests_are_silent(void** state) {
  World& world = world_of(state);
  CurlOptions options;
  options.max_connections = 1;
  Gate& gate = world.gate;
  world.start(
      [&](const std::string&, int fd) {
        gate.pass();
        return ScriptedServer::answer(fd, 200, "");
      },
      options);
  const RequestId flying = world.transport->send({.target = "/flying"}, world.keep());
  const RequestId waiting = world.transport->send({.target = "/waiting"}, world.keep());
  const RequestId streaming = world.transport->stream({.target = "/s"}, world.keep_line(), world.keep());
  const RequestId bad = world.transport->send({.target = "bad"}, world.keep());
  world.run_until([&] { return gate.inside == 2; });
  for (const RequestId id : {flying, waiting, streaming, bad, flying, RequestId{0}, RequestId{999}}) {
    world.transport->cancel(id);
  }
  gate.open = true;
  assert_text(world.get(), "200 ");
  assert_int_equal(world.results.size(), 1);
  assert_int_equal(world.lines.size(), 0);
}

// For the thread sanitizer: libcurl closes a socket that is still connecting, and says so after that. The number may be
// another thread's by then, in our epoll_ctl().
void cancelled_while_they_connect(void** state) {
  World& world = world_of(state);
  world.start([](const std::string&, int fd) { return ScriptedServer::answer(fd, 200, ""); });
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
      const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (fd >= 0) ::close(fd);
    }
  });
  for (int round = 0; round < 20; ++round) {
    std::vector<RequestId> ids;
    for (int i = 0; i < 20; ++i) ids.push_back(world.transport->send({.target = "/x"}, world.keep()));
    world.loop->turn(milliseconds(0));
    for (const RequestId id : ids) world.transport->cancel(id);
  }
  over = true;
  other.join();
  world.results.clear();
  assert_text(world.get(), "200 ");
}

void cancel_from_a_line(void** state) {
  World& world = world_of(state);
  world.start([](const std::string& request, int fd) {
    if (!request.starts_with("GET /s")) return ScriptedServer::answer(fd, 200, "");
    ScriptedServer::start_chunked(fd);
    ScriptedServer::chunk(fd, "one\ntwo\nthree\n");
    return ScriptedServer::end_chunked(fd);
  });
  for (const std::string_view at : {"", "one", "two", "three"}) {
    world.lines.clear();
    world.results.clear();
    RequestId id = 0;
    bool cancelled = false;
    id = world.transport->stream(
        {.target = "/s"},
        [&](std::string_view line) {
          world.lines.emplace_back(line);
          if (line != at) return;
          world.transport->cancel(id);
          cancelled = true;
        },
        world.keep());
    world.run_until([&] { return cancelled; });
    assert_text(world.get(), "200 ");  // time for what should not come
    assert_text(world.lines.back(), at);
    assert_int_equal(world.results.size(), 1);
  }
}

void callbacks_start_and_cancel_others(void** state) {
  World& world = world_of(state);
  world.start([](const std::string&, int fd) { return ScriptedServer::answer(fd, 200, ""); });
  int started = 0;
  std::function<void()> next = [&] {
    if (++started == 50) return;
    world.transport->send({.target = "/x"}, [&](Result<Response> result) {
      world.results.push_back(World::text_of(result));
      next();
    });
  };
  next();
  world.run_until([&] { return started == 50; });
  assert_int_equal(world.results.size(), 49);

  // Of a hundred that finish about together, the first to finish cancels all others.
  std::vector<RequestId> ids;
  int heard = 0;
  for (int i = 0; i < 100; ++i) {
    ids.push_back(world.transport->send({.target = "/x"}, [&](Result<Response>) {
      ++heard;
      for (const RequestId id : ids) world.transport->cancel(id);
    }));
  }
  world.run_until([&] { return heard > 0; });
  assert_text(world.get(), "200 ");
  assert_int_equal(heard, 1);
}

void destroyed_with_requests_under_way(void** state) {
  World& world = world_of(state);
  Gate& gate = world.gate;
  world.start([&](const std::string&, int fd) {
    gate.pass();
    return ScriptedServer::answer(fd, 200, "");
  });
  for (int i = 0; i < 30; ++i) world.transport->send({.target = "/x"}, world.keep());
  world.transport->stream({.target = "/s"}, world.keep_line(), world.keep());
  world.run_until([&] { return gate.inside > 10; });
  world.transport.reset();
  gate.open = true;
  assert_int_equal(world.results.size(), 0);
}

}  // namespace
}  // namespace slurmk8s::http

#define WORLD_TEST(fn) SLURMK8S_TEST_WITH(fn, make_world, remove_world)

int main() {
  using namespace slurmk8s::http;
  using namespace slurmk8s;
  if (!curl_global_setup().ok()) return 1;
  const CMUnitTest tests[] = {
      WORLD_TEST(requests_on_the_wire),
      WORLD_TEST(answers_of_any_status),
      WORLD_TEST(retry_after),
      WORLD_TEST(large_bodies),
      WORLD_TEST(a_token_is_asked_for_each_request),
      WORLD_TEST(faults_of_send),
      WORLD_TEST(nobody_listens),
      WORLD_TEST(a_name_is_looked_up),
      WORLD_TEST(no_answer_in_time),
      WORLD_TEST(a_body_over_the_cap),
      WORLD_TEST(the_cap_is_for_all_pieces_of_a_body),
      WORLD_TEST(bad_targets_are_not_sent),
      WORLD_TEST(proxies_of_the_environment_are_not_used),
      WORLD_TEST(a_stream_at_every_split_point),
      WORLD_TEST(how_streams_end),
      WORLD_TEST(a_line_over_the_cap),
      WORLD_TEST(silence_ends_a_stream),
      WORLD_TEST(a_slow_stream_is_not_silent),
      WORLD_TEST(sends_wait_for_a_connection_and_streams_do_not),
      WORLD_TEST(waiting_is_not_part_of_the_timeout),
      WORLD_TEST(cancelled_requests_are_silent),
      WORLD_TEST(cancelled_while_they_connect),
      WORLD_TEST(cancel_from_a_line),
      WORLD_TEST(callbacks_start_and_cancel_others),
      WORLD_TEST(destroyed_with_requests_under_way),
  };
  const int failed = cmocka_run_group_tests_name("http_curl_transport", tests, nullptr, nullptr);
  curl_global_teardown();
  return failed;
}
