// SPDX-License-Identifier: GPL-2.0-or-later
// Reflector: list, then watch, of one resource in one namespace or in all, for ever. Same thread rules as Client.
//
// The listener hears what changed, never how the connection fared: after a cut the watch resumes at the last
// resourceVersion, after 410 Gone the list is made again and the differences are delivered as upserts and removals.
// Failures back off with jitter and honour Retry-After (five minutes at most). After three watches in a row that
// brought nothing, the list is made again. It holds only namespace, name, uid and resourceVersion of each
// object.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "event/timers.hpp"
#include "kube/client.hpp"

namespace slurmk8s::kube {

/** Objects of one resource are told apart by namespace and name; without a namespace by name. */
struct ObjectKey {
  std::string name_space;
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
};

/** What is watched. */
struct ReflectorOptions {
  Resource resource;
  std::string name_space = {};  ///< empty: all namespaces, or a resource that has none
  std::string label_selector = {};
  std::string field_selector = {};
  Omit omit = kManagedFields;  ///< of the objects that the listener gets
};

/**
 * Calls back on the owner's thread. An object that was deleted and made again between two views is removed, then
 * upserted.
 */
struct ReflectorListener {
  std::function<void(const Json& object)> upsert;
  /** `last` is the object's last state as the event carried it; null when only a relist showed that it is gone. */
  std::function<void(const ObjectKey& key, const std::string& uid, const Json& last)> remove;
  /** The first list is complete; called once. */
  std::function<void()> synced;
};

class Reflector {
 public:
  /** All references must outlive it. Nothing is sent before start(). A callback may call stop(), but not destroy it. */
  Reflector(Reader& client, Timers& timers, const Clock& clock, ReflectorOptions options, ReflectorListener listener);
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start();
  /**
   * Cancels the request in flight and the timer; the listener isn't called any more. A later start() lists again and
   * delivers what changed meanwhile.
   */
  void stop();

  bool synced() const { return synced_; }
  /** Whether the list or the watch has shown this object, and not yet that it is gone. */
  bool knows(const ObjectKey& key, const std::string& uid) const {
    const auto found = known_.find(key);
    return found != known_.end() && found->second.uid == uid;
  }
  /** Whether the server refused the last try: the account has no right to list or watch. */
  bool forbidden() const { return forbidden_; }
  /** Error of the last try while it can't reach the server; empty while all is well. For status and metrics. */
  const std::string& last_error() const { return last_error_; }

 private:
  struct Known {
    std::string uid;
    std::string resource_version;
    bool seen;  // in the list under way
  };

  void start_list();
  void list_page(const std::string& continue_token);
  void on_page(Result<Json> page);
  void watch();
  void on_event(WatchEvent event, const Json& object);
  void on_watch_end(const Status& status);
  void deliver(const Json& object);
  void deliver_removal(const Json& object);
  void finish_list();
  void reached();
  std::string what() const;
  void retry(const Error& error, bool relist);
  void schedule(std::chrono::milliseconds delay, bool relist);

  Reader& client_;
  Timers& timers_;
  const Clock& clock_;
  const ReflectorOptions options_;
  ReflectorListener listener_;

  std::map<ObjectKey, Known> known_;
  std::string resource_version_;
  bool synced_ = false;
  bool stopped_ = true;
  unsigned failures_ = 0;
  std::string last_error_;
  bool forbidden_ = false;
  bool reported_ = false;  // a failure was logged, so the recovery will be
  TimePoint watch_started_{};
  bool watch_brought_ = false;  // an event or a bookmark
  http::RequestId request_ = 0;
  Timers::Id timer_ = 0;
  LogLimiter limiter_{std::chrono::seconds(10)};
};

}  // namespace slurmk8s::kube
