// SPDX-License-Identifier: GPL-2.0-or-later
// slurmd-emulator: registers many nodes with a slurmctld, and answers for them. For benchmarks; runs nobody's job.
#include <getopt.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "emulator.hpp"

namespace {

constexpr int kUsage = 2;
constexpr const char* kHelp = R"(Usage: slurmd-emulator [OPTION…]
Is the slurmd of every node that its standard input names, until that ends:
  up NAME CPUS MEMORY   the node booted just now; MEMORY in MiB
  down NAME             the node is gone
Prints "SECONDS-SINCE-THE-EPOCH EVENT SUBJECT" lines (registered NAME, launched JOB, refused…, error…), and at the end
its counts. Runs beside slurmctld, as its user, with its slurm.conf and slurm.key. A batch job ends by itself; srun has
nobody to talk to.

  --controller ADDRESS:PORT  of slurmctld (127.0.0.1:6817)
  --port PORT                of the slurmds: slurm.conf's SlurmdPort (6818)
  --threads N                for messages in either direction (16)
  --job-ms N                 how long batch jobs last (0)
  --library PATH             libslurmfull.so of Slurm 24.11.5 (where Debian has it)
  --help                     print this help and exit
)";
#if defined(__aarch64__)
constexpr const char* kLibrary = "/usr/lib/aarch64-linux-gnu/slurm-wlm/libslurmfull.so";
#else
constexpr const char* kLibrary = "/usr/lib/x86_64-linux-gnu/slurm-wlm/libslurmfull.so";
#endif

[[noreturn]] void usage(const char* option, const char* value) {
  std::fprintf(stderr, "slurmd-emulator: %s %s: not understood; try --help\n", option, value);
  std::exit(kUsage);
}

long number(const char* option, const char* text, long least, long most) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > most) usage(option, text);
  return value;
}

emulator::Settings parse(int argc, char** argv, std::string& library) {
  static const option kOptions[] = {{"controller", required_argument, nullptr, 'c'},
                                    {"port", required_argument, nullptr, 'p'},
                                    {"threads", required_argument, nullptr, 't'},
                                    {"job-ms", required_argument, nullptr, 'j'},
                                    {"library", required_argument, nullptr, 'l'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {nullptr, 0, nullptr, 0}};
  emulator::Settings settings;
  settings.controller_address = "127.0.0.1";
  for (int key; (key = getopt_long(argc, argv, "h", kOptions, nullptr)) != -1;) {
    switch (key) {
      case 'c': {
        const std::string text = optarg;
        const std::size_t colon = text.rfind(':');
        if (colon == std::string::npos) usage("--controller", optarg);
        settings.controller_address = text.substr(0, colon);
        settings.controller_port =
            static_cast<std::uint16_t>(number("--controller", text.c_str() + colon + 1, 1, 65535));
        break;
      }
      case 'p': settings.port = static_cast<std::uint16_t>(number("--port", optarg, 1, 65535)); break;
      case 't': settings.threads = static_cast<int>(number("--threads", optarg, 1, 256)); break;
      case 'j': settings.job_time = std::chrono::milliseconds(number("--job-ms", optarg, 0, 86400000)); break;
      case 'l': library = optarg; break;
      case 'h': std::fputs(kHelp, stdout); std::exit(0);
      default: std::exit(kUsage);
    }
  }
  if (optind != argc) usage("argument", argv[optind]);
  return settings;
}

/** One line of the input. */
bool obey(emulator::Emulator& emulator, const std::string& line) {
  std::istringstream words(line);
  std::string verb, name;
  unsigned cpus = 0;
  std::uint64_t memory = 0;
  words >> verb >> name;
  if (name.empty()) return false;
  if (verb == "down") {
    emulator.down(name);
    return true;
  }
  if (verb != "up" || !(words >> cpus >> memory) || cpus == 0 || cpus > 65535 || memory == 0) return false;
  emulator.up(name, static_cast<std::uint16_t>(cpus), memory);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::string library = kLibrary;
  const emulator::Settings settings = parse(argc, argv, library);
  emulator::slurm::preload_library(library, argv);
  signal(SIGPIPE, SIG_IGN);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  {
    emulator::Emulator emulator(emulator::slurm::Library::init(), settings,
                                [](double time, const char* event, const std::string& subject) {
                                  std::printf("%.3f %s %s\n", time, event, subject.c_str());
                                });
    std::printf("ready\n");
    for (std::string line; std::getline(std::cin, line);) {
      if (!obey(emulator, line)) std::fprintf(stderr, "slurmd-emulator: input: %s: not understood\n", line.c_str());
    }
    const emulator::Counters& counters = emulator.counters();
    std::printf("registered=%lu pings=%lu launched=%lu completed=%lu terminated=%lu refused=%lu errors=%lu\n",
                counters.registered.load(), counters.pings.load(), counters.launched.load(), counters.completed.load(),
                counters.terminated.load(), counters.refused.load(), counters.errors.load());
  }
  // Slurm's library has threads and exit handlers that don't expect to be closed from here.
  std::fflush(stdout);
  std::_Exit(0);
}
