// SPDX-License-Identifier: GPL-2.0-or-later
// A request is tried before Slurm's own function answers it.
#include "slurmctld/sbcast_requests.hpp"

#include <optional>

#include "base/guarded.hpp"
#include "slurmctld/names.hpp"
#include "slurmctld/sbcast_compat.hpp"

namespace slurmk8s {
namespace {

compat::RequestHandler slurms_own = nullptr;  // once set it stays: a thread may be in answer()

/** SLURM_SUCCESS: the request is answered. */
int answer_or_error(slurm_msg_t* message) {
  int error = SLURM_SUCCESS;
  compat::with_client(message, [&](const slurm_k8s_user* client) {
    std::optional<ThreadUser> known;
    if (client) known.emplace(*client);
    error = compat::try_sbcast_credential(message);
    if (error != SLURM_SUCCESS) return;
    compat::ask_for_whole_job(message);
    slurms_own(message);
  });
  return error;
}

/** On a thread of slurmctld that may block, without its locks. */
void answer(slurm_msg_t* message) {
  int error = guarded("sbcast", static_cast<int>(SLURM_ERROR), [&] { return answer_or_error(message); });
  if (error == SLURM_SUCCESS) return;
  if (error == SLURM_ERROR) {
    slurm_error("slurm-k8s: job %u: sbcast: slurmctld has no name for the job's user", compat::sbcast_job(message));
    error = ESLURM_USER_ID_MISSING;
  }
  compat::refuse(message, error);
}

}  // namespace

void mend_sbcast() {
  compat::RequestHandler* const handler = compat::sbcast_handler();
  if (!handler || *handler == answer) return;
  slurms_own = *handler;
  *handler = answer;
}

void restore_sbcast() {
  compat::RequestHandler* const handler = compat::sbcast_handler();
  if (handler && *handler == answer) *handler = slurms_own;
}

}  // namespace slurmk8s
