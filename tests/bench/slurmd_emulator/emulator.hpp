// SPDX-License-Identifier: GPL-2.0-or-later
// Emulator: many slurmds in one process, as far as slurmctld can tell from their messages.
//
// Each node has an address of its own in 127.0.0.0/8: it connects from there, and slurmctld, in the same network
// namespace, takes it as the node's address. One socket on all addresses hears everything; the address that a message
// came to says which node is meant. Jobs are only remembered, not run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

#include "libslurm.hpp"
#include "work_queue.hpp"

namespace emulator {

struct Settings {
  std::string controller_address;  ///< numeric, IPv4
  std::uint16_t controller_port = 6817;
  std::uint16_t port = 6818;
  int threads = 16;                       ///< for what slurmctld asks, and as many for what the nodes say
  std::chrono::milliseconds job_time{0};  ///< a batch job ends this long after its launch
};

struct Counters {
  std::atomic<std::uint64_t> registered{0}, pings{0}, launched{0}, completed{0}, terminated{0}, refused{0}, errors{0};
};

class Emulator {
 public:
  /** Called with the seconds since the epoch, an event's name and its subject; by any thread, one at a time. */
  using OnEvent = std::function<void(double, const char*, const std::string&)>;

  /** Listens from here on. Exits the program when the port is taken. */
  Emulator(const slurm::Library& library, Settings settings, OnEvent on_event);
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  /** The node's slurmd starts, on a host that has just booted; for a node that is up: it booted again. */
  void up(const std::string& name, std::uint16_t cpus, std::uint64_t memory_mib);
  /** The node is gone without a word: connections to it are closed unanswered. */
  void down(const std::string& name);

  const Counters& counters() const { return counters_; }

 private:
  struct Node {
    std::string name;
    std::uint32_t address;  ///< host byte order
    std::uint16_t cpus = 0;
    std::uint64_t memory_mib = 0;
    std::time_t booted = 0;
    bool is_up = false;
    std::set<std::uint32_t> jobs;  ///< batch jobs that were launched here
  };

  void accept_all();
  void serve(int fd);
  void handle(Node& node, slurm::Message& message);
  void launch(Node& node, std::uint32_t job);
  void complete(Node& node, std::uint32_t job);
  void enlist(Node& node, int attempt);
  bool send_registration(Node& node);
  /** One message to slurmctld from a node's address, and its answer. */
  bool tell(const Node& node, std::uint16_t type, void* data);
  int connect_from(const Node& node);
  void event(const char* name, const std::string& subject);
  void problem(const Node& node, const char* what);

  const slurm::Library library_;
  const Settings settings_;
  const OnEvent on_event_;
  Counters counters_;
  std::mutex events_;

  std::mutex mutex_;                                      ///< guards nodes_ and what may change in them
  std::map<std::uint32_t, std::unique_ptr<Node>> nodes_;  ///< by address; never removed
  std::unordered_map<std::string, Node*> by_name_;

  int socket_;
  std::atomic<bool> stop_{false};
  WorkQueue outgoing_;  ///< outlives incoming_, which adds to it
  WorkQueue incoming_;
  std::thread acceptor_;
};

}  // namespace emulator
