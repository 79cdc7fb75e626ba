// SPDX-License-Identifier: GPL-2.0-or-later
// A queue of blocking calls and the thread that makes them.
#include "slurm/call_thread.hpp"

#include <condition_variable>
#include <deque>
#include <exception>

#include "base/guarded.hpp"
#include "base/locked.hpp"
#include "base/log.hpp"
#include "base/thread.hpp"

namespace slurmk8s {
namespace {

/** What follows from its answers. An exception is the owner's: without its answer he would wait for ever. */
CallThread::Then make(const CallThread::Work& work) {
  try {
    return work();
  } catch (...) {
    return [error = std::current_exception()] { std::rethrow_exception(error); };
  }
}

}  // namespace

/** All that the thread uses: it may live longer than the CallThread. */
struct CallThread::State {
  struct Queue {
    std::deque<Work> work;
    Post post;
    bool stop = false;
    bool ended = false;
  };
  Locked<Queue> queue;
  std::condition_variable changed;
};

CallThread::CallThread(const char* name, Post post, std::function<void()> end)
    : end_(std::move(end)), state_(std::make_shared<State>()) {
  state_->queue.lock()->post = std::move(post);
  thread_ = std::thread([name, state = state_] {
    enter_thread(name);
    guarded_void("slurm thread", [&] { run(*state); });
    state->queue.lock()->ended = true;
    state->changed.notify_all();
  });
}

CallThread::~CallThread() {
  auto queue = state_->queue.lock();
  queue->stop = true;
  queue->work.clear();
  queue->post = nullptr;
  if (end_) end_();
  state_->changed.notify_all();
  if (state_->changed.wait_for(queue.raw(), kEndPatience, [&] { return queue->ended; })) {
    thread_.join();
    return;
  }
  log_warning("slurmctld: a call has taken longer than %d s: abandoned, later changes are refused",
              static_cast<int>(kEndPatience.count()));
  thread_.detach();
}

void CallThread::call(Work work) {
  state_->queue.lock()->work.push_back(std::move(work));
  state_->changed.notify_all();
}

void CallThread::run(State& state) {
  for (;;) {
    Work work;
    {
      auto queue = state.queue.lock();
      state.changed.wait(queue.raw(), [&] { return queue->stop || !queue->work.empty(); });
      if (queue->stop) return;
      work = std::move(queue->work.front());
      queue->work.pop_front();
    }
    guarded_void("slurm call", [&] {
      Then then = make(work);
      auto queue = state.queue.lock();
      if (queue->post) queue->post(std::move(then));
    });
  }
}

}  // namespace slurmk8s
