// SPDX-License-Identifier: GPL-2.0-or-later
// A queue of blocking calls and the thread that makes them.
#include "core/slurm_thread.hpp"

#include <signal.h>

#include "base/guarded.hpp"

namespace slurmk8s {

SlurmThread::SlurmThread(std::unique_ptr<Slurm> slurm, Post post)
    : slurm_(std::move(slurm)), post_(std::move(post)), thread_([this] {
        guarded_void("slurm thread", [this] { run(); });
      }) {}

SlurmThread::~SlurmThread() {
  {
    auto queue = queue_.lock();
    queue->stop = true;
    queue->tasks.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void SlurmThread::load_nodes(OnNodes done) {
  push([this, done = std::move(done)] {
    post_([done, nodes = slurm_->load_nodes()]() mutable { done(std::move(nodes)); });
  });
}

void SlurmThread::fail_node(const std::string& node, const std::string& reason, bool vanished, OnVerdict done) {
  push([this, node, reason, vanished, done = std::move(done)] {
    post_([done, verdict = slurmk8s::fail_node(*slurm_, node, reason, vanished)] { done(verdict); });
  });
}

void SlurmThread::push(std::function<void()> task) {
  queue_.lock()->tasks.push_back(std::move(task));
  changed_.notify_one();
}

void SlurmThread::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    std::function<void()> task;
    {
      auto queue = queue_.lock();
      changed_.wait(queue.raw(), [&] { return queue->stop || !queue->tasks.empty(); });
      if (queue->stop) return;
      task = std::move(queue->tasks.front());
      queue->tasks.pop_front();
    }
    guarded_void("slurm call", task);
  }
}

}  // namespace slurmk8s
