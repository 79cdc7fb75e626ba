// SPDX-License-Identifier: GPL-2.0-or-later
// CreateStop: slurmctld ended while it made a NodeSet's records, and would end again. Values; pure; any thread.
//
// slurmctld ends itself (fatal) on some definitions of nodes, most of which gres.conf decides, which we don't see. It
// hasn't saved the records then: it comes back without them. So the same records aren't made again for a long time.
// The NodeSet's status remembers that, for a sidecar that is restarted.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "json/json.hpp"

namespace slurmk8s {

struct CreateStop {
  std::string definition;                      ///< what slurmctld was given: key_of_create()
  std::chrono::system_clock::time_point at{};  ///< when it ended last, in whole seconds
  unsigned count = 0;                          ///< how often it has

  bool operator==(const CreateStop&) const = default;
};

/** An administrator changes its value after correcting gres.conf. */
inline constexpr const char* kAnnotationCreateAgain = "slurm-k8s.io/create-again";

/** "NodeName=c-[0-7] State=CLOUD …" without the names. */
std::string definition_of(const std::string& line);

/**
 * A key for what a create gives slurmctld, without the names of the nodes: "NodeName=… State=CLOUD …", and the
 * annotation.
 */
std::string key_of_create(const std::string& line, const std::string& create_again);

/** When the same may be tried again: an hour after the first time, then doubled, up to a day. */
std::chrono::system_clock::time_point next_try(const CreateStop& stop);

/** `before`, of this definition or another one or none, after slurmctld has ended at `now`. */
CreateStop stop_create(const std::optional<CreateStop>& before, const std::string& definition,
                       std::chrono::system_clock::time_point now);

/** What an administrator reads; `nodes` as a hostlist, `extra_conf` of the NodeSet. */
std::string describe(const CreateStop& stop, const std::string& nodes, const std::string& extra_conf);

/** status.createStopped; null for none. */
Json encode_create_stop(const std::optional<CreateStop>& stop);
/** From a NodeSet's status. Without a value: there is none, or not in this form. */
std::optional<CreateStop> decode_create_stop(const Json& status);

}  // namespace slurmk8s
