// SPDX-License-Identifier: GPL-2.0-or-later
// kube/http_client: which request each call makes, and how watches begin, go on and end.
#include "kube/client.hpp"

#include <vector>

#include "support/cmocka.hpp"
#include "support/fake_transport.hpp"

namespace slurmk8s::kube {
namespace {

/** A client on a fake transport, and what it called back. */
struct World {
  http::FakeTransport transport;
  std::unique_ptr<Client> client = make_http_client(transport);
  Writer& writer = client->unfenced_writer();
  std::vector<std::string> answers;  // the object's text, or "code: message"

  OnObject keep() {
    return [this](Result<Json> result) {
      answers.push_back(result.ok() ? result->dump()
                                    : std::string(to_string(result.error().code())) + ": " + result.error().message());
    };
  }
  /** "METHOD target" of the last request. */
  std::string last() const { return transport.last().request.method + " " + transport.last().request.target; }
};

void requests(void**) {
  World world;
  const Json object = Json::object().set("kind", "Pod");

  world.client->get({kPods, "slurm", "c-0"}, world.keep());
  assert_text(world.last(), "GET /api/v1/namespaces/slurm/pods/c-0");
  world.client->list(kPods, "slurm", {}, world.keep());
  assert_text(world.last(), "GET /api/v1/namespaces/slurm/pods?limit=500");
  world.client->list(kPods, "slurm",
                     {.label_selector = "a=b,c", .resource_version = "0", .continue_token = "", .limit = 0},
                     world.keep());
  assert_text(world.last(), "GET /api/v1/namespaces/slurm/pods?labelSelector=a%3Db%2Cc&resourceVersion=0");
  world.client->list(kPods, "slurm",
                     {.label_selector = "", .resource_version = "7", .continue_token = "t==", .limit = 2},
                     world.keep());
  assert_text(world.last(), "GET /api/v1/namespaces/slurm/pods?continue=t%3D%3D&limit=2");

  world.writer.create({kNodeSets, "slurm"}, object, world.keep());
  assert_text(world.last(), "POST /apis/slurm-k8s.io/v1alpha1/namespaces/slurm/nodesets");
  assert_text(world.transport.last().request.body, "{\"kind\":\"Pod\"}");
  assert_text(world.transport.last().request.content_type, "application/json");

  const struct {
    PatchType type;
    const char* content_type;
  } patches[] = {{PatchType::merge, "application/merge-patch+json"},
                 {PatchType::json, "application/json-patch+json"},
                 {PatchType::strategic_merge, "application/strategic-merge-patch+json"}};
  for (const auto& c : patches) {
    world.writer.patch({kNodeSets, "slurm", "gpu", "status"}, c.type, object, world.keep());
    assert_text(world.last(), "PATCH /apis/slurm-k8s.io/v1alpha1/namespaces/slurm/nodesets/gpu/status");
    assert_text(world.transport.last().request.content_type, c.content_type);
  }

  world.writer.remove({kPods, "slurm", "c-0"}, {}, world.keep());
  assert_text(world.last(), "DELETE /api/v1/namespaces/slurm/pods/c-0");
  assert_text(world.transport.last().request.body, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}");
  world.writer.remove({kPods, "slurm", "c-0"}, {.uid = "u-1", .grace_s = 5}, world.keep());
  assert_text(world.transport.last().request.body,
              "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":5,"
              "\"preconditions\":{\"uid\":\"u-1\"}}");
  world.writer.remove({kPods, "slurm", "c-0"}, {.propagation = Propagation::foreground}, world.keep());
  assert_text(world.transport.last().request.body,
              "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"propagationPolicy\":\"Foreground\"}");
  assert_int_equal(world.answers.size(), 0);
}

void field_selectors_and_subresources(void**) {
  World world;
  world.client->list(kPods, "", {.field_selector = "spec.schedulerName=slurm,spec.nodeName=", .limit = 0},
                     world.keep());
  assert_text(world.last(), "GET /api/v1/pods?fieldSelector=spec.schedulerName%3Dslurm%2Cspec.nodeName%3D");
  world.client->watch(
      kPods, "", {.field_selector = "a=b", .server_timeout = std::chrono::seconds(9)}, [](WatchEvent, const Json&) {},
      [](Status) {});
  assert_text(world.last(),
              "GET /api/v1/pods?watch=true&allowWatchBookmarks=true&fieldSelector=a%3Db&timeoutSeconds=9");
  world.writer.create({kPods, "slurm", "c-0", "binding"}, Json::object().set("kind", "Binding"), world.keep());
  assert_text(world.last(), "POST /api/v1/namespaces/slurm/pods/c-0/binding");
  assert_text(world.transport.last().request.body, "{\"kind\":\"Binding\"}");
}

void what_the_caller_omits_is_left_out(void**) {
  static constexpr std::array<std::string_view, 2> kOmit{"managedFields", "containers"};
  const char* text = R"({"metadata":{"managedFields":[1]},"spec":{"containers":[{}],"nodeName":"m"}})";
  World world;
  world.transport.answer(world.client->get({kPods, "slurm", "c-0"}, world.keep()), 200, text);
  world.transport.answer(world.client->get({kPods, "slurm", "c-0", "", kOmit}, world.keep()), 200, text);
  world.transport.answer(world.client->list(kPods, "slurm", {.omit = kOmit}, world.keep()), 200, text);
  assert_text(world.answers[0], R"({"metadata":{},"spec":{"containers":[{}],"nodeName":"m"}})");
  assert_text(world.answers[1], R"({"metadata":{},"spec":{"nodeName":"m"}})");
  assert_text(world.answers[2], world.answers[1].c_str());
}

void answers(void**) {
  World world;
  const auto id = world.writer.create({kPods, "slurm"}, Json::object(), world.keep());
  world.transport.answer(id, 201, "{\"a\":1}");
  const auto other = world.writer.create({kPods, "slurm"}, Json::object(), world.keep());
  world.transport.answer(other, 409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"message\":\"there\"}");
  const auto cut = world.client->get({kPods, "slurm", "x"}, world.keep());
  world.transport.finish(cut, Error(Errc::unavailable, "cut"));
  assert_int_equal(world.answers.size(), 3);
  assert_text(world.answers[0], "{\"a\":1}");
  assert_text(world.answers[1], "already_exists: there");
  assert_text(world.answers[2], "unavailable: cut");
}

void an_empty_name_makes_no_path(void**) {
  // The transport refuses an empty target: DELETE of a collection must never leave the process.
  World world;
  world.writer.remove({kPods, "slurm", ""}, {}, world.keep());
  assert_text(world.transport.last().request.target, "");
  world.client->get({kPods, "slurm", ""}, world.keep());
  assert_text(world.transport.last().request.target, "");
  world.writer.patch({kPods, "slurm", "", "status"}, PatchType::merge, Json::object(), world.keep());
  assert_text(world.transport.last().request.target, "");
  world.writer.create({kPods, "slurm", "", "binding"}, Json::object(), world.keep());
  assert_text(world.transport.last().request.target, "");
}

/** A watch and what it called back. */
struct Watched : World {
  std::vector<std::string> seen;
  bool cancel_at_event = false;
  http::RequestId id = client->watch(
      kPods, "slurm", {.label_selector = "a=b", .resource_version = "7", .server_timeout = std::chrono::seconds(60)},
      [this](WatchEvent event, const Json& object) {
        static const char* const kNames[] = {"opened", "added", "modified", "deleted", "bookmark"};
        seen.push_back(std::string(kNames[static_cast<int>(event)]) + " " + object.dump());
        if (cancel_at_event) client->cancel(id);
      },
      [this](Status status) {
        seen.push_back(status.ok()
                           ? "end ok"
                           : "end " + std::string(to_string(status.error().code())) + ": " + status.error().message());
      });
};

void a_watch(void**) {
  Watched world;
  assert_text(world.last(),
              "GET /api/v1/namespaces/slurm/pods?watch=true&allowWatchBookmarks=true&labelSelector=a%3Db"
              "&resourceVersion=7&timeoutSeconds=60");
  assert_true(world.transport.last().is_stream);
  world.transport.line(world.id, "");
  world.transport.line(world.id, "{\"type\":\"ADDED\",\"object\":{\"a\":1}}");
  world.transport.line(world.id, "{\"type\":\"MODIFIED\",\"object\":{\"a\":2}}");
  world.transport.line(world.id, "{\"type\":\"DELETED\",\"object\":{\"a\":3}}");
  world.transport.line(world.id, "{\"type\":\"BOOKMARK\",\"object\":{\"a\":4}}");
  world.transport.answer(world.id, 200, "");
  const char* expected[] = {"opened null",       "added {\"a\":1}",    "modified {\"a\":2}",
                            "deleted {\"a\":3}", "bookmark {\"a\":4}", "end ok"};
  assert_int_equal(world.seen.size(), 6);
  for (std::size_t i = 0; i < 6; ++i) assert_text(world.seen[i], expected[i]);
}

void watches_that_end_in_an_error(void**) {
  const struct {
    const char* line;
    const char* end;
  } cases[] = {
      {"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}}",
       "end gone: too old"},
      {"{\"type\":\"ADDED\",\"object\":{", "end protocol: watch event: JSON"},
      {"{\"type\":\"NEWS\",\"object\":{}}", "end protocol: watch event: of no known type"},
      {"{\"type\":\"ADDED\"}", "end protocol: watch event: of no known type"},
      {"[]", "end protocol: watch event: of no known type"},
      {"{\"kind\":\"Status\",\"code\":500}", "end protocol: watch event: of no known type"},
  };
  for (const auto& c : cases) {
    Watched world;
    world.transport.line(world.id, c.line);
    assert_int_equal(world.seen.size(), 1);
    assert_contains(world.seen[0], c.end);
    assert_false(world.transport.is_open(world.id));  // given up, so nothing more is heard
  }
}

void watches_that_were_refused_or_cut(void**) {
  Watched refused;
  refused.transport.answer(refused.id, 403, "{\"kind\":\"Status\",\"message\":\"no\"}");
  assert_text(refused.seen.at(0), "end forbidden: no");
  Watched cut;
  cut.transport.finish(cut.id, Error(Errc::protocol, "the stream ended within a line"));
  assert_text(cut.seen.at(0), "end protocol: the stream ended within a line");
}

void a_cancelled_watch_is_silent(void**) {
  Watched world;
  world.cancel_at_event = true;
  world.transport.line(world.id, "{\"type\":\"ADDED\",\"object\":{}}");
  world.transport.line(world.id, "{\"type\":\"ADDED\",\"object\":{}}");
  world.transport.answer(world.id, 200, "");
  assert_int_equal(world.seen.size(), 1);
}

}  // namespace
}  // namespace slurmk8s::kube

int main() {
  using namespace slurmk8s::kube;
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(requests),
      SLURMK8S_TEST(field_selectors_and_subresources),
      SLURMK8S_TEST(what_the_caller_omits_is_left_out),
      SLURMK8S_TEST(answers),
      SLURMK8S_TEST(an_empty_name_makes_no_path),
      SLURMK8S_TEST(a_watch),
      SLURMK8S_TEST(watches_that_end_in_an_error),
      SLURMK8S_TEST(watches_that_were_refused_or_cut),
      SLURMK8S_TEST(a_cancelled_watch_is_silent),
  };
  return cmocka_run_group_tests_name("kube_client", tests, nullptr, nullptr);
}
