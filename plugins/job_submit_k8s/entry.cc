// SPDX-License-Identifier: GPL-2.0-or-later
// job_submit/k8s: refuses jobs that no pod could run, with the reason and the available NodeSets in a sentence.
// It also makes the SPANK plugin provide the login environment of a batch job: slurmd is not permitted to in a pod. And
// it gives an allocation for Kubernetes pods its user, whom slurmctld takes no longer from the request (23.02.5).
// And it tells who submits a batch job whose output file is deleted with its pod.
//
// This is slurmctld's only hook with the user's name and a message for the user: node_features/k8s, called next, knows
// the constraint alone. Called under the job and partition read locks: everything here is in memory.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/allocation_user.hpp"
#include "base/guarded.hpp"
#include "base/oci_conf.hpp"
#include "base/strings.hpp"
#include "base/undestroyed.hpp"
#include "settings/options.hpp"
#include "slurmctld/host.hpp"
#include "slurmctld/names.hpp"
#include "job_submit_k8s/compat.hpp"
#include "job_submit_k8s/output_note.hpp"
#include "job_submit_k8s/user_env.hpp"

using namespace slurmk8s;

extern "C" {
SLURMK8S_EXPORT extern const char plugin_name[] = "job submission to pods";
SLURMK8S_EXPORT extern const char plugin_type[] = "job_submit/k8s";
SLURMK8S_EXPORT extern const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace {

Undestroyed<std::unique_ptr<Variants>> variants;
Undestroyed<std::optional<std::vector<std::string>>> shared_paths;
bool has_containers = true;  // oci.conf is beside slurm.conf. From 23.11 on a reconfigure restarts slurmctld

void tell(char** message, const std::string& text) {
  if (message && !*message && !text.empty()) *message = slurm_xstrdup(text.c_str());
}

/**
 * Slurm's own limit and error code, but before Slurm parses the text: with commas that takes time quadratic in its
 * length, under slurmctld's locks.
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

/** A constraint may be absent, or removed by an update (empty). */
bool is_refused(char*& constraint, const slurm_k8s_applicant& applicant, char** message) {
  if (!*variants || !constraint || !constraint[0]) return false;
  const Variants::Answer answer = (*variants)->judge(constraint, &applicant);
  if (!answer.settled.empty()) {
    slurm_xfree(reinterpret_cast<void**>(&constraint));
    constraint = slurm_xstrdup(answer.settled.c_str());
  }
  tell(message, answer.text);
  return answer.refused;
}

/** slurmd would run the job outside of its container, and say nothing. An update cannot change it. */
bool lacks_container(const job_desc_msg_t& job, char** message) {
  if (has_containers || !job.container || !job.container[0]) return false;
  tell(message, "--container: no job containers are configured (oci.conf)");
  return true;
}

/** Any other message goes first: Slurm has room for one. If slurmctld refuses the job later, it precedes the reason. */
void tell_of_output(const job_desc_msg_t& job, char** message) {
  if (job.script) tell(message, output_note(job.std_out, job.work_dir, *shared_paths));
}

/** slurmctld would accept the job, and never start it. */
bool is_unknown(uint32_t submitter, char** message) {
  if (submitter != compat::kNobody) return false;
  tell(message, "slurmctld does not know the user of the token");
  return true;
}

bool is_operator(uint32_t user) { return user == 0 || user == slurm_conf.slurm_user_id; }

int check(job_desc_msg_t& job, uint32_t user, uint32_t submitter, char** message) {
  if (is_over_limit(job, message)) return ESLURM_PATHNAME_TOO_LONG;
  if (lacks_container(job, message)) return ESLURM_CONTAINER_NOT_CONFIGURED;
  const slurm_k8s_applicant applicant{user, job.account, is_operator(submitter)};
  if (is_refused(job.features, applicant, message)) return ESLURM_INVALID_FEATURE;
  if (is_refused(job.prefer, applicant, message)) return ESLURM_INVALID_FEATURE;
  return SLURM_SUCCESS;
}

/**
 * Gives an allocation of SlurmUser or root the user that it names (base/allocation_user.hpp). Returns on whose behalf
 * it is submitted: others' requests stay as they are.
 */
uint32_t take_user(job_desc_msg_t& job, uint32_t submitter) {
  if (!is_operator(submitter) || job.script) return submitter;
  const auto owner = find_allocation_user(job.environment, std::min(job.env_size, kMaxVariables));
  if (!owner) return submitter;
  job.user_id = owner->user;
  job.group_id = owner->group;
  compat::set_identity(job, *owner);
  compat::tell_uid(*owner);
  return owner->user;
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT int init(void) {
  guarded_void("job_submit/k8s init", [] {
    if (!in_slurmctld()) return;
    serve_names();
    // Without it, the engine says what is wrong.
    const auto options = load_options(options_path());
    if (options && is_last_job_submit(slurm_conf.job_submit_plugins)) *shared_paths = options->shared_paths;
    has_containers = !slurm_conf.slurm_conf || !lacks_oci_conf(slurm_conf.slurm_conf);
    *variants = std::make_unique<Variants>();
    (*variants)->open(slurm_conf.state_save_location);
  });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int fini(void) {
  guarded_void("job_submit/k8s fini", [] { variants->reset(); });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int job_submit(job_desc_msg_t* job, uint32_t submitter, char** message) {
  return guarded("job_submit", SLURM_SUCCESS, [&] {
    if (is_unknown(submitter, message)) return int{ESLURM_USER_ID_MISSING};
    leave_user_env_to_spank(job->environment, job->env_size);
    job->env_size = remove_tokens(job->environment, job->env_size,
                                  [](char* token) { slurm_xfree(reinterpret_cast<void**>(&token)); });
    const uint32_t applicant = take_user(*job, submitter);
    const int status = check(*job, job->user_id, applicant, message);
    if (status == SLURM_SUCCESS) tell_of_output(*job, message);
    return status;
  });
}

/** Only an account in the update is known here: a request for a variant of an account must include the account. */
SLURMK8S_EXPORT int job_modify(job_desc_msg_t* job, job_record_t*, uint32_t submitter, char** message) {
  return guarded("job_modify", SLURM_SUCCESS,
                 [&] { return check(*job, submitter, submitter, compat::kModifyHasMessage ? message : nullptr); });
}

}  // extern "C"
