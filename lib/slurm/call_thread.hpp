// SPDX-License-Identifier: GPL-2.0-or-later
// CallThread: a thread for calls to slurmctld, which may block for Slurm's MessageTimeout.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace slurmk8s {

class CallThread {
 public:
  /** What is left to do, on the owner's thread, once the calls are made. */
  using Then = std::function<void()>;
  /** Makes its calls and says what follows from the answers. It must own what it uses: it may outlive this object. */
  using Work = std::function<Then()>;
  /** Hands what is left to do to the owner's thread; called on this object's thread. */
  using Post = std::function<void(Then)>;

  /**
   * How long the destructor waits for the call that is under way. libslurm may take far longer: with several slurmctlds
   * one and a half times SlurmctldTimeout, while none is in control.
   */
  static constexpr std::chrono::seconds kEndPatience{2};

  /**
   * `name`: of the thread, see enter_thread(). `end` is called first when the object goes, and refuses what a call
   * under way would change; may be empty.
   */
  CallThread(const char* name, Post post, std::function<void()> end = {});
  /** Drops what waits. A call that takes longer than kEndPatience is abandoned. */
  ~CallThread();
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  /** Has `work` run, in the order of the calls. Any thread. What it throws is thrown on the owner's thread. */
  void call(Work work);

 private:
  struct State;
  static void run(State& state);

  const std::function<void()> end_;
  const std::shared_ptr<State> state_;  // the thread's, too
  std::thread thread_;
};

}  // namespace slurmk8s
