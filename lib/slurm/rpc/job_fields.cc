// SPDX-License-Identifier: GPL-2.0-or-later
// A job out of libslurm's struct.
#include "slurm/rpc/job_fields.hpp"

#include <string>
#include <string_view>

#include "base/strings.hpp"
#include "slurm/rpc/text.hpp"

namespace slurmk8s {
namespace {

/** The value of a key in "cpu=2,mem=4000M,node=1,gres/gpu=2"; with a key that ends in '/', all of these, joined. */
std::string find_tres(const std::string& tres, std::string_view key) {
  std::string found;
  for (const std::string_view word : split(tres, ',')) {
    if (!word.starts_with(key)) continue;
    const std::string_view rest = word.substr(key.size());
    if (key.ends_with('/')) {
      found += (found.empty() ? "" : ",") + std::string(rest);
    } else if (rest.starts_with('=')) {
      return std::string(rest.substr(1));
    }
  }
  return found;
}

}  // namespace

bool waits_for_nodes(const job_info_t& job) {
  if (job.job_state != JOB_PENDING || job.priority == 0) return false;
  switch (job.state_reason) {
    case WAIT_NO_REASON:
    case WAIT_PRIORITY:
    case WAIT_RESOURCES:
    case WAIT_NODE_NOT_AVAIL: return true;
    default: return false;
  }
}

bool is_suspended(const job_info_t& job) { return (job.job_state & JOB_STATE_BASE) == JOB_SUSPENDED; }

SlurmJob decode_job(const job_info_t& info) {
  SlurmJob job;
  job.id = info.job_id;
  job.name = text_of(info.name);
  job.user = info.user_name && info.user_name[0] ? text_of(info.user_name) : std::to_string(info.user_id);
  job.account = text_of(info.account);
  job.partitions = text_of(info.partition);
  job.qos = text_of(info.qos);
  job.reservation = text_of(info.resv_name);
  job.extra = compat::extra_of(info);
  job.features = text_of(info.features);
  const std::string tres = text_of(info.tres_req_str);
  job.memory = find_tres(tres, "mem");
  job.gres = find_tres(tres, "gres/");
  job.cpus = info.num_cpus;
  job.nodes = info.num_nodes;
  job.waits = waits_for_nodes(info);
  job.admin_comment = text_of(info.admin_comment);
  job.pending = (info.job_state & JOB_STATE_BASE) == JOB_PENDING;
  job.completing = (info.job_state & JOB_COMPLETING) != 0;
  job.ended = (info.job_state & JOB_STATE_BASE) > JOB_SUSPENDED;
  job.held = info.priority == 0;
  job.cron = (info.bitflags & CRON_JOB) != 0;
  job.restarts = info.restart_cnt;
  job.submitted = info.submit_time;
  job.begin = begin_time(info);
  job.suspended = is_suspended(info);
  if (job.suspended) job.suspended_on = text_of(info.nodes);
  return job;
}

bool holds_nodes(const job_info_t& job) {
  const std::uint32_t base = job.job_state & JOB_STATE_BASE;
  return base == JOB_RUNNING || base == JOB_SUSPENDED || (job.job_state & JOB_COMPLETING) != 0;
}

bool runs(const job_info_t& job) {
  const std::uint32_t base = job.job_state & JOB_STATE_BASE;
  return (base == JOB_RUNNING || base == JOB_SUSPENDED) && (job.job_state & JOB_COMPLETING) == 0;
}

bool is_unended(const job_info_t& job) { return (job.job_state & JOB_STATE_BASE) <= JOB_SUSPENDED; }

std::time_t begin_time(const job_info_t& job) { return job.eligible_time; }

SlurmRun decode_run(const job_info_t& job) {
  const bool has_script = job.batch_flag != 0 && job.job_state == JOB_RUNNING;  // no flag such as JOB_CONFIGURING
  return {job.job_id,
          job.het_job_id,
          job.restart_cnt,
          job.submit_time,
          text_of(job.nodes),
          job.start_time,
          has_script ? text_of(job.batch_host) : "",
          (job.job_state & JOB_CONFIGURING) != 0,
          !runs(job)};
}

SlurmJobNeeds decode_job_needs(const job_info_t& job) {
  return {job.job_id, text_of(job.partition), text_of(job.nodes), text_of(job.req_nodes)};
}

}  // namespace slurmk8s
