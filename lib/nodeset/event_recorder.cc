// SPDX-License-Identifier: GPL-2.0-or-later
// Events of events.k8s.io/v1. Required there: eventTime, action, reason, reportingController, reportingInstance, type.
#include "nodeset/event_recorder.hpp"

#include <unistd.h>

#include "slurm/hostlist.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/rfc3339.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::milliseconds kDelay{1000};
constexpr std::size_t kMaxPending = 32;  // within kDelay: more different causes are dropped
constexpr std::size_t kMaxNote = 1000;   // the API takes 1,024 bytes

std::string host_name() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "slurmctld";
  return name;
}

/** "compute-[0-2] (3): for job 12", or one half of it; shortens the nodes before the text. */
std::string make_note(const std::set<std::string>& nodes, const std::string& text) {
  std::string note = compress_hostlist({nodes.begin(), nodes.end()});
  if (note.size() > kMaxNote / 2) note = note.substr(0, kMaxNote / 2) + "...";
  if (!nodes.empty()) note += format(" (%zu)", nodes.size()) + (text.empty() ? "" : ": ");
  note += text;
  if (note.size() > kMaxNote) note.resize(kMaxNote);
  return note;
}

}  // namespace

const EventRecorder::Kind EventRecorder::Kind::power_up{"Normal", "PowerUp", "CreatePod"};
const EventRecorder::Kind EventRecorder::Kind::power_up_failed{"Warning", "PowerUpFailed", "SetNodeDown"};
const EventRecorder::Kind EventRecorder::Kind::node_lost{"Warning", "NodeLost", "SetNodeDown"};
const EventRecorder::Kind EventRecorder::Kind::throttled{"Warning", "Throttled", "Wait"};

EventRecorder::EventRecorder(kube::Writer& client, Timers& timers, const Clock& clock, std::string name_space,
                             std::string reporter)
    : client_(client),
      timers_(timers),
      clock_(clock),
      name_space_(std::move(name_space)),
      reporter_(std::move(reporter)) {}

EventRecorder::~EventRecorder() { timers_.cancel(timer_); }

void EventRecorder::record(const Subject& nodeset, const Kind& kind, const std::vector<std::string>& nodes,
                           const std::string& note) {
  if (pending_.empty()) timer_ = timers_.after(kDelay, [this] { flush(); });
  const std::pair key{nodeset.name, kind.reason + note};
  if (!pending_.contains(key)) {
    if (pending_.size() >= kMaxPending) return;
    Json regarding = Json::object();
    regarding.set("apiVersion", std::string(kube::kNodeSets.api))
        .set("kind", "NodeSet")
        .set("namespace", name_space_)
        .set("name", nodeset.name)
        .set("uid", nodeset.uid);
    pending_.emplace(key, PendingEvent{regarding, kind, note, {}});
  }
  pending_.at(key).nodes.insert(nodes.begin(), nodes.end());
}

void EventRecorder::flush() {
  const auto pending = std::move(pending_);
  pending_.clear();
  for (const auto& [key, event] : pending) post(event);
}

void EventRecorder::post(const PendingEvent& pending) {
  Json event = Json::object();
  event.set("apiVersion", std::string(kube::kEvents.api))
      .set("kind", "Event")
      .set("metadata", Json::object()
                           .set("name", std::string(pending.regarding["name"].text()) + "." + random_id())
                           .set("namespace", name_space_))
      .set("eventTime", rfc3339(clock_.wall()))
      .set("reportingController", reporter_)
      .set("reportingInstance", host_name())
      .set("type", pending.kind.type)
      .set("reason", pending.kind.reason)
      .set("action", pending.kind.action)
      .set("regarding", pending.regarding)
      .set("note", make_note(pending.nodes, pending.text));
  client_.create({kube::kEvents, name_space_}, event, [](const Result<Json>& answer) {
    if (!answer) log_debug("event: %s", answer.error().message().c_str());
  });
}

}  // namespace slurmk8s
