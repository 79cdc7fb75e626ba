// SPDX-License-Identifier: GPL-2.0-or-later
// HttpClient: Client on a Transport.
#include <string>
#include <utility>

#include "json/cut.hpp"
#include "kube/client.hpp"
#include "kube/status.hpp"

namespace slurmk8s::kube {

namespace {

// How long after its own time-out a watch may be silent. Before that silence proves nothing: bookmarks come once a
// minute at best, and none at all while nobody changes the resource. A connection that is dead is found by TCP.
constexpr std::chrono::seconds kWatchGrace{30};

/** "?a=b&c=d" from what isn't empty. */
class Query {
 public:
  void add(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    text_ += text_.empty() ? '?' : '&';
    text_.append(key).append("=").append(escape(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

const char* content_type(PatchType type) {
  switch (type) {
    case PatchType::merge: return "application/merge-patch+json";
    case PatchType::json: return "application/json-patch+json";
    case PatchType::strategic_merge: return "application/strategic-merge-patch+json";
  }
  return "application/merge-patch+json";
}

/** Path of one object; an empty name makes no path, which the Transport refuses. */
std::string object_path(const ObjectRef& object) {
  if (object.name.empty()) return {};
  return resource_path(object.resource, object.name_space, object.name, object.subresource);
}

const char* to_string(Propagation propagation) {
  switch (propagation) {
    case Propagation::unset: return "";
    case Propagation::orphan: return "Orphan";
    case Propagation::background: return "Background";
    case Propagation::foreground: return "Foreground";
  }
  return "";
}

Json build_delete_options(const DeleteOptions& wanted) {
  Json options = Json::object();
  options.set("apiVersion", "v1").set("kind", "DeleteOptions");
  if (wanted.grace_s >= 0) options.set("gracePeriodSeconds", Json::integer(wanted.grace_s));
  if (!wanted.uid.empty()) options.set("preconditions", Json::object().set("uid", wanted.uid));
  if (wanted.propagation != Propagation::unset) options.set("propagationPolicy", to_string(wanted.propagation));
  return options;
}

std::optional<WatchEvent> event_of(std::string_view type) {
  if (type == "ADDED") return WatchEvent::added;
  if (type == "MODIFIED") return WatchEvent::modified;
  if (type == "DELETED") return WatchEvent::deleted;
  if (type == "BOOKMARK") return WatchEvent::bookmark;
  return std::nullopt;
}

/** One watch: turns lines into events, and ends once. */
class Watch {
 public:
  Watch(http::Transport& transport, Omit omit, OnEvent event, OnWatchEnd end)
      : transport_(transport), omit_(omit), event_(std::move(event)), end_(std::move(end)) {}

  http::RequestId id = 0;

  void on_line(std::string_view line) {
    if (line.empty()) return event_(WatchEvent::opened, Json());
    const Result<Json> parsed = Json::parse(cut_members(line, omit_));
    if (!parsed.ok()) return give_up(Error(Errc::protocol, "watch event: " + parsed.error().message()));
    const std::string_view type = (*parsed)["type"].text();
    const Json object = (*parsed)["object"];
    if (type == "ERROR") return give_up(decode_status(object, 0));
    const std::optional<WatchEvent> event = event_of(type);
    if (!event || !object.is_object()) return give_up(Error(Errc::protocol, "watch event: of no known type"));
    event_(*event, object);
  }

  void on_done(const Result<http::Response>& response) {
    if (response.ok() && response->status >= 200 && response->status <= 299) return end_({});
    const Result<Json> decoded = decode_response(response);
    end_(decoded.error());
  }

 private:
  void give_up(const Error& error) {
    transport_.cancel(id);
    end_(error);
  }

  http::Transport& transport_;
  const Omit omit_;
  const OnEvent event_;
  const OnWatchEnd end_;
};

class HttpClient final : public Client, public Writer {
 public:
  explicit HttpClient(http::Transport& transport) : transport_(transport) {}

  http::RequestId get(const ObjectRef& object, OnObject done) override {
    return send(object.omit, {.target = object_path(object)}, std::move(done));
  }

  http::RequestId list(const Resource& resource, const std::string& name_space, const ListOptions& options,
                       OnObject done) override {
    Query query;
    query.add("labelSelector", options.label_selector);
    query.add("fieldSelector", options.field_selector);
    query.add("continue", options.continue_token);
    // A continue token has the version in it; the server refuses both.
    if (options.continue_token.empty()) query.add("resourceVersion", options.resource_version);
    if (options.limit > 0) query.add("limit", std::to_string(options.limit));
    return send(options.omit, {.target = resource_path(resource, name_space) + query.text()}, std::move(done));
  }

  http::RequestId create(const ObjectRef& at, const Json& body, OnObject done) override {
    std::string target = at.subresource.empty() ? resource_path(at.resource, at.name_space) : object_path(at);
    return send(at.omit, {.method = "POST", .target = std::move(target), .body = body.dump()}, std::move(done));
  }

  http::RequestId patch(const ObjectRef& object, PatchType type, const Json& patch, OnObject done) override {
    return send(
        object.omit,
        {.method = "PATCH", .target = object_path(object), .body = patch.dump(), .content_type = content_type(type)},
        std::move(done));
  }

  http::RequestId remove(const ObjectRef& object, const DeleteOptions& options, OnObject done) override {
    return send(object.omit,
                {.method = "DELETE", .target = object_path(object), .body = build_delete_options(options).dump()},
                std::move(done));
  }

  http::RequestId watch(const Resource& resource, const std::string& name_space, const WatchOptions& options,
                        OnEvent event, OnWatchEnd end) override {
    Query query;
    query.add("watch", "true");
    query.add("allowWatchBookmarks", "true");
    query.add("labelSelector", options.label_selector);
    query.add("fieldSelector", options.field_selector);
    query.add("resourceVersion", options.resource_version);
    query.add("timeoutSeconds", std::to_string(options.server_timeout.count()));
    const auto watch = std::make_shared<Watch>(transport_, options.omit, std::move(event), std::move(end));
    watch->id = transport_.stream(
        {.target = resource_path(resource, name_space) + query.text(), .timeout = options.server_timeout + kWatchGrace},
        [watch](std::string_view line) { watch->on_line(line); },
        [watch](const Result<http::Response>& response) { watch->on_done(response); });
    return watch->id;
  }

  void cancel(http::RequestId id) override { transport_.cancel(id); }
  Writer& unfenced_writer() override { return *this; }

 private:
  http::RequestId send(Omit omit, http::Request request, OnObject done) {
    return transport_.send(std::move(request), [omit, done = std::move(done)](const Result<http::Response>& response) {
      done(decode_response(response, omit));
    });
  }

  http::Transport& transport_;
};

}  // namespace

std::unique_ptr<Client> make_http_client(http::Transport& transport) { return std::make_unique<HttpClient>(transport); }

}  // namespace slurmk8s::kube
