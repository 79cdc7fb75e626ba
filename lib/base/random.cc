// SPDX-License-Identifier: GPL-2.0-or-later
// Random: getrandom(2).
#include "base/random.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

using std::chrono::system_clock;

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  ssize_t got = 0;
  do {
    got = ::getrandom(&bits, sizeof bits, 0);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof bits)) return bits;
  // Where the system call is forbidden: unique on this host, which is enough for the callers.
  static std::atomic<std::uint64_t> counter{0};
  const auto now = static_cast<std::uint64_t>(system_clock::now().time_since_epoch().count());
  return (now * 0x9e3779b97f4a7c15u) ^ (static_cast<std::uint64_t>(::getpid()) << 32) ^ ++counter;
}

}  // namespace

std::string random_id() { return format("%016llx", static_cast<unsigned long long>(random_bits())); }

double random_unit() { return static_cast<double>(random_bits() >> 11) * 0x1.0p-53; }

}  // namespace slurmk8s
