// SPDX-License-Identifier: GPL-2.0-or-later
// event/poller: what is ready is told until it isn't, numbers that come again are other descriptors, wake() is never
// lost.
#include "event/poller.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <set>
#include <thread>

#include "support/cmocka.hpp"
#include "support/pipe.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using Fds = std::vector<int>;

constexpr milliseconds kNow{0};
constexpr seconds kLong{20};  // of what should take no time, on a loaded machine

Poller opened() {
  auto poller = Poller::open();
  assert_ok(poller);
  return std::move(poller).value();
}

void read_byte(const Pipe& pipe) {
  char byte = 0;
  assert_int_equal(::read(pipe.out.get(), &byte, 1), 1);
}

void ready_until_it_is_not(void**) {
  Poller poller = opened();
  Pipe pipe = make_pipe();
  const int fd = pipe.out.get();
  assert_ok(poller.set(fd, EPOLLIN));
  assert_true(poller.wait(kNow).empty());
  write_byte(pipe);
  assert_true(poller.wait(kLong) == Fds{fd});
  assert_true(poller.wait(kLong) == Fds{fd});  // nobody has read it
  read_byte(pipe);
  assert_true(poller.wait(kNow).empty());
  pipe.in.reset();
  assert_true(poller.wait(kLong) == Fds{fd});  // a hang-up
  poller.remove(fd);
  poller.remove(fd);
  assert_true(poller.wait(kNow).empty());
}

void the_last_word_on_a_descriptor_counts(void**) {
  Poller poller = opened();
  const Pipe pipe = make_pipe();
  const int fd = pipe.in.get();
  assert_ok(poller.set(fd, EPOLLOUT));
  assert_true(poller.wait(kLong) == Fds{fd});
  assert_ok(poller.set(fd, EPOLLIN));
  assert_true(poller.wait(kNow).empty());
  assert_ok(poller.set(fd, EPOLLIN | EPOLLOUT));
  assert_true(poller.wait(kLong) == Fds{fd});
}

void a_number_comes_again(void**) {
  Poller poller = opened();
  Pipe first = make_pipe();
  const int fd = first.out.get();
  assert_ok(poller.set(fd, EPOLLIN));
  first.out.reset();  // without a remove()
  const Pipe second = make_pipe();
  assert_int_equal(second.out.get(), fd);
  assert_ok(poller.set(fd, EPOLLIN));
  write_byte(second);
  assert_true(poller.wait(kLong) == Fds{fd});
}

void more_than_one_wait_can_tell(void**) {
  Poller poller = opened();
  std::vector<Pipe> pipes;
  std::set<int> expected;
  for (int i = 0; i < 200; ++i) {
    pipes.push_back(make_pipe());
    expected.insert(pipes.back().out.get());
    assert_ok(poller.set(pipes.back().out.get(), EPOLLIN));
    write_byte(pipes.back());
  }
  std::set<int> seen;
  while (seen.size() < expected.size()) {
    const Fds ready = poller.wait(kNow);
    assert_false(ready.empty());
    for (const int fd : ready) {
      assert_true(seen.insert(fd).second);
      poller.remove(fd);
    }
  }
  assert_true(seen == expected);
}

void woken(void**) {
  Poller poller = opened();
  const auto begin = steady_clock::now();
  poller.wake();
  poller.wake();
  assert_true(poller.wait(kLong).empty());  // a wake() before the wait is kept, several are one
  assert_true(steady_clock::now() - begin < kLong);
  const auto between = steady_clock::now();
  assert_true(poller.wait(milliseconds(30)).empty());
  assert_true(steady_clock::now() - between >= milliseconds(29));

  std::jthread waker([&poller] {
    std::this_thread::sleep_for(milliseconds(30));
    poller.wake();
  });
  const auto again = steady_clock::now();
  assert_true(poller.wait(kLong).empty());
  assert_true(steady_clock::now() - again < kLong);
}

void what_the_kernel_refuses(void**) {
  Poller poller = opened();
  const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  assert_error(poller.set(file.get(), EPOLLIN), Errc::internal, "epoll_ctl: Operation not permitted");

  rlimit before{};
  assert_int_equal(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  assert_int_equal(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto refused = Poller::open();
  assert_int_equal(::setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_error(refused, Errc::internal, "epoll_create1: Too many open files");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(ready_until_it_is_not),
      SLURMK8S_TEST(the_last_word_on_a_descriptor_counts),
      SLURMK8S_TEST(a_number_comes_again),
      SLURMK8S_TEST(more_than_one_wait_can_tell),
      SLURMK8S_TEST(woken),
      SLURMK8S_TEST(what_the_kernel_refuses),
  };
  return cmocka_run_group_tests_name("event_poller", tests, nullptr, nullptr);
}
