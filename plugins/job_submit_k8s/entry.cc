// SPDX-License-Identifier: GPL-2.0-or-later
// job_submit/k8s: refuses at submission what no pod of ours could run, with a sentence that says why and what there is.
// It also leaves the login environment that a batch job asks for to the SPANK plugin: slurmd may not make it in a pod.
//
// It is slurmctld's only hook with a message for the user and with the user's name: node_features/k8s, which is asked
// next, knows the constraint alone. Called under the job and partition read locks: everything here is in memory.
#include <memory>
#include <string>
#include <utility>

#include "base/guarded.hpp"
#include "base/text.hpp"
#include "slurmctld/host.hpp"
#include "slurmctld/names.hpp"
#include "job_submit_k8s/compat.hpp"
#include "job_submit_k8s/user_env.hpp"

using namespace slurmk8s;

extern "C" {
SLURMK8S_EXPORT extern const char plugin_name[] = "job submission to pods";
SLURMK8S_EXPORT extern const char plugin_type[] = "job_submit/k8s";
SLURMK8S_EXPORT extern const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace {

std::unique_ptr<Variants> variants;

void tell(char** message, const std::string& text) {
  if (message && !*message && !text.empty()) *message = slurm_xstrdup(text.c_str());
}

/**
 * Slurm's own limit, with Slurm's own code, but before Slurm reads the text: it takes time that grows with the square
 * of its length where commas are in it, all of that under slurmctld's locks.
 */
bool is_over_limit(const job_desc_msg_t& job, char** message) {
  const std::pair<const char*, const char*> texts[] = {
      {"constraint", job.features}, {"prefer", job.prefer}, {"batch", job.batch_features}};
  for (const auto& [name, text] : texts) {
    if (!is_too_long(text)) continue;
    tell(message, format("%s: longer than %zu bytes", name, kMaxConstraintText));
    return true;
  }
  if (job.environment && job.env_size > kMaxVariables) {
    tell(message, format("environment: more than %u variables", kMaxVariables));
    return true;
  }
  return false;
}

/** Of a constraint that may be absent, or taken back by an update (empty). */
bool is_refused(char*& constraint, const slurm_k8s_applicant& applicant, char** message) {
  if (!variants || !constraint || !constraint[0]) return false;
  const Variants::Answer answer = variants->judge(constraint, &applicant);
  if (!answer.settled.empty()) {
    slurm_xfree(reinterpret_cast<void**>(&constraint));
    constraint = slurm_xstrdup(answer.settled.c_str());
  }
  tell(message, answer.text);
  return answer.refused;
}

int check(job_desc_msg_t& job, uint32_t user, uint32_t submitter, char** message) {
  if (is_over_limit(job, message)) return ESLURM_PATHNAME_TOO_LONG;
  const bool is_operator = submitter == 0 || submitter == slurm_conf.slurm_user_id;
  const slurm_k8s_applicant applicant{user, job.account, is_operator};
  if (is_refused(job.features, applicant, message)) return ESLURM_INVALID_FEATURE;
  if (is_refused(job.prefer, applicant, message)) return ESLURM_INVALID_FEATURE;
  return SLURM_SUCCESS;
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT int init(void) {
  guarded_void("job_submit/k8s init", [] {
    if (!in_slurmctld()) return;
    serve_names();
    variants = std::make_unique<Variants>();
    variants->open(slurm_conf.state_save_location);
  });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int fini(void) {
  guarded_void("job_submit/k8s fini", [] { variants.reset(); });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int job_submit(job_desc_msg_t* job, uint32_t submitter, char** message) {
  return guarded("job_submit", SLURM_SUCCESS, [&] {
    leave_user_env_to_spank(job->environment, job->env_size);
    return check(*job, job->user_id, submitter, message);
  });
}

/** An account that isn't part of the update isn't known here: a variant of an account's is to be asked for with it. */
SLURMK8S_EXPORT int job_modify(job_desc_msg_t* job, job_record_t*, uint32_t submitter, char** message) {
  return guarded("job_modify", SLURM_SUCCESS,
                 [&] { return check(*job, submitter, submitter, compat::kModifyHasMessage ? message : nullptr); });
}

}  // extern "C"
