// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduler's statistics out of libslurm's struct: decode_statistics() of state_fields.hpp.
#include "slurm/rpc/state_fields.hpp"

namespace slurmk8s {
namespace {

using Answer = stats_info_response_msg_t;

struct Field {
  const char* name;
  const char* help;
  double (*value)(const Answer& answer);
};

double mean(double sum, std::uint32_t count) {
  return count == 0 ? 0 : static_cast<double>(static_cast<std::uint64_t>(sum / count));
}

#define SLURMK8S_FIELD(name, member, help)                                    \
  Field {                                                                     \
    name, help, [](const Answer& a) { return static_cast<double>(a.member); } \
  }
#define SLURMK8S_MEAN(name, sum, count, help)                                             \
  Field {                                                                                 \
    name, help, [](const Answer& a) { return mean(static_cast<double>(a.sum), a.count); } \
  }

/** Names and units are Slurm's: times of cycles are microseconds, and what counts begins again at midnight (UTC). */
constexpr Field kFields[] = {
    SLURMK8S_FIELD("agent_cnt", agent_count, "Agents of slurmctld that send RPCs."),
    SLURMK8S_FIELD("agent_queue_size", agent_queue_size, "RPCs of slurmctld that wait to be sent again."),
    SLURMK8S_FIELD("agent_thread_cnt", agent_thread_count, "Threads of slurmctld's agents."),
    SLURMK8S_FIELD("server_thread_cnt", server_thread_count, "Threads of slurmctld that serve RPCs."),
    SLURMK8S_FIELD("slurmdbd_queue_size", dbd_agent_queue_size, "Messages that wait for slurmdbd."),
    SLURMK8S_FIELD("last_proc_req_start", req_time_start, "When the counters began, as a Unix time."),
    SLURMK8S_FIELD("sched_stats_timestamp", req_time, "When slurmctld answered, as a Unix time."),
    SLURMK8S_FIELD("sdiag_latency", gettimeofday_latency, "Microseconds of 1000 calls of gettimeofday()."),
    SLURMK8S_FIELD("sdiag_jobs_submitted", jobs_submitted, "Jobs submitted since the counters began."),
    SLURMK8S_FIELD("sdiag_jobs_started", jobs_started, "Jobs started since the counters began."),
    SLURMK8S_FIELD("sdiag_jobs_completed", jobs_completed, "Jobs completed since the counters began."),
    SLURMK8S_FIELD("sdiag_jobs_canceled", jobs_canceled, "Jobs cancelled since the counters began."),
    SLURMK8S_FIELD("sdiag_jobs_failed", jobs_failed, "Jobs failed since the counters began."),
    SLURMK8S_FIELD("sdiag_jobs_pending", jobs_pending, "Jobs pending at sdiag_job_states_ts."),
    SLURMK8S_FIELD("sdiag_jobs_running", jobs_running, "Jobs running at sdiag_job_states_ts."),
    SLURMK8S_FIELD("sdiag_job_states_ts", job_states_ts, "When slurmctld counted jobs, as a Unix time."),
    SLURMK8S_FIELD("schedule_cycle_cnt", schedule_cycle_counter, "Cycles of the main scheduler."),
    SLURMK8S_FIELD("schedule_cycle_depth", schedule_cycle_depth, "Jobs that the cycles looked at, in all."),
    SLURMK8S_FIELD("schedule_cycle_last", schedule_cycle_last, "Microseconds of the last cycle."),
    SLURMK8S_FIELD("schedule_cycle_max", schedule_cycle_max, "Microseconds of the longest cycle."),
    SLURMK8S_FIELD("schedule_cycle_tot", schedule_cycle_sum, "Microseconds of all cycles."),
    SLURMK8S_FIELD("schedule_queue_len", schedule_queue_len, "Jobs in the main scheduler's queue."),
    SLURMK8S_MEAN("sched_mean_cycle", schedule_cycle_sum, schedule_cycle_counter, "Mean microseconds of a cycle."),
    SLURMK8S_MEAN("sched_mean_depth_cycle", schedule_cycle_depth, schedule_cycle_counter, "Mean jobs of a cycle."),
    SLURMK8S_FIELD("backfilled_jobs", bf_backfilled_jobs, "Jobs that backfill started since slurmctld's start."),
    SLURMK8S_FIELD("last_backfilled_jobs", bf_last_backfilled_jobs, "The same since the counters began."),
    SLURMK8S_FIELD("backfilled_het_jobs", bf_backfilled_het_jobs, "Components of heterogeneous jobs backfilled."),
    SLURMK8S_FIELD("bf_active", bf_active, "1 while the backfill scheduler runs."),
    SLURMK8S_FIELD("bf_cycle_cnt", bf_cycle_counter, "Cycles of the backfill scheduler."),
    SLURMK8S_FIELD("bf_cycle_last", bf_cycle_last, "Microseconds of the last backfill cycle."),
    SLURMK8S_FIELD("bf_cycle_max", bf_cycle_max, "Microseconds of the longest backfill cycle."),
    SLURMK8S_FIELD("bf_cycle_tot", bf_cycle_sum, "Microseconds of all backfill cycles."),
    SLURMK8S_MEAN("bf_mean_cycle", bf_cycle_sum, bf_cycle_counter, "Mean microseconds of a backfill cycle."),
    SLURMK8S_FIELD("bf_depth_tot", bf_depth_sum, "Jobs that backfill cycles looked at, in all."),
    SLURMK8S_MEAN("bf_depth_mean", bf_depth_sum, bf_cycle_counter, "Mean jobs of a backfill cycle."),
    SLURMK8S_FIELD("bf_depth_try_tot", bf_depth_try_sum, "Jobs that backfill cycles tried to start, in all."),
    SLURMK8S_MEAN("bf_try_depth_mean", bf_depth_try_sum, bf_cycle_counter, "Mean jobs tried in a backfill cycle."),
    SLURMK8S_FIELD("bf_last_depth", bf_last_depth, "Jobs of the last backfill cycle."),
    SLURMK8S_FIELD("bf_last_depth_try", bf_last_depth_try, "Jobs tried in the last backfill cycle."),
    SLURMK8S_FIELD("bf_queue_len", bf_queue_len, "Jobs in the backfill scheduler's queue."),
    SLURMK8S_FIELD("bf_queue_len_tot", bf_queue_len_sum, "Jobs in the queues of all backfill cycles."),
    SLURMK8S_MEAN("bf_queue_len_mean", bf_queue_len_sum, bf_cycle_counter, "Mean jobs in backfill's queue."),
    SLURMK8S_FIELD("bf_table_size", bf_table_size, "Entries of backfill's table in the last cycle."),
    SLURMK8S_FIELD("bf_table_size_tot", bf_table_size_sum, "Entries of the tables of all backfill cycles."),
    SLURMK8S_MEAN("bf_mean_table_sz", bf_table_size_sum, bf_cycle_counter, "Mean entries of backfill's table."),
    SLURMK8S_FIELD("bf_when_last_cycle", bf_when_last_cycle, "When backfill last ran, as a Unix time."),
};

#undef SLURMK8S_FIELD
#undef SLURMK8S_MEAN

struct Exit {
  const char* name;
  const char* help;
};

/** In the order of slurmctld's enum schedule_exit_t. */
constexpr Exit kScheduleExits[] = {
    {"sched_exit_end", "Cycles that came to the end of the queue."},
    {"sched_exit_max_depth", "Cycles that ended at default_queue_depth."},
    {"sched_exit_max_job_start", "Cycles that ended at sched_max_job_start."},
    {"sched_exit_lic", "Cycles that ended for want of licenses."},
    {"sched_exit_rpc_cnt", "Cycles that ended at max_rpc_cnt."},
    {"sched_exit_timeout", "Cycles that ended at max_sched_time."},
};

/** In the order of its enum bf_exit_t. */
constexpr Exit kBackfillExits[] = {
    {"bf_exit_end", "Backfill cycles that came to the end of the queue."},
    {"bf_exit_max_job_start", "Backfill cycles that ended at bf_max_job_start."},
    {"bf_exit_max_job_test", "Backfill cycles that ended at bf_max_job_test."},
    {"bf_exit_state_changed", "Backfill cycles that ended since something had changed."},
    {"bf_exit_table_limit", "Backfill cycles that ended at bf_node_space_size."},
    {"bf_exit_timeout", "Backfill cycles that ended at bf_max_time."},
};

template <std::size_t Size>
void add_exits(const Exit (&exits)[Size], const std::uint32_t* counts, std::uint32_t size,
               std::vector<StateStatistic>& all) {
  if (counts == nullptr) return;
  for (std::size_t i = 0; i < Size && i < size; i++) {
    all.push_back({exits[i].name, exits[i].help, static_cast<double>(counts[i])});
  }
}

}  // namespace

std::vector<StateStatistic> decode_statistics(const stats_info_response_msg_t& answer) {
  std::vector<StateStatistic> all;
  for (const Field& field : kFields) all.push_back({field.name, field.help, field.value(answer)});
  const compat::Exits exits = compat::exits_of(answer);
  add_exits(kScheduleExits, exits.schedule, exits.schedule_count, all);
  add_exits(kBackfillExits, exits.backfill, exits.backfill_count, all);
  return all;
}

}  // namespace slurmk8s
