// SPDX-License-Identifier: GPL-2.0-or-later
// Writes, their failures and their pauses.
#include "kube/object_writer.hpp"

#include <algorithm>
#include <utility>

namespace slurmk8s::kube {

ObjectWriter::ObjectWriter(Writer& client, const Clock& clock, Throttle& throttle, ObjectWriterOptions options,
                           Jitter jitter)
    : client_(client),
      clock_(clock),
      throttle_(throttle),
      options_(std::move(options)),
      jitter_(std::move(jitter)),
      limiter_(options_.log_interval) {}

ObjectWriter::~ObjectWriter() {
  for (const auto& [name, entry] : entries_) {
    if (entry.request != 0) client_.cancel(entry.request);
  }
}

bool ObjectWriter::may_write(const std::string& name) const {
  return in_flight_ < options_.max_in_flight && !is_writing(name) && clock_.now() >= not_before(name);
}

TimePoint ObjectWriter::not_before(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? throttle_.until() : std::max(throttle_.until(), found->second.not_before);
}

bool ObjectWriter::is_writing(const std::string& name) const {
  const auto found = entries_.find(name);
  return found != entries_.end() && found->second.request != 0;
}

void ObjectWriter::create(const std::string& name, const Json& object, Done done, const std::string& subresource) {
  const ObjectRef at = subresource.empty() ? ref({}) : ref(name, subresource);
  sent(name, client_.create(at, object, answered(name, std::move(done))));
}

void ObjectWriter::patch(const std::string& name, PatchType type, const Json& patch, Done done,
                         const std::string& subresource) {
  sent(name, client_.patch(ref(name, subresource), type, patch, answered(name, std::move(done))));
}

void ObjectWriter::remove(const std::string& name, const DeleteOptions& options, Done done) {
  sent(name, client_.remove(ref(name), options, answered(name, std::move(done))));
}

void ObjectWriter::forget(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  if (found->second.request != 0) {
    client_.cancel(found->second.request);
    --in_flight_;
  }
  entries_.erase(found);
}

ObjectRef ObjectWriter::ref(const std::string& name, const std::string& subresource) const {
  return {options_.resource, options_.name_space, name, subresource, options_.omit};
}

// Behind a fence that is shut there is no request, and no answer.
void ObjectWriter::sent(const std::string& name, http::RequestId request) {
  if (request == 0) return;
  entries_[name].request = request;
  ++in_flight_;
}

OnObject ObjectWriter::answered(const std::string& name, Done done) {
  return [this, name, done = std::move(done)](const Result<Json>& answer) {
    entries_[name].request = 0;
    --in_flight_;
    if (answer.ok()) {
      entries_.erase(name);
    } else {
      fail(name, answer.error());
    }
    if (done) done(answer);
  };
}

void ObjectWriter::fail(const std::string& name, const Error& error) {
  const auto pause = throttle_.heed(error);
  if (pause && pause->is_new) {
    log_warning("the API server takes no requests: next write in %lld s (Retry-After: %lld s)",
                static_cast<long long>(pause->wait.count()), static_cast<long long>(pause->asked.count()));
  }
  Entry& entry = entries_[name];
  std::optional<std::chrono::seconds> asked = error.retry_after();
  if (asked) asked = std::min(*asked, Throttle::kLongestPause);
  entry.not_before = clock_.now() + options_.backoff.delay(++entry.failures, jitter_(), asked);
  const bool is_absence = error.code() == Errc::not_found || error.code() == Errc::conflict;
  if (is_absence && !options_.logs_absence) return;
  unsigned suppressed = 0;
  if (!limiter_.allow(clock_.now(), suppressed)) return;
  log_warning("%s %s/%s: %s%s%s (%u similar messages suppressed)", options_.what.c_str(), options_.name_space.c_str(),
              name.c_str(), options_.action.c_str(), options_.action.empty() ? "" : ": ", error.message().c_str(),
              suppressed);
}

}  // namespace slurmk8s::kube
