// SPDX-License-Identifier: GPL-2.0-or-later
// What we do when the API server, the network or a certificate misbehaves. Only the fake can be told to
// (fake_apiserver/faults.py); run it by faults_on_fake.sh.
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>

#include "base/file.hpp"
#include "base/log.hpp"
#include "base/unique_fd.hpp"
#include "contract/session.hpp"
#include "engine/engine.hpp"
#include "kube/reflector.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s::contract {
namespace {

using kube::kPods;

std::unique_ptr<Session> fate;     // plays fate, and looks at what the server has: meets no fault
std::unique_ptr<Session> session;  // the one under test

// ---- fate -----------------------------------------------------------------------------------------------------------

Json tell(const std::string& what, const Json& body, const char* method = "POST") {
  auto answer = fate->send({.method = method, .target = "/_fake/" + what, .body = body.is_null() ? "" : body.dump()});
  assert_ok(answer);
  assert_int_equal(answer->status, 200);
  return Json::parse(answer->body).value();
}

void fault(const char* text) {
  auto body = Json::parse(text);
  assert_ok(body);
  tell("faults", *body);
}

std::string user_agent;  // of `session`, another one for each test

/** Only for `session`: a request of the last test may still be on its way to the server. */
void fault_for_session(const char* text) {
  auto body = Json::parse(text);
  assert_ok(body);
  tell("faults", body->set("client", user_agent));
}

std::int64_t count(const char* what) { return tell("stats", Json(), "GET")[what].integer_or(0); }

void make_pod(const std::string& name) { assert_ok(fate->create(kPods, name_space(), pod(name))); }

std::string list_version() {
  const auto pods = fate->list(kPods, name_space(), {.limit = 1});
  assert_ok(pods);
  return meta(*pods, "resourceVersion");
}

http::Request get_pods(std::chrono::milliseconds timeout = 30s) {
  return {.target = kube::resource_path(kPods, name_space()), .timeout = timeout};
}

std::string in_folder(const char* file) { return environment("SLURM_K8S_CONTRACT_FOLDER", ".") + "/" + file; }

kube::Config config() {
  auto loaded = kube::load_kubeconfig(kubeconfig_path());
  assert_ok(loaded);
  return *loaded;
}

std::string content(const char* file) {
  auto read = read_file(in_folder(file), 1u << 20);
  assert_ok(read);
  return *read;
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  assert_non_null(file);
  std::fputs(text.c_str(), file);
  std::fclose(file);
}

/** What a list of pods says to a client of this configuration. */
Result<Json> list_as(const kube::Config& other) {
  auto opened = Session::open(other);
  assert_ok(opened);
  return (*opened)->list(kPods, name_space());
}

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
  const auto begun = std::chrono::steady_clock::now();
  fault(R"({"path":"/pods","action":"hang"})");
  assert_error(session->send(get_pods(700ms)), Errc::timeout, "");
  fault(R"({"path":"/pods","action":"headers","delay_ms":50})");
  assert_error(session->send(get_pods(700ms)), Errc::timeout, "");
  fault(R"({"path":"/pods","action":"slow","piece":1,"delay_ms":50})");
  assert_error(session->send(get_pods(700ms)), Errc::timeout, "");
  assert_true(std::chrono::steady_clock::now() - begun < 20s);
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
  kube::Config nobody = config();
  nobody.server = "https://127.0.0.1:1";
  assert_error(list_as(nobody), Errc::unavailable, "https://127.0.0.1:1");
  nobody.server = "https://no-such-host.invalid";
  assert_error(list_as(nobody), Errc::unavailable, "no-such-host.invalid");
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

// ---- watches --------------------------------------------------------------------------------------------------------

void a_watch_in_small_pieces_is_whole(void**) {
  fault_for_session(R"({"path":"watch=true","action":"slow","piece":1,"delay_ms":0})");
  const auto watch = session->watch(kPods, name_space(), {.resource_version = list_version()});
  make_pod("one");
  make_pod("two");
  assert_true(session->run_until([&] { return watch->events.size() >= 2; }));
  assert_text(watch->text(), "added one, added two");
  session->client().cancel(watch->id);
}

void half_a_line_is_no_event(void**) {
  const std::string version = list_version();
  make_pod("one");
  make_pod("two");
  const auto whole = session->watch(kPods, name_space(), {.resource_version = version});
  assert_true(session->run_until([&] { return whole->events.size() == 2; }));
  session->client().cancel(whole->id);
  Json event;
  event.set("type", "ADDED").set("object", whole->events[0].second);
  const auto line = static_cast<int>(event.dump().size());  // about: the server writes blanks, too
  for (const int bytes : {0, 1, line / 2, line + line / 2}) {
    tell("faults", Json::parse(format(R"({"path":"watch=true","action":"cut","bytes":%d})", bytes)).value());
    const auto watch = session->watch(kPods, name_space(), {.resource_version = version});
    assert_true(session->run_until([&] { return watch->end.has_value(); }));
    assert_error(*watch->end, Errc::unavailable, "");
    assert_text(watch->text(), bytes > line ? "added one" : "");
  }
}

void bad_events_end_the_watch(void**) {
  const struct {
    const char* line;
    Errc code;
    const char* message;
  } cases[] = {
      {R"({\"type\":\"ADDED\"\n)", Errc::protocol, "JSON"},
      {R"(nonsense\n)", Errc::protocol, "JSON"},
      {R"({\"type\":\"WHAT\",\"object\":{}}\n)", Errc::protocol, "type"},
      {R"({\"type\":\"ADDED\",\"object\":[]}\n)", Errc::protocol, ""},
      {R"({\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}}\n)", Errc::gone,
       "too old"},
      {R"({\"type\":\"ERROR\",\"object\":{\"code\":500,\"message\":\"storage\"}}\n)", Errc::unavailable, "storage"},
      {R"({\"type\":\"ADDED\",\"object\":{}})", Errc::protocol, "line"},  // no newline behind it
  };
  for (const auto& c : cases) {
    fault(format(R"({"path":"watch=true","action":"status","code":200,"body":"%s"})", c.line).c_str());
    const auto watch = session->watch(kPods, name_space(), {.resource_version = "1"});
    assert_true(session->run_until([&] { return watch->end.has_value(); }));
    assert_error(*watch->end, c.code, c.message);
    assert_text(watch->text(), "");
  }
}

void a_silent_stream_is_dead(void**) {
  std::optional<Result<http::Response>> end;
  int lines = 0;
  fault_for_session(R"({"path":"watch=true","action":"hang"})");
  session->transport().stream(
      {.target = kube::resource_path(kPods, name_space()) + "?watch=true", .timeout = 500ms},
      [&lines](std::string_view) { ++lines; }, [&end](Result<http::Response> response) { end = std::move(response); });
  assert_true(session->run_until([&] { return end.has_value(); }, 10s));
  assert_error(*end, Errc::timeout, "");
  assert_int_equal(lines, 0);
}

// ---- reflector ------------------------------------------------------------------------------------------------------

/** A Reflector and what it has told: names with their number of upserts. */
struct Follower {
  SystemClock clock;
  Timers timers{clock};
  std::map<std::string, int> upserts;
  std::map<std::string, std::string> there;  // name -> uid
  int removals = 0;
  bool synced = false;
  std::unique_ptr<kube::Reflector> reflector = std::make_unique<kube::Reflector>(
      session->client(), timers, clock, kube::ReflectorOptions{.resource = kPods, .name_space = name_space()},
      kube::ReflectorListener{.upsert =
                                  [this](const Json& object) {
                                    ++upserts[meta(object, "name")];
                                    there[meta(object, "name")] = meta(object, "uid");
                                  },
                              .remove =
                                  [this](const kube::ObjectKey& key, const std::string& uid, const Json&) {
                                    ++removals;
                                    assert_text(there[key.name], uid);
                                    there.erase(key.name);
                                  },
                              .synced = [this] { synced = true; }});

  Follower() { reflector->start(); }

  template <typename Done>
  bool run_until(Done done) {
    return session->run_until([&] {
      timers.run_due();
      return done();
    });
  }
  /** Runs until it has told what the server has. */
  bool catches_up() {
    const auto pods = fate->list(kPods, name_space(), {.limit = 0});
    assert_ok(pods);
    std::map<std::string, std::string> expected;
    (*pods)["items"].each([&](const Json& item) { expected[meta(item, "name")] = meta(item, "uid"); });
    return run_until([&] { return synced && there == expected; });
  }
};

void it_follows_through_cuts(void**) {
  make_pod("one");
  Follower follower;
  assert_true(follower.catches_up());
  tell("stats", Json(), "DELETE");
  for (const int bytes : {0, 10, 400, 900, 1300}) {
    tell("faults", Json::parse(format(R"({"path":"watch=true","action":"cut","bytes":%d})", bytes)).value());
  }
  fault_for_session(R"({"path":"watch=true","action":"status","code":500,"body":""})");
  for (int i = 0; i < 12; ++i) {
    make_pod(format("p-%d", i));
    assert_true(follower.catches_up());
  }
  assert_ok(fate->remove(kPods, name_space(), "one"));
  assert_true(follower.catches_up());
  for (const auto& [name, upserts] : follower.upserts) {
    assert_true(upserts == 1 || name == "one");  // each once, cuts or not ("one" also with its last breath)
  }
  assert_int_equal(follower.removals, 1);
}

void it_follows_when_every_watch_is_cut(void**) {
  fault_for_session(R"({"path":"watch=true","action":"cut","bytes":700,"times":0})");
  Follower follower;
  for (int i = 0; i < 6; ++i) {
    make_pod(format("p-%d", i));
    assert_true(follower.catches_up());
    if (i % 2 == 0) assert_ok(fate->remove(kPods, name_space(), format("p-%d", i)));
  }
  assert_true(follower.catches_up());
  assert_int_equal(follower.there.size(), 3);
}

void it_lists_again_when_its_version_is_gone(void**) {
  make_pod("stays");
  make_pod("goes");
  make_pod("again");
  Follower follower;
  assert_true(follower.catches_up());
  // While the watch can't come back, the history is lost: the differences come from a list.
  fault_for_session(R"({"path":"watch=true","action":"close","times":0})");
  follower.reflector->stop();
  follower.reflector->start();
  assert_true(follower.run_until([&] { return !follower.reflector->last_error().empty(); }));
  assert_ok(fate->remove(kPods, name_space(), "goes"));
  assert_ok(fate->remove(kPods, name_space(), "again"));
  make_pod("again");
  make_pod("new");
  tell("compact", Json());
  tell("faults", Json(), "DELETE");
  assert_true(follower.catches_up());
  assert_int_equal(follower.removals, 2);  // "goes", and the first "again"
  assert_int_equal(follower.upserts["stays"], 1);
  assert_int_equal(follower.upserts["again"], 2);
  assert_int_equal(follower.upserts["new"], 1);
}

void a_version_that_the_server_calls_gone_is_dropped(void**) {
  make_pod("one");
  fault_for_session(R"({"path":"watch=true","action":"status","code":200,
            "body":"{\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":\"Expired\",)"
                    R"(\"message\":\"too old\"}}\n"})");
  tell("stats", Json(), "DELETE");
  Follower follower;
  assert_true(follower.run_until([&] { return count("list pods") >= 2; }));
  make_pod("two");
  assert_true(follower.catches_up());
  assert_int_equal(follower.upserts["one"], 1);
}

void it_lists_again_when_its_pages_expire(void**) {
  constexpr int kMany = 600;  // more than a page
  int created = 0;
  for (int i = 0; i < kMany; ++i) {
    fate->writer().create({kPods, name_space()}, pod(format("p-%d", i)),
                          [&created](const Result<Json>& answer) { created += answer.ok() ? 1 : 0; });
  }
  assert_true(fate->run_until([&] { return created == kMany; }));
  fault_for_session(R"({"path":"continue=","action":"status","code":410,
            "body":"{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"continue\"}"})");
  Follower follower;
  assert_true(follower.run_until([&] { return follower.there.size() == 500; }));
  assert_ok(fate->remove(kPods, name_space(), "p-0"));  // of the first page
  assert_true(follower.catches_up());
  assert_int_equal(follower.there.size(), kMany - 1);
  for (const auto& [name, upserts] : follower.upserts) assert_int_equal(upserts, 1);
  assert_int_equal(follower.removals, 1);
}

void it_waits_as_long_as_it_is_told(void**) {
  fault_for_session(R"({"path":"/pods","action":"status","code":429,"retry_after":2,"body":""})");
  Follower follower;
  const auto begun = std::chrono::steady_clock::now();
  assert_true(follower.run_until([&] { return !follower.reflector->last_error().empty(); }));
  assert_true(follower.catches_up());
  assert_true(std::chrono::steady_clock::now() - begun >= 1900ms);
  assert_true(follower.run_until([&] { return follower.reflector->last_error().empty(); }));
}

void it_bears_a_server_that_is_away(void**) {
  make_pod("one");
  fault_for_session(R"({"path":"/pods","action":"close","times":4})");
  Follower follower;
  assert_true(follower.catches_up());
  assert_int_equal(follower.upserts["one"], 1);
}

// ---- engine ---------------------------------------------------------------------------------------------------------

class InlineCaller final : public SlurmCaller {
 public:
  InlineCaller(Slurm& slurm, Timers& timers) : slurm_(slurm), timers_(timers) {}
  void call(Work work) override {
    timers_.after({}, [this, work] { work(slurm_)(); });
  }

 private:
  Slurm& slurm_;
  Timers& timers_;
};

/** An engine on a session, with a slurmctld in memory, and a NodeSet that it follows. */
struct Cluster {
  SystemClock clock;
  Timers timers{clock};
  FakeSlurm slurm;
  InlineCaller caller{slurm, timers};
  Options options;
  std::unique_ptr<Engine> engine;

  explicit Cluster(Session& on) : on_(on) {
    options.name_space = name_space();
    options.conf_server = "slurmctld:6817";
    options.key_secret = "key";
    static_cast<void>(fate->remove(kube::kNodeSets, name_space(), "compute"));
    auto nodeset = Json::parse(R"({"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"compute"},
        "spec":{"replicas":4,"slurmd":{"image":"slurmd:1","resources":{"limits":{"cpu":"2","memory":"1Gi"}}}}})");
    assert_ok(fate->create(kube::kNodeSets, name_space(), *nodeset));
    engine = std::make_unique<Engine>(Engine::Parts{on.client(), timers, clock, caller, options});
    engine->start();
    assert_true(run_until([this] { return engine->ready(); }));
  }

  template <typename Done>
  bool run_until(Done done) {
    return on_.run_until([&] {
      timers.run_due();
      return done();
    });
  }
  void resume(const char* id, const char* name) {
    SlurmNode& node = slurm.node(name);
    node.powered_down = false;
    node.powering_up = node.not_responding = true;
    node.base = SlurmNode::Base::allocated;
    ResumeRequest request;
    request.id = id;
    request.nodes = {name};
    engine->resume(request);
  }
  bool settles(const char* name) {
    return run_until([&] { return engine->settled({name}); });
  }

 private:
  Session& on_;
};

std::string uid_of(const char* name) {
  const auto pod = fate->get(kPods, name_space(), name);
  return pod ? meta(*pod, "uid") : std::string();
}

void a_pod_is_made_once_when_the_answer_is_lost(void**) {
  Cluster cluster(*session);
  tell("stats", Json(), "DELETE");
  fault(R"({"method":"POST","path":"/pods$","action":"cut","bytes":0})");
  cluster.resume("r1", "compute-0");
  assert_true(cluster.run_until([&] { return !uid_of("compute-0").empty(); }));
  const std::string uid = uid_of("compute-0");
  assert_true(cluster.settles("compute-0"));
  assert_text(uid_of("compute-0"), uid);
  assert_int_equal(count("delete pods"), 0);
  assert_int_equal(cluster.slurm.calls.size(), 0);
}

void a_pod_is_gone_when_the_answer_to_its_delete_is_lost(void**) {
  Cluster cluster(*session);
  cluster.resume("r1", "compute-0");
  assert_true(cluster.settles("compute-0"));
  SlurmNode& node = cluster.slurm.node("compute-0");
  node.base = SlurmNode::Base::idle;
  node.powering_up = node.not_responding = false;
  node.powering_down = true;
  fault(R"({"method":"DELETE","path":"/pods/compute-0","action":"cut","bytes":0})");
  cluster.engine->suspend({"compute-0"});
  // "resume" ends the power-down: the engine knows that the pod is gone.
  assert_true(cluster.run_until([&] { return !cluster.slurm.calls.empty(); }));
  assert_text(cluster.slurm.calls[0], "resume compute-0");
  assert_text(uid_of("compute-0"), "");
}

void a_loss_is_seen_through_cuts_and_compaction(void**) {
  fault(R"({"path":"/pods.*watch=true","action":"cut","bytes":700,"times":0})");  // in the middle of any event
  Cluster cluster(*session);
  for (const char* name : {"compute-0", "compute-1"}) {
    cluster.resume("r1", name);
    assert_true(cluster.settles(name));
    SlurmNode& node = cluster.slurm.node(name);
    node.powering_up = node.not_responding = false;
    node.boot_time = cluster.clock.wall();
  }
  assert_ok(fate->remove(kPods, name_space(), "compute-0"));
  tell("compact", Json());
  assert_true(cluster.run_until([&] { return cluster.slurm.calls.size() >= 2; }));
  assert_text(cluster.slurm.calls[0], "down compute-0 slurm-k8s: pod is gone");
  assert_text(cluster.slurm.calls[1], "power_down compute-0");
}

void a_resume_outlives_an_expired_token(void**) {
  const std::string path = in_folder("token");
  write_file(path, "first\n");
  kube::Config by_file = config();
  by_file.token.clear();
  by_file.token_file = path;
  const Json admin = Json().set("admin-token", "admin");
  tell("tokens", admin.clone().set("first", "admin"));
  auto opened = Session::open(by_file);
  assert_ok(opened);
  Cluster cluster(**opened);
  tell("tokens", admin.clone().set("second", "admin"));
  cluster.resume("r1", "compute-0");
  assert_true(cluster.run_until([&] { return cluster.engine->metrics().api_errors > 0; }));
  assert_text(uid_of("compute-0"), "");
  write_file(path, "second\n");
  assert_true(cluster.settles("compute-0"));
  assert_int_equal(cluster.slurm.calls.size(), 0);
  tell("tokens", admin);
}

void throttling_holds_all_requests_back(void**) {
  Cluster cluster(*session);
  fault(R"({"method":"POST","path":"/pods$","action":"status","code":429,"retry_after":2,"body":""})");
  const auto begun = std::chrono::steady_clock::now();
  cluster.resume("r1", "compute-0");
  assert_true(cluster.run_until([&] { return cluster.engine->metrics().api_errors > 0; }));
  cluster.resume("r2", "compute-1");
  assert_true(cluster.settles("compute-1"));
  assert_true(std::chrono::steady_clock::now() - begun >= 1900ms);
  assert_true(cluster.settles("compute-0"));
}

// ---- fixture --------------------------------------------------------------------------------------------------------

int start(void**) {
  if (!http::curl_global_setup().ok()) return -1;
  log_init(nullptr, LogLevel::error);
  const auto loaded = kube::load_kubeconfig(kubeconfig_path());
  if (!loaded.ok()) {
    print_error("%s\n", loaded.error().message().c_str());
    return -1;
  }
  auto options = kube::transport_options(*loaded, std::make_shared<SystemClock>());
  options.user_agent = "fate";
  auto opened = Session::open(std::move(options));
  if (!opened.ok()) return -1;
  fate = std::move(opened).value();
  return 0;
}

int begin(void**) {
  tell("faults", Json(), "DELETE");
  if (!fate->clear(name_space()).ok()) return -1;
  static int tests = 0;
  auto options = kube::transport_options(config(), std::make_shared<SystemClock>());
  options.user_agent = user_agent = format("test-%d", ++tests);
  auto opened = Session::open(std::move(options));
  if (!opened.ok()) return -1;
  session = std::move(opened).value();
  return 0;
}

int end(void**) {
  session.reset();
  tell("faults", Json(), "DELETE");
  return 0;
}

int stop(void**) {
  fate.reset();
  http::curl_global_teardown();
  return 0;
}

}  // namespace
}  // namespace slurmk8s::contract

int main() {
  using namespace slurmk8s::contract;
#define FAULT(fn) SLURMK8S_TEST_WITH(fn, begin, end)
  const CMUnitTest tests[] = {
      FAULT(bad_answers_become_errors),
      FAULT(retry_after_is_passed_on),
      FAULT(no_answer_is_a_timeout),
      FAULT(slow_answers_are_read),
      FAULT(connections_that_went_away_are_made_again),
      FAULT(a_body_over_the_cap_is_refused),
      FAULT(requests_keep_to_their_connections),
      FAULT(hanging_requests_leave_room_for_a_watch),
      FAULT(no_connection_is_unavailable),
      FAULT(a_host_that_takes_no_connection_is_unavailable),
      FAULT(certificates_are_verified),
      FAULT(only_the_clusters_ca_is_trusted),
      FAULT(a_client_certificate_says_who_we_are),
      FAULT(a_rotated_token_is_taken_up),
      FAULT(a_watch_in_small_pieces_is_whole),
      FAULT(half_a_line_is_no_event),
      FAULT(bad_events_end_the_watch),
      FAULT(a_silent_stream_is_dead),
      FAULT(it_follows_through_cuts),
      FAULT(it_follows_when_every_watch_is_cut),
      FAULT(it_lists_again_when_its_version_is_gone),
      FAULT(a_version_that_the_server_calls_gone_is_dropped),
      FAULT(it_lists_again_when_its_pages_expire),
      FAULT(it_waits_as_long_as_it_is_told),
      FAULT(it_bears_a_server_that_is_away),
      FAULT(a_pod_is_made_once_when_the_answer_is_lost),
      FAULT(a_pod_is_gone_when_the_answer_to_its_delete_is_lost),
      FAULT(a_loss_is_seen_through_cuts_and_compaction),
      FAULT(a_resume_outlives_an_expired_token),
      FAULT(throttling_holds_all_requests_back),
  };
  return cmocka_run_group_tests_name("faults", tests, start, stop);
}
