// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's thread.
#include "engine/worker.hpp"

#include "base/guarded.hpp"
#include "base/log.hpp"
#include "base/thread.hpp"
#include "settings/connection.hpp"
#include "slurm/slurm_thread.hpp"
#include "engine/user_lookup.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::seconds kSetupRetry{5};
/** Looks in a row that must say yes: by then the engine of the one that lost control has looked, too, and ended. */
constexpr int kControlPolls = 2;

Json accepted() { return Json::object().set("ok", Json::boolean(true)); }

Json refused(const Error& error) {
  return Json::object().set("ok", Json::boolean(false)).set("error", error.message());
}

Json resume(const ControlMessage& message) {
  auto request = decode_resume(message.text);
  if (!request) return refused(request.error());
  message.engine.resume(*request);
  return accepted();
}

Json suspend(const ControlMessage& message) {
  auto nodes = decode_nodes(message.text);
  if (!nodes) return refused(nodes.error());
  message.engine.suspend(*nodes);
  return accepted();
}

Json wake(const ControlMessage& message) {
  // A slurmctld that has just started may not have read its configuration yet; later it polls by itself within a
  // second.
  if (message.host.wake_power_save && message.engine.has_compared()) message.host.wake_power_save();
  return accepted();
}

Json status(const ControlMessage& message) {
  const LockTimes times = message.host.lock_times ? message.host.lock_times() : LockTimes();
  return encode_status(message.engine.metrics(), message.engine.gauges(), times);
}

Json pod_jobs(const ControlMessage& message) {
  const Status taken = message.pod_jobs.take(message.text, message.connection);
  return taken.ok() ? accepted() : refused(taken.error());
}

struct Command {
  std::string_view op;
  Json (*run)(const ControlMessage& message);
};

// All commands of the socket; control/control.hpp shows their messages.
constexpr Command kCommands[] = {
    {"resume", resume}, {"suspend", suspend}, {"wake", wake}, {"status", status}, {"pod_jobs", pod_jobs}};

Error unsupported(std::string_view op) {
  std::string text = "op: Unsupported value: " + Json::string(op).dump() + ": supported values: ";
  const char* separator = "";
  for (const Command& command : kCommands) {
    text.append(separator).append(Json::string(command.op).dump());
    separator = ", ";
  }
  return Error(Errc::invalid, text);
}

/** The engine's socket. */
class ControlPort {
 public:
  ControlPort(Engine& engine, const Worker::Host& host)
      : engine_(engine), host_(host), pod_jobs_(host.set_pod_jobs, [this](ControlServer::Id bridge, const Json& text) {
          return server_->push(bridge, text);
        }) {}

  /** Without it the engine works, and the programs call the API server themselves. */
  void listen(const std::string& path, EventLoop& loop) {
    auto server = ControlServer::listen(
        path, loop, [this](const Json& text, ControlServer::Id connection) { return answer(text, connection); });
    if (server) {
      server_ = std::move(*server);
    } else {
      log_error("%s: engine socket unavailable; slurm-k8s-resume/-suspend will call the API server directly",
                server.error().message().c_str());
    }
  }
  PodJobsFeed& pod_jobs() { return pod_jobs_; }

 private:
  Json answer(const Json& text, ControlServer::Id connection) {
    const Json reply = handle_control({engine_, host_, pod_jobs_, text, connection});
    if (pod_jobs_.is_bridge(connection)) server_->keep(connection);
    return reply;
  }

  Engine& engine_;
  const Worker::Host& host_;
  PodJobsFeed pod_jobs_;
  std::unique_ptr<ControlServer> server_;
};

}  // namespace

Json handle_control(const ControlMessage& message) {
  const std::string_view op = message.text["op"].text();
  for (const Command& command : kCommands) {
    if (op == command.op) return command.run(message);
  }
  return refused(unsupported(op));
}

Worker::Worker(Options options, MakeSlurm make_slurm, Host host, std::chrono::milliseconds control_interval)
    : options_(std::move(options)),
      make_slurm_(std::move(make_slurm)),
      host_(std::move(host)),
      control_interval_(control_interval),
      thread_([this] { guarded_void("engine thread", [this] { run(); }); }) {}

Worker::~Worker() {
  stop_ = true;
  {
    auto serving = serving_.lock();
    if (serving->loop) serving->loop->wake();
  }
  stopped_.notify_all();
  thread_.join();
}

void Worker::run() {
  enter_thread("slurm-k8s");  // libcurl's threads inherit the name, and so may wait for names
  LogLimiter limiter(std::chrono::minutes(1));
  while (!stop_) {
    const std::optional<Status> status = serve_in_control();
    if (status && status->ok()) continue;
    unsigned suppressed = 0;
    if (status && limiter.allow(std::chrono::steady_clock::now(), suppressed)) {
      log_error("%s (%u similar messages suppressed)", status->error().message().c_str(), suppressed);
    }
    wait(kSetupRetry);
  }
}

std::optional<Status> Worker::serve_in_control() {
  return guarded("engine", std::optional<Status>(), [this] {
    await_control();
    return std::optional(stop_ ? Status() : serve());
  });
}

void Worker::wait(std::chrono::milliseconds time) {
  auto serving = serving_.lock();
  stopped_.wait_for(serving.raw(), time, [this] { return stop_.load(); });
}

void Worker::report_pod_jobs(std::uint64_t number, std::map<std::uint32_t, bool> running) {
  auto serving = serving_.lock();
  if (serving->loop == nullptr) return;
  serving->loop->post([feed = serving->pod_jobs, number, running = std::move(running)]() mutable {
    feed->report(number, std::move(running));
  });
}

void Worker::await_control() {
  if (!host_.in_control) return;
  bool said = false;
  for (int polls = 0; !stop_;) {
    polls = host_.in_control() ? polls + 1 : 0;
    if (polls == kControlPolls) return;
    if (polls == 0 && !said) log_info("engine stands by: this slurmctld is not in control");
    said = said || polls == 0;
    if (polls == 0 && host_.stand_by) host_.stand_by();
    wait(control_interval_);
  }
}

Status Worker::serve() {
  const auto loop = SLURMK8S_TRY(EventLoop::open());
  const auto connection = SLURMK8S_TRY(open_connection(*loop, options_));
  const auto post = [&loop](std::function<void()> fn) { loop->post(std::move(fn)); };
  SlurmThread slurm(make_slurm_(), post);
  ThreadUserLookup users(post);
  Engine::Parts parts{*connection.client,   loop->timers(),         *loop->clock(),   slurm, options_, host_.publish,
                      host_.wake_scheduler, host_.ask_registration, host_.former_ids, &users};
  if (host_.was_away && host_.was_away()) parts.ends_told_at = loop->clock()->now() + kEndsGrace;
  Engine engine(std::move(parts));
  ControlPort control(engine, host_);
  control.listen(options_.engine_socket, *loop);

  const Announced announced(serving_, {loop.get(), &control.pod_jobs()});
  engine.start();
  log_info("engine started: namespace %s of %s", options_.name_space.c_str(), connection.server.c_str());
  bool in_control = true;
  std::function<void()> poll = [&] {
    in_control = host_.in_control();
    loop->timers().after(control_interval_, poll);
  };
  if (host_.in_control) loop->timers().after(control_interval_, poll);
  loop->run([&] { return !stop_ && in_control; });
  return {};
}

}  // namespace slurmk8s
