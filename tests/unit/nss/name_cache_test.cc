// SPDX-License-Identifier: GPL-2.0-or-later
// nss/name_cache: a name server that answers, one that doesn't, and one that comes back.
#include "nss/name_cache.hpp"

#include <atomic>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/** Answers at once, or on release. */
struct Server {
  std::atomic<bool> silent{false};
  std::atomic<int> asked{0};
  std::counting_semaphore<100000> go{0};

  NameAnswer resolve(const std::string& key) {
    asked++;
    if (silent) go.acquire();
    if (silent) return {};
    if (key.starts_with("no")) return {.answered = true, .values = {}};
    return {.answered = true, .values = {"addr"}};
  }
  /** Releases all threads, so that the cache can end. */
  void release() { go.release(NameCache::kMaxQuestions + 10); }
};

std::unique_ptr<NameCache> cache_of(Server& server) {
  return std::make_unique<NameCache>([&server](const std::string& key) { return server.resolve(key); });
}

/** For at most a minute: one lookup waits only briefly, and a busy machine may need longer. */
NameAnswer find_until_answered(NameCache& cache, const std::string& key) {
  NameAnswer answer = cache.find(key);
  for (int i = 0; i < 12000 && !answer.answered; i++) {
    std::this_thread::sleep_for(milliseconds(5));
    answer = cache.find(key);
  }
  return answer;
}

template <typename Fn>
milliseconds time_of(Fn&& fn) {
  const auto begin = std::chrono::steady_clock::now();
  fn();
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
}

void a_server_that_answers(void**) {
  Server server;
  NameAnswer found, missing;
  int asked = 0;
  {
    const auto cache = cache_of(server);
    found = find_until_answered(*cache, "yes");
    missing = find_until_answered(*cache, "no");
    for (int i = 0; i < 1000; i++) {
      (void)cache->find("yes");
      (void)cache->find("no");
    }
    asked = server.asked;
  }
  assert_true((found == NameAnswer{.answered = true, .values = {"addr"}}));
  assert_true((missing == NameAnswer{.answered = true, .values = {}}));
  assert_in_range(asked, 2, 6);  // what is known is fresh for seconds, for which a busy machine may stall
}

/** 100 failed nodes, and a name server that is away. */
void a_silent_server_costs_no_time(void**) {
  Server server;
  server.silent = true;
  milliseconds took{};
  bool answered = false;
  {
    const auto cache = cache_of(server);
    took = time_of([&] {
      for (int i = 0; i < 100; i++) answered |= cache->find("node-" + std::to_string(i)).answered;
    });
    server.release();
  }
  assert_false(answered);
  assert_true(took < 100 * WaitBudget::kMaxForOne / 2);  // 0.4 s of 20, and what this machine adds
}

void an_answer_that_comes_late_is_there_the_next_time(void**) {
  Server server;
  server.silent = true;
  NameAnswer first, later;
  {
    const auto cache = cache_of(server);
    first = cache->find("yes");
    server.silent = false;
    server.release();
    later = find_until_answered(*cache, "yes");
  }
  assert_false(first.answered);
  assert_true((later == NameAnswer{.answered = true, .values = {"addr"}}));
}

/** Addresses rarely change while name servers are away. */
void a_server_that_is_away_takes_no_answer_back(void**) {
  Server server;
  NameAnswer first, later;
  int asked = 0;
  {
    const auto cache = cache_of(server);
    first = find_until_answered(*cache, "no");
    std::this_thread::sleep_for(NameCache::kMissing + milliseconds(100));  // until the answer is no longer fresh
    server.silent = true;
    server.release();
    (void)cache->find("no");
    for (int i = 0; i < 12000 && server.asked < 2; i++) std::this_thread::sleep_for(milliseconds(5));
    later = cache->find("no");
    asked = server.asked;
  }
  assert_true(first.answered);
  assert_in_range(asked, 2, 3);
  assert_true(later.answered);
}

/** A user who sends one name after another: others' names that are known stay so, and memory is bounded. */
void a_flood(void**) {
  Server server;
  milliseconds took{};
  int known = 0, asked = 0;
  {
    const auto cache = cache_of(server);
    (void)find_until_answered(*cache, "yes");
    server.silent = true;
    took = time_of([&] {
      for (int i = 0; i < 20000; i++) {
        (void)cache->find("flood-" + std::to_string(i));
        known += !cache->find("yes").values.empty();
      }
    });
    server.silent = false;
    server.release();
    (void)find_until_answered(*cache, "yes, later");  // after all that wait
    asked = server.asked;
  }
  assert_int_equal(known, 20000);
  assert_in_range(asked, 2, 2 * NameCache::kMaxQuestions);
  assert_true(took < seconds(20));
}

void many_threads(void**) {
  Server server;
  std::atomic<int> wrong{0};
  int answered = 0, asked = 0;
  {
    const auto cache = cache_of(server);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; i++) {
          const NameAnswer answer = cache->find("yes-" + std::to_string((i + t) % 50));
          wrong += answer.answered != !answer.values.empty();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < 50; i++) answered += find_until_answered(*cache, "yes-" + std::to_string(i)).answered;
    asked = server.asked;
  }
  assert_int_equal(wrong, 0);
  assert_int_equal(answered, 50);
  assert_in_range(asked, 50, 200);  // once each, and again if this takes longer than answers are valid
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(a_server_that_answers),
                              SLURMK8S_TEST(a_silent_server_costs_no_time),
                              SLURMK8S_TEST(an_answer_that_comes_late_is_there_the_next_time),
                              SLURMK8S_TEST(a_server_that_is_away_takes_no_answer_back),
                              SLURMK8S_TEST(a_flood),
                              SLURMK8S_TEST(many_threads)};
  return cmocka_run_group_tests_name("nss_name_cache", tests, nullptr, nullptr);
}
