// SPDX-License-Identifier: GPL-2.0-or-later
// ScriptedServer: a plain HTTP/1.1 server on loopback whose every byte is the test's. For tests of the transport.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/locked.hpp"
#include "base/strings.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {

class ScriptedServer {
 public:
  /** Answers one request (head and body) on `fd`, on the connection's thread; false: close the connection. */
  using Handler = std::function<bool(const std::string& request, int fd)>;

  explicit ScriptedServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), size);
    ::listen(listener_.get(), 64);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this] { accept_all(); });
  }

  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  ~ScriptedServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    for (auto& connection : connections_) ::shutdown(connection.fd.get(), SHUT_RDWR);
    connections_.clear();  // joins
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return accepted_; }
  std::vector<std::string> requests() { return *requests_.lock(); }

  static void write(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (written <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /** A whole response; `headers` are further lines with \r\n. */
  static bool answer(int fd, int status, std::string_view body, const std::string& headers = "") {
    write(fd, format("HTTP/1.1 %d X\r\nContent-Length: %zu\r\n%s\r\n", status, body.size(), headers.c_str()));
    write(fd, body);
    return true;
  }

  static void start_chunked(int fd, int status = 200) {
    write(fd, format("HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n\r\n", status));
  }
  static void chunk(int fd, std::string_view bytes) {
    write(fd, format("%zx\r\n", bytes.size()) + std::string(bytes) + "\r\n");
  }
  static bool end_chunked(int fd) {
    write(fd, "0\r\n\r\n");
    return true;
  }

 private:
  struct Connection {
    UniqueFd fd;
    std::jthread thread;
  };

  void accept_all() {
    for (;;) {
      UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd) return;
      ++accepted_;
      Connection& connection = connections_.emplace_back();
      connection.fd = std::move(fd);
      connection.thread = std::jthread([this, number = connection.fd.get()] { serve(number); });
    }
  }

  void serve(int fd) {
    std::string buffer;
    for (;;) {
      const std::string request = next_request(fd, buffer);
      if (request.empty()) break;
      requests_.lock()->push_back(request);
      if (!handler_(request, fd)) break;
    }
    ::shutdown(fd, SHUT_RDWR);  // closed by the destructor, so that the number isn't used again before
  }

  static std::string next_request(int fd, std::string& buffer) {
    for (;;) {
      const std::size_t end = buffer.find("\r\n\r\n");
      if (end != std::string::npos) {
        std::size_t size = end + 4;
        const std::size_t length = buffer.find("Content-Length: ");
        if (length < end) size += std::stoul(buffer.substr(length + 16));
        if (buffer.size() >= size) {
          std::string request = buffer.substr(0, size);
          buffer.erase(0, size);
          return request;
        }
      }
      char bytes[4096];
      const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
      if (got <= 0) return {};
      buffer.append(bytes, static_cast<std::size_t>(got));
    }
  }

  const Handler handler_;
  UniqueFd listener_;
  int port_ = 0;
  std::atomic<int> accepted_{0};
  Locked<std::vector<std::string>> requests_;
  std::list<Connection> connections_;  // of the acceptor's thread, then of the destructor's
  std::jthread acceptor_;
};

}  // namespace slurmk8s
