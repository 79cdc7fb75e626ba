// SPDX-License-Identifier: GPL-2.0-or-later
// ObjectWriter: sends the writes of one kind of object, one at a time for each key, and says when the next may follow.
//
//  - At most max_in_flight are under way.
//  - After a failure the key waits: back-off with random jitter, and no less than Retry-After.
//  - A 429 pauses all writers that share the Throttle.
//  - Failures are logged, one line in a while.
//
// What is wanted stays with the owner, who asks may_write() with what he wants by then: nothing out of date is sent.
// Destroying it, or forgetting a key, cancels what is under way: its callback is not called. Same thread rules as
// Client.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "kube/client.hpp"
#include "kube/throttle.hpp"

namespace slurmk8s::kube {

struct ObjectWriterOptions {
  Resource resource;
  std::string name_space;
  std::string what;         ///< for the log, before the name: "pod"
  std::string action = {};  ///< for the log, after the name: "mark"
  int max_in_flight = 32;   ///< the API server has better to do
  Backoff backoff{std::chrono::seconds(1), std::chrono::seconds(60)};
  std::chrono::seconds log_interval{30};
  bool logs_absence = false;   ///< also not_found and conflict: otherwise a watch tells what there is
  Omit omit = kManagedFields;  ///< of the answers
};

class ObjectWriter {
 public:
  using Done = std::function<void(const Result<Json>& answer)>;

  /** References must outlive it. */
  ObjectWriter(Writer& client, const Clock& clock, Throttle& throttle, ObjectWriterOptions options,
               Jitter jitter = random_unit);
  ~ObjectWriter();
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  /** Whether the object of this name may be written now; ask before each write. */
  bool may_write(const std::string& name) const;
  /** When its back-off and the pause are over; in the past when they are. */
  TimePoint not_before(const std::string& name) const;
  bool is_writing(const std::string& name) const;

  /**
   * `done` may be empty; it may forget the name, and write again. With a subresource ("binding") it makes that of the
   * object of this name.
   */
  void create(const std::string& name, const Json& object, Done done, const std::string& subresource = {});
  void patch(const std::string& name, PatchType type, const Json& patch, Done done,
             const std::string& subresource = {});
  void remove(const std::string& name, const DeleteOptions& options, Done done);

  /** Cancels its write and forgets its failures. */
  void forget(const std::string& name);

 private:
  struct Entry {
    http::RequestId request = 0;
    unsigned failures = 0;
    TimePoint not_before{};
  };

  ObjectRef ref(const std::string& name, const std::string& subresource = {}) const;
  OnObject answered(const std::string& name, Done done);
  void sent(const std::string& name, http::RequestId request);
  void fail(const std::string& name, const Error& error);

  Writer& client_;
  const Clock& clock_;
  Throttle& throttle_;
  const ObjectWriterOptions options_;
  const Jitter jitter_;
  std::map<std::string, Entry> entries_;  // those that are being written, or have failed
  int in_flight_ = 0;
  LogLimiter limiter_;
};

}  // namespace slurmk8s::kube
