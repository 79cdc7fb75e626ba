// SPDX-License-Identifier: GPL-2.0-or-later
// What calls of libslurm have in common: their errors, and the answers that the caller frees.
//
// libslurm reports an error by errno, which holds one of Slurm's codes. The sentence that slurmctld sends beside the
// code isn't handed out by libslurm.
#pragma once

#include <cerrno>
#include <ctime>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "slurm/rpc/compat.hpp"
#include "slurm/rpc/error_codes.hpp"

namespace slurmk8s {

template <typename Message, void (*Free)(Message*)>
struct MessageDeleter {
  void operator()(Message* message) const { Free(message); }
};
/** A message of libslurm, with the function that frees it. */
template <typename Message, void (*Free)(Message*)>
using OwnedMessage = std::unique_ptr<Message, MessageDeleter<Message, Free>>;

using NodeInfo = OwnedMessage<node_info_msg_t, slurm_free_node_info_msg>;
using JobInfo = OwnedMessage<job_info_msg_t, slurm_free_job_info_msg>;
using Conf = OwnedMessage<slurm_conf_t, compat::free_conf>;
using PartitionInfo = OwnedMessage<partition_info_msg_t, slurm_free_partition_info_msg>;

/** Slurm's words for one of its codes. */
inline std::string words_of(int code) { return std::string("slurm: ") + slurm_strerror(code); }

/** The error that the libslurm call just made has left in errno. */
inline Error last_error() {
  const int code = errno;
  return Error(errc_of(code), words_of(code));
}

/** libslurm's structs have `char *` for texts that it only reads. */
inline char* unconst(const std::string& value) { return const_cast<char*>(value.c_str()); }

/**
 * slurmctld compares it with the times of its changes: one that lies ahead, since the clock was set back, would hide
 * them all until then.
 */
inline std::time_t not_ahead(std::time_t since) { return since > std::time(nullptr) + 1 ? 0 : since; }

}  // namespace slurmk8s
