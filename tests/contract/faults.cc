// SPDX-License-Identifier: GPL-2.0-or-later
// What we do when the API server, the network or a certificate misbehaves. Only the fake can be told to
// (fake_apiserver/faults.py); run it by faults_on_fake.sh.
#include "contract/faults.hpp"

#include <cstdio>

#include "base/file.hpp"
#include "base/log.hpp"

namespace slurmk8s::contract {

using kube::kPods;

std::unique_ptr<Session> fate;
std::unique_ptr<Session> session;

namespace {

std::string user_agent;  // of `session`, another one for each test

}  // namespace

Json tell(const std::string& what, const Json& body, const char* method) {
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

http::Request get_pods(std::chrono::milliseconds timeout) {
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

Result<Json> list_as(const kube::Config& other) {
  auto opened = Session::open(other);
  assert_ok(opened);
  return (*opened)->list(kPods, name_space());
}

int begin_fault_test(void**) {
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

int end_fault_test(void**) {
  session.reset();
  tell("faults", Json(), "DELETE");
  return 0;
}

namespace {

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

int stop(void**) {
  fate.reset();
  http::curl_global_teardown();
  return 0;
}

}  // namespace
}  // namespace slurmk8s::contract

int main() {
  using namespace slurmk8s::contract;
  std::vector<CMUnitTest> tests = connection_faults();
  for (const auto& more : {watch_faults(), engine_faults()}) tests.insert(tests.end(), more.begin(), more.end());
  return _cmocka_run_group_tests("faults", tests.data(), tests.size(), start, stop);
}
