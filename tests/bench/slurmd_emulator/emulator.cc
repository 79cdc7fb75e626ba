// SPDX-License-Identifier: GPL-2.0-or-later
// What a node answers, and what it says by itself.
#include "emulator.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulator {
namespace {

constexpr std::uint32_t kFirstAddress = 0x7f010001;  // 127.1.0.1
constexpr int kBacklog = 4096;
constexpr int kTimeoutMs = 30000;
constexpr int kAttempts = 30;
constexpr std::chrono::milliseconds kRetry{1000};

sockaddr_in ipv4(std::uint32_t address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_addr.s_addr = htonl(address);
  result.sin_port = htons(port);
  return result;
}

int listen_everywhere(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in any = ipv4(INADDR_ANY, port);
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 || listen(fd, kBacklog) != 0) {
    std::fprintf(stderr, "slurmd-emulator: port %u: %s\n", port, std::strerror(errno));
    std::exit(1);
  }
  return fd;
}

}  // namespace

Emulator::Emulator(const slurm::Library& library, Settings settings, OnEvent on_event)
    : library_(library),
      settings_(std::move(settings)),
      on_event_(std::move(on_event)),
      socket_(listen_everywhere(settings_.port)),
      outgoing_(settings_.threads),
      incoming_(settings_.threads),
      acceptor_([this] { accept_all(); }) {}

Emulator::~Emulator() {
  stop_ = true;
  acceptor_.join();
  close(socket_);
}

void Emulator::up(const std::string& name, std::uint16_t cpus, std::uint64_t memory_mib) {
  const std::lock_guard lock(mutex_);
  Node*& node = by_name_[name];
  if (!node) {
    const std::uint32_t address = kFirstAddress + static_cast<std::uint32_t>(nodes_.size());
    auto made = std::make_unique<Node>();
    made->name = name;
    made->address = address;
    node = made.get();
    nodes_[address] = std::move(made);
  }
  node->cpus = cpus;
  node->memory_mib = memory_mib;
  node->booted = std::time(nullptr);
  node->is_up = true;
  node->jobs.clear();
  outgoing_.add([this, node] { enlist(*node, 1); });
}

void Emulator::down(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  found->second->is_up = false;
  found->second->jobs.clear();
}

// What slurmctld asks.

void Emulator::accept_all() {
  while (!stop_) {
    pollfd waiting{socket_, POLLIN, 0};
    if (poll(&waiting, 1, 200) <= 0) continue;
    for (;;) {
      const int fd = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) break;
      incoming_.add([this, fd] {
        serve(fd);
        close(fd);
      });
    }
  }
}

void Emulator::serve(int fd) {
  sockaddr_storage here{}, there{};
  socklen_t here_size = sizeof here, there_size = sizeof there;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&here), &here_size) != 0 ||
      getpeername(fd, reinterpret_cast<sockaddr*>(&there), &there_size) != 0) {
    return;
  }
  Node* node = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(ntohl(reinterpret_cast<sockaddr_in*>(&here)->sin_addr.s_addr));
    if (found != nodes_.end() && found->second->is_up) node = found->second.get();
  }
  if (!node) return;
  slurm::Message message;
  library_.init_message(&message);
  if (library_.receive_and_forward(fd, &there, &message) == 0) {
    handle(*node, message);
  } else {
    problem(*node, "a message that it can't read");
  }
  library_.free_members(&message);
}

void Emulator::handle(Node& node, slurm::Message& message) {
  switch (message.msg_type) {
    case slurm::kRequestPing: {
      ++counters_.pings;
      slurm::PingAnswer answer{0, node.memory_mib};
      library_.answer(&message, slurm::kResponsePing, &answer);
      break;
    }
    case slurm::kRequestRegistration:
      library_.answer_code(&message, 0);
      outgoing_.add([this, &node] { send_registration(node); });
      break;
    case slurm::kRequestBatchJob:
      library_.answer_code(&message, 0);
      launch(node, static_cast<slurm::BatchLaunch*>(message.data)->job_id);
      break;
    // As slurmd when no step of the job is left here, and there is no epilog: that is the end of the job on this node.
    case slurm::kRequestTerminateJob:
    case slurm::kRequestAbortJob:
    case slurm::kRequestKillTimelimit:
    case slurm::kRequestKillPreempted: {
      ++counters_.terminated;
      {
        const std::lock_guard lock(mutex_);
        node.jobs.erase(static_cast<slurm::KillJob*>(message.data)->step_id.job_id);
      }
      library_.answer_code(&message, slurm::kAlreadyComplete);
      break;
    }
    case slurm::kRequestReconfigure:
    case slurm::kRequestReconfigureWithConfig:
    case slurm::kRequestHealthCheck:
    case slurm::kRequestSignalTasks: library_.answer_code(&message, 0); break;
    default:
      ++counters_.refused;
      event("refused", node.name + " message " + std::to_string(message.msg_type));
      library_.answer_code(&message, ENOSYS);
  }
}

void Emulator::launch(Node& node, std::uint32_t job) {
  {
    const std::lock_guard lock(mutex_);
    node.jobs.insert(job);
  }
  ++counters_.launched;
  event("launched", std::to_string(job));
  outgoing_.add([this, &node, job] { complete(node, job); }, settings_.job_time);
}

// What nodes say by themselves.

void Emulator::complete(Node& node, std::uint32_t job) {
  {
    const std::lock_guard lock(mutex_);
    if (node.jobs.erase(job) == 0) return;  // ended by slurmctld meanwhile
  }
  slurm::BatchComplete data{};
  data.job_id = job;
  data.node_name = node.name.c_str();
  if (!tell(node, slurm::kRequestCompleteBatchScript, &data)) return;
  ++counters_.completed;
}

void Emulator::enlist(Node& node, int attempt) {
  if (send_registration(node)) {
    ++counters_.registered;
    event("registered", node.name);
  } else if (attempt < kAttempts) {
    outgoing_.add([this, &node, attempt] { enlist(node, attempt + 1); }, kRetry);
  }
}

bool Emulator::send_registration(Node& node) {
  slurm::Registration data{};
  std::vector<slurm::StepId> steps;
  const std::time_t now = std::time(nullptr);
  {
    const std::lock_guard lock(mutex_);
    if (!node.is_up) return true;
    for (const std::uint32_t job : node.jobs) steps.push_back({0, job, slurm::kNoVal, slurm::kBatchStep});
    data.cpus = data.sockets = node.cpus;
    data.real_memory = data.free_mem = node.memory_mib;
    data.slurmd_start_time = node.booted;
    data.up_time = static_cast<std::uint32_t>(now - node.booted);
  }
  data.arch = "x86_64";
  data.os = "emulated";
  data.version = "24.11.5";
  data.boards = data.cores = data.threads = 1;
  data.dynamic_type = slurm::kDynamicNormal;
  data.flags = slurm::kWantsResponse;
  data.gres_info = library_.no_gres;
  data.hash_val = slurm::kNoVal;  // NO_VAL: don't compare slurm.conf
  data.hostname = data.node_name = node.name.c_str();
  data.job_count = static_cast<std::uint32_t>(steps.size());
  data.step_id = steps.data();
  data.timestamp = now;
  return tell(node, slurm::kRegistration, &data);
}

int Emulator::connect_from(const Node& node) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int yes = 1;
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
  const sockaddr_in from = ipv4(node.address, 0);
  sockaddr_in to = ipv4(0, settings_.controller_port);
  inet_pton(AF_INET, settings_.controller_address.c_str(), &to.sin_addr);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
      connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

bool Emulator::tell(const Node& node, std::uint16_t type, void* data) {
  const int fd = connect_from(node);
  if (fd < 0) {
    problem(node, std::strerror(errno));
    return false;
  }
  slurm::Message request, answer;
  library_.init_message(&request);
  library_.init_message(&answer);
  request.msg_type = type;
  request.data = data;
  library_.set_recipient(&request, getuid());  // this program runs as slurmctld's user
  bool done = library_.send(fd, &request) >= 0;
  if (!done) {
    problem(node, "send");
  } else if (library_.receive(fd, &answer, kTimeoutMs) != 0) {
    problem(node, "no answer");
    done = false;
  } else if (answer.msg_type == slurm::kResponseReturnCode &&
             static_cast<slurm::ReturnCode*>(answer.data)->return_code != 0) {
    const std::uint32_t code = static_cast<slurm::ReturnCode*>(answer.data)->return_code;
    problem(node, ("slurmctld said " + std::to_string(code)).c_str());
    done = false;
  }
  library_.free_members(&answer);
  close(fd);
  return done;
}

void Emulator::event(const char* name, const std::string& subject) {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::lock_guard lock(events_);
  on_event_(now, name, subject);
}

void Emulator::problem(const Node& node, const char* what) {
  ++counters_.errors;
  event("error", node.name + " " + what);
}

}  // namespace emulator
