// SPDX-License-Identifier: GPL-2.0-or-later
// Worker: the engine's thread inside slurmctld. It owns the engine, its connection and its socket.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/locked.hpp"
#include "control/control.hpp"
#include "engine/engine.hpp"
#include "engine/pod_jobs_feed.hpp"
#include "event/event_loop.hpp"
#include "settings/options.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

class Worker {
 public:
  /** What the engine asks of the plugin that has loaded it; the engine's thread only. */
  struct Host {
    /** Whether our slurmctld is the one in control; it may read a file. Empty: always. */
    std::function<bool()> in_control;
    /** Called at each look that says no; may read a file. Empty: there is nothing to do. */
    std::function<void()> stand_by;
    /** Whether slurmctld started, and did not only read its configuration again. Empty: it did not. */
    std::function<bool()> was_away;
    /** For the status; empty: none. */
    std::function<LockTimes()> lock_times;
    /** Has the power-save thread look at its nodes soon; empty: it can't be woken. */
    std::function<void()> wake_power_save;
    /** Has slurmctld look for jobs to start; empty: it does when it does. */
    std::function<void()> wake_scheduler;
    /** Has slurmctld ask a node's slurmd to register; empty: it can't be asked to. */
    std::function<void(const std::string& node)> ask_registration;
    /** Takes the jobs of slurm-k8s-bridge; empty: it has no use for them. */
    PodJobsFeed::SetJobs set_pod_jobs;
    /** Takes what jobs can ask for whenever it changes; may write a file. Empty: nobody wants it. */
    CatalogKeeper::Publish publish;
    /** Of the catalog that was published last, by whichever slurmctld; may read a file. Empty: there is none. */
    CatalogKeeper::FormerIds former_ids;
  };

  /** A new one for each time that the engine starts; the engine's thread. */
  using MakeSlurm = std::function<std::shared_ptr<Slurm>()>;

  /**
   * Starts the thread. A configuration that can't be read yet is tried again every few seconds, and logged. While
   * `in_control` says no there is no socket, no watch and nothing is written. It is asked every `control_interval`, so
   * that the engine ends within that time, and starts within two of it.
   */
  Worker(Options options, MakeSlurm make_slurm, Host host = {},
         std::chrono::milliseconds control_interval = std::chrono::seconds(1));
  /**
   * Ends the thread: at once, but for a call to slurmctld that is under way (SlurmThread). Nothing is sent any more.
   */
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /** What the plugin says of the jobs that Host::set_pod_jobs has taken: see PodJobsFeed::report(). Any thread. */
  void report_pod_jobs(std::uint64_t number, std::map<std::uint32_t, bool> running);

 private:
  /** While serve() runs. */
  struct Serving {
    EventLoop* loop = nullptr;  // to be woken
    PodJobsFeed* pod_jobs = nullptr;
  };
  /** Other threads have it for as long as this exists. */
  class Announced {
   public:
    Announced(Locked<Serving>& place, Serving serving) : place_(place) { *place_.lock() = serving; }
    ~Announced() { *place_.lock() = {}; }
    Announced(const Announced&) = delete;
    Announced& operator=(const Announced&) = delete;

   private:
    Locked<Serving>& place_;
  };

  void run();
  /** Waits for control or the end. */
  void await_control();
  /** await_control(), then serve(). None: it was ended by an exception (out of memory, say), which is logged. */
  std::optional<Status> serve_in_control();
  /** One connection to the API server, until control is lost or the end; an Error when it can't even be set up. */
  Status serve();
  void wait(std::chrono::milliseconds time);

  Options options_;
  const MakeSlurm make_slurm_;
  const Host host_;
  const std::chrono::milliseconds control_interval_;
  std::atomic<bool> stop_{false};
  Locked<Serving> serving_;
  std::condition_variable stopped_;
  std::thread thread_;  // last: it uses the members above
};

/** One message of the socket, and what its answer needs. */
struct ControlMessage {
  Engine& engine;
  const Worker::Host& host;
  PodJobsFeed& pod_jobs;
  const Json& text;
  ControlServer::Id connection = 0;
};
Json handle_control(const ControlMessage& message);

}  // namespace slurmk8s
