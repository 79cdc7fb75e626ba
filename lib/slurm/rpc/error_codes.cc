// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's error codes as ours.
#include "slurm/rpc/error_codes.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "slurm/rpc/compat.hpp"

namespace slurmk8s {
namespace {

template <std::size_t N>
bool is_one_of(int code, const int (&codes)[N]) {
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

}  // namespace

Errc errc_of(int code) {
  constexpr int kBusy[] = {ESLURM_NODES_BUSY, ESLURM_INVALID_NODE_STATE, ESLURM_RESERVATION_BUSY,
                           ESLURM_PARTITION_IN_USE};
  constexpr int kForbidden[] = {ESLURM_ACCESS_DENIED, ESLURM_USER_ID_MISSING, compat::kNodeTableFull};
  constexpr int kUnauthorized[] = {SLURM_PROTOCOL_AUTHENTICATION_ERROR, ESLURM_AUTH_CRED_INVALID};
  constexpr int kTimeout[] = {SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, ETIMEDOUT};
  constexpr int kUnavailable[] = {ESLURM_IN_STANDBY_MODE,
                                  ECONNREFUSED,
                                  EHOSTUNREACH,
                                  ENETUNREACH,
                                  EAGAIN,
                                  ENOENT};  // ENOENT: slurmctld's socket for credentials isn't there yet
  // slurmctld had the request, or could have had it.
  constexpr int kInterrupted[] = {SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT, SLURM_COMMUNICATIONS_RECEIVE_ERROR,
                                  SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, ECONNRESET, EPIPE};
  if (code == ESLURM_INVALID_NODE_NAME) return Errc::not_found;
  if (code == compat::kNodeAlreadyExists) return Errc::already_exists;
  if (is_one_of(code, kBusy)) return Errc::conflict;
  if (is_one_of(code, kForbidden)) return Errc::forbidden;
  if (is_one_of(code, kUnauthorized)) return Errc::unauthorized;
  if (is_one_of(code, kTimeout)) return Errc::timeout;
  if (is_one_of(code, kInterrupted)) return Errc::interrupted;
  if (is_one_of(code, kUnavailable)) return Errc::unavailable;
  // Two blocks of codes for connections, which grow with every release.
  const bool connection = (code >= SLURM_COMMUNICATIONS_CONNECTION_ERROR && code < SLURM_PROTOCOL_VERSION_ERROR) ||
                          (code >= SLURM_COMMUNICATIONS_MISSING_SOCKET_ERROR && code < 1100) ||
                          (code >= SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR && code < SLURM_NO_CHANGE_IN_DATA);
  return connection ? Errc::unavailable : Errc::invalid;
}

Errc errc_of_submission(int code) {
  if (code == ESLURM_SUBMISSIONS_DISABLED || code == SLURM_UNEXPECTED_MSG_ERROR) return Errc::unavailable;
  switch (errc_of(code)) {
    case Errc::forbidden: return Errc::forbidden;
    case Errc::invalid:
    case Errc::not_found:  // a node
    case Errc::conflict:
    case Errc::already_exists: return Errc::invalid;
    default: return Errc::unavailable;
  }
}

}  // namespace slurmk8s
