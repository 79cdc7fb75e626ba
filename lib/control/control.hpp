// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's Unix socket: one JSON object and a newline there, one back. Used by the programs and the sidecar.
//
//   {"op":"resume","id":"4f…","nodes":"c-[0-3]","jobs":{"c-0":[12]}}  → {"ok":true}
//   {"op":"suspend","nodes":"c-[0-3]"}                                → {"ok":true}
//   {"op":"wake"}: have slurmctld look for nodes to power up or down  → {"ok":true}
//   {"op":"status"}                                                   → {"ok":true,"ready":true,…}: engine_metrics.hpp
//   {"op":"pod_jobs",…}: from slurm-k8s-bridge; the connection stays  → {"ok":true}, then reports: pod_jobs.hpp
//   anything else                                                     → {"ok":false,"error":"…"}: names these commands
// The engine's handlers are a table in engine/worker.cc: a new command is a row there.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "event/event_loop.hpp"
#include "base/unique_fd.hpp"
#include "control/resume_request.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** Longest message in either direction: 65,536 nodes with several jobs each fit. */
inline constexpr std::size_t kMaxControlMessage = 8u << 20;

/**
 * Serves the socket on an event loop's thread: never blocks, at most 64 connections, each for at most 10 s unless its
 * handler keeps it. A message whose client has gone by then is dropped: a program does the work itself instead.
 */
class ControlServer {
 public:
  /** A connection; no other one gets the same number. */
  using Id = std::uint64_t;
  using Handler = std::function<Json(const Json& message, Id connection)>;

  /**
   * Binds `path` (mode 0600, an old socket there is replaced; its folder must exist). Only processes of root and of
   * the user that this process runs as are heard. A successor that binds the same path has the name as long as it
   * listens. `loop` must outlive it. Error: the path and why.
   */
  static Result<std::unique_ptr<ControlServer>> listen(const std::string& path, EventLoop& loop, Handler handler);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /** Called by the handler: the connection stays open after the answer, for as long as its client wants. */
  void keep(Id connection);
  /** Sends a line to a client that may have asked for nothing. One that does not read is dropped. False: it is gone. */
  bool push(Id connection, const Json& message);

 private:
  struct Connection {
    Id id = 0;
    UniqueFd fd;
    std::string received;
    Timers::Id timer = 0;
    bool kept = false;
  };

  ControlServer(std::string path, UniqueFd socket, EventLoop& loop, Handler handler);
  Status watch();
  void unwatch();
  void look();
  void look_for_name();
  void accept();
  void receive(int fd);
  void answer(int fd, const std::string& line);
  void drop(int fd);
  Connection* find(Id connection);

  std::string path_;
  UniqueFd socket_;
  std::uint64_t inode_;
  bool is_watched_ = false;
  bool was_lost_ = false;  // at the last look
  Timers::Id look_timer_ = 0;
  EventLoop& loop_;
  Handler handler_;
  std::map<int, Connection> connections_;
  Id last_id_ = 0;
};

Json encode_resume(const ResumeRequest& request);
Json encode_suspend(const std::vector<std::string>& nodes);
/** Errors (invalid) name the member. */
Result<ResumeRequest> decode_resume(const Json& message);
Result<std::vector<std::string>> decode_nodes(const Json& message);

/**
 * A client's connection. `flags` of socket(2): SOCK_NONBLOCK; or 0, which waits for `timeout` at most (0: without end).
 * Errors: unavailable, timeout (too many others wait), forbidden, invalid (path).
 */
Result<UniqueFd> connect_control(const std::string& path, int flags, std::chrono::milliseconds timeout = {});

/**
 * One call from a client, blocking for at most `timeout`. Errors: unavailable (nobody listens there), timeout,
 * forbidden (file mode), protocol, invalid (the engine refused: its text).
 */
Result<Json> control_call(const std::string& path, const Json& message, std::chrono::milliseconds timeout);

}  // namespace slurmk8s
