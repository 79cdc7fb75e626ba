// SPDX-License-Identifier: GPL-2.0-or-later
// CurlTransport: Transport on libcurl's multi interface, driven by events (curl_multi_socket_action): libcurl then
// looks at the transfers that have something to do. curl_multi_perform() asks the socket of each one each time: with a
// hundred in flight that was half of slurmctld's processor time in a mass suspend (docs/developer/performance.md).
//
// libcurl forbids calls to itself from its callbacks, so those only fill buffers, watch sockets and set timers; lines
// and responses are handed out after libcurl's calls. The limit of send()'s connections is our own queue, not
// CURLMOPT_MAX_HOST_CONNECTIONS: there a burst of requests could keep a watch waiting for its connection.
#include "http/curl_transport.hpp"

#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <new>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "http/endpoint.hpp"
#include "http/line_splitter.hpp"

namespace slurmk8s::http {

namespace {

using std::chrono::milliseconds;

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using Multi = std::unique_ptr<CURLM, MultiDeleter>;
using List = std::unique_ptr<curl_slist, ListDeleter>;

TimePoint steady_now() { return std::chrono::steady_clock::now(); }

bool is_success(int status) { return status >= 200 && status < 300; }

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void append(List& list, const std::string& text) {
  curl_slist* longer = curl_slist_append(list.get(), text.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(list.release());
  list.reset(longer);
}

Status check_pem(const char* what, const std::string& pem) {
  if (pem.empty() || pem.find("-----BEGIN ") != std::string::npos) return {};
  return Error(Errc::invalid, std::string(what) + ": not PEM");
}

/** One request under way. It stays where it is: libcurl holds pointers into it. */
struct Transfer {
  Transfer(RequestId id_, Request request_, OnLine line_, OnResponse done_, const CurlOptions& options)
      : id(id_),
        request(std::move(request_)),
        line(std::move(line_)),
        done(std::move(done_)),
        max_body(options.max_body),
        splitter(options.max_line) {}

  bool is_stream() const { return static_cast<bool>(line); }

  const RequestId id;
  const Request request;
  const OnLine line;  // empty: send()
  const OnResponse done;
  const std::size_t max_body;

  Easy easy;  // empty while it waits in the queue
  List headers;
  std::array<char, CURL_ERROR_SIZE> error_text{};
  Response response;
  bool over_cap = false;
  bool headers_ended = false;
  bool opened = false;  // of a stream: a 2xx answer has begun, and nobody was told yet
  std::string inbox;    // of a stream: bytes that came with the last perform
  LineSplitter splitter;
  TimePoint last_heard = steady_now();
  Timers::Id silence_timer = 0;  // of a stream
};

int status_of(CURL* easy) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

// ---- libcurl's callbacks --------------------------------------------------------------------------------------------

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
  return guarded("http body", std::size_t{0}, [&] {
    auto& transfer = *static_cast<Transfer*>(user);
    transfer.last_heard = steady_now();
    const bool lines = transfer.is_stream() && is_success(status_of(transfer.easy.get()));
    std::string& buffer = lines ? transfer.inbox : transfer.response.body;
    if (!lines && size > transfer.max_body - buffer.size()) {
      transfer.over_cap = true;
      return std::size_t{0};
    }
    buffer.append(data, size);
    return size;
  });
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
  return guarded("http header", std::size_t{0}, [&] {
    auto& transfer = *static_cast<Transfer*>(user);
    transfer.last_heard = steady_now();
    const std::string_view line(data, size);
    const int status = status_of(transfer.easy.get());
    if (line == "\r\n" && status >= 200) {  // not after 100 Continue
      transfer.headers_ended = true;
      transfer.opened = transfer.is_stream() && is_success(status);
    }
    return size;
  });
}

int on_new_socket(void*, curl_socket_t socket, curlsocktype) {
  // A peer that is gone without a word (half-open) is noticed in 30 s: by data that nobody acknowledges, and by
  // unanswered keep-alive probes.
  const unsigned timeout_ms = 30000;
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
  return CURL_SOCKOPT_OK;
}

// ---- errors ---------------------------------------------------------------------------------------------------------

Errc code_of(CURLcode code, bool sent) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT: return sent ? Errc::timeout : Errc::unavailable;
    case CURLE_WRITE_ERROR:
    case CURLE_UNSUPPORTED_PROTOCOL:  // HTTP/0.9
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING: return Errc::protocol;
    case CURLE_URL_MALFORMAT: return Errc::invalid;
    case CURLE_OUT_OF_MEMORY: return Errc::internal;
    default:
      // Options were set before: whatever else libcurl calls a wrong call is about the server or our credentials.
      return Errc::unavailable;
  }
}

Error error_of(CURLcode code, const Transfer& transfer) {
  if (transfer.over_cap) return Error(Errc::protocol, format("a response of more than %zu bytes", transfer.max_body));
  long sent = 0;
  curl_easy_getinfo(transfer.easy.get(), CURLINFO_REQUEST_SIZE, &sent);
  const char* text = transfer.error_text[0] != '\0' ? transfer.error_text.data() : curl_easy_strerror(code);
  return Error(code_of(code, sent > 0), std::string(trim(text)));
}

// ---- the transport --------------------------------------------------------------------------------------------------

class CurlTransport final : public Transport {
 public:
  CurlTransport(EventLoop& loop, CurlOptions options, Endpoint endpoint, Multi multi)
      : loop_(loop), options_(std::move(options)), endpoint_(std::move(endpoint)), multi_(std::move(multi)) {
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &on_interest);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &on_timer);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
    if (!endpoint_.connect_to.empty()) append(connect_to_, endpoint_.connect_to);
    // Idle connections that are kept: curl's own default grows with the number of handles.
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(options_.max_connections + 4));
  }

  ~CurlTransport() override {
    for (auto& [id, transfer] : transfers_) {
      if (transfer->easy) remove(transfer->easy.get());
      loop_.timers().cancel(transfer->silence_timer);
    }
    multi_.reset();  // calls on_interest() and on_timer()
    for (const auto& [socket, easy] : sockets_) loop_.unwatch(socket);
    loop_.timers().cancel(timer_);
    loop_.timers().cancel(failed_timer_);
  }

  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  RequestId send(Request request, OnResponse done) override {
    const RequestId id = add(std::move(request), nullptr, std::move(done));
    waiting_.push_back(id);
    start_waiting();
    return id;
  }

  RequestId stream(Request request, OnLine line, OnResponse done) override {
    const RequestId id = add(std::move(request), std::move(line), std::move(done));
    streams_.insert(id);
    Transfer& transfer = *transfers_.at(id);
    start(transfer);
    listen(transfer, transfer.request.timeout);
    return id;
  }

  void cancel(RequestId id) override {
    take(id);
    start_waiting();
  }

 private:
  using TransferPtr = std::shared_ptr<Transfer>;

  /**
   * libcurl: what it waits for at a socket. Never -1: libcurl would refuse every transfer from then on, where now the
   * one that isn't called runs into its time-out.
   */
  static int on_interest(CURL* easy, curl_socket_t socket, int what, void* user, void*) {
    return guarded("http socket", 0, [&] {
      static_cast<CurlTransport*>(user)->watch(easy, socket, what);
      return 0;
    });
  }

  /**
   * libcurl: closes a socket that was connected. Of a connection without a transfer it says no CURL_POLL_REMOVE before,
   * and later the number may be another thread's, or another connection's, whose events would be lost.
   */
  static int on_close(void* user, curl_socket_t socket) {
    return guarded("http close", -1, [&] {
      static_cast<CurlTransport*>(user)->unwatch(socket);
      return ::close(socket);
    });
  }

  /** libcurl: when it wants to be called without an event; -1: never. */
  static int on_timer(CURLM*, long wait_ms, void* user) {
    return guarded("http timer", 0, [&] {
      static_cast<CurlTransport*>(user)->set_timer(wait_ms);
      return 0;
    });
  }

  void unwatch(curl_socket_t socket) {
    if (sockets_.erase(socket) > 0) loop_.unwatch(socket);
  }

  void watch(CURL* easy, curl_socket_t socket, int what) {
    if (what == CURL_POLL_REMOVE) return unwatch(socket);
    const std::uint32_t in = (what & CURL_POLL_IN) != 0 ? EPOLLIN : 0u;
    const std::uint32_t out = (what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0u;
    sockets_[socket] = easy;
    const Status watched = loop_.watch(socket, in | out, [this, socket] { act(socket); });
    if (!watched.ok()) log_error("http socket: %s", watched.error().message().c_str());
  }

  void set_timer(long wait_ms) {
    loop_.timers().cancel(std::exchange(timer_, 0));
    if (wait_ms < 0) return;
    timer_ = loop_.timers().after(milliseconds(wait_ms), [this] {
      timer_ = 0;
      act(CURL_SOCKET_TIMEOUT);
    });
  }

  /** Events are none of libcurl's business: it looks itself, since the number may be another socket's meanwhile. */
  void act(curl_socket_t socket) {
    int running = 0;
    curl_multi_socket_action(multi_.get(), socket, 0, &running);
    hand_out_lines();
    finish_completed();
    start_waiting();
  }

  RequestId add(Request request, OnLine line, OnResponse done) {
    const RequestId id = ++last_id_;
    transfers_.emplace(id,
                       std::make_shared<Transfer>(id, std::move(request), std::move(line), std::move(done), options_));
    return id;
  }

  /**
   * Takes a transfer from libcurl. Its sockets first: one that is still connecting libcurl 7.88.1 closes without
   * on_close() (cf_socket_close()), and says CURL_POLL_REMOVE after that. When it gives up by itself, such as at a
   * time-out, we cannot come first: epoll_ctl() then fails, or names another thread's socket, of which our epoll has
   * no entry.
   */
  void remove(CURL* easy) {
    std::erase_if(sockets_, [&](const auto& entry) {
      if (entry.second == easy) loop_.unwatch(entry.first);
      return entry.second == easy;
    });
    curl_multi_remove_handle(multi_.get(), easy);
  }

  /** Removes a transfer from everything, libcurl included; null when there is none of that id. */
  TransferPtr take(RequestId id) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) return nullptr;
    TransferPtr transfer = std::move(found->second);
    transfers_.erase(found);
    if (transfer->is_stream()) streams_.erase(id);
    loop_.timers().cancel(transfer->silence_timer);
    if (!transfer->easy) return transfer;

    if (!transfer->is_stream()) --active_sends_;
    remove(transfer->easy.get());
    curl_easy_reset(transfer->easy.get());  // connections and TLS sessions stay
    if (idle_.size() < options_.max_connections) idle_.push_back(std::move(transfer->easy));
    transfer->easy.reset();
    return transfer;
  }

  void finish(RequestId id, Result<Response> result) {
    const TransferPtr transfer = take(id);
    if (!transfer) return;
    if (!result.ok()) result = result.error().wrap(options_.base_url);
    transfer->done(std::move(result));
  }

  void start_waiting() {
    while (active_sends_ < options_.max_connections && !waiting_.empty()) {
      const auto found = transfers_.find(waiting_.front());
      waiting_.pop_front();
      if (found != transfers_.end()) start(*found->second);  // else it was cancelled
    }
  }

  /** Hands a transfer to libcurl; an error is told with the next turn. */
  void start(Transfer& transfer) {
    const Status prepared = prepare(transfer);
    if (prepared.ok()) return;
    failed_.emplace_back(transfer.id, prepared.error());
    if (failed_timer_ == 0) failed_timer_ = loop_.timers().after(milliseconds(0), [this] { finish_failed(); });
  }

  /** Ends a stream that nothing is heard of for its time-out; looks again after `wait`. */
  void listen(Transfer& transfer, milliseconds wait) {
    transfer.silence_timer = loop_.timers().after(wait, [this, &transfer] {
      const auto left = transfer.last_heard + transfer.request.timeout - steady_now();
      if (left.count() > 0) return listen(transfer, std::chrono::ceil<milliseconds>(left));
      const auto timeout = static_cast<long long>(transfer.request.timeout.count());
      finish(transfer.id, Error(Errc::timeout, format("nothing heard for %lld ms", timeout)));
      start_waiting();
    });
  }

  Status prepare(Transfer& transfer) {
    const Request& request = transfer.request;
    if (!request.target.starts_with('/') || has_control(request.target) ||
        request.target.find(' ') != std::string::npos) {
      return Error(Errc::invalid, "request target \"" + request.target + "\": not a path");
    }
    List headers = SLURMK8S_TRY(make_headers(request));
    Easy easy;
    if (idle_.empty()) {
      easy.reset(curl_easy_init());
    } else {
      easy = std::move(idle_.back());
      idle_.pop_back();
    }
    if (!easy) return Error(Errc::internal, "no memory for a request");
    SLURMK8S_CHECK(set_options(easy.get(), transfer, headers.get()));
    if (const CURLMcode code = curl_multi_add_handle(multi_.get(), easy.get()); code != CURLM_OK) {
      return Error(Errc::internal, curl_multi_strerror(code));
    }
    transfer.headers = std::move(headers);
    transfer.easy = std::move(easy);
    transfer.last_heard = steady_now();
    if (!transfer.is_stream()) ++active_sends_;
    return {};
  }

  Result<List> make_headers(const Request& request) const {
    List headers;
    append(headers, "Accept: application/json");
    append(headers, "Expect:");  // no 100-continue: it costs a round trip, and some proxies never answer it
    if (!request.body.empty()) append(headers, "Content-Type: " + request.content_type);
    if (options_.bearer_token) {
      const std::string token = SLURMK8S_TRY(options_.bearer_token());
      if (has_control(token)) return Error(Errc::unauthorized, "bearer token: control characters");
      append(headers, "Authorization: Bearer " + token);
    }
    return headers;
  }

  Status set_options(CURL* easy, Transfer& transfer, curl_slist* headers) {
    CURLcode first_error = CURLE_OK;
    const auto set = [&](CURLoption option, auto value) {
      const CURLcode code = curl_easy_setopt(easy, option, value);
      if (first_error == CURLE_OK) first_error = code;
    };
    const std::string url = endpoint_.url + transfer.request.target;
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_PRIVATE, &transfer);
    set(CURLOPT_ERRORBUFFER, transfer.error_text.data());
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_USERAGENT, options_.user_agent.c_str());
    set(CURLOPT_WRITEFUNCTION, &on_body);
    set(CURLOPT_WRITEDATA, &transfer);
    set(CURLOPT_HEADERFUNCTION, &on_header);
    set(CURLOPT_HEADERDATA, &transfer);
    set_method(transfer.request, set);
    set_connection(transfer, set);
    if (endpoint_.tls) set_tls(set);
    if (first_error != CURLE_OK) return Error(Errc::internal, curl_easy_strerror(first_error));
    return {};
  }

  template <typename Set>
  void set_method(const Request& request, const Set& set) {
    if (request.method == "GET" && request.body.empty()) {
      set(CURLOPT_HTTPGET, 1L);
      return;
    }
    set(CURLOPT_POST, 1L);
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.c_str());
  }

  template <typename Set>
  void set_connection(const Transfer& transfer, const Set& set) {
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L);  // giving up never waits for the thread that resolves a name
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
    if (!transfer.is_stream()) {
      set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<milliseconds::rep>(1, transfer.request.timeout.count())));
    }
    set(CURLOPT_PROTOCOLS_STR, endpoint_.tls ? "https" : "http");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PROXY, "");
    set(CURLOPT_NOPROXY, "*");
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_TCP_KEEPIDLE, 20L);
    set(CURLOPT_TCP_KEEPINTVL, 10L);
    set(CURLOPT_SOCKOPTFUNCTION, &on_new_socket);
    set(CURLOPT_CLOSESOCKETFUNCTION, &on_close);
    set(CURLOPT_CLOSESOCKETDATA, this);
    if (connect_to_) set(CURLOPT_CONNECT_TO, connect_to_.get());
  }

  template <typename Set>
  void set_tls(const Set& set) {
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!options_.ca_pem.empty()) {
      set_blob(set, CURLOPT_CAINFO_BLOB, options_.ca_pem);
      // Else the public CAs of the distribution's folder would be trusted beside the cluster's.
      set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    }
    if (!options_.client_cert_pem.empty()) {
      set(CURLOPT_SSLCERTTYPE, "PEM");
      set(CURLOPT_SSLKEYTYPE, "PEM");
      set_blob(set, CURLOPT_SSLCERT_BLOB, options_.client_cert_pem);
      set_blob(set, CURLOPT_SSLKEY_BLOB, options_.client_key_pem);
    }
  }

  template <typename Set>
  static void set_blob(const Set& set, CURLoption option, std::string& pem) {
    curl_blob blob{pem.data(), pem.size(), CURL_BLOB_NOCOPY};  // the options outlive every handle
    set(option, &blob);
  }

  void hand_out_lines() {
    const std::vector<RequestId> ids(streams_.begin(), streams_.end());
    for (const RequestId id : ids) {
      const auto found = transfers_.find(id);
      if (found == transfers_.end()) continue;
      const TransferPtr transfer = found->second;
      const auto line = [&](std::string_view text) {
        if (transfers_.contains(id)) transfer->line(text);  // else an earlier line's callback cancelled it
      };
      if (std::exchange(transfer->opened, false)) line("");
      const std::string bytes = std::exchange(transfer->inbox, {});
      const Status fed = transfer->splitter.feed(bytes, line);
      if (!fed.ok()) finish(id, fed.error());
    }
  }

  void finish_completed() {
    std::vector<std::pair<RequestId, CURLcode>> completed;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      Transfer* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      completed.emplace_back(transfer->id, message->data.result);
    }
    for (const auto& [id, code] : completed) {
      const auto found = transfers_.find(id);
      if (found != transfers_.end()) finish(id, result_of(*found->second, code));
    }
  }

  Result<Response> result_of(Transfer& transfer, CURLcode code) const {
    if (code != CURLE_OK) return error_of(code, transfer);
    if (!transfer.headers_ended) return Error(Errc::unavailable, "cut within the headers");
    Response response = std::move(transfer.response);
    response.status = status_of(transfer.easy.get());
    curl_off_t retry_after = 0;
    curl_easy_getinfo(transfer.easy.get(), CURLINFO_RETRY_AFTER, &retry_after);
    if (retry_after > 0) response.retry_after = std::chrono::seconds(std::min<curl_off_t>(retry_after, 24 * 3600));
    if (response.status == 401 && options_.token_refused) options_.token_refused();
    if (transfer.splitter.partial()) return Error(Errc::protocol, "the stream ended within a line");
    return response;
  }

  void finish_failed() {
    failed_timer_ = 0;
    for (const auto& [id, error] : std::exchange(failed_, {})) finish(id, error);
    start_waiting();
  }

  EventLoop& loop_;
  CurlOptions options_;
  const Endpoint endpoint_;
  List connect_to_;
  std::map<curl_socket_t, CURL*> sockets_;  // that libcurl waits for, and whose they are
  Timers::Id timer_ = 0;                    // libcurl's
  Multi multi_;                             // calls back into the two before it, also while it goes
  std::vector<Easy> idle_;

  RequestId last_id_ = 0;
  std::unordered_map<RequestId, TransferPtr> transfers_;
  std::set<RequestId> streams_;
  std::deque<RequestId> waiting_;  // sends behind max_connections
  std::size_t active_sends_ = 0;
  std::vector<std::pair<RequestId, Error>> failed_;  // before libcurl had them
  Timers::Id failed_timer_ = 0;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_curl_transport(EventLoop& loop, CurlOptions options) {
  SLURMK8S_CHECK(check_pem("CA certificate", options.ca_pem));
  SLURMK8S_CHECK(check_pem("client certificate", options.client_cert_pem));
  SLURMK8S_CHECK(check_pem("client key", options.client_key_pem));
  if (options.client_cert_pem.empty() != options.client_key_pem.empty()) {
    return Error(Errc::invalid, "client certificate and client key: one without the other");
  }
  if (options.max_connections == 0) return Error(Errc::invalid, "max_connections: 0");
  Endpoint endpoint = SLURMK8S_TRY(parse_endpoint(options.base_url, options.tls_server_name));
  Multi multi(curl_multi_init());
  if (!multi) return Error(Errc::internal, "libcurl: no memory");
  return std::unique_ptr<Transport>(
      std::make_unique<CurlTransport>(loop, std::move(options), std::move(endpoint), std::move(multi)));
}

Status curl_global_setup() {
  if (const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return Error(Errc::internal, std::string("libcurl: ") + curl_easy_strerror(code));
  }
  // A thread that resolves a name may outlive its request (QUICK_EXIT), and us when we are a plugin that is closed:
  // libcurl has to stay in memory for it.
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&curl_global_init), &info) != 0 && info.dli_fname != nullptr) {
    ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
  return {};
}

void curl_global_teardown() { curl_global_cleanup(); }

}  // namespace slurmk8s::http
