// SPDX-License-Identifier: GPL-2.0-or-later
// StatusWriter: brings the status of NodeSets to the API server: only what changed, at most once a second each.
//
// Same thread rules as kube::Client. It retries for as long as the object is there; what is wanted meanwhile replaces
// what was.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "event/timers.hpp"
#include "daemon/condition.hpp"
#include "kube/object_writer.hpp"
#include "sidecar/node_plan.hpp"

namespace slurmk8s {

/** NodeSet.status as the API has it, but for the conditions' lastTransitionTime; `more` conditions follow its own. */
Json encode_status(const std::string& nodeset, const NodeSetState& state, const Conditions& more = {});

/** Of a status that encode_status() made: the hash of the template whose roll-out is stopped; empty: it isn't. */
std::string decode_stopped_template(const Json& status);

class StatusWriter {
 public:
  static constexpr std::chrono::seconds kInterval{1};  ///< between two writes of one NodeSet

  /** The API server has taken a NodeSet's status; with the one that was there `before`. */
  using OnWritten = std::function<void(const std::string& name, const Json& before, const Json& after)>;

  /** References must outlive it. */
  StatusWriter(kube::Writer& client, Timers& timers, const Clock& clock, kube::Throttle& throttle,
               std::string name_space, OnWritten on_written = {}, Jitter jitter = random_unit);
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  /** The object as a watch or a write has just shown it. */
  void observe(const Json& object);
  /** The object is gone: nothing more is written to it. */
  void forget(const std::string& name);
  /** What the status is to be from now on. An object that was never observed is ignored. */
  void want(const std::string& name, const NodeSetState& state, const Conditions& more = {});

  /** Requests that the API server answered well, and that failed. */
  std::uint64_t written() const { return written_; }
  std::uint64_t failed() const { return failed_; }

 private:
  struct Entry {
    Json known;   // status that the API server has
    Json wanted;  // null: none yet
    TimePoint next_write{};
    Timers::Id timer = 0;
  };

  void schedule(const std::string& name, Entry& entry);
  void write(const std::string& name);
  void on_answer(const std::string& name, const Json& before, const Result<Json>& answer);

  Timers& timers_;
  const Clock& clock_;
  OnWritten on_written_;
  std::map<std::string, Entry> entries_;
  kube::ObjectWriter writer_;
  std::uint64_t written_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace slurmk8s
