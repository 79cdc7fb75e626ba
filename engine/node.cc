// SPDX-License-Identifier: GPL-2.0-or-later
// A node's state, and its words.
#include "engine/node.hpp"

#include "base/words.hpp"

namespace slurmk8s {

std::string Node::job_list() const {
  Words ids;
  for (const std::uint32_t job : jobs) ids.push_back(std::to_string(job));
  return join_words(ids);
}

}  // namespace slurmk8s
