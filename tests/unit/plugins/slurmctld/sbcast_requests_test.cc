// SPDX-License-Identifier: GPL-2.0-or-later
// sbcast_requests in what it takes for a slurmctld of Slurm 24.11: this program has slurmctld's functions. In other
// versions, which do not need it, nothing happens.
#include "slurmctld/sbcast_requests.hpp"

#include <cstring>
#include <string>

#include "slurmctld/names.hpp"
#include "slurmctld/sbcast_compat.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

std::string user;  ///< whom this thread finds by id

}  // namespace

// In place of libnss_slurm_k8s, which only slurmctld opens.
ThreadUser::ThreadUser(const slurm_k8s_user& known) { user = known.name; }
ThreadUser::~ThreadUser() { user.clear(); }

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0) && SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 5, 0)

namespace {

constexpr uint32_t kJob = 7, kStep = 2;
constexpr uid_t kUser = 2001;

struct {
  bool may_ask = true;
  bool has_name = false;   ///< slurmctld itself knows the job's user
  bool step_ends = false;  ///< after it was seen
  bool names_client = true;
  int locked = 0, released_twice = 0, freed = 0, destroyed = 0;
  int refused = SLURM_SUCCESS;
  std::string answered;  ///< "whole job", or "step"
} slurm;

job_record_t* const job = reinterpret_cast<job_record_t*>(&slurm);
job_sbcast_cred_msg_t credential{};

slurm_msg_t request_of(uint32_t job_id, uint32_t step, step_alloc_info_msg_t& body) {
  std::memset(&body, 0, sizeof body);
  body.het_job_offset = NO_VAL;
  body.step_id.job_id = job_id;
  body.step_id.step_id = step;
  slurm_msg_t message{};
  message.auth_uid = kUser;
  message.data = &body;
  return message;
}

}  // namespace

#define SLURMCTLD_S __attribute__((visibility("default")))

extern "C" {

SLURMCTLD_S void lock_slurmctld(slurmctld_lock_t levels) {
  assert_int_equal(levels.job, READ_LOCK);
  ++slurm.locked;
}
SLURMCTLD_S void unlock_slurmctld(slurmctld_lock_t) { --slurm.locked; }
SLURMCTLD_S job_record_t* find_job_record(uint32_t job_id) { return job_id == kJob ? job : nullptr; }
SLURMCTLD_S job_record_t* find_het_job_record(uint32_t, uint32_t) { return nullptr; }
SLURMCTLD_S int job_alloc_info_ptr(uint32_t, job_record_t*) {
  return slurm.may_ask ? SLURM_SUCCESS : ESLURM_JOB_PENDING;
}
SLURMCTLD_S int stepmgr_get_job_sbcast_cred_msg(job_record_t*, slurm_step_id_t* step, char*, uint16_t,
                                                job_sbcast_cred_msg_t** answer) {
  if (step->step_id != NO_VAL && (step->step_id != kStep || (slurm.step_ends && !slurm.locked))) {
    return ESLURM_INVALID_JOB_ID;
  }
  if (!slurm.has_name && user != "ada") return SLURM_ERROR;
  *answer = &credential;
  return SLURM_SUCCESS;
}
SLURMCTLD_S void slurm_free_sbcast_cred_msg(job_sbcast_cred_msg_t*) { ++slurm.freed; }
SLURMCTLD_S int slurm_send_rc_msg(slurm_msg_t*, int rc) {
  slurm.refused = rc;
  return SLURM_SUCCESS;
}
SLURMCTLD_S void* auth_g_get_identity(void*) {
  static char name[] = "ada";
  static identity_t client;
  client = {};
  client.uid = kUser;
  client.pw_name = name;
  return slurm.names_client ? &client : nullptr;
}
SLURMCTLD_S void destroy_identity(identity_t*) { ++slurm.destroyed; }
SLURMCTLD_S void slurm_error(const char*, ...) {}

/** As Slurm's: a failure after its locks were released releases them again. */
static void slurms_own(slurm_msg_t* message) {
  auto* body = static_cast<step_alloc_info_msg_t*>(message->data);
  assert_int_equal(slurm.locked, 0);
  if (!find_job_record(body->step_id.job_id) || !slurm.may_ask) {
    slurm.refused = ESLURM_INVALID_JOB_ID;
    return;
  }
  job_sbcast_cred_msg_t* answer = nullptr;
  if (stepmgr_get_job_sbcast_cred_msg(job, &body->step_id, nullptr, 0, &answer) != SLURM_SUCCESS) {
    ++slurm.released_twice;
    return;
  }
  slurm.answered = body->step_id.step_id == NO_VAL ? "whole job" : "step";
}
static slurmctld_rpc_t entry{compat::kRequestJobSbcastCred, slurms_own};
SLURMCTLD_S slurmctld_rpc_t* find_rpc(uint16_t type) { return type == entry.msg_type ? &entry : nullptr; }

}  // extern "C"

namespace {

void requests(void**) {
  const struct {
    const char* what;
    uint32_t job, step;
    bool may_ask, has_name, step_ends, names_client;
    const char* answered;
    int refused;
  } cases[] = {
      {"of a known user", kJob, NO_VAL, true, true, false, false, "whole job", SLURM_SUCCESS},
      {"of a user whom only the client knows", kJob, NO_VAL, true, false, false, true, "whole job", SLURM_SUCCESS},
      {"of an unknown user", kJob, NO_VAL, true, false, false, false, "", ESLURM_USER_ID_MISSING},
      {"for a step", kJob, kStep, true, true, false, false, "whole job", SLURM_SUCCESS},
      {"for a step that ends meanwhile", kJob, kStep, true, true, true, false, "whole job", SLURM_SUCCESS},
      {"for a step that is not there", kJob, 99, true, true, false, false, "", ESLURM_INVALID_JOB_ID},
      {"for no job", 8, NO_VAL, true, true, false, false, "", ESLURM_INVALID_JOB_ID},
      {"for a job that does not run, and no step", kJob, 99, false, true, false, false, "", ESLURM_INVALID_JOB_ID},
  };
  mend_sbcast();
  for (const auto& c : cases) {
    slurm = {};
    slurm.may_ask = c.may_ask;
    slurm.has_name = c.has_name;
    slurm.step_ends = c.step_ends;
    slurm.names_client = c.names_client;
    step_alloc_info_msg_t body;
    slurm_msg_t message = request_of(c.job, c.step, body);
    entry.func(&message);
    const std::string got = std::string(c.what) + ": " + slurm.answered + " " + std::to_string(slurm.refused) + " " +
                            std::to_string(slurm.released_twice) + " " + std::to_string(slurm.locked);
    const std::string wanted = std::string(c.what) + ": " + c.answered + " " + std::to_string(c.refused) + " 0 0";
    assert_text(got, wanted);
    assert_int_equal(slurm.destroyed, c.names_client ? 1 : 0);
    assert_text(user, "");
  }
  restore_sbcast();
}

void is_restored(void**) {
  mend_sbcast();
  assert_true(entry.func != slurms_own);
  mend_sbcast();
  restore_sbcast();
  assert_true(entry.func == slurms_own);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(requests), SLURMK8S_TEST(is_restored)};
  return cmocka_run_group_tests_name("plugins_sbcast_requests", tests, nullptr, nullptr);
}

#else

namespace {

void nothing_to_mend(void**) {
  assert_null(compat::sbcast_handler());
  mend_sbcast();
  restore_sbcast();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void slurm_error(const char*, ...) {}

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(nothing_to_mend)};
  return cmocka_run_group_tests_name("plugins_sbcast_requests", tests, nullptr, nullptr);
}

#endif
