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

Json resume(Engine& engine, const Worker::Host&, const Json& message) {
  auto request = decode_resume(message);
  if (!request) return refused(request.error());
  engine.resume(*request);
  return accepted();
}

Json suspend(Engine& engine, const Worker::Host&, const Json& message) {
  auto nodes = decode_nodes(message);
  if (!nodes) return refused(nodes.error());
  engine.suspend(*nodes);
  return accepted();
}

Json wake(Engine& engine, const Worker::Host& host, const Json&) {
  // A slurmctld that has just started may not have read its configuration yet; later it polls by itself within a
  // second.
  if (host.wake_power_save && engine.has_compared()) host.wake_power_save();
  return accepted();
}

Json status(Engine& engine, const Worker::Host& host, const Json&) {
  return encode_status(engine.metrics(), engine.gauges(), host.lock_times ? host.lock_times() : LockTimes());
}

struct Command {
  std::string_view op;
  Json (*run)(Engine& engine, const Worker::Host& host, const Json& message);
};

// All commands of the socket; control/control.hpp shows their messages.
constexpr Command kCommands[] = {{"resume", resume}, {"suspend", suspend}, {"wake", wake}, {"status", status}};

Error unsupported(std::string_view op) {
  std::string text = "op: Unsupported value: " + Json::string(op).dump() + ": supported values: ";
  const char* separator = "";
  for (const Command& command : kCommands) {
    text.append(separator).append(Json::string(command.op).dump());
    separator = ", ";
  }
  return Error(Errc::invalid, text);
}

}  // namespace

Json handle_control(Engine& engine, const Worker::Host& host, const Json& message) {
  const std::string_view op = message["op"].text();
  for (const Command& command : kCommands) {
    if (op == command.op) return command.run(engine, host, message);
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
    auto loop = loop_.lock();
    if (*loop) (*loop)->wake();
  }
  stopped_.notify_all();
  thread_.join();
}

void Worker::run() {
  enter_thread("slurm-k8s");  // libcurl's threads inherit the name, and so may wait for names
  LogLimiter limiter(std::chrono::minutes(1));
  for (;;) {
    await_control();
    if (stop_) return;
    const Status status = serve();
    if (status.ok()) continue;
    unsigned suppressed = 0;
    if (limiter.allow(std::chrono::steady_clock::now(), suppressed)) {
      log_error("%s (%u similar messages suppressed)", status.error().message().c_str(), suppressed);
    }
    wait(kSetupRetry);
  }
}

void Worker::wait(std::chrono::milliseconds time) {
  auto loop = loop_.lock();
  stopped_.wait_for(loop.raw(), time, [this] { return stop_.load(); });
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
  Engine engine({*connection.client, loop->timers(), *loop->clock(), slurm, options_, host_.publish,
                 host_.wake_scheduler, &users});
  const auto answer = [&](const Json& message) { return handle_control(engine, host_, message); };
  auto control = ControlServer::listen(options_.engine_socket, *loop, answer);
  if (!control)
    log_error("%s: engine socket unavailable; slurm-k8s-resume/-suspend will call the API server directly",
              control.error().message().c_str());

  *loop_.lock() = loop.get();
  engine.start();
  log_info("engine started: namespace %s of %s", options_.name_space.c_str(), connection.server.c_str());
  bool in_control = true;
  std::function<void()> poll = [&] {
    in_control = host_.in_control();
    loop->timers().after(control_interval_, poll);
  };
  if (host_.in_control) loop->timers().after(control_interval_, poll);
  loop->run([&] { return !stop_ && in_control; });
  *loop_.lock() = nullptr;
  return {};
}

}  // namespace slurmk8s
