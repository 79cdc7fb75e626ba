// SPDX-License-Identifier: GPL-2.0-or-later
// FakeTransport: records requests and answers them when the test says so. One thread.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "http/transport.hpp"

namespace slurmk8s::http {

class FakeTransport final : public Transport {
 public:
  struct Sent {
    RequestId id;
    Request request;
    bool is_stream;
  };

  RequestId send(Request request, OnResponse done) override { return add(std::move(request), {}, std::move(done)); }
  RequestId stream(Request request, OnLine line, OnResponse done) override {
    return add(std::move(request), std::move(line), std::move(done));
  }
  void cancel(RequestId id) override { open_.erase(id); }

  /** Ends a request; nothing when it was cancelled. */
  void finish(RequestId id, Result<Response> result) {
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    const auto callbacks = found->second;
    open_.erase(found);
    callbacks->done(std::move(result));
  }
  void answer(RequestId id, int status, std::string body) { finish(id, Response{status, std::move(body), {}}); }
  /** Hands a line to a stream; nothing when it was cancelled. */
  void line(RequestId id, std::string_view text) {
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    const auto callbacks = found->second;  // the line's callback may cancel
    callbacks->line(text);
  }
  bool is_open(RequestId id) const { return open_.contains(id); }
  const Sent& last() const { return sent.back(); }

  std::vector<Sent> sent;

 private:
  struct Callbacks {
    OnLine line;
    OnResponse done;
  };

  RequestId add(Request request, OnLine line, OnResponse done) {
    const RequestId id = sent.size() + 1;
    sent.push_back({id, std::move(request), static_cast<bool>(line)});
    open_.emplace(id, std::make_shared<const Callbacks>(Callbacks{std::move(line), std::move(done)}));
    return id;
  }

  std::map<RequestId, std::shared_ptr<const Callbacks>> open_;
};

}  // namespace slurmk8s::http
