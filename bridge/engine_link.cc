// SPDX-License-Identifier: GPL-2.0-or-later
// The connection to the engine, and what it has said.
#include "bridge/engine_link.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "control/control.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::milliseconds kRetryAfter{500};

bool is_later(int number) { return number == EAGAIN || number == EINTR; }

}  // namespace

EngineLink::EngineLink(EventLoop& loop, std::string path, Changed changed)
    : loop_(loop), path_(std::move(path)), changed_(std::move(changed)) {}

bool EngineLink::is_there(const std::string& path) { return connect_control(path, SOCK_NONBLOCK).ok(); }

void EngineLink::start() {
  retry_ = loop_.timers().after(std::chrono::milliseconds(0), [this] { connect(); });
}

void EngineLink::close() {
  loop_.timers().cancel(retry_);
  if (fd_) loop_.unwatch(fd_.get());
  fd_ = UniqueFd();
}

void EngineLink::lose(const std::string& why) {
  const bool was_up = is_up();
  close();
  unsent_.clear();
  received_.clear();
  sent_.clear();
  messages_ = reports_ = 0;
  unsigned suppressed = 0;
  if (limiter_.allow(loop_.clock()->now(), suppressed)) log_warning("engine: %s", why.c_str());
  retry_ = loop_.timers().after(kRetryAfter, [this] { connect(); });
  if (was_up) changed_({});
}

void EngineLink::connect() {
  auto connected = connect_control(path_, SOCK_NONBLOCK);
  if (!connected) return lose(connected.error().message());
  fd_ = std::move(*connected);
  const Status watched = loop_.watch(fd_.get(), EPOLLIN, [this] { ready(); });
  if (!watched.ok()) return lose(watched.error().message());
  send_changes();
}

void EngineLink::set(const std::set<std::uint32_t>& about, const PodJobs& jobs) {
  for (const std::uint32_t id : about) {
    const auto job = jobs.find(id);
    if (job == jobs.end()) {
      jobs_.erase(id);
    } else {
      jobs_[id] = job->second;
    }
  }
  changed_jobs_.insert(about.begin(), about.end());
  send_changes();
}

/** The first message of a connection is about all jobs. */
PodJobsChange EngineLink::find_changes() const {
  if (messages_ == 0) return {true, jobs_, {}};
  PodJobsChange change;
  for (const std::uint32_t id : changed_jobs_) {
    const auto job = jobs_.find(id);
    const auto before = sent_.find(id);
    if (job == jobs_.end() && before != sent_.end()) change.gone.insert(id);
    if (job != jobs_.end() && (before == sent_.end() || before->second.where != job->second)) change.jobs.insert(*job);
  }
  return change;
}

void EngineLink::send_changes() {
  if (!fd_ || messages_ != reports_) return;
  const PodJobsChange change = find_changes();
  changed_jobs_.clear();
  if (!change.is_all && change.jobs.empty() && change.gone.empty()) return;
  ++messages_;
  for (const std::uint32_t id : change.gone) sent_.erase(id);
  for (const auto& [id, where] : change.jobs) {
    Job& job = sent_[id];
    if (job.message == 0 || job.where.nodes != where.nodes) job.message = messages_;
    job.where = where;
  }
  unsent_ = encode_pod_jobs(change).dump() + "\n";
  (void)send();  // a lost connection is seen in ready(): the caller may be in the middle of something
}

bool EngineLink::may_bind(std::uint32_t job) const {
  const auto found = sent_.find(job);
  return found != sent_.end() && found->second.runs && found->second.message <= reports_;
}

void EngineLink::ready() {
  if (!send() || !receive()) lose("connection lost");
}

/** False: the connection is lost. What the socket does not take now is sent when it does. */
bool EngineLink::send() {
  while (!unsent_.empty()) {
    const ssize_t count = ::send(fd_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && !is_later(errno)) return false;
    if (count < 0) break;
    unsent_.erase(0, static_cast<std::size_t>(count));
  }
  const std::uint32_t events = unsent_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
  return loop_.watch(fd_.get(), events, [this] { ready(); }).ok();
}

bool EngineLink::receive() {
  char buffer[65536];
  const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (count < 0) return is_later(errno);
  if (count == 0) return false;
  received_.append(buffer, static_cast<std::size_t>(count));
  for (std::size_t end = 0; fd_ && (end = received_.find('\n')) != std::string::npos;) {
    const std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    take_line(line);
  }
  return received_.size() <= kMaxControlMessage;
}

void EngineLink::take_line(const std::string& line) {
  const auto message = Json::parse(line);
  if (!message) return lose("not JSON: " + message.error().message());
  if (!message->has("report")) {
    if (!(*message)["ok"].boolean_or(false)) lose(std::string((*message)["error"].text("refused")));
    return;
  }
  const auto report = decode_report(*message);
  if (!report) return lose(report.error().message());
  take_report(*report);
}

void EngineLink::take_report(const PodJobsReport& report) {
  if (reports_ == 0) up_since_ = loop_.clock()->now();
  reports_ = report.taken;
  for (const auto& [id, runs] : report.running) {
    const auto found = sent_.find(id);
    if (found != sent_.end()) found->second.runs = runs;
  }
  send_changes();  // what has changed meanwhile
  changed_(report.running);
}

}  // namespace slurmk8s
