// SPDX-License-Identifier: GPL-2.0-or-later
// Worker: the engine's thread inside slurmctld. It owns the engine, its connection and its socket.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/locked.hpp"
#include "core/control.hpp"
#include "core/engine.hpp"
#include "core/options.hpp"
#include "core/slurm.hpp"

namespace slurmk8s {

class Worker {
 public:
  /** Starts the thread. A configuration that can't be read yet is tried again every few seconds, and logged. */
  Worker(Options options, std::unique_ptr<Slurm> slurm);
  /** Ends the thread: at once, but for a call to slurmctld that is under way. Nothing is sent any more. */
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

 private:
  void run();
  /** One connection to the API server, until stop; an Error when it can't even be set up. */
  Status serve();
  void wait(std::chrono::milliseconds time);

  Options options_;
  std::unique_ptr<Slurm> slurm_;
  std::atomic<bool> stop_{false};
  Locked<http::Transport*> transport_{nullptr};  // while serve() runs: to be woken
  std::condition_variable stopped_;
  std::thread thread_;  // last: it uses the members above
};

/** Answers one message of the socket. */
Json handle_control(Engine& engine, const Json& message);

}  // namespace slurmk8s
