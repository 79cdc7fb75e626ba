// SPDX-License-Identifier: GPL-2.0-or-later
// Client: the calls to the API server that we need, asynchronous, as two interfaces: Reader and Writer. Same thread
// rules as http::Transport.
//
// Each call makes exactly one request and calls back exactly once unless cancelled: retries are the caller's, who
// knows whether the answer still matters. An empty name is an error (invalid) and nothing is sent: DELETE without a
// name would mean the whole collection.
#pragma once

#include <memory>

#include "http/transport.hpp"
#include "json/json.hpp"
#include "kube/resource.hpp"

namespace slurmk8s::kube {

using OnObject = std::function<void(Result<Json>)>;

/** Which object a call is about, and what of its answer is left out. */
struct ObjectRef {
  Resource resource;
  std::string name_space = {};   ///< empty: the resource has none
  std::string name = {};         ///< of create(): only with a subresource
  std::string subresource = {};  ///< "status", "binding"
  Omit omit = kManagedFields;
};

struct ListOptions {
  std::string label_selector;
  std::string field_selector;    ///< "spec.schedulerName=slurm"; which fields there are depends on the resource
  std::string resource_version;  ///< "" most recent, "0" whatever the server's cache has
  std::string continue_token;
  int limit = 500;  ///< per page; 0: all
  Omit omit = kManagedFields;
};

struct WatchOptions {
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  std::chrono::seconds server_timeout{300};  ///< the server ends the watch after this
  Omit omit = kManagedFields;
};

/** What becomes of the objects that belong to a deleted one; unset: as the resource has it, mostly background. */
enum class Propagation { unset, orphan, background, foreground };

struct DeleteOptions {
  std::string uid = {};  ///< not empty: only the object of that uid; otherwise conflict
  int grace_s = -1;      ///< < 0: the object's own
  Propagation propagation = Propagation::unset;
};

/** `opened`: the server has accepted the watch; its object is null. A bookmark's object has only a resourceVersion. */
enum class WatchEvent { opened, added, modified, deleted, bookmark };
using OnEvent = std::function<void(WatchEvent event, const Json& object)>;
/** Why a watch ended: ok when the server closed it after its time-out; gone: list again; others: try again. */
using OnWatchEnd = std::function<void(Status)>;

enum class PatchType { merge, json, strategic_merge };

/** What changes nothing. */
class Reader {
 public:
  virtual ~Reader() = default;

  virtual http::RequestId get(const ObjectRef& object, OnObject done) = 0;
  virtual http::RequestId list(const Resource& resource, const std::string& name_space, const ListOptions& options,
                               OnObject done) = 0;
  virtual http::RequestId watch(const Resource& resource, const std::string& name_space, const WatchOptions& options,
                                OnEvent event, OnWatchEnd end) = 0;
  virtual void cancel(http::RequestId id) = 0;
};

/** What changes something: daemon/fence.hpp has the one that stops with the lease. */
class Writer {
 public:
  virtual ~Writer() = default;

  /**
   * Makes `body` in `at`'s collection; with a subresource, makes that of the object `at` (pods/NAME/binding), whose
   * answer is a Status or the subresource. `conflict` may also come from a ResourceQuota that changed meanwhile: then
   * the same call may succeed later.
   */
  virtual http::RequestId create(const ObjectRef& at, const Json& body, OnObject done) = 0;
  virtual http::RequestId patch(const ObjectRef& object, PatchType type, const Json& patch, OnObject done) = 0;
  virtual http::RequestId remove(const ObjectRef& object, const DeleteOptions& options, OnObject done) = 0;
  virtual void cancel(http::RequestId id) = 0;
};

/** Reads as it is. It is no Writer: what one of several daemons writes must not get past its fence unnoticed. */
class Client : public Reader {
 public:
  /** Writes that no fence stops; tests/lint/includes.sh lists who may have them. As long-lived as the Client. */
  virtual Writer& unfenced_writer() = 0;
};

/** The real one; `transport` must outlive it. */
std::unique_ptr<Client> make_http_client(http::Transport& transport);

}  // namespace slurmk8s::kube
