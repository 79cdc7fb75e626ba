// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/rpc/error_codes: which of Slurm's errors may be tried again, and which say that slurmctld may have acted.
#include "slurm/rpc/error_codes.hpp"

#include <cerrno>

#include "slurm/rpc/compat.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void each_code(void**) {
  const struct {
    int code;
    Errc errc;
  } cases[] = {
      {ESLURM_INVALID_NODE_NAME, Errc::not_found},
      {compat::kNodeAlreadyExists, Errc::already_exists},
      {ESLURM_NODES_BUSY, Errc::conflict},
      {ESLURM_INVALID_NODE_STATE, Errc::conflict},
      {ESLURM_RESERVATION_BUSY, Errc::conflict},
      {ESLURM_PARTITION_IN_USE, Errc::conflict},
      {ESLURM_ACCESS_DENIED, Errc::forbidden},
      {ESLURM_USER_ID_MISSING, Errc::forbidden},
      {compat::kNodeTableFull, Errc::forbidden},
      {SLURM_PROTOCOL_AUTHENTICATION_ERROR, Errc::unauthorized},
      {ESLURM_AUTH_CRED_INVALID, Errc::unauthorized},
      {SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, Errc::timeout},
      {ETIMEDOUT, Errc::timeout},
      {SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT, Errc::interrupted},
      {SLURM_COMMUNICATIONS_RECEIVE_ERROR, Errc::interrupted},
      {SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, Errc::interrupted},
      {ECONNRESET, Errc::interrupted},
      {EPIPE, Errc::interrupted},
      {ESLURM_IN_STANDBY_MODE, Errc::unavailable},
      {ECONNREFUSED, Errc::unavailable},
      {EHOSTUNREACH, Errc::unavailable},
      {ENETUNREACH, Errc::unavailable},
      {EAGAIN, Errc::unavailable},
      {ENOENT, Errc::unavailable},
      {SLURM_COMMUNICATIONS_CONNECTION_ERROR, Errc::unavailable},
      {SLURM_COMMUNICATIONS_SEND_ERROR, Errc::unavailable},
      {SLURM_COMMUNICATIONS_SHUTDOWN_ERROR, Errc::unavailable},
      {SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, Errc::unavailable},
      {SLURMCTLD_COMMUNICATIONS_SEND_ERROR, Errc::unavailable},
      {SLURM_PROTOCOL_VERSION_ERROR, Errc::invalid},
      {SLURM_NO_CHANGE_IN_DATA, Errc::invalid},
      {ESLURM_INVALID_PARTITION_NAME, Errc::invalid},
      {ESLURM_INVALID_JOB_ID, Errc::invalid},
      {0, Errc::invalid},
      {-1, Errc::invalid},
  };
  for (const auto& c : cases) {
    if (errc_of(c.code) != c.errc) {
      fail_msg("%d: %s, not %s", c.code, to_string(errc_of(c.code)).data(), to_string(c.errc).data());
    }
  }
}

void of_a_submission(void**) {
  const struct {
    int code;
    Errc errc;
  } cases[] = {
      {ESLURM_INVALID_PARTITION_NAME, Errc::invalid},
      {ESLURM_INVALID_ACCOUNT, Errc::invalid},
      {ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, Errc::invalid},
      {ESLURM_INVALID_NODE_NAME, Errc::invalid},
      {ESLURM_NODES_BUSY, Errc::invalid},
      {ESLURM_ACCESS_DENIED, Errc::forbidden},
      {ESLURM_USER_ID_MISSING, Errc::forbidden},
      {ESLURM_SUBMISSIONS_DISABLED, Errc::unavailable},
      {ESLURM_IN_STANDBY_MODE, Errc::unavailable},
      {SLURM_UNEXPECTED_MSG_ERROR, Errc::unavailable},
      {SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, Errc::unavailable},
      {SLURM_PROTOCOL_AUTHENTICATION_ERROR, Errc::unavailable},
      {SLURM_COMMUNICATIONS_RECEIVE_ERROR, Errc::unavailable},
      {EAGAIN, Errc::unavailable},  // MaxJobCount is reached
      {ECONNREFUSED, Errc::unavailable},
  };
  for (const auto& c : cases) {
    const Errc got = errc_of_submission(c.code);
    if (got != c.errc) fail_msg("%d: %s, not %s", c.code, to_string(got).data(), to_string(c.errc).data());
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(each_code), SLURMK8S_TEST(of_a_submission)};
  return cmocka_run_group_tests_name("slurm_rpc_error_codes", tests, nullptr, nullptr);
}
