// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's socket, both ends.
#include "control/control.hpp"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <utility>

#include "slurm/hostlist.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxConnections = 64;
constexpr std::chrono::seconds kConnectionTime{10};
constexpr std::chrono::milliseconds kLookInterval{1000};
constexpr mode_t kSocketMode = 0600;

Error socket_error(const std::string& path, const char* what, int number) {
  const Errc code = number == EACCES || number == EPERM ? Errc::forbidden : Errc::unavailable;
  return Error(code, format("socket %s: %s: %s", path.c_str(), what, strerror(number)));
}

Error late(const std::string& path) {
  return Error(Errc::timeout, format("socket %s: no answer in time", path.c_str()));
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Error(Errc::invalid,
                 format("socket %s: must be a path of 1 to %zu bytes", path.c_str(), sizeof address.sun_path - 1));
  }
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

std::uint64_t inode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

/** Root and our own user (SlurmUser) may ask; the file mode says the same, this says it of the process that asks. */
bool may_ask(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == geteuid();
}

/** It has closed its connection. One that has only ended its own part (`socat`) still reads the answer. */
bool has_hung_up(int fd) {
  pollfd entry{fd, 0, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
}

Json refusal(const std::string& text) {
  Json answer = Json::object();
  answer.set("ok", Json::boolean(false)).set("error", text);
  return answer;
}

/** A socket that listens there, in the place of another one. */
Result<UniqueFd> open_socket(const std::string& path) {
  const sockaddr_un address = SLURMK8S_TRY(address_of(path));
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return socket_error(path, "socket", errno);
  // A reconfigured slurmctld starts while the old one still lives: the newest engine takes the name over.
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return socket_error(path, "unlink", errno);
  // Linux gives the name the socket's own mode, less the umask: never wider than this, and slurmctld's umask stays
  // alone.
  if (::fchmod(fd.get(), kSocketMode) != 0) return socket_error(path, "fchmod", errno);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return socket_error(path, "bind", errno);
  }
  if (::chmod(path.c_str(), kSocketMode) != 0) return socket_error(path, "chmod", errno);
  if (::listen(fd.get(), kMaxConnections) != 0) return socket_error(path, "listen", errno);
  return fd;
}

/** Nobody listens there, or the name is gone. */
bool is_abandoned(const std::string& path) {
  const auto address = address_of(path);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!address || !fd) return false;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0) return false;
  return errno == ECONNREFUSED || errno == ENOENT;
}

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::listen(const std::string& path, EventLoop& loop,
                                                             Handler handler) {
  UniqueFd fd = SLURMK8S_TRY(open_socket(path));
  std::unique_ptr<ControlServer> server(new ControlServer(path, std::move(fd), loop, std::move(handler)));
  SLURMK8S_CHECK(server->watch());
  server->look_timer_ = loop.timers().after(kLookInterval, [raw = server.get()] { raw->look(); });
  return server;
}

ControlServer::ControlServer(std::string path, UniqueFd socket, EventLoop& loop, Handler handler)
    : path_(std::move(path)),
      socket_(std::move(socket)),
      inode_(inode_of(path_)),
      loop_(loop),
      handler_(std::move(handler)) {}

Status ControlServer::watch() {
  Status watched = loop_.watch(socket_.get(), EPOLLIN, [this] { accept(); });
  is_watched_ = watched.ok();
  return watched;
}

void ControlServer::unwatch() {
  if (std::exchange(is_watched_, false)) loop_.unwatch(socket_.get());
}

void ControlServer::look() {
  look_timer_ = loop_.timers().after(kLookInterval, [this] { look(); });
  look_for_name();
  if (is_watched_) return;
  if (const Status watched = watch(); !watched.ok()) log_error("%s", watched.error().message().c_str());
}

// A slurmctld that ended while it began, as with `scontrol reconfigure` and a fault in slurm.conf, had taken the name
// over. Twice: one that begins has the name before it listens.
void ControlServer::look_for_name() {
  const bool is_lost = inode_of(path_) != inode_ && is_abandoned(path_);
  if (is_lost && std::exchange(was_lost_, true)) {
    if (auto fd = open_socket(path_); fd.ok()) {
      unwatch();
      socket_ = std::move(*fd);
      inode_ = inode_of(path_);
      was_lost_ = false;
      log_info("socket %s: bound again: the process that had taken it over is gone", path_.c_str());
    }
  }
  if (!is_lost) was_lost_ = false;
}

ControlServer::~ControlServer() {
  loop_.timers().cancel(look_timer_);
  unwatch();
  while (!connections_.empty()) drop(connections_.begin()->first);
  if (inode_of(path_) == inode_) ::unlink(path_.c_str());  // not a successor's
}

void ControlServer::accept() {
  UniqueFd fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    // Without a descriptor the client stays in the queue: epoll would tell of it again at once. look() tries again.
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) unwatch();
    return;
  }
  if (connections_.size() >= kMaxConnections || !may_ask(fd.get())) return;  // closed: the client sees the end
  const int number = fd.get();
  if (!loop_.watch(number, EPOLLIN, [this, number] { receive(number); }).ok()) return;
  Connection& connection = connections_[number];
  connection.id = ++last_id_;
  connection.fd = std::move(fd);
  connection.timer = loop_.timers().after(kConnectionTime, [this, number] { drop(number); });
}

void ControlServer::receive(int fd) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  char buffer[65536];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return drop(fd);
  std::string& received = found->second.received;
  std::size_t begin = received.size();
  received.append(buffer, static_cast<std::size_t>(count));
  for (std::size_t end = 0; (end = received.find('\n', begin)) != std::string::npos; begin = 0) {
    const std::string line = received.substr(0, end);
    received.erase(0, end + 1);
    answer(fd, line);
    if (!connections_.contains(fd)) return;
  }
  if (received.size() > kMaxControlMessage) drop(fd);
}

void ControlServer::answer(int fd, const std::string& line) {
  if (has_hung_up(fd)) return drop(fd);
  const Id id = connections_.at(fd).id;
  const auto message = Json::parse(line);
  // A reply is small: it fits into the socket's buffer.
  push(id, message ? handler_(*message, id) : refusal("not JSON: " + message.error().message()));
  const auto found = connections_.find(fd);
  if (found != connections_.end() && !found->second.kept) drop(fd);
}

ControlServer::Connection* ControlServer::find(Id connection) {
  for (auto& [fd, found] : connections_) {
    if (found.id == connection) return &found;
  }
  return nullptr;
}

void ControlServer::keep(Id connection) {
  Connection* const found = find(connection);
  if (found == nullptr) return;
  found->kept = true;
  loop_.timers().cancel(found->timer);
}

bool ControlServer::push(Id connection, const Json& message) {
  Connection* const found = find(connection);
  if (found == nullptr) return false;
  const std::string text = message.dump() + "\n";
  const ssize_t sent = ::send(found->fd.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(text.size())) return true;
  log_debug("socket %s: reply: %s", path_.c_str(), sent < 0 ? strerror(errno) : "the client does not read");
  drop(found->fd.get());
  return false;
}

void ControlServer::drop(int fd) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  loop_.timers().cancel(found->second.timer);
  loop_.unwatch(fd);
  connections_.erase(found);
}

Json encode_resume(const ResumeRequest& request) {
  Json jobs = Json::object();
  for (const auto& [node, ids] : request.jobs) {
    Json list = Json::array();
    for (const std::uint32_t id : ids) list.push(Json::integer(id));
    jobs.set(node, std::move(list));
  }
  Json message = Json::object();
  message.set("op", "resume")
      .set("id", request.id)
      .set("nodes", compress_hostlist(request.nodes))
      .set("jobs", std::move(jobs))
      .set("warning", request.warning);
  return message;
}

Json encode_suspend(const std::vector<std::string>& nodes) {
  Json message = Json::object();
  message.set("op", "suspend").set("nodes", compress_hostlist(nodes));
  return message;
}

Result<std::vector<std::string>> decode_nodes(const Json& message) {
  const Json nodes = message["nodes"];
  if (!nodes.is_string() || nodes.text().empty()) return Error(Errc::invalid, "nodes: must be a hostlist");
  auto names = expand_hostlist(nodes.text());
  if (!names) return names.error().wrap("nodes");
  return names;
}

Result<ResumeRequest> decode_resume(const Json& message) {
  ResumeRequest request;
  request.id = message["id"].text();
  if (request.id.empty() || request.id.size() > 63) return Error(Errc::invalid, "id: must be 1 to 63 characters");
  request.nodes = SLURMK8S_TRY(decode_nodes(message));
  request.warning = message["warning"].text();
  message["jobs"].each([&](std::string_view node, const Json& ids) {
    std::vector<std::uint32_t>& list = request.jobs[std::string(node)];
    ids.each([&](const Json& id) { list.push_back(static_cast<std::uint32_t>(id.integer_or(0))); });
  });
  return request;
}

namespace {

/** Waits until `fd` is ready for `events`; a Status of timeout when the deadline passes. */
Status wait_for(int fd, short events, TimePoint deadline, const std::string& path) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd entry{fd, events, 0};
  const int ready = left.count() > 0 ? ::poll(&entry, 1, static_cast<int>(left.count())) : 0;
  if (ready < 0 && errno != EINTR) return socket_error(path, "poll", errno);
  if (ready == 0) return late(path);
  return {};
}

Status send_all(int fd, std::string_view text, TimePoint deadline, const std::string& path) {
  while (!text.empty()) {
    SLURMK8S_CHECK(wait_for(fd, POLLOUT, deadline, path));
    const ssize_t count = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return socket_error(path, "send", errno);
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> receive_line(int fd, TimePoint deadline, const std::string& path) {
  std::string line;
  char buffer[65536];
  while (line.size() <= kMaxControlMessage) {
    SLURMK8S_CHECK(wait_for(fd, POLLIN, deadline, path));
    const ssize_t count = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) return socket_error(path, "receive", errno);
    if (count == 0) return Error(Errc::unavailable, format("socket %s: closed without an answer", path.c_str()));
    line.append(buffer, static_cast<std::size_t>(count));
    if (line.back() == '\n') return line;
  }
  return Error(Errc::protocol, format("socket %s: the answer is too long", path.c_str()));
}

}  // namespace

Result<UniqueFd> connect_control(const std::string& path, int flags, std::chrono::milliseconds timeout) {
  const sockaddr_un address = SLURMK8S_TRY(address_of(path));
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!fd) return socket_error(path, "socket", errno);
  // connect() waits while as many as the listener takes wait for accept(). Linux ends that after this time; 0: never.
  const std::chrono::microseconds limit = timeout;
  const timeval time{limit.count() / 1'000'000, limit.count() % 1'000'000};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return errno == EAGAIN ? late(path) : socket_error(path, "connect", errno);
  }
  return fd;
}

Result<Json> control_call(const std::string& path, const Json& message, std::chrono::milliseconds timeout) {
  const TimePoint deadline = std::chrono::steady_clock::now() + timeout;
  const UniqueFd fd = SLURMK8S_TRY(connect_control(path, 0, timeout));
  SLURMK8S_CHECK(send_all(fd.get(), message.dump() + "\n", deadline, path));
  const std::string line = SLURMK8S_TRY(receive_line(fd.get(), deadline, path));
  const Json answer = SLURMK8S_TRY(Json::parse(line));
  if (!answer["ok"].boolean_or(false)) {
    return Error(Errc::invalid, std::string(answer["error"].text("no reason given")));
  }
  return answer;
}

}  // namespace slurmk8s
