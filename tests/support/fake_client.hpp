// SPDX-License-Identifier: GPL-2.0-or-later
// FakeClient: an API server in memory, for unit tests of what uses a Client. One thread.
//
// Nothing happens until step() or deliver(): a call is carried out and answered there, and watches get their events
// there. So a test decides what the world looks like when a request arrives, and in which order things are heard.
//
//   FakeClient client;
//   client.put(kPods, "slurm", pod);                                 // somebody else makes a pod
//   client.fail_next(Verb::create, Error(Errc::forbidden, "quota"));
//   engine.resume(...);
//   client.deliver();
//   assert_int_equal(client.count(Verb::create), 1);
//
// Of subresources it knows status (patch), and pods' binding and eviction (create). What a caller omits is not
// delivered. It does what an API server does, as tests/contract/client_tests.cc has it. It validates no object, knows
// no JSON patches, and ends no watch by itself. Where there is a Namespace, only those that are there are namespaces.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "kube/client.hpp"
#include "support/fake_selector.hpp"

namespace slurmk8s::kube {

enum class Verb { get, list, create, patch, remove, watch };

class FakeClient final : public Client, public Writer {
 public:
  struct Call {
    Verb verb;
    std::string plural;  ///< of the resource
    std::string name_space;
    std::string name;  ///< of create: the object's
    std::string subresource = {};
    Json body = {};              ///< create: the object; patch: the patch
    DeleteOptions options = {};  ///< remove
  };

  // ---- the world, as others see and change it ----
  /**
   * Creates or replaces an object and tells the watches; returns it with uid, resourceVersion and creationTimestamp.
   */
  Json put(const Resource& resource, const std::string& name_space, const Json& object);
  /** Removes an object at once, as kubelet does when the pod's processes are gone. */
  void erase(const Resource& resource, const std::string& name_space, const std::string& name);
  /** A copy of the object; null when there is none. */
  Json find(const Resource& resource, const std::string& name_space, const std::string& name) const;
  /** Names in order. */
  std::vector<std::string> names(const Resource& resource, const std::string& name_space) const;

  /**
   * True: remove() only sets deletionTimestamp (unless grace_s is 0), as it always does for a pod that has a Kubernetes
   * node; erase() ends it.
   */
  bool slow_deletion = false;

  // ---- faults ----
  /** The next `times` calls of this verb get this error and do nothing. Of watch: it ends at once. */
  void fail_next(Verb verb, Error error, unsigned times = 1);
  /** The next `times` calls of this verb are carried out, but the caller hears this error. */
  void lose_answers(Verb verb, Error error, unsigned times = 1);
  /** Plural of the resource that no role allows to be listed. */
  std::string unlistable;
  /** No fault is left. */
  void forgive() { faults_.clear(); }
  /** All open watches end: ok as after the server's time-out, an Error as after a cut. */
  void end_watches(const Status& status);
  /** Compaction: a watch or continue token from before now is gone (410). Open watches go on. */
  void forget_history();
  /** All open watches get a bookmark with the present resourceVersion. */
  void send_bookmarks();

  // ---- delivery ----
  /** Calls one callback; false when there is none to call. */
  bool step();
  /** Calls callbacks until there are none. Returns how many; stops at 100,000, which is a loop in the tested code. */
  std::size_t deliver();
  /** True: what watches are to hear comes before what callers are to hear. */
  bool events_first = false;

  /** Called with each request: so that a loop can have it delivered later. */
  std::function<void()> on_request;

  // ---- what was called ----
  std::vector<Call> calls;
  std::size_t count(Verb verb) const;
  std::size_t open_watches() const { return watches_.size(); }

  // ---- Client ----
  http::RequestId get(const ObjectRef& object, OnObject done) override;
  http::RequestId list(const Resource& resource, const std::string& name_space, const ListOptions& options,
                       OnObject done) override;
  http::RequestId create(const ObjectRef& at, const Json& body, OnObject done) override;
  http::RequestId patch(const ObjectRef& object, PatchType type, const Json& patch, OnObject done) override;
  http::RequestId remove(const ObjectRef& object, const DeleteOptions& options, OnObject done) override;
  http::RequestId watch(const Resource& resource, const std::string& name_space, const WatchOptions& options,
                        OnEvent event, OnWatchEnd end) override;
  void cancel(http::RequestId id) override;
  Writer& unfenced_writer() override { return *this; }

 private:
  using Version = std::uint64_t;
  struct Key {
    std::string collection;  // "v1/pods"
    std::string name_space;
    std::string name;
    auto operator<=>(const Key&) const = default;
  };
  struct Change {
    Version version;
    Key key;
    Json before;  // null: created
    Json after;   // null: deleted
  };
  struct Request {
    http::RequestId id;
    Verb verb;
    std::function<Result<Json>()> carry_out;
    OnObject done;
  };
  struct Fault {
    Verb verb;
    Error error;
    unsigned times;
    bool carried_out;
  };
  struct Watch {
    http::RequestId id;
    std::string collection;
    std::string name_space;
    FakeSelector selector;
    Omit omit;
    OnEvent event;
    OnWatchEnd end;
    std::size_t next = 0;  // index in history_
    std::deque<std::pair<WatchEvent, Json>> pending;
    std::optional<Status> ending;
  };
  struct Page {
    std::vector<Json> rest;
    Version version;
  };

  static Key key_of(const Resource& resource, const std::string& name_space, const std::string& name);
  static Key key_of(const ObjectRef& object) { return key_of(object.resource, object.name_space, object.name); }
  http::RequestId enqueue(Call call, std::function<Result<Json>()> carry_out, OnObject done);
  bool run_request();
  bool run_watch();
  std::optional<std::pair<WatchEvent, Json>> next_event(Watch& watch);
  std::optional<Error> take_fault(Verb verb, bool carried_out);
  Result<Json> find_to_change(const Key& key) const;
  Result<Json> create_object(Key key, const Json& body);
  Result<Json> create_subresource(const Key& key, const std::string& subresource, const Json& body);
  bool has_namespace(const std::string& name) const;
  Result<Json> change(const Key& key, const std::string& subresource, PatchType type, const Json& patch);
  Result<Json> end_object(const Key& key, const DeleteOptions& options);
  Json mark_deleted(const Key& key, Json object, const DeleteOptions& options);
  Json store(const Key& key, Json object);
  void drop(const Key& key);
  Result<Json> make_page(const Resource& resource, const std::string& name_space, const ListOptions& options);
  std::vector<Json> select(const std::string& collection, const std::string& name_space,
                           const FakeSelector& selector) const;

  std::map<Key, Json> objects_;
  std::vector<Change> history_;
  Version version_ = 100;
  Version forgotten_ = version_;
  unsigned last_uid_ = 0;
  http::RequestId last_id_ = 0;
  std::deque<Request> requests_;
  std::vector<std::shared_ptr<Watch>> watches_;
  std::vector<Fault> faults_;
  std::map<std::string, Page> pages_;
};

}  // namespace slurmk8s::kube
