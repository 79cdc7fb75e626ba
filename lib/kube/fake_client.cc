// SPDX-License-Identifier: GPL-2.0-or-later
// FakeClient: an API server in memory.
#include "kube/fake_client.hpp"

#include <algorithm>
#include <utility>

#include "base/strings.hpp"
#include "json/cut.hpp"

namespace slurmk8s::kube {

namespace {

constexpr const char* kBirthday = "2026-01-01T00:00:00Z";

std::string collection_of(const Resource& resource) {
  return std::string(resource.api) + "/" + std::string(resource.plural);
}

std::string quoted(const std::string& collection, const std::string& name) {
  return collection.substr(collection.rfind('/') + 1) + " \"" + name + "\"";
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

/** "a=b,c!=d,e,!f" against the object's labels. */
bool matches_labels(const std::string& selector, const Json& object) {
  if (selector.empty()) return true;
  const Json labels = object.at({"metadata", "labels"});
  for (const std::string_view term : split(selector, ',')) {
    const std::size_t equals = term.find('=');
    bool ok = false;
    if (equals == std::string_view::npos) {
      ok = term.starts_with('!') ? !labels.has(term.substr(1)) : labels.has(term);
    } else {
      const bool negated = equals > 0 && term[equals - 1] == '!';
      const std::string_view key = term.substr(0, negated ? equals - 1 : equals);
      std::string_view value = term.substr(equals + 1);
      if (value.starts_with('=')) value.remove_prefix(1);
      const bool same = labels.has(key) && labels[key].text() == value;
      ok = same != negated;
    }
    if (!ok) return false;
  }
  return true;
}

/** "metadata.name=a,status.phase!=Running"; any field of text, where a server has a few of each resource. */
bool matches_fields(const std::string& selector, const Json& object) {
  if (selector.empty()) return true;
  for (const std::string_view term : split(selector, ',')) {
    const std::size_t equals = term.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    const bool negated = term[equals - 1] == '!';
    Json field = object;
    for (const std::string_view part : split(term.substr(0, negated ? equals - 1 : equals), '.')) field = field[part];
    std::string_view value = term.substr(equals + 1);
    if (value.starts_with('=')) value.remove_prefix(1);
    if ((field.text() == value) == negated) return false;
  }
  return true;
}

/** A copy of the object as a caller gets it that omits something. */
Json delivered(const Json& object, Omit omit) {
  if (omit.size() <= 1) return object.clone();  // managedFields, which nobody makes here
  Result<Json> rest = Json::parse(cut_members(object.dump(), omit));
  return rest.ok() ? *std::move(rest) : object.clone();
}

Json with_metadata(Json object, std::string_view field, std::string_view value) {
  Json metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  metadata.set(field, value);
  object.set("metadata", metadata);
  return object;
}

}  // namespace

bool FakeClient::Selector::matches(const Json& object) const {
  return !object.is_null() && matches_labels(labels, object) && matches_fields(fields, object);
}

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
  for (const Json& object : select(collection_of(resource), name_space, {})) {
    all.emplace_back(object.at({"metadata", "name"}).text());
  }
  return all;
}

std::vector<Json> FakeClient::select(const std::string& collection, const std::string& name_space,
                                     const Selector& selector) const {
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
  pages_.clear();
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
    const Selector selector{options.label_selector, options.field_selector};
    page = {select(collection_of(resource), name_space, selector), version_};
  } else {
    const auto found = pages_.find(options.continue_token);
    if (found == pages_.end()) return Error(Errc::gone, "The provided continue parameter is too old");
    page = found->second;
  }
  std::size_t size = page.rest.size();
  if (options.limit > 0) size = std::min(size, static_cast<std::size_t>(options.limit));
  Json items = Json::array();
  for (std::size_t i = 0; i < size; ++i) items.push(delivered(page.rest[i], options.omit));
  Json metadata = Json::object();
  metadata.set("resourceVersion", std::to_string(page.version));
  if (size < page.rest.size()) {
    const std::string token = "page-" + std::to_string(pages_.size() + 1) + "-" + std::to_string(page.version);
    pages_[token] = {{page.rest.begin() + static_cast<std::ptrdiff_t>(size), page.rest.end()}, page.version};
    metadata.set("continue", token);
  }
  return Json::object().set("metadata", metadata).set("items", items);
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
  if (objects_.contains(key)) return Error(Errc::already_exists, quoted(key.collection, key.name) + " already exists");
  return store(key, body.clone());
}

Result<Json> FakeClient::create_subresource(const Key& key, const std::string& subresource, const Json& body) {
  if (body.at({"metadata", "name"}).text() != key.name) {
    return Error(Errc::invalid, "name in URL does not match name in " + std::string(body["kind"].text()) + " object");
  }
  Json pod = SLURMK8S_TRY(find_to_change(key)).clone();
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
  store(key, pod.set("spec", std::move(bound)));
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
  if (type == PatchType::json) return Error(Errc::invalid, "the fake knows no JSON patches");
  for (const char* field : {"uid", "resourceVersion"}) {
    const Json wanted = patch.at({"metadata", field});
    if (!wanted.is_null() && !wanted.equals(present.at({"metadata", field}))) {
      return Error(Errc::conflict, "Operation cannot be fulfilled on " + quoted(key.collection, key.name));
    }
  }
  Json applied = patch;
  if (subresource == "status") applied = Json::object().set("status", patch["status"]);
  if (type == PatchType::strategic_merge) applied = merge_conditions(present, applied);
  return store(key, merge_patch(present, applied));
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
  const bool stays = options.propagation == Propagation::foreground || options.propagation == Propagation::orphan;
  if (!stays && (!slow_deletion || options.grace_s == 0)) {
    drop(key);
    return present.clone();
  }
  if (!present.at({"metadata", "deletionTimestamp"}).is_null()) return present.clone();
  Json ending = with_metadata(present.clone(), "deletionTimestamp", kBirthday);
  if (!stays) return store(key, std::move(ending));
  const char* finalizer = options.propagation == Propagation::orphan ? "orphan" : "foregroundDeletion";
  Json metadata = ending["metadata"].clone();
  metadata.set("finalizers", Json::array().push(Json::string(finalizer)));  // for the garbage collector
  return store(key, ending.set("metadata", std::move(metadata)));
}

http::RequestId FakeClient::watch(const Resource& resource, const std::string& name_space, const WatchOptions& options,
                                  OnEvent event, OnWatchEnd end) {
  calls.push_back({Verb::watch, std::string(resource.plural), name_space, {}});
  const auto watch = std::make_shared<Watch>(Watch{++last_id_,
                                                   collection_of(resource),
                                                   name_space,
                                                   {options.label_selector, options.field_selector},
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
