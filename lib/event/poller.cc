// SPDX-License-Identifier: GPL-2.0-or-later
// Poller: epoll(7), level-triggered, and an eventfd(2) to be woken by.
#include "event/poller.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

Error failed(const char* call) { return Error(Errc::internal, format("%s: %s", call, std::strerror(errno))); }

}  // namespace

Result<Poller> Poller::open() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return failed("epoll_create1");
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return failed("eventfd");
  Poller poller(std::move(epoll), std::move(event));
  SLURMK8S_CHECK(poller.set(poller.event_.get(), EPOLLIN));
  return poller;
}

// The kernel forgets a descriptor that is closed, and its number may come again: what is known is the kernel's to say.
Status Poller::set(int fd, std::uint32_t events) {
  epoll_event wish{};
  wish.events = events;
  wish.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &wish) == 0) return {};
  if (errno != ENOENT || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &wish) != 0) return failed("epoll_ctl");
  return {};
}

void Poller::remove(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

std::vector<int> Poller::wait(std::chrono::milliseconds max_wait) {
  std::array<epoll_event, 128> events{};
  const auto timeout = std::min<std::chrono::milliseconds::rep>(max_wait.count(), std::numeric_limits<int>::max());
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), static_cast<int>(timeout));
  std::vector<int> ready;
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    if (fd != event_.get()) {
      ready.push_back(fd);
    } else {
      eventfd_t calls = 0;
      ::eventfd_read(fd, &calls);  // sets it back
    }
  }
  return ready;
}

void Poller::wake() { ::eventfd_write(event_.get(), 1); }

}  // namespace slurmk8s
