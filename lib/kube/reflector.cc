// SPDX-License-Identifier: GPL-2.0-or-later
// Reflector: list, then watch, for ever.
//
// States: listing (request_), watching (request_), waiting for the next try (timer_). Every callback of the listener
// may call stop(): what follows it looks at stopped_ first.
#include "kube/reflector.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace slurmk8s::kube {

namespace {

// Short, since a server that hangs without closing the connection is noticed only after it.
constexpr std::chrono::seconds kWatchTime{90};
// Shorter than this and without an event, a watch was no success: a proxy may close each of them at once.
constexpr std::chrono::seconds kShortWatch{5};
// After this many watches in a row that brought nothing, the list is made again: the resourceVersion may be one that
// the server will never reach (etcd restored from a backup).
constexpr unsigned kWatchFailures = 3;
// No server may silence us for longer.
constexpr std::chrono::seconds kLongestWait{300};
constexpr Backoff kBackoff{.cap = std::chrono::seconds(10)};

std::string_view text_at(const Json& object, std::string_view field) {
  // The text belongs to `object`, which outlives the handles in between.
  return object["metadata"][field].text();
}

ObjectKey key_of(const Json& object) {
  return {std::string(text_at(object, "namespace")), std::string(text_at(object, "name"))};
}

bool asks_for_list(Errc code) {
  switch (code) {
    case Errc::timeout:
    case Errc::unavailable:
    case Errc::throttled:
    case Errc::unauthorized:
    case Errc::protocol: return false;
    default: return true;
  }
}

}  // namespace

Reflector::Reflector(Reader& client, Timers& timers, const Clock& clock, ReflectorOptions options,
                     ReflectorListener listener)
    : client_(client), timers_(timers), clock_(clock), options_(std::move(options)), listener_(std::move(listener)) {}

Reflector::~Reflector() { stop(); }

void Reflector::start() {
  if (!stopped_) return;
  stopped_ = false;
  failures_ = 0;
  start_list();
}

void Reflector::stop() {
  stopped_ = true;
  client_.cancel(std::exchange(request_, 0));
  timers_.cancel(std::exchange(timer_, 0));
}

// ---- list -----------------------------------------------------------------------------------------------------------

void Reflector::start_list() {
  for (auto& [key, known] : known_) known.seen = false;
  list_page("");
}

void Reflector::list_page(const std::string& continue_token) {
  const ListOptions options{.label_selector = options_.label_selector,
                            .field_selector = options_.field_selector,
                            .resource_version = {},
                            .continue_token = continue_token,
                            .omit = options_.omit};
  request_ = client_.list(options_.resource, options_.name_space, options,
                          [this](Result<Json> page) { on_page(std::move(page)); });
}

void Reflector::on_page(Result<Json> page) {
  request_ = 0;
  if (!page.ok()) return retry(page.error().wrap("list"), true);
  (*page)["items"].each([this](const Json& object) {
    if (!stopped_) deliver(object);
  });
  if (stopped_) return;
  const std::string continue_token(text_at(*page, "continue"));
  if (!continue_token.empty()) return list_page(continue_token);

  resource_version_ = text_at(*page, "resourceVersion");
  if (resource_version_.empty()) return retry(Error(Errc::protocol, "list: no resourceVersion"), true);
  finish_list();
  if (!stopped_) watch();
}

void Reflector::finish_list() {
  std::vector<std::pair<ObjectKey, std::string>> gone;
  for (const auto& [key, known] : known_) {
    if (!known.seen) gone.emplace_back(key, known.uid);
  }
  for (const auto& [key, uid] : gone) {
    if (stopped_) return;
    known_.erase(key);
    if (listener_.remove) listener_.remove(key, uid, Json());
  }
  if (stopped_ || synced_) return;
  synced_ = true;
  if (listener_.synced) listener_.synced();
}

void Reflector::deliver(const Json& object) {
  const ObjectKey key = key_of(object);
  const std::string uid(text_at(object, "uid"));
  const std::string version(text_at(object, "resourceVersion"));
  const auto found = known_.find(key);
  if (found != known_.end() && found->second.uid != uid) {
    const std::string old_uid = found->second.uid;
    known_.erase(found);
    if (listener_.remove) listener_.remove(key, old_uid, Json());
    if (stopped_) return;
  } else if (found != known_.end() && found->second.resource_version == version) {
    found->second.seen = true;
    return;
  }
  known_[key] = Known{uid, version, true};
  if (listener_.upsert) listener_.upsert(object);
}

// ---- watch ----------------------------------------------------------------------------------------------------------

void Reflector::watch() {
  watch_started_ = clock_.now();
  watch_brought_ = false;
  // Spread, so that the watches of many processes that started together don't all end together.
  const auto spread = std::chrono::seconds(static_cast<int>(random_unit() * 30));
  const WatchOptions options{.label_selector = options_.label_selector,
                             .field_selector = options_.field_selector,
                             .resource_version = resource_version_,
                             .server_timeout = kWatchTime + spread,
                             .omit = options_.omit};
  request_ = client_.watch(
      options_.resource, options_.name_space, options,
      [this](WatchEvent event, const Json& object) { on_event(event, object); },
      [this](const Status& status) { on_watch_end(status); });
}

void Reflector::on_event(WatchEvent event, const Json& object) {
  if (stopped_) return;
  reached();
  if (event == WatchEvent::opened) return;
  watch_brought_ = true;
  failures_ = 0;
  const std::string version(text_at(object, "resourceVersion"));
  if (!version.empty()) resource_version_ = version;
  switch (event) {
    case WatchEvent::added:
    case WatchEvent::modified: return deliver(object);
    case WatchEvent::deleted: return deliver_removal(object);
    case WatchEvent::opened:
    case WatchEvent::bookmark: return;
  }
}

void Reflector::deliver_removal(const Json& object) {
  const ObjectKey key = key_of(object);
  const std::string uid(text_at(object, "uid"));
  const auto found = known_.find(key);
  if (found == known_.end() || found->second.uid != uid) return;
  known_.erase(found);
  if (listener_.remove) listener_.remove(key, uid, object);
}

void Reflector::on_watch_end(const Status& status) {
  request_ = 0;
  if (stopped_) return;
  const bool was_short = clock_.now() - watch_started_ < kShortWatch;
  if (status.ok() && (watch_brought_ || !was_short)) {
    failures_ = 0;
    return watch();
  }
  const Error error = status.ok() ? Error(Errc::unavailable, "watch: ended at once") : status.error().wrap("watch");
  retry(error, asks_for_list(error.code()) || failures_ + 1 >= kWatchFailures);
}

// ---- tries ----------------------------------------------------------------------------------------------------------

void Reflector::reached() {
  if (std::exchange(reported_, false)) log_info("%s: watched again", what().c_str());
  last_error_.clear();
  forbidden_ = false;
}

void Reflector::retry(const Error& error, bool relist) {
  if (stopped_) return;
  ++failures_;
  last_error_ = error.message();
  forbidden_ = error.code() == Errc::forbidden;
  auto delay = kBackoff.delay(failures_, random_unit());
  if (error.retry_after()) {
    delay = std::max<std::chrono::milliseconds>(delay, std::min(*error.retry_after(), kLongestWait));
  }

  // An expired version is the server's housekeeping; one cut is nothing yet.
  const bool is_routine = failures_ == 1 && (error.code() == Errc::gone || error.retryable());
  unsigned suppressed = 0;
  if (!is_routine && limiter_.allow(clock_.now(), suppressed)) {
    reported_ = true;
    log_warning("%s: %s (try %u, %u similar messages suppressed)", what().c_str(), last_error_.c_str(), failures_,
                suppressed);
  }
  schedule(delay, relist);
}

void Reflector::schedule(std::chrono::milliseconds delay, bool relist) {
  timer_ = timers_.after(delay, [this, relist] {
    timer_ = 0;
    if (relist) {
      start_list();
    } else {
      watch();
    }
  });
}

std::string Reflector::what() const {
  const std::string& name_space = options_.name_space;
  return std::string(options_.resource.plural) + " of namespace " + (name_space.empty() ? "*" : name_space);
}

}  // namespace slurmk8s::kube
