// SPDX-License-Identifier: GPL-2.0-or-later
// LeaderLease: look, decide, write, look again.
#include "daemon/leader_lease.hpp"

#include <algorithm>
#include <tuple>

#include "base/rfc3339.hpp"
#include "base/strings.hpp"
#include "kube/throttle.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kConflictDelay{100};  // somebody has just written: look again

/** Everything that a holder's sign of life may change. */
auto signs(const Lease& lease) {
  return std::tie(lease.there, lease.holder, lease.acquired, lease.renewed, lease.transitions);
}

Json build_spec(const Lease& lease, LeaseStep step, const LeaseOptions& options, const std::string& now) {
  Json spec = Json::object();
  spec.set("holderIdentity", options.identity)
      .set("leaseDurationSeconds", Json::integer(options.lease_duration.count()))
      .set("renewTime", now);
  if (step == LeaseStep::renew) return spec;
  return spec.set("acquireTime", now)
      .set("leaseTransitions", Json::integer(step == LeaseStep::create ? 0 : lease.transitions + 1));
}

/** {"metadata":{"resourceVersion":…},"spec":…}: refused (conflict) unless the object is still the one that we saw. */
Json build_patch(const Lease& lease, Json spec) {
  return Json::object()
      .set("metadata", Json::object().set("resourceVersion", lease.version))
      .set("spec", std::move(spec));
}

}  // namespace

Lease decode_lease(const Json& object, std::chrono::seconds duration) {
  if (object.is_null()) return {};
  const Json spec = object["spec"];
  const std::int64_t seconds = spec["leaseDurationSeconds"].integer_or(0);
  return {.there = true,
          .holder = std::string(spec["holderIdentity"].text()),
          .duration = seconds > 0 ? std::chrono::seconds(seconds) : duration,
          .acquired = std::string(spec["acquireTime"].text()),
          .renewed = std::string(spec["renewTime"].text()),
          .transitions = spec["leaseTransitions"].integer_or(0),
          .version = std::string(object.at({"metadata", "resourceVersion"}).text())};
}

LeaseStep plan_lease(const Lease& lease, const std::string& identity, bool expired) {
  if (!lease.there) return LeaseStep::create;
  if (lease.holder == identity) return LeaseStep::renew;
  return lease.holder.empty() || expired ? LeaseStep::take : LeaseStep::wait;
}

LeaderLease::LeaderLease(kube::Client& client, Timers& timers, const Clock& clock, std::string name_space,
                         LeaseOptions options, Jitter jitter)
    : reader_(client),
      writer_(client.unfenced_writer()),
      timers_(timers),
      clock_(clock),
      name_space_(std::move(name_space)),
      options_(std::move(options)),
      jitter_(std::move(jitter)),
      label_("lease " + name_space_ + "/" + options_.name) {}

LeaderLease::~LeaderLease() {
  stop_asking();
  timers_.cancel(timer_);
}

void LeaderLease::contend() {
  if (mode_ == Mode::contending) return;
  mode_ = Mode::contending;
  stop_asking();
  schedule(milliseconds(0));
}

// What was under way may have been carried out or not: only a look tells whether there is something to give back.
void LeaderLease::withdraw() {
  if (mode_ != Mode::contending) return;
  mode_ = Mode::releasing;
  held_until_ = {};
  leads_ = false;
  stop_asking();
  schedule(milliseconds(0));
}

void LeaderLease::schedule(milliseconds delay) {
  timers_.cancel(timer_);
  timer_ = timers_.after(delay, [this] { renew_or_read(); });
}

// Who holds it renews what he knows; everybody else asks first.
void LeaderLease::renew_or_read() {
  const auto deadline = static_cast<long long>(options_.renew_deadline.count());
  if (leads_ && !holds()) lose(format("not renewed for %lld s", deadline));
  holds() ? write(LeaseStep::renew) : read();
}

void LeaderLease::read() {
  ask(&LeaderLease::on_read, [this](kube::OnObject done) { return reader_.get(ref(), std::move(done)); });
}

void LeaderLease::write(LeaseStep step) {
  sent_ = clock_.now();
  Json spec = build_spec(lease_, step, options_, rfc3339(clock_.wall()));
  ask(&LeaderLease::on_write, [&](kube::OnObject done) {
    if (step != LeaseStep::create) {
      return writer_.patch(ref(), kube::PatchType::merge, build_patch(lease_, spec), std::move(done));
    }
    Json object = Json::object();
    object.set("apiVersion", kube::kLeases.api).set("kind", "Lease");
    object.set("metadata", Json::object().set("name", options_.name)).set("spec", spec);
    return writer_.create(ref(), object, std::move(done));
  });
}

// Without a holder, as client-go leaves it: an empty one isn't valid in all versions of the API.
void LeaderLease::give_back() {
  ask(&LeaderLease::on_given_back, [this](kube::OnObject done) {
    return writer_.patch(ref(), kube::PatchType::merge,
                         build_patch(lease_, Json::object().set("holderIdentity", Json())), std::move(done));
  });
}

// An answer that isn't there in half of the deadline isn't waited for: there must be time for another try.
void LeaderLease::ask(Handler handler, const std::function<http::RequestId(kube::OnObject)>& send) {
  request_ = send([this, handler](const Result<Json>& answer) {
    request_ = 0;
    stop_asking();
    (this->*handler)(answer);
  });
  timeout_ = timers_.after(options_.renew_deadline / 2, [this, handler] {
    stop_asking();
    (this->*handler)(Error(Errc::timeout, "no answer"));
  });
}

void LeaderLease::stop_asking() {
  if (request_ != 0) reader_.cancel(request_);
  timers_.cancel(timeout_);
  request_ = 0;
  timeout_ = 0;
}

void LeaderLease::on_read(const Result<Json>& answer) {
  if (!answer.ok() && answer.error().code() != Errc::not_found) return retry(answer.error());
  observe(answer.ok() ? *answer : Json());
  if (mode_ == Mode::releasing) {
    if (lease_.holder == options_.identity) return give_back();
    mode_ = Mode::idle;
    return;
  }
  const LeaseStep step = plan_lease(lease_, options_.identity, clock_.now() >= observed_ + lease_.duration);
  step == LeaseStep::wait ? follow() : write(step);
}

void LeaderLease::on_write(const Result<Json>& answer) {
  if (!answer.ok()) {
    // Another one has written, made or deleted it: what is there now decides.
    const Errc code = answer.error().code();
    // Not found at a create: there is no such namespace.
    const bool changed =
        code == Errc::conflict || code == Errc::already_exists || (code == Errc::not_found && lease_.there);
    if (!changed) return retry(answer.error());
    return read();
  }
  const std::string before = lease_.holder;
  observe(*answer);
  held_until_ = sent_ + options_.renew_deadline;
  if (!leads_ && holds()) {
    leads_ = true;
    const bool is_others = !before.empty() && before != options_.identity;
    const std::string from = is_others ? " from " + before + ", which didn't renew it" : "";
    log_info("%s: acquired%s", label_.c_str(), from.c_str());
  }
  schedule(options_.retry_period);
}

void LeaderLease::on_given_back(const Result<Json>& answer) {
  if (!answer.ok() && answer.error().code() == Errc::conflict) return schedule(kConflictDelay);
  if (!answer.ok() && answer.error().code() != Errc::not_found) return retry(answer.error());
  mode_ = Mode::idle;
  log_info("%s: released", label_.c_str());
}

void LeaderLease::observe(const Json& object) {
  Lease seen = decode_lease(object, options_.lease_duration);
  if (signs(seen) != signs(lease_)) observed_ = clock_.now();
  if (seen.holder != lease_.holder && !seen.holder.empty() && seen.holder != options_.identity) {
    log_info("%s: held by %s", label_.c_str(), seen.holder.c_str());
  }
  lease_ = std::move(seen);
}

// It is somebody else's: looked at again when it may be over.
void LeaderLease::follow() {
  if (leads_) lose("held by " + lease_.holder);
  held_until_ = {};
  const auto left = std::chrono::ceil<milliseconds>(observed_ + lease_.duration - clock_.now());
  schedule(std::min<milliseconds>(options_.retry_period, left));
}

void LeaderLease::lose(const std::string& why) {
  leads_ = false;
  log_warning("%s: lost: %s", label_.c_str(), why.c_str());
}

void LeaderLease::retry(const Error& error) {
  unsigned suppressed = 0;
  if (limiter_.allow(clock_.now(), suppressed)) {
    log_warning("%s: %s (%u similar messages suppressed)", label_.c_str(), error.message().c_str(), suppressed);
  }
  schedule(wait_after(error));
}

// With jitter: all of them lost the API server at one instant. Retry-After is kept, but for one try before a lease that
// we hold would be lost.
milliseconds LeaderLease::wait_after(const Error& error) const {
  const milliseconds pause = Backoff{options_.retry_period, options_.retry_period}.delay(1, jitter_());
  if (!error.retry_after()) return pause;
  const milliseconds asked = std::min<milliseconds>(*error.retry_after(), kube::Throttle::kLongestPause);
  const auto left = std::chrono::floor<milliseconds>(held_until_ - clock_.now());
  const milliseconds wait = holds() ? std::min(asked, left - options_.retry_period) : asked;
  return std::max(pause, wait);
}

}  // namespace slurmk8s
