// SPDX-License-Identifier: GPL-2.0-or-later
// Session: a client, with calls that wait for their answer: the product's own against an API server, or another one.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/curl_transport.hpp"
#include "kube/client.hpp"
#include "kube/config.hpp"

namespace slurmk8s::contract {

using namespace std::chrono_literals;

inline constexpr kube::Resource kNamespaces{"v1", "namespaces"};
inline constexpr kube::Resource kServiceAccounts{"v1", "serviceaccounts"};

/** No answer takes longer, on a slow machine either. */
inline constexpr std::chrono::seconds kDeadline{60};

inline std::string environment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

inline std::string kubeconfig_path() { return environment("SLURM_K8S_CONTRACT_KUBECONFIG", ""); }
inline std::string name_space() { return environment("SLURM_K8S_CONTRACT_NAMESPACE", "contract"); }

inline std::string meta(const Json& object, std::string_view field) {
  return std::string(object.at({"metadata", field}).text());
}

/** A pod that no scheduler looks at: nobody but the test changes it. */
inline Json pod(const std::string& name, const std::string& group = "contract") {
  Json object;
  object.set("apiVersion", "v1").set("kind", "Pod");
  object.set("metadata", Json().set("name", name).set("labels", Json().set("group", group)));
  Json container;
  container.set("name", "slurmd").set("image", "example.invalid/none:1");
  object.set("spec", Json()
                         .set("containers", Json().push(container))
                         .set("schedulerName", "slurm-k8s.io/none")
                         .set("terminationGracePeriodSeconds", Json::integer(5)));
  return object;
}

/** {"metadata":{"labels":{key: value}}}; a null value takes the label away. */
inline Json label_patch(const std::string& key, Json value) {
  return Json().set("metadata", Json().set("labels", Json().set(key, std::move(value))));
}

/** True of a pod that goes at once: the server may show it so, or not, before it says that it is deleted. */
inline bool is_last_breath(kube::WatchEvent event, const Json& object) {
  return event == kube::WatchEvent::modified && !meta(object, "deletionTimestamp").empty() &&
         object.at({"metadata", "deletionGracePeriodSeconds"}).integer_or(-1) == 0;
}

/** What a watch has said so far. */
struct WatchLog {
  std::vector<std::pair<kube::WatchEvent, Json>> events;  // without `opened`, bookmarks and last breaths
  bool opened = false;
  int bookmarks = 0;
  std::string bookmarked;  // resourceVersion of the last bookmark
  std::optional<Status> end;
  http::RequestId id = 0;

  /** "added a, modified a, deleted a" */
  std::string text() const {
    std::string result;
    for (const auto& [event, object] : events) {
      const char* name = event == kube::WatchEvent::added      ? "added "
                         : event == kube::WatchEvent::modified ? "modified "
                                                               : "deleted ";
      result.append(result.empty() ? "" : ", ").append(name).append(meta(object, "name"));
    }
    return result;
  }
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(http::CurlOptions options) {
    auto session = std::make_unique<Session>();
    session->loop_ = SLURMK8S_TRY(EventLoop::open());
    session->transport_ = SLURMK8S_TRY(http::make_curl_transport(*session->loop_, std::move(options)));
    session->client_ = kube::make_http_client(*session->transport_);
    session->turn_ = [loop = session->loop_.get()] { loop->turn(50ms); };
    return session;
  }
  static Result<std::unique_ptr<Session>> open(const kube::Config& config) {
    return open(kube::transport_options(config, std::make_shared<SystemClock>()));
  }
  /** Of a client without a transport; `turn` has it answer. */
  static std::unique_ptr<Session> of(std::unique_ptr<kube::Client> client, std::function<void()> turn) {
    auto session = std::make_unique<Session>();
    session->client_ = std::move(client);
    session->turn_ = std::move(turn);
    return session;
  }

  http::Transport& transport() { return *transport_; }
  kube::Client& client() { return *client_; }
  kube::Writer& writer() { return client_->unfenced_writer(); }

  /** Runs the loop until `done`; false when it isn't in time. */
  template <typename Done>
  bool run_until(Done done, std::chrono::milliseconds limit = kDeadline) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      turn_();
    }
    return true;
  }

  Result<Json> get(const kube::Resource& resource, const std::string& where, const std::string& name) {
    return await([&](kube::OnObject done) { return client_->get({resource, where, name}, std::move(done)); });
  }
  Result<Json> list(const kube::Resource& resource, const std::string& where, const kube::ListOptions& options = {}) {
    return await([&](kube::OnObject done) { return client_->list(resource, where, options, std::move(done)); });
  }
  Result<Json> create(const kube::Resource& resource, const std::string& where, const Json& object) {
    return await([&](kube::OnObject done) { return writer().create({resource, where}, object, std::move(done)); });
  }
  Result<Json> patch(const kube::Resource& resource, const std::string& where, const std::string& name,
                     const Json& patch, kube::PatchType type = kube::PatchType::merge,
                     const std::string& subresource = {}) {
    return await([&](kube::OnObject done) {
      return writer().patch({resource, where, name, subresource}, type, patch, std::move(done));
    });
  }
  Result<Json> remove(const kube::Resource& resource, const std::string& where, const std::string& name,
                      const std::string& uid = {}, int grace_s = 0) {
    return await([&](kube::OnObject done) {
      return writer().remove({resource, where, name}, {.uid = uid, .grace_s = grace_s}, std::move(done));
    });
  }
  Result<Json> create_subresource(const kube::ObjectRef& at, const Json& body) {
    return await([&](kube::OnObject done) { return writer().create(at, body, std::move(done)); });
  }
  Result<Json> remove_with(const kube::ObjectRef& object, const kube::DeleteOptions& options) {
    return await([&](kube::OnObject done) { return writer().remove(object, options, std::move(done)); });
  }

  Result<http::Response> send(http::Request request) {
    std::optional<Result<http::Response>> answer;
    transport_->send(std::move(request), [&answer](Result<http::Response> response) { answer = std::move(response); });
    if (!run_until([&answer] { return answer.has_value(); })) return Error(Errc::internal, "no answer to the test");
    return *std::move(answer);
  }

  std::unique_ptr<WatchLog> watch(const kube::Resource& resource, const std::string& where,
                                  const kube::WatchOptions& options) {
    auto log = std::make_unique<WatchLog>();
    log->id = client_->watch(
        resource, where, options,
        [log = log.get()](kube::WatchEvent event, const Json& object) {
          if (event == kube::WatchEvent::opened) {
            log->opened = true;
          } else if (event == kube::WatchEvent::bookmark) {
            ++log->bookmarks;
            log->bookmarked = meta(object, "resourceVersion");
          } else if (!is_last_breath(event, object)) {
            log->events.emplace_back(event, object);
          }
        },
        [log = log.get()](Status status) { log->end = std::move(status); });
    return log;
  }

  /** Deletes all pods of the namespace at once. */
  Status clear(const std::string& where) {
    const Json pods = SLURMK8S_TRY(list(kube::kPods, where, {.limit = 0}));
    Status result;
    pods["items"].each([&](const Json& item) {
      const auto removed = remove(kube::kPods, where, meta(item, "name"));
      if (!removed.ok() && removed.error().code() != Errc::not_found) result = removed.error();
    });
    return result;
  }

 private:
  template <typename Start>
  Result<Json> await(Start start) {
    std::optional<Result<Json>> answer;
    const auto id = start([&answer](Result<Json> object) { answer = std::move(object); });
    if (run_until([&answer] { return answer.has_value(); })) return *std::move(answer);
    client_->cancel(id);
    return Error(Errc::internal, "no answer to the test");
  }

  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<kube::Client> client_;
  std::function<void()> turn_;
};

}  // namespace slurmk8s::contract
