// SPDX-License-Identifier: GPL-2.0-or-later
// FakeClient: an API server in memory.
#include "support/fake_client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.hpp"
#include "json/cut.hpp"

namespace slurmk8s::kube {

namespace {

constexpr const char* kBirthday = "2026-01-01T00:00:00Z";

struct Kind {
  std::string_view plural;
  std::string_view name;
  bool has_status;  ///< as a subresource: what else writes the object leaves it alone
  bool built_in;    ///< the items of a list don't say of what kind they are
};
constexpr std::array<Kind, 7> kKinds{{{"pods", "Pod", true, true},
                                      {"nodes", "Node", true, true},
                                      {"persistentvolumeclaims", "PersistentVolumeClaim", true, true},
                                      {"poddisruptionbudgets", "PodDisruptionBudget", true, true},
                                      {"leases", "Lease", false, true},
                                      {"events", "Event", false, true},
                                      {"nodesets", "NodeSet", true, false}}};
constexpr Kind kOther{"", "", false, false};

Kind kind_of(std::string_view collection) {
  const std::string_view plural = collection.substr(collection.rfind('/') + 1);
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& kind) { return kind.plural == plural; });
  return found != kKinds.end() ? *found : kOther;
}

std::string collection_of(const Resource& resource) {
  return std::string(resource.api) + "/" + std::string(resource.plural);
}

std::string quoted(const std::string& collection, const std::string& name) {
  return collection.substr(collection.rfind('/') + 1) + " \"" + name + "\"";
}

/** What of a pod's spec may not change. A pod with scheduling gates may lose them, and get a node selector. */
Json fixed_spec(const Json& pod, const Json& before) {
  Json spec = pod["spec"].clone();
  if (before.at({"spec", "schedulingGates"}).size() == 0) return spec;
  spec.erase("schedulingGates");
  spec.erase("nodeSelector");
  return spec;
}

/** Of strategic merge patches what we use: conditions are merged by their type. Other lists are replaced. */
Json merge_conditions(const Json& object, const Json& patch) {
  const Json changes = patch["status"]["conditions"];
  if (!changes.is_array()) return patch;
  Json merged = Json::array();
  const auto find = [](const Json& list, std::string_view type) {
    Json found;
    list.each([&](const Json& one) {
      if (one["type"].text() == type) found = one;
    });
    return found;
  };
  const Json before = object["status"]["conditions"];
  before.each([&](const Json& one) {
    const Json change = find(changes, one["type"].text());
    merged.push(change.is_null() ? one.clone() : merge_patch(one, change));
  });
  changes.each([&](const Json& one) {
    if (find(before, one["type"].text()).is_null()) merged.push(one.clone());
  });
  Json out = patch.clone();
  Json status = patch["status"].clone();
  status.set("conditions", std::move(merged));
  return out.set("status", std::move(status));
}

/** A copy of the object as a caller gets it that omits something. */
Json delivered(const Json& object, Omit omit) {
  if (omit.size() <= 1) return object.clone();  // managedFields, which nobody makes here
  Result<Json> rest = Json::parse(cut_members(object.dump(), omit));
  return rest.ok() ? *std::move(rest) : object.clone();
}

bool is_on_node(const Json& object) { return !object.at({"spec", "nodeName"}).text().empty(); }

Json with_metadata(Json object, std::string_view field, std::string_view value) {
  Json metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  metadata.set(field, value);
  object.set("metadata", metadata);
  return object;
}

/** A Binding's annotations become the pod's; its labels do from Kubernetes 1.35 on. */
Json bound_metadata(const Json& of_pod, const Json& of_binding) {
  Json metadata = of_pod.clone();
  const Json own = of_pod["annotations"].is_null() ? Json::object() : of_pod["annotations"];
  if (of_binding["annotations"].size() != 0) metadata.set("annotations", merge_patch(own, of_binding["annotations"]));
  return metadata;
}

}  // namespace

// ---- the world ------------------------------------------------------------------------------------------------------

FakeClient::Key FakeClient::key_of(const Resource& resource, const std::string& name_space, const std::string& name) {
  return {collection_of(resource), name_space, name};
}

Json FakeClient::store(const Key& key, Json object) {
  const auto found = objects_.find(key);
  const Json before = found != objects_.end() ? found->second : Json();
  object = with_metadata(std::move(object), "name", key.name);
  if (!key.name_space.empty()) object = with_metadata(std::move(object), "namespace", key.name_space);
  if (object.at({"metadata", "uid"}).text().empty()) {
    const std::string uid =
        before.is_null() ? "uid-" + std::to_string(++last_uid_) : std::string(before.at({"metadata", "uid"}).text());
    object = with_metadata(std::move(object), "uid", uid);
  }
  if (object.at({"metadata", "creationTimestamp"}).text().empty()) {
    object = with_metadata(std::move(object), "creationTimestamp", kBirthday);
  }
  object = with_metadata(std::move(object), "resourceVersion", std::to_string(++version_));
  history_.push_back({version_, key, before, object});
  objects_[key] = object;
  return object.clone();
}

void FakeClient::drop(const Key& key) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  const Json before = found->second;
  objects_.erase(found);
  ++version_;
  history_.push_back(
      {version_, key, with_metadata(before.clone(), "resourceVersion", std::to_string(version_)), Json()});
}

Json FakeClient::put(const Resource& resource, const std::string& name_space, const Json& object) {
  return store(key_of(resource, name_space, std::string(object.at({"metadata", "name"}).text())), object.clone());
}

void FakeClient::erase(const Resource& resource, const std::string& name_space, const std::string& name) {
  drop(key_of(resource, name_space, name));
}

Json FakeClient::find(const Resource& resource, const std::string& name_space, const std::string& name) const {
  const auto found = objects_.find(key_of(resource, name_space, name));
  return found != objects_.end() ? found->second.clone() : Json();
}

std::vector<std::string> FakeClient::names(const Resource& resource, const std::string& name_space) const {
  std::vector<std::string> all;
  for (const Json& object : select(collection_of(resource), name_space, FakeSelector())) {
    all.emplace_back(object.at({"metadata", "name"}).text());
  }
  return all;
}

std::vector<Json> FakeClient::select(const std::string& collection, const std::string& name_space,
                                     const FakeSelector& selector) const {
  std::vector<Json> found;
  for (const auto& [key, object] : objects_) {
    const bool here = key.collection == collection && (name_space.empty() || key.name_space == name_space);
    if (here && selector.matches(object)) found.push_back(object.clone());
  }
  return found;
}

// ---- faults ---------------------------------------------------------------------------------------------------------

void FakeClient::fail_next(Verb verb, Error error, unsigned times) {
  faults_.push_back({verb, std::move(error), times, false});
}

void FakeClient::lose_answers(Verb verb, Error error, unsigned times) {
  faults_.push_back({verb, std::move(error), times, true});
}

std::optional<Error> FakeClient::take_fault(Verb verb, bool carried_out) {
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    if (fault->verb != verb || fault->carried_out != carried_out || fault->times == 0) continue;
    Error error = fault->error;
    if (--fault->times == 0) faults_.erase(fault);
    return error;
  }
  return std::nullopt;
}

void FakeClient::end_watches(const Status& status) {
  for (const auto& watch : watches_) {
    if (!watch->ending) watch->ending = status;
  }
}

void FakeClient::forget_history() {
  forgotten_ = version_;
  for (auto& [token, page] : pages_) page.version = 0;
}

void FakeClient::send_bookmarks() {
  for (const auto& watch : watches_) {
    // Behind what it has still to hear.
    while (auto event = next_event(*watch)) watch->pending.push_back(std::move(*event));
    watch->pending.emplace_back(WatchEvent::bookmark,
                                with_metadata(Json::object(), "resourceVersion", std::to_string(version_)));
  }
}

// ---- delivery -------------------------------------------------------------------------------------------------------

bool FakeClient::step() {
  if (events_first) return run_watch() || run_request();
  return run_request() || run_watch();
}

std::size_t FakeClient::deliver() {
  constexpr std::size_t kMax = 100000;
  std::size_t steps = 0;
  while (steps < kMax && step()) ++steps;
  return steps;
}

bool FakeClient::run_request() {
  if (requests_.empty()) return false;
  const Request request = std::move(requests_.front());
  requests_.pop_front();
  Result<Json> result = Json();
  if (const auto fault = take_fault(request.verb, false)) {
    result = *fault;
  } else {
    result = request.carry_out();
    if (const auto lost = take_fault(request.verb, true)) result = *lost;
  }
  request.done(std::move(result));
  return true;
}

bool FakeClient::run_watch() {
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    const std::shared_ptr<Watch> watch = watches_[i];  // its callback may cancel it
    if (!watch->pending.empty()) {
      const auto [type, object] = std::move(watch->pending.front());
      watch->pending.pop_front();
      watch->event(type, object);
      return true;
    }
    if (const auto event = next_event(*watch)) {
      watch->event(event->first, event->second);
      return true;
    }
    if (watch->ending) {
      cancel(watch->id);
      watch->end(*watch->ending);
      return true;
    }
  }
  return false;
}

std::optional<std::pair<WatchEvent, Json>> FakeClient::next_event(Watch& watch) {
  while (watch.next < history_.size()) {
    const Change& change = history_[watch.next++];
    const bool here = change.key.collection == watch.collection &&
                      (watch.name_space.empty() || change.key.name_space == watch.name_space);
    if (!here) continue;
    const bool before = watch.selector.matches(change.before);
    const bool after = watch.selector.matches(change.after);
    if (after) return std::pair(before ? WatchEvent::modified : WatchEvent::added, delivered(change.after, watch.omit));
    if (!before) continue;
    const std::string version = std::to_string(change.version);
    return std::pair(WatchEvent::deleted, with_metadata(change.before.clone(), "resourceVersion", version));
  }
  return std::nullopt;
}

std::size_t FakeClient::count(Verb verb) const {
  return static_cast<std::size_t>(
      std::count_if(calls.begin(), calls.end(), [verb](const Call& call) { return call.verb == verb; }));
}

// ---- Client ---------------------------------------------------------------------------------------------------------

http::RequestId FakeClient::enqueue(Call call, std::function<Result<Json>()> carry_out, OnObject done) {
  const Verb verb = call.verb;
  const bool in_collection = call.verb == Verb::list || (call.verb == Verb::create && call.subresource.empty());
  if (!in_collection && call.name.empty()) {
    carry_out = [] { return Error(Errc::invalid, "empty name"); };
  }
  calls.push_back(std::move(call));
  requests_.push_back({++last_id_, verb, std::move(carry_out), std::move(done)});
  if (on_request) on_request();
  return last_id_;
}

Result<Json> FakeClient::find_to_change(const Key& key) const {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return Error(Errc::not_found, quoted(key.collection, key.name) + " not found");
  return found->second;
}

http::RequestId FakeClient::get(const ObjectRef& object, OnObject done) {
  return enqueue(
      {Verb::get, std::string(object.resource.plural), object.name_space, object.name},
      [this, key = key_of(object), omit = object.omit]() -> Result<Json> {
        Result<Json> found = find_to_change(key);
        if (!found.ok()) return found;
        return delivered(*found, omit);
      },
      std::move(done));
}

http::RequestId FakeClient::list(const Resource& resource, const std::string& name_space, const ListOptions& options,
                                 OnObject done) {
  return enqueue(
      {Verb::list, std::string(resource.plural), name_space, {}},
      [this, resource, name_space, options] { return make_page(resource, name_space, options); }, std::move(done));
}

Result<Json> FakeClient::make_page(const Resource& resource, const std::string& name_space,
                                   const ListOptions& options) {
  if (resource.plural == unlistable) return Error(Errc::forbidden, std::string(resource.plural) + " is forbidden");
  Page page;
  if (options.continue_token.empty()) {
    const FakeSelector selector =
        SLURMK8S_TRY(FakeSelector::parse(options.label_selector, options.field_selector, resource.plural));
    page = {select(collection_of(resource), name_space, selector), version_};
  } else {
    const auto found = pages_.find(options.continue_token);
    if (found == pages_.end()) return Error(Errc::invalid, "continue key is not valid");
    if (found->second.version < forgotten_) return Error(Errc::gone, "The provided continue parameter is too old");
    page = found->second;
  }
  std::size_t size = page.rest.size();
  if (options.limit > 0) size = std::min(size, static_cast<std::size_t>(options.limit));
  const Kind kind = kind_of(collection_of(resource));
  Json items = Json::array();
  for (std::size_t i = 0; i < size; ++i) {
    Json item = delivered(page.rest[i], options.omit);
    if (kind.built_in) item.erase("kind");
    if (kind.built_in) item.erase("apiVersion");
    items.push(std::move(item));
  }
  Json metadata = Json::object();
  metadata.set("resourceVersion", std::to_string(page.version));
  if (size < page.rest.size()) {
    const std::string token = "page-" + std::to_string(pages_.size() + 1) + "-" + std::to_string(page.version);
    pages_[token] = {{page.rest.begin() + static_cast<std::ptrdiff_t>(size), page.rest.end()}, page.version};
    metadata.set("continue", token);
  }
  return Json::object().set("kind", std::string(kind.name) + "List").set("metadata", metadata).set("items", items);
}

http::RequestId FakeClient::create(const ObjectRef& at, const Json& body, OnObject done) {
  const std::string name(at.subresource.empty() ? body.at({"metadata", "name"}).text() : at.name);
  const Key key = key_of(at.resource, at.name_space, name);
  const auto carry_out = [this, key, at, body = body.clone()]() -> Result<Json> {
    if (!at.subresource.empty()) return create_subresource(key, at.subresource, body);
    Result<Json> made = create_object(key, body);
    if (!made.ok()) return made;
    return delivered(*made, at.omit);
  };
  return enqueue({Verb::create, std::string(at.resource.plural), at.name_space, name, at.subresource, body.clone()},
                 carry_out, std::move(done));
}

Result<Json> FakeClient::create_object(Key key, const Json& body) {
  if (key.name.empty()) {
    const std::string_view prefix = body.at({"metadata", "generateName"}).text();
    if (prefix.empty()) return Error(Errc::invalid, "name or generateName is required");
    key.name = std::string(prefix) + std::to_string(version_);
  }
  const std::string_view name_space = body.at({"metadata", "namespace"}).text();
  if (!name_space.empty() && name_space != key.name_space) {
    return Error(Errc::invalid, "the namespace of the provided object does not match that of the request");
  }
  if (!has_namespace(key.name_space))
    return Error(Errc::not_found, quoted("namespaces", key.name_space) + " not found");
  if (objects_.contains(key)) return Error(Errc::already_exists, quoted(key.collection, key.name) + " already exists");
  Json object = body.clone();
  if (key.collection == "v1/pods") object.set("status", Json::object().set("phase", "Pending"));
  return store(key, std::move(object));
}

bool FakeClient::has_namespace(const std::string& name) const {
  const auto first = objects_.lower_bound({"v1/namespaces", "", ""});
  const bool any = first != objects_.end() && first->first.collection == "v1/namespaces";
  return name.empty() || !any || objects_.contains({"v1/namespaces", "", name});
}

Result<Json> FakeClient::create_subresource(const Key& key, const std::string& subresource, const Json& body) {
  if (body.at({"metadata", "name"}).text() != key.name) {
    return Error(Errc::invalid, "name in URL does not match name in " + std::string(body["kind"].text()) + " object");
  }
  Json pod = SLURMK8S_TRY(find_to_change(key)).clone();
  const std::string_view uid = body.at({"metadata", "uid"}).text();
  if (!uid.empty() && uid != pod.at({"metadata", "uid"}).text()) {
    return Error(Errc::conflict, "the UID in the precondition does not match the UID in record");
  }
  const Json success = Json::object().set("kind", "Status").set("status", "Success");
  if (subresource == "eviction") {
    SLURMK8S_TRY(end_object(key, {}));
    return success;
  }
  if (subresource != "binding") return Error(Errc::not_found, "the server could not find the requested resource");
  const Json spec = pod["spec"].is_null() ? Json::object() : pod["spec"].clone();
  if (const std::string_view node = spec["nodeName"].text(); !node.empty()) {
    return Error(Errc::conflict, "pod " + key.name + " is already assigned to node \"" + std::string(node) + "\"");
  }
  Json bound = spec;
  bound.set("nodeName", body.at({"target", "name"}).text());
  store(key, pod.set("spec", std::move(bound)).set("metadata", bound_metadata(pod["metadata"], body["metadata"])));
  return success;
}

http::RequestId FakeClient::patch(const ObjectRef& object, PatchType type, const Json& patch, OnObject done) {
  return enqueue(
      {Verb::patch, std::string(object.resource.plural), object.name_space, object.name, object.subresource,
       patch.clone()},
      [this, object, type, body = patch.clone()]() -> Result<Json> {
        Result<Json> patched = change(key_of(object), object.subresource, type, body);
        if (!patched.ok()) return patched;
        return delivered(*patched, object.omit);
      },
      std::move(done));
}

Result<Json> FakeClient::change(const Key& key, const std::string& subresource, PatchType type, const Json& patch) {
  const Json present = SLURMK8S_TRY(find_to_change(key));
  const Kind kind = kind_of(key.collection);
  const std::string what = quoted(key.collection, key.name);
  if (type == PatchType::json) return Error(Errc::invalid, "the fake knows no JSON patches");
  const Json uid = patch.at({"metadata", "uid"});
  if (!uid.is_null() && !uid.equals(present.at({"metadata", "uid"}))) {
    return Error(Errc::invalid, what + " is invalid: metadata.uid: field is immutable");
  }
  const Json version = patch.at({"metadata", "resourceVersion"});
  if (!version.is_null() && !version.equals(present.at({"metadata", "resourceVersion"}))) {
    return Error(Errc::conflict, "Operation cannot be fulfilled on " + what + ": the object has been modified");
  }
  Json applied = patch.clone();
  if (subresource == "status") {
    applied = Json::object().set("status", patch["status"]);
  } else if (kind.has_status) {
    applied.erase("status");
  }
  if (type == PatchType::strategic_merge) applied = merge_conditions(present, applied);
  const Json changed = merge_patch(present, applied);
  if (changed.equals(present)) return present.clone();
  if (key.collection == "v1/pods" && !fixed_spec(changed, present).equals(fixed_spec(present, present))) {
    return Error(Errc::invalid, what + " is invalid: spec: Forbidden: pod updates may not change fields of it");
  }
  const auto keeps = [](const Json& object) { return object.at({"metadata", "finalizers"}).size() > 0; };
  if (keeps(present) && !keeps(changed) && !present.at({"metadata", "deletionTimestamp"}).is_null()) {
    drop(key);
    return changed;
  }
  return store(key, changed);
}

http::RequestId FakeClient::remove(const ObjectRef& object, const DeleteOptions& options, OnObject done) {
  return enqueue(
      {Verb::remove, std::string(object.resource.plural), object.name_space, object.name, {}, {}, options},
      [this, key = key_of(object), options] { return end_object(key, options); }, std::move(done));
}

Result<Json> FakeClient::end_object(const Key& key, const DeleteOptions& options) {
  const Json present = SLURMK8S_TRY(find_to_change(key));
  if (!options.uid.empty() && present.at({"metadata", "uid"}).text() != options.uid) {
    return Error(Errc::conflict, "Precondition failed: UID in precondition: " + options.uid +
                                     ", UID in object meta: " + std::string(present.at({"metadata", "uid"}).text()));
  }
  const bool waits = options.propagation == Propagation::foreground || options.propagation == Propagation::orphan;
  const bool stays = waits || slow_deletion || (key.collection == "v1/pods" && is_on_node(present));
  if (!stays || (!waits && options.grace_s == 0)) {
    drop(key);
    return present.clone();
  }
  const Json left = present.at({"metadata", "deletionGracePeriodSeconds"});
  const bool is_deleted = !present.at({"metadata", "deletionTimestamp"}).is_null();
  if (is_deleted && (options.grace_s < 0 || options.grace_s >= left.integer_or(0))) return present.clone();
  return mark_deleted(key, present.clone(), options);
}

/** For kubelet, or the garbage collector, who end it. */
Json FakeClient::mark_deleted(const Key& key, Json object, const DeleteOptions& options) {
  constexpr std::int64_t kGrace = 30;
  object = with_metadata(std::move(object), "deletionTimestamp", kBirthday);
  Json metadata = object["metadata"].clone();
  if (options.propagation == Propagation::foreground || options.propagation == Propagation::orphan) {
    const char* finalizer = options.propagation == Propagation::orphan ? "orphan" : "foregroundDeletion";
    metadata.set("finalizers", Json::array().push(Json::string(finalizer)));
  } else {
    const std::int64_t own = object.at({"spec", "terminationGracePeriodSeconds"}).integer_or(kGrace);
    metadata.set("deletionGracePeriodSeconds", Json::integer(options.grace_s < 0 ? own : options.grace_s));
  }
  return store(key, object.set("metadata", std::move(metadata)));
}

http::RequestId FakeClient::watch(const Resource& resource, const std::string& name_space, const WatchOptions& options,
                                  OnEvent event, OnWatchEnd end) {
  calls.push_back({Verb::watch, std::string(resource.plural), name_space, {}});
  const Result<FakeSelector> selector =
      FakeSelector::parse(options.label_selector, options.field_selector, resource.plural);
  const auto watch = std::make_shared<Watch>(Watch{++last_id_,
                                                   collection_of(resource),
                                                   name_space,
                                                   selector.ok() ? *selector : FakeSelector(),
                                                   options.omit,
                                                   std::move(event),
                                                   std::move(end),
                                                   history_.size(),
                                                   {},
                                                   std::nullopt});
  watches_.push_back(watch);
  const Version from = static_cast<Version>(parse_int(options.resource_version).value_or(0));
  if (const auto fault = take_fault(Verb::watch, false)) {
    watch->ending = *fault;
    return watch->id;
  }
  if (!selector.ok()) {
    watch->ending = selector.error();
    return watch->id;
  }
  if (from > 0 && from < forgotten_) {
    watch->ending =
        Error(Errc::gone, format("too old resource version: %llu (%llu)", static_cast<unsigned long long>(from),
                                 static_cast<unsigned long long>(forgotten_)));
    return watch->id;
  }
  watch->pending.emplace_back(WatchEvent::opened, Json());
  if (from == 0) {
    for (const Json& object : select(watch->collection, name_space, watch->selector)) {
      watch->pending.emplace_back(WatchEvent::added, delivered(object, options.omit));
    }
    return watch->id;
  }
  const auto first = std::find_if(history_.begin(), history_.end(), [&](const Change& c) { return c.version > from; });
  watch->next = static_cast<std::size_t>(first - history_.begin());
  return watch->id;
}

void FakeClient::cancel(http::RequestId id) {
  std::erase_if(requests_, [id](const Request& request) { return request.id == id; });
  std::erase_if(watches_, [id](const std::shared_ptr<Watch>& watch) { return watch->id == id; });
}

}  // namespace slurmk8s::kube
