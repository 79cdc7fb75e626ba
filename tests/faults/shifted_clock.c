// SPDX-License-Identifier: GPL-2.0-or-later
// Shows a process another time of day than the machine's: by so many seconds as the file $SHIFTED_CLOCK says
// ("+0000003600"), at any moment. For LD_PRELOAD. Clocks that can't be set (CLOCK_MONOTONIC) stay as they are.
//
// Not libfaketime, which takes a lock to read its file: slurmstepd forks while its other threads ask for the time, and
// the child then waited for that lock for good.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kDigits = 11 }; // with the sign
static const char* file; // shared with who writes it

__attribute__((constructor)) static void open_file(void) {
  const char* path = getenv("SHIFTED_CLOCK");
  const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void* mapped = fd < 0 ? MAP_FAILED : mmap(NULL, kDigits, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) {
    fprintf(stderr, "shifted_clock: $SHIFTED_CLOCK must name a file of %d characters\n", kDigits);
    _exit(125);
  }
  close(fd);
  file = mapped;
}

static time_t shift(void) {
  time_t seconds = 0;
  if (!file) return 0;
  for (int i = 1; i < kDigits; ++i) seconds = 10 * seconds + (file[i] - '0');
  return file[0] == '-' ? -seconds : seconds;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += shift();
  return result;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds) *seconds = now.tv_sec;
  return now.tv_sec;
}

// As of the clock when the wait begins: one that is set meanwhile doesn't make it longer or shorter.
int pthread_cond_timedwait(pthread_cond_t* restrict cond, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict until) {
  const struct timespec machine = {until->tv_sec - shift(), until->tv_nsec};
  return pthread_cond_clockwait(cond, mutex, CLOCK_REALTIME, &machine);
}
