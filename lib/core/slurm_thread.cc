// SPDX-License-Identifier: GPL-2.0-or-later
// A queue of blocking calls and the thread that makes them.
#include "core/slurm_thread.hpp"

#include <signal.h>

#include "base/guarded.hpp"

namespace slurmk8s {

SlurmThread::SlurmThread(Slurm& slurm, Post post)
    : slurm_(slurm), post_(std::move(post)), thread_([this] {
        guarded_void("slurm thread", [this] { run(); });
      }) {}

SlurmThread::~SlurmThread() {
  {
    auto queue = queue_.lock();
    queue->stop = true;
    queue->work.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void SlurmThread::call(Work work) {
  queue_.lock()->work.push_back(std::move(work));
  changed_.notify_one();
}

void SlurmThread::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    Work work;
    {
      auto queue = queue_.lock();
      changed_.wait(queue.raw(), [&] { return queue->stop || !queue->work.empty(); });
      if (queue->stop) return;
      work = std::move(queue->work.front());
      queue->work.pop_front();
    }
    guarded_void("slurm call", [&] { post_(work(slurm_)); });
  }
}

}  // namespace slurmk8s
