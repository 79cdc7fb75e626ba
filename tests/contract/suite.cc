// SPDX-License-Identifier: GPL-2.0-or-later
// What we assume of an API server: what every Client does (client_tests.cc), and what it says of tokens, bad objects
// and time. The same suite runs against a real kube-apiserver and against fake_apiserver/: where they differ, the fake
// is wrong. No pod has to run.
//
// SLURM_K8S_CONTRACT_KUBECONFIG says which server; it must be an administrator of SLURM_K8S_CONTRACT_NAMESPACE
// (default: contract, made when it isn't there), in which all pods are deleted.
#include "base/strings.hpp"
#include "kube/status.hpp"

#include "contract/client_tests.hpp"

namespace slurmk8s::contract {
namespace {

using kube::kPods;

// ---- objects --------------------------------------------------------------------------------------------------------

void an_unknown_resource_is_not_found(void**) {
  assert_error(session->list({"no-such-group.example/v1", "things"}, name_space()), Errc::not_found, "404");
}

void bad_objects_are_invalid(void**) {
  Json without_containers = pod("one");
  without_containers.set("spec", Json::object());
  Json bad_label = pod("one");
  bad_label.at({"metadata", "labels"}).set("group", "not a label!");
  Json other_kind = pod("one");
  other_kind.set("kind", "Secret");
  const struct {
    Json object;
    const char* message;
  } cases[] = {
      {pod("Bad_Name"), "metadata.name"},
      {without_containers, "spec.containers"},
      {bad_label, "metadata.labels"},
      {other_kind, "Secret"},
  };
  for (const auto& c : cases) {
    assert_error(session->create(kPods, name_space(), c.object), Errc::invalid, c.message);
  }
  const auto answer = session->send(
      {.method = "POST", .target = kube::resource_path(kPods, name_space()), .body = "{\"kind\":\"Pod\""});
  assert_error(kube::decode_response(answer), Errc::invalid, "");
  assert_error(session->get(kPods, name_space(), "one"), Errc::not_found, "one");
}

// ---- who may do what ------------------------------------------------------------------------------------------------

Result<std::unique_ptr<Session>> session_with_token(const std::string& token) {
  kube::Config config = SLURMK8S_TRY(kube::load_kubeconfig(kubeconfig_path()));
  config.client_cert_pem.clear();
  config.client_key_pem.clear();
  config.token_file.clear();
  config.token = token;
  return Session::open(config);
}

void an_unknown_token_is_unauthorized(void**) {
  auto other = session_with_token("not-a-token");
  assert_ok(other);
  const auto refused = (*other)->list(kPods, name_space());
  assert_error(refused, Errc::unauthorized, "Unauthorized");
  assert_true(refused.error().retryable());
  const auto watch = (*other)->watch(kPods, name_space(), {.resource_version = "1"});
  assert_true((*other)->run_until([&] { return watch->end.has_value(); }));
  assert_error(*watch->end, Errc::unauthorized, "Unauthorized");
  assert_false(watch->opened);
}

void a_service_account_without_a_role_is_forbidden(void**) {
  // A new namespace gets its service account from a controller, some moments later.
  Result<Json> account = Error(Errc::internal, "");
  assert_true(session->run_until([&] {
    account = session->get(kServiceAccounts, name_space(), "default");
    return account.ok();
  }));
  const auto answer = session->send(
      {.method = "POST",
       .target = kube::resource_path(kServiceAccounts, name_space(), "default", "token"),
       .body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600}})"});
  const auto token = kube::decode_response(answer);
  assert_ok(token);
  auto other = session_with_token(std::string(token->at({"status", "token"}).text()));
  assert_ok(other);
  const auto refused = (*other)->list(kPods, name_space());
  assert_error(refused, Errc::forbidden, "pods is forbidden");
  assert_false(refused.error().retryable());
  assert_error((*other)->create(kPods, name_space(), pod("one")), Errc::forbidden, "cannot create");
}

// ---- patches, watches, sizes ----------------------------------------------------------------------------------------

void json_patches_patch(void**) {
  made(pod("one"));
  const auto add = Json::parse(R"([{"op":"add","path":"/metadata/labels/x~1y","value":"z"},
                                   {"op":"remove","path":"/metadata/labels/group"}])");
  const auto patched = session->patch(kPods, name_space(), "one", *add, kube::PatchType::json);
  assert_ok(patched);
  assert_text(patched->at({"metadata", "labels"}).dump(), R"({"x/y":"z"})");
  const auto test = Json::parse(R"([{"op":"test","path":"/metadata/labels/x~1y","value":"other"}])");
  assert_error(session->patch(kPods, name_space(), "one", *test, kube::PatchType::json), Errc::invalid, "");
}

void watches_end_in_time_and_bring_bookmarks(void**) {
  // A bookmark comes once a minute, and most times two seconds before the end. Never does one say a version that was
  // there when the watch began: somebody must change a pod during the watch, one that it doesn't show.
  std::string version = list_version();
  std::unique_ptr<WatchLog> watch;
  for (int i = 0; i < 8 && (!watch || watch->bookmarks == 0); ++i) {
    watch = session->watch(kPods, name_space(),
                           {.label_selector = "group=contract", .resource_version = version, .server_timeout = 6s});
    assert_true(session->run_until([&] { return watch->opened || watch->end; }));
    made(pod("other-" + std::to_string(i), "else"));
    assert_true(session->run_until([&] { return watch->end.has_value(); }));
    assert_ok(*watch->end);
    assert_text(watch->text(), "");
  }
  assert_true(watch->bookmarks > 0);
  assert_true(*parse_int(watch->bookmarked) > *parse_int(version));
  const auto next = session->watch(kPods, name_space(), {.resource_version = watch->bookmarked});
  made(pod("one"));
  assert_true(session->run_until([&] { return !next->events.empty(); }));
  assert_text(next->text(), "added one");
  session->client().cancel(next->id);
}

void large_objects_arrive_whole(void**) {
  const auto watch = session->watch(kPods, name_space(), {.resource_version = list_version()});
  Json object = pod("large");
  std::string text;
  for (int i = 0; text.size() < 250000; ++i) text += std::to_string(i) + "\xc3\xa4\n\"/";
  object["metadata"].set("annotations", Json().set("text", text));
  made(object);
  assert_true(session->run_until([&] { return !watch->events.empty(); }));
  assert_text(watch->events[0].second.at({"metadata", "annotations", "text"}).text(), text);
  session->client().cancel(watch->id);
  object["metadata"].set("name", "larger").set("annotations", Json().set("text", text + text));
  assert_error(session->create(kPods, name_space(), object), Errc::invalid, "metadata.annotations");
}

// ---- fixture --------------------------------------------------------------------------------------------------------

int start(void**) {
  if (!http::curl_global_setup().ok()) return -1;
  const auto config = kube::load_kubeconfig(kubeconfig_path());
  auto opened = config.ok() ? Session::open(*config) : Result<std::unique_ptr<Session>>(config.error());
  if (!opened.ok()) {
    print_error("%s\n", opened.error().message().c_str());
    return -1;
  }
  session = std::move(opened).value();
  Json object;
  object.set("apiVersion", "v1").set("kind", "Namespace").set("metadata", Json().set("name", name_space()));
  const auto created = session->create(kNamespaces, "", object);
  if (created.ok() || created.error().code() == Errc::already_exists) return 0;
  print_error("namespace %s: %s\n", name_space().c_str(), created.error().message().c_str());
  return -1;
}

int stop(void**) {
  session.reset();
  http::curl_global_teardown();
  return 0;
}

}  // namespace
}  // namespace slurmk8s::contract

int main() {
  using namespace slurmk8s::contract;
  std::vector<CMUnitTest> tests = client_tests();
  const CMUnitTest of_servers[] = {
      CONTRACT_TEST(an_unknown_resource_is_not_found),
      CONTRACT_TEST(bad_objects_are_invalid),
      CONTRACT_TEST(an_unknown_token_is_unauthorized),
      CONTRACT_TEST(a_service_account_without_a_role_is_forbidden),
      CONTRACT_TEST(json_patches_patch),
      CONTRACT_TEST(watches_end_in_time_and_bring_bookmarks),
      CONTRACT_TEST(large_objects_arrive_whole),
  };
  tests.insert(tests.end(), std::begin(of_servers), std::end(of_servers));
  return _cmocka_run_group_tests("contract", tests.data(), tests.size(), start, stop);
}
