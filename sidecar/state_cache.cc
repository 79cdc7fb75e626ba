// SPDX-License-Identifier: GPL-2.0-or-later
// One question at a time.
#include "sidecar/state_cache.hpp"

#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

#include "base/guarded.hpp"
#include "base/locked.hpp"
#include "base/log.hpp"
#include "sidecar/metrics.hpp"
#include "sidecar/state_metrics.hpp"

namespace slurmk8s {

/** All that the thread uses: it may live longer than the StateCache. */
struct StateCache::State {
  struct Answers {
    std::optional<TimePoint> asked;  ///< when the last question was put, answered or not
    bool asking = false;
    std::optional<TimePoint> of;  ///< when the question was put whose answer `pages` is
    StatePages pages;
    std::uint64_t answered = 0;
    std::uint64_t failed = 0;
  };
  std::shared_ptr<SlurmStateReader> reader;
  std::size_t max_users = 0;
  SlurmState slurm;  // the thread's alone
  Locked<Answers> answers;
  std::condition_variable changed;
};

StateCache::StateCache(std::shared_ptr<SlurmStateReader> reader, const Clock& clock, std::size_t max_users)
    : state_(std::make_shared<State>()), clock_(clock), thread_("k8s-metrics", [](const CallThread::Then&) {}) {
  state_->reader = std::move(reader);
  state_->max_users = max_users;
}

std::string StateCache::read(const std::string& path) {
  const TimePoint now = clock_.now();
  auto answers = state_->answers.lock();
  if (!answers->asking && (!answers->asked || now - *answers->asked >= kPeriod)) {
    answers->asked = now;
    answers->asking = true;
    thread_.call([state = state_]() -> CallThread::Then {
      refresh(*state);
      return {};
    });
    state_->changed.wait_for(answers.raw(), kPatience, [&] { return !answers->asking; });
  }
  if (!answers->of || now - *answers->of >= kForget) return {};
  const auto page = answers->pages.find(path);
  return page == answers->pages.end() ? std::string() : page->second;
}

std::string StateCache::encode_own() {
  auto answers = state_->answers.lock();
  StateReads reads{.answered = answers->answered, .failed = answers->failed, .age = {}};
  if (answers->of) reads.age = clock_.now() - *answers->of;
  return encode_state_reads(reads);
}

void StateCache::refresh(State& state) {
  const std::optional<TimePoint> asked = state.answers.lock()->asked;
  StatePages pages;
  const Status status = guarded("metrics", Status(Error(Errc::protocol, "an exception")), [&]() -> Status {
    SLURMK8S_CHECK(state.reader->refresh(state.slurm));
    pages = encode_state_metrics(state.slurm, std::time(nullptr), state.max_users);
    return {};
  });
  if (!status.ok()) log_debug("metrics: %s", status.error().message().c_str());
  auto answers = state.answers.lock();
  answers->asking = false;
  if (status.ok()) {
    answers->pages = std::move(pages);
    answers->of = asked;
  }
  status.ok() ? answers->answered++ : answers->failed++;
  state.changed.notify_all();
}

}  // namespace slurmk8s
