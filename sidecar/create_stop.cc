// SPDX-License-Identifier: GPL-2.0-or-later
// CreateStop: its times, and its place in the status.
#include "sidecar/create_stop.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "base/rfc3339.hpp"
#include "base/strings.hpp"
#include "nodeset/template_hash.hpp"

namespace slurmk8s {
namespace {

constexpr Backoff kBackOff{std::chrono::hours(1), std::chrono::hours(24)};

using WallTime = std::chrono::system_clock::time_point;

/** As the API writes times: whole seconds. */
std::string time_text(WallTime time) {
  const std::string text = rfc3339(std::chrono::floor<std::chrono::seconds>(time));
  return text.substr(0, text.find('.')) + "Z";
}

}  // namespace

std::string definition_of(const std::string& line) {
  const std::size_t blank = line.find(' ');  // behind NodeName=…
  return blank == std::string::npos ? line : line.substr(blank);
}

std::string key_of_create(const std::string& line, const std::string& create_again) {
  return hash_text(definition_of(line) + "\n" + create_again);
}

WallTime next_try(const CreateStop& stop) {
  return stop.at + kBackOff.delay(stop.count, 1);  // the status tells the time: it has no jitter
}

CreateStop stop_create(const std::optional<CreateStop>& before, const std::string& definition, WallTime now) {
  const unsigned count = before && before->definition == definition ? before->count : 0;
  return {definition, std::chrono::floor<std::chrono::seconds>(now), count + 1};
}

std::string describe(const CreateStop& stop, const std::string& nodes, const std::string& extra_conf) {
  const bool has_gres = to_lower(extra_conf).find("gres=") != std::string::npos;
  return "create " + nodes + ": slurmctld exited while creating these nodes; see its log. " +
         (has_gres ? "Compare spec.extraConf (" + extra_conf + ") and the limits of spec.slurmd.resources"
                   : std::string("Compare the limits of spec.slurmd.resources")) +
         " with gres.conf: a line without NodeName= is for all nodes. Tried again when the nodes' definition changes,"
         " or the annotation " +
         kAnnotationCreateAgain + ", or at " + time_text(next_try(stop));
}

Json encode_create_stop(const std::optional<CreateStop>& stop) {
  if (!stop) return {};
  Json object = Json::object();
  object.set("definition", stop->definition).set("time", time_text(stop->at)).set("count", Json::integer(stop->count));
  return object;
}

std::optional<CreateStop> decode_create_stop(const Json& status) {
  const Json object = status["createStopped"];
  const auto at = parse_rfc3339(object["time"].text());
  if (!at || object["definition"].text().empty()) return std::nullopt;
  const std::int64_t count = std::clamp<std::int64_t>(object["count"].integer_or(1), 1, 1000);
  return CreateStop{std::string(object["definition"].text()), *at, static_cast<unsigned>(count)};
}

}  // namespace slurmk8s
