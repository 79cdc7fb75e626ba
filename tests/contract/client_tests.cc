// SPDX-License-Identifier: GPL-2.0-or-later
// What the product needs of each Client.
#include <set>
#include <thread>
#include <utility>

#include "base/random.hpp"
#include "base/rfc3339.hpp"
#include "base/strings.hpp"
#include "kube/reflector.hpp"

#include "contract/client_tests.hpp"

namespace slurmk8s::contract {

std::unique_ptr<Session> session;

Json made(const Json& object) {
  auto created = session->create(kube::kPods, name_space(), object);
  assert_ok(created);
  return *created;
}

std::string list_version() {
  const auto pods = session->list(kube::kPods, name_space(), {.limit = 1});
  assert_ok(pods);
  return meta(*pods, "resourceVersion");
}

int clear(void**) { return session->clear(name_space()).ok() ? 0 : -1; }

namespace {

using kube::kPods;
using kube::WatchEvent;

// ---- create, get, delete --------------------------------------------------------------------------------------------

void creates_and_gets(void**) {
  const Json created = made(pod("one"));
  assert_true(!meta(created, "uid").empty());
  assert_true(parse_int(meta(created, "resourceVersion")).has_value());
  assert_true(parse_rfc3339(meta(created, "creationTimestamp")).has_value());
  assert_text(meta(created, "namespace"), name_space());
  assert_text(created.at({"status", "phase"}).text(), "Pending");
  const auto got = session->get(kPods, name_space(), "one");
  assert_ok(got);
  assert_text(meta(*got, "uid"), meta(created, "uid"));
  assert_text((*got)["kind"].text(), "Pod");
}

void a_second_create_already_exists(void**) {
  made(pod("one"));
  const auto again = session->create(kPods, name_space(), pod("one"));
  assert_error(again, Errc::already_exists, "\"one\" already exists");
  assert_false(again.error().retryable());
}

void what_is_not_there_is_not_found(void**) {
  assert_error(session->get(kPods, name_space(), "none"), Errc::not_found, "pods \"none\" not found");
  assert_error(session->remove(kPods, name_space(), "none"), Errc::not_found, "none");
  assert_error(session->patch(kPods, name_space(), "none", label_patch("a", Json::string("b"))), Errc::not_found,
               "none");
  assert_error(session->create(kPods, "no-such-namespace", pod("one")), Errc::not_found, "no-such-namespace");
  const auto empty = session->list(kPods, "no-such-namespace");
  assert_ok(empty);
  assert_int_equal((*empty)["items"].size(), 0);
}

void an_object_has_a_name_and_the_namespace_of_its_request(void**) {
  Json without_name = pod("one");
  without_name["metadata"].erase("name");
  Json other_namespace = pod("one");
  other_namespace["metadata"].set("namespace", "default");
  assert_error(session->create(kPods, name_space(), without_name), Errc::invalid, "name or generateName");
  assert_error(session->create(kPods, name_space(), other_namespace), Errc::invalid, "namespace");
  assert_error(session->get(kPods, name_space(), "one"), Errc::not_found, "one");
}

void delete_minds_the_uid(void**) {
  const std::string uid = meta(made(pod("one")), "uid");
  assert_error(session->remove(kPods, name_space(), "one", "8d3c0000-0000-0000-0000-000000000000"), Errc::conflict,
               "UID");
  assert_ok(session->get(kPods, name_space(), "one"));
  assert_ok(session->remove(kPods, name_space(), "one", uid));
  assert_error(session->get(kPods, name_space(), "one"), Errc::not_found, "one");

  const std::string second_uid = meta(made(pod("one")), "uid");
  assert_true(uid != second_uid);
  assert_error(session->remove(kPods, name_space(), "one", uid), Errc::conflict, "UID");
  assert_ok(session->remove(kPods, name_space(), "one", second_uid));
}

void a_pod_without_a_node_goes_at_once(void**) {
  const std::string uid = meta(made(pod("one")), "uid");
  assert_ok(session->remove(kPods, name_space(), "one", uid, -1));
  assert_error(session->get(kPods, name_space(), "one"), Errc::not_found, "one");
}

void a_pod_on_a_node_has_its_grace(void**) {
  Json object = pod("one");
  object["spec"].set("nodeName", "no-such-node");
  const std::string uid = meta(made(object), "uid");
  assert_ok(session->remove(kPods, name_space(), "one", uid, 300));
  const auto ending = session->get(kPods, name_space(), "one");
  assert_ok(ending);
  assert_text(meta(*ending, "uid"), uid);
  assert_true(parse_rfc3339(meta(*ending, "deletionTimestamp")).has_value());
  assert_int_equal(ending->at({"metadata", "deletionGracePeriodSeconds"}).integer_or(-1), 300);
  assert_error(session->create(kPods, name_space(), pod("one")), Errc::already_exists, "one");

  assert_ok(session->remove(kPods, name_space(), "one", uid, 100));
  const auto sooner = session->get(kPods, name_space(), "one");
  assert_ok(sooner);
  assert_int_equal(sooner->at({"metadata", "deletionGracePeriodSeconds"}).integer_or(-1), 100);
  assert_ok(session->remove(kPods, name_space(), "one", uid, 0));
  assert_error(session->get(kPods, name_space(), "one"), Errc::not_found, "one");
}

// ---- lists ----------------------------------------------------------------------------------------------------------

std::string names(const Json& list) {
  std::set<std::string> sorted;
  list["items"].each([&sorted](const Json& item) { sorted.insert(meta(item, "name")); });
  std::string text;
  for (const auto& name : sorted) text += (text.empty() ? "" : " ") + name;
  return text;
}

void label_selectors_select(void**) {
  made(pod("a", "x"));
  made(pod("b", "y"));
  Json third = pod("c", "y");
  third.at({"metadata", "labels"}).set("slurm-k8s.io/nodeset", "compute");
  made(third);
  const struct {
    const char* selector;
    const char* names;
  } cases[] = {
      {"", "a b c"},
      {"group=x", "a"},
      {"group==y", "b c"},
      {"group!=y", "a"},
      {"group=y,slurm-k8s.io/nodeset=compute", "c"},
      {"slurm-k8s.io/nodeset", "c"},
      {"!slurm-k8s.io/nodeset", "a b"},
      {"group in (x, z)", "a"},
      {"group notin (x)", "b c"},
      {"group=none", ""},
  };
  for (const auto& c : cases) {
    const auto pods = session->list(kPods, name_space(), {.label_selector = c.selector});
    assert_ok(pods);
    assert_text(names(*pods), c.names);
  }
  assert_error(session->list(kPods, name_space(), {.label_selector = "group===x"}), Errc::invalid, "");
}

void field_selectors_select(void**) {
  made(pod("a"));
  made(pod("b"));
  Json third = pod("c");
  third["spec"].set("schedulerName", "slurm-k8s.io/other");
  made(third);
  Json running = pod("d");
  running["spec"].set("nodeName", "no-such-node");
  made(running);
  const struct {
    const char* selector;
    const char* names;
  } cases[] = {
      {"", "a b c d"},
      {"metadata.name=b", "b"},
      {"metadata.name==b", "b"},
      {"metadata.name!=b", "a c d"},
      {"spec.schedulerName=slurm-k8s.io/none", "a b d"},
      {"spec.schedulerName=slurm-k8s.io/none,spec.nodeName=", "a b"},
      {"spec.nodeName=no-such-node", "d"},
      {"status.phase!=Pending", ""},
  };
  for (const auto& c : cases) {
    const auto pods = session->list(kPods, name_space(), {.field_selector = c.selector});
    assert_ok(pods);
    assert_text(names(*pods), c.names);
  }
  const auto both =
      session->list(kPods, name_space(), {.label_selector = "group=none", .field_selector = "spec.nodeName="});
  assert_ok(both);
  assert_text(names(*both), "");
  assert_error(session->list(kPods, name_space(), {.field_selector = "spec.hostname=x"}), Errc::invalid,
               "field label not supported");
}

Json lease(const std::string& name) {
  return Json()
      .set("apiVersion", "coordination.k8s.io/v1")
      .set("kind", "Lease")
      .set("metadata", Json().set("name", name))
      .set("spec", Json().set("holderIdentity", "a"));
}

// Without a garbage collector, which the real server has beside it, nobody takes the finalizer away.
void a_deletion_says_what_becomes_of_dependents(void**) {
  const std::string name = "dependents-" + random_id();
  const kube::ObjectRef ref{kube::kLeases, name_space(), name};
  assert_ok(session->create(kube::kLeases, name_space(), lease(name)));
  assert_ok(session->remove_with(ref, {.propagation = kube::Propagation::background}));
  assert_error(session->get(kube::kLeases, name_space(), name), Errc::not_found, name.c_str());

  const auto ends_with = [&](kube::Propagation propagation, const char* finalizer) {
    assert_ok(session->create(kube::kLeases, name_space(), lease(name)));
    const auto ending = session->remove_with(ref, {.propagation = propagation});
    assert_ok(ending);
    assert_text(ending->at({"metadata", "finalizers"})[0].text(), finalizer);
    assert_true(parse_rfc3339(meta(*ending, "deletionTimestamp")).has_value());
    const auto ended =
        session->patch(kube::kLeases, name_space(), name, Json().set("metadata", Json().set("finalizers", Json())));
    assert_true(ended.ok() || ended.error().code() == Errc::not_found);
    assert_error(session->get(kube::kLeases, name_space(), name), Errc::not_found, name.c_str());
  };
  ends_with(kube::Propagation::foreground, "foregroundDeletion");
  ends_with(kube::Propagation::orphan, "orphan");
}

void lists_come_in_pages_of_one_moment(void**) {
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) made(pod(name));
  kube::ListOptions options{.limit = 3};
  auto page = session->list(kPods, name_space(), options);
  assert_ok(page);
  assert_text((*page)["kind"].text(), "PodList");
  const std::string version = meta(*page, "resourceVersion");
  made(pod("aa"));  // after the first page: not in the others
  assert_ok(session->remove(kPods, name_space(), "g"));
  std::string all = names(*page);
  int pages = 1;
  while (!meta(*page, "continue").empty()) {
    assert_int_equal((*page)["items"].size(), 3);
    options.continue_token = meta(*page, "continue");
    page = session->list(kPods, name_space(), options);
    assert_ok(page);
    assert_text(meta(*page, "resourceVersion"), version);
    all += " " + names(*page);
    ++pages;
  }
  assert_text(all, "a b c d e f g");
  assert_int_equal(pages, 3);
  options.continue_token = "not-a-token";
  assert_error(session->list(kPods, name_space(), options), Errc::invalid, "continue");
}

void items_have_what_we_read(void**) {
  made(pod("one"));
  const auto pods = session->list(kPods, name_space());
  assert_ok(pods);
  const Json item = (*pods)["items"][0];
  assert_true(!meta(item, "uid").empty() && !meta(item, "resourceVersion").empty());
  assert_text(meta(item, "name"), "one");
  assert_true(item["kind"].is_null());  // a built-in's items don't say what they are
}

// ---- patches --------------------------------------------------------------------------------------------------------

void merge_patches_merge(void**) {
  const std::string first = meta(made(pod("one")), "resourceVersion");
  const auto labelled = session->patch(kPods, name_space(), "one", label_patch("a", Json::string("b")));
  assert_ok(labelled);
  assert_text(labelled->at({"metadata", "labels", "a"}).text(), "b");
  assert_text(labelled->at({"metadata", "labels", "group"}).text(), "contract");
  const std::string second = meta(*labelled, "resourceVersion");
  assert_true(*parse_int(second) > *parse_int(first));

  const auto same = session->patch(kPods, name_space(), "one", label_patch("a", Json::string("b")));
  assert_ok(same);
  assert_text(meta(*same, "resourceVersion"), second);

  Json stale = label_patch("a", Json::string("c"));
  stale["metadata"].set("resourceVersion", first);
  assert_error(session->patch(kPods, name_space(), "one", stale), Errc::conflict, "the object has been modified");
  Json other_uid = label_patch("a", Json::string("c"));
  other_uid["metadata"].set("uid", "8d3c0000-0000-0000-0000-000000000000");
  assert_error(session->patch(kPods, name_space(), "one", other_uid), Errc::invalid, "metadata.uid");

  const auto unlabelled = session->patch(kPods, name_space(), "one", label_patch("a", Json()));
  assert_ok(unlabelled);
  assert_false(unlabelled->at({"metadata", "labels"}).has("a"));
  const Json spec = Json().set("spec", Json().set("hostname", "other"));
  assert_error(session->patch(kPods, name_space(), "one", spec), Errc::invalid, "Forbidden");
}

// What a leader election needs: of two that write what they have both read, one does; and a lease can be nobody's.
void leases_have_one_holder(void**) {
  const std::string name = "lease-" + random_id();
  const std::string now = rfc3339(std::chrono::system_clock::now());
  Json lease = Json().set("apiVersion", "coordination.k8s.io/v1").set("kind", "Lease");
  lease.set("metadata", Json().set("name", name));
  lease.set("spec", Json()
                        .set("holderIdentity", "a")
                        .set("leaseDurationSeconds", Json::integer(15))
                        .set("acquireTime", now)
                        .set("renewTime", now)
                        .set("leaseTransitions", Json::integer(0)));
  const auto made = session->create(kube::kLeases, name_space(), lease);
  assert_ok(made);
  assert_text(made->at({"spec", "renewTime"}).text(), now);
  assert_error(session->create(kube::kLeases, name_space(), lease), Errc::already_exists, name);
  const auto hold = [&](const Json& seen, Json holder) {
    return session->patch(kube::kLeases, name_space(), name,
                          Json()
                              .set("metadata", Json().set("resourceVersion", meta(seen, "resourceVersion")))
                              .set("spec", Json().set("holderIdentity", std::move(holder))));
  };
  const auto free = hold(*made, Json());
  assert_ok(free);
  assert_text(free->at({"spec", "holderIdentity"}).text("nobody"), "nobody");
  assert_ok(hold(*free, Json::string("b")));
  assert_error(hold(*free, Json::string("c")), Errc::conflict, "the object has been modified");
  const auto got = session->get(kube::kLeases, name_space(), name);
  assert_ok(got);
  assert_text(got->at({"spec", "holderIdentity"}).text(), "b");
  assert_ok(session->remove(kube::kLeases, name_space(), name));
}

void status_is_patched_apart(void**) {
  made(pod("one"));
  const Json patch = Json()
                         .set("status", Json().set("message", "ours"))
                         .set("metadata", label_patch("a", Json::string("b"))["metadata"]);
  const auto by_status = session->patch(kPods, name_space(), "one", patch, kube::PatchType::merge, "status");
  assert_ok(by_status);
  assert_text(by_status->at({"status", "message"}).text(), "ours");
  const Json other = Json().set("status", Json().set("message", "other"));
  const auto by_object = session->patch(kPods, name_space(), "one", other);
  assert_ok(by_object);
  assert_text(by_object->at({"status", "message"}).text(), "ours");
}

void conditions_are_merged_by_their_type(void**) {
  made(pod("one"));
  const auto condition = [](const char* type, const char* status) {
    Json one = Json().set("type", type).set("status", status).set("lastTransitionTime", "2026-01-01T00:00:00Z");
    return Json().set("status", Json().set("conditions", Json::array().push(std::move(one))));
  };
  const auto patched = [&](const Json& patch) {
    return session->patch(kPods, name_space(), "one", patch, kube::PatchType::strategic_merge, "status");
  };
  assert_ok(patched(condition("example.com/A", "True")));
  assert_ok(patched(condition("example.com/B", "True")));
  const auto third = patched(condition("example.com/A", "False"));
  assert_ok(third);
  std::string all;
  third->at({"status", "conditions"}).each([&](const Json& one) {
    if (!one["type"].text().starts_with("example.com/")) return;  // the real server's own
    all += std::string(one["type"].text()) + "=" + std::string(one["status"].text()) + " ";
  });
  assert_true(all == "example.com/A=False example.com/B=True " || all == "example.com/B=True example.com/A=False ");
  Json other_uid = condition("example.com/A", "True");
  other_uid.set("metadata", Json().set("uid", "8d3c0000-0000-0000-0000-000000000000"));
  assert_true(!patched(other_uid).ok());
}

// ---- watches --------------------------------------------------------------------------------------------------------

void watches_tell_in_order(void**) {
  const std::string version = list_version();
  const auto watch =
      session->watch(kPods, name_space(), {.label_selector = "group=contract", .resource_version = version});
  assert_true(session->run_until([&] { return watch->opened; }));
  made(pod("one"));
  assert_ok(session->patch(kPods, name_space(), "one", label_patch("a", Json::string("b"))));
  assert_ok(session->remove(kPods, name_space(), "one"));
  assert_true(session->run_until([&] { return watch->events.size() >= 3; }));
  session->client().cancel(watch->id);
  assert_text(watch->text(), "added one, modified one, deleted one");
  std::int64_t last = *parse_int(version);
  for (const auto& [event, object] : watch->events) {
    const auto next = parse_int(meta(object, "resourceVersion"));
    assert_true(next.has_value() && *next > last);
    last = *next;
    assert_text(object["kind"].text(), "Pod");
  }
  assert_text(watch->events[2].second.at({"metadata", "labels", "a"}).text(), "b");
  assert_false(watch->end.has_value());
}

void watches_start_in_the_past(void**) {
  const std::string version = list_version();
  made(pod("one"));
  const std::string between = meta(made(pod("two")), "resourceVersion");
  assert_ok(session->remove(kPods, name_space(), "one"));
  const auto from_start = session->watch(kPods, name_space(), {.resource_version = version});
  const auto from_middle = session->watch(kPods, name_space(), {.resource_version = between});
  assert_true(session->run_until([&] { return from_start->events.size() >= 3 && !from_middle->events.empty(); }));
  assert_text(from_start->text(), "added one, added two, deleted one");
  assert_text(from_middle->text(), "deleted one");
  session->client().cancel(from_start->id);
  session->client().cancel(from_middle->id);
}

void watches_from_nothing_begin_with_what_is_there(void**) {
  made(pod("one"));
  const auto watch = session->watch(kPods, name_space(), {.resource_version = "0"});
  assert_true(session->run_until([&] { return !watch->events.empty(); }));
  assert_text(watch->text(), "added one");
  session->client().cancel(watch->id);
}

void an_object_that_leaves_the_selection_is_deleted(void**) {
  made(pod("one", "in"));
  made(pod("two", "out"));
  const auto watch =
      session->watch(kPods, name_space(), {.label_selector = "group=in", .resource_version = list_version()});
  assert_true(session->run_until([&] { return watch->opened; }));
  assert_ok(session->patch(kPods, name_space(), "one", label_patch("group", Json::string("out"))));
  assert_ok(session->patch(kPods, name_space(), "two", label_patch("group", Json::string("in"))));
  assert_true(session->run_until([&] { return watch->events.size() >= 2; }));
  assert_text(watch->text(), "deleted one, added two");
  session->client().cancel(watch->id);
}

void a_version_of_long_ago_is_gone(void**) {
  // NodeSets: a server's memory of a resource of its own, as pods, may well begin with version 1; that of a custom
  // resource begins when its definition is made.
  auto watch = session->watch(kube::kNodeSets, name_space(), {.resource_version = "1"});
  assert_true(session->run_until([&] {
    // Right after their definition was made, the server asks for patience: it has read no NodeSets yet.
    if (watch->end && !watch->end->ok() && watch->end->error().code() == Errc::throttled) {
      std::this_thread::sleep_for(watch->end->error().retry_after().value_or(1s));
      watch = session->watch(kube::kNodeSets, name_space(), {.resource_version = "1"});
    }
    return watch->end.has_value();
  }));
  assert_error(*watch->end, Errc::gone, "too old resource version");
  assert_false(watch->end->error().retryable());
}

// ---- all together ---------------------------------------------------------------------------------------------------

void many_requests_at_once(void**) {
  constexpr int kMany = 100;
  const auto watch = session->watch(kPods, name_space(), {.resource_version = list_version()});
  int created = 0;
  int failed = 0;
  for (int i = 0; i < kMany; ++i) {
    session->writer().create({kPods, name_space()}, pod("many-" + std::to_string(i)),
                             [&](Result<Json> answer) { ++(answer.ok() ? created : failed); });
  }
  assert_true(session->run_until([&] { return created + failed == kMany && watch->events.size() >= kMany; }));
  assert_int_equal(created, kMany);
  int removed = 0;
  for (int i = 0; i < kMany; ++i) {
    session->writer().remove({kPods, name_space(), "many-" + std::to_string(i)}, {.grace_s = 0},
                             [&](Result<Json> answer) { ++(answer.ok() ? removed : failed); });
  }
  assert_true(session->run_until([&] { return removed + failed == kMany && watch->events.size() >= 2 * kMany; }));
  assert_int_equal(removed, kMany);
  assert_int_equal(watch->events.size(), 2 * kMany);
  session->client().cancel(watch->id);
}

void a_reflector_follows(void**) {
  SystemClock clock;
  Timers timers(clock);
  std::set<std::string> seen;
  bool synced = false;
  made(pod("before", "mine"));
  made(pod("other", "else"));
  kube::Reflector reflector(
      session->client(), timers, clock, {.resource = kPods, .name_space = name_space(), .label_selector = "group=mine"},
      {.upsert = [&](const Json& object) { seen.insert(meta(object, "name")); },
       .remove = [&](const kube::ObjectKey& key, const std::string&, const Json&) { seen.erase(key.name); },
       .synced = [&] { synced = true; }});
  reflector.start();
  const auto seen_are = [&](std::set<std::string> expected) {
    return session->run_until([&] {
      timers.run_due();
      return synced && seen == expected;
    });
  };
  assert_true(seen_are({"before"}));
  made(pod("after", "mine"));
  assert_true(seen_are({"before", "after"}));
  assert_ok(session->remove(kPods, name_space(), "before"));
  assert_true(seen_are({"after"}));
  assert_text(reflector.last_error(), "");
}

void a_reflector_of_all_namespaces_tells_equal_names_apart(void**) {
  SystemClock clock;
  Timers timers(clock);
  const std::string name = "twin-" + random_id();
  std::set<std::string> seen;
  kube::Reflector reflector(
      session->client(), timers, clock, {.resource = kube::kLeases, .field_selector = "metadata.name=" + name},
      {.upsert = [&](const Json& object) { seen.insert(meta(object, "namespace")); },
       .remove = [&](const kube::ObjectKey& key, const std::string&, const Json&) { seen.erase(key.name_space); },
       .synced = {}});
  const auto seen_are = [&](const std::set<std::string>& expected) {
    return session->run_until([&] {
      timers.run_due();
      return reflector.synced() && seen == expected;
    });
  };
  assert_ok(session->create(kube::kLeases, name_space(), lease(name)));
  reflector.start();
  assert_true(seen_are({name_space()}));
  assert_ok(session->create(kube::kLeases, "default", lease(name)));
  assert_true(seen_are({name_space(), "default"}));
  assert_ok(session->remove(kube::kLeases, name_space(), name));
  assert_true(seen_are({"default"}));
  assert_ok(session->remove(kube::kLeases, "default", name));
  assert_true(seen_are({}));
}

}  // namespace

std::vector<CMUnitTest> client_tests() {
  std::vector<CMUnitTest> tests = {
      CONTRACT_TEST(creates_and_gets),
      CONTRACT_TEST(a_second_create_already_exists),
      CONTRACT_TEST(what_is_not_there_is_not_found),
      CONTRACT_TEST(an_object_has_a_name_and_the_namespace_of_its_request),
      CONTRACT_TEST(delete_minds_the_uid),
      CONTRACT_TEST(a_pod_without_a_node_goes_at_once),
      CONTRACT_TEST(a_pod_on_a_node_has_its_grace),
      CONTRACT_TEST(label_selectors_select),
      CONTRACT_TEST(field_selectors_select),
      CONTRACT_TEST(a_deletion_says_what_becomes_of_dependents),
      CONTRACT_TEST(lists_come_in_pages_of_one_moment),
      CONTRACT_TEST(items_have_what_we_read),
      CONTRACT_TEST(merge_patches_merge),
      CONTRACT_TEST(leases_have_one_holder),
      CONTRACT_TEST(status_is_patched_apart),
      CONTRACT_TEST(conditions_are_merged_by_their_type),
      CONTRACT_TEST(watches_tell_in_order),
      CONTRACT_TEST(watches_start_in_the_past),
      CONTRACT_TEST(watches_from_nothing_begin_with_what_is_there),
      CONTRACT_TEST(an_object_that_leaves_the_selection_is_deleted),
      CONTRACT_TEST(a_version_of_long_ago_is_gone),
      CONTRACT_TEST(many_requests_at_once),
      CONTRACT_TEST(a_reflector_follows),
      CONTRACT_TEST(a_reflector_of_all_namespaces_tells_equal_names_apart),
  };
  for (const CMUnitTest& test : subresource_tests()) tests.push_back(test);
  return tests;
}

}  // namespace slurmk8s::contract
