// SPDX-License-Identifier: GPL-2.0-or-later
// The admin server on libmicrohttpd's internal thread.
#include "daemon/admin_http.hpp"

#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/guarded.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

// One address (a job's pod) can't take the connections that others need: the kubelet's readiness probe, Prometheus.
constexpr unsigned kMaxConnections = 128;
constexpr unsigned kMaxPerAddress = 4;
constexpr unsigned kTimeoutS = 3;  // of a silent connection

struct ResponseDeleter {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using Response = std::unique_ptr<MHD_Response, ResponseDeleter>;

MHD_Result send(MHD_Connection* connection, const AdminAnswer& answer) {
  const Response response(MHD_create_response_from_buffer(answer.body.size(), const_cast<char*>(answer.body.data()),
                                                          MHD_RESPMEM_MUST_COPY));
  if (!response) return MHD_NO;
  MHD_add_response_header(response.get(), MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
  if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED) {
    MHD_add_response_header(response.get(), MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  }
  return MHD_queue_response(connection, static_cast<unsigned>(answer.status), response.get());
}

// libmicrohttpd's callback: called when a request's header is there, and again for each part of a body.
MHD_Result handle(void* state, MHD_Connection* connection, const char* path, const char* method, const char*,
                  const char*, size_t*, void**) {
  return guarded("admin server", MHD_NO, [&] {
    const bool known = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    if (!known) return send(connection, {MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n"});
    return send(connection, static_cast<AdminState*>(state)->answer(path));
  });
}

struct DaemonDeleter {
  void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
};

class MicrohttpdServer final : public AdminServer {
 public:
  explicit MicrohttpdServer(MHD_Daemon* daemon) : daemon_(daemon) {}
  int port() const override {
    const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_BIND_PORT);
    return info == nullptr ? 0 : info->port;
  }

 private:
  std::unique_ptr<MHD_Daemon, DaemonDeleter> daemon_;
};

struct AddressDeleter {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Address = std::unique_ptr<addrinfo, AddressDeleter>;

/** The socket address of "HOST:PORT"; an empty host is every IPv4 and IPv6 address. */
Result<Address> resolve(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string::npos) return Error(Errc::invalid, listen + ": must be HOST:PORT");
  std::string host = listen.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  const std::string port = listen.substr(colon + 1);
  addrinfo* list = nullptr;
  const int code = getaddrinfo(host.empty() ? "::" : host.c_str(), port.c_str(), &hints, &list);
  if (code != 0) return Error(Errc::invalid, listen + ": " + gai_strerror(code));
  return Address(list);
}

/** libmicrohttpd names its thread itself ("MHD-single"); main_loop.hpp has blocked the signals by then. */
MHD_Daemon* start(const sockaddr* address, bool dual_stack, AdminState& state) {
  unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD;
  if (address->sa_family == AF_INET6) flags |= dual_stack ? MHD_USE_DUAL_STACK : MHD_USE_IPv6;
  return MHD_start_daemon(flags, 0, nullptr, nullptr, &handle, &state, MHD_OPTION_SOCK_ADDR, address,
                          MHD_OPTION_CONNECTION_LIMIT, kMaxConnections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                          kMaxPerAddress, MHD_OPTION_CONNECTION_TIMEOUT, kTimeoutS, MHD_OPTION_LISTENING_ADDRESS_REUSE,
                          1u, MHD_OPTION_END);
}

}  // namespace

AdminAnswer AdminState::answer(const std::string& path) {
  const TimePoint now = clock_.now();
  const std::shared_ptr<const AdminPage> page = *page_.lock();
  if (auto text = metrics(path, *page, now)) return {MHD_HTTP_OK, *std::move(text)};
  if (path == "/healthz") {
    const auto silent = std::chrono::duration_cast<std::chrono::seconds>(now - turned_.load());
    if (silent < kStuck) return {MHD_HTTP_OK, "ok\n"};
    return {MHD_HTTP_SERVICE_UNAVAILABLE,
            format("main loop: stuck for %lld s\n", static_cast<long long>(silent.count()))};
  }
  if (path == "/readyz") {
    if (page->stands_by) return {MHD_HTTP_OK, "stands by\n"};
    if (!page->listed) return {MHD_HTTP_SERVICE_UNAVAILABLE, "nodesets: not listed yet\n"};
    if (!page->slurm_answered) return {MHD_HTTP_SERVICE_UNAVAILABLE, "slurmctld: no answer yet\n"};
    if (now - *page->slurm_answered >= kSlurmSilent) {
      return {MHD_HTTP_SERVICE_UNAVAILABLE, "slurmctld: no answer in the last 30 s\n"};
    }
    return {MHD_HTTP_OK, "ok\n"};
  }
  return {MHD_HTTP_NOT_FOUND, "/healthz, /readyz or /metrics\n"};
}

// A sidecar that stands by, or that slurmctld has not answered yet, has nothing to say of Slurm's state: of two
// sidecars one has it.
std::optional<std::string> AdminState::metrics(const std::string& path, const AdminPage& page, TimePoint now) {
  if (path == "/metrics") return page.metrics + extra_metrics(now);
  const bool all = path == "/metrics/all";
  const bool knows = page.slurm_answered && !page.stands_by;
  bool found = all;
  std::string text;
  for (const std::string& one : pages_.paths) {
    if (!all && one != path) continue;
    found = true;
    if (knows) text += pages_.read(one);
  }
  if (all) text = page.metrics + extra_metrics(now) + text;
  return found ? std::optional(std::move(text)) : std::nullopt;
}

// Each question is a message to slurmctld's engine: a client that asks in a loop must not keep it busy.
std::string AdminState::extra_metrics(TimePoint now) {
  if (!more_metrics_) return {};
  auto extra = extra_.lock();
  if (!extra->asked || now - *extra->asked >= kMetricsAge) {
    extra->text = more_metrics_();
    extra->asked = now;
  }
  return extra->text;
}

Result<std::unique_ptr<AdminServer>> start_admin_server(const std::string& listen, AdminState& state) {
  const Address address = SLURMK8S_TRY(resolve(listen));
  const bool any = listen.front() == ':';
  MHD_Daemon* daemon = start(address->ai_addr, any, state);
  if (daemon == nullptr && any) {
    // No IPv6 on this machine.
    const Address ipv4 = SLURMK8S_TRY(resolve("0.0.0.0" + listen));
    daemon = start(ipv4->ai_addr, false, state);
  }
  if (daemon == nullptr) return Error(Errc::unavailable, "admin server: listen on " + listen + ": " + strerror(errno));
  return std::unique_ptr<AdminServer>(std::make_unique<MicrohttpdServer>(daemon));
}

}  // namespace slurmk8s
