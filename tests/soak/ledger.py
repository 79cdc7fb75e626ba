# SPDX-License-Identifier: GPL-2.0-or-later
"""What the jobs of job.sh wrote down, and whether it proves that each of them ran as Slurm says, and not twice."""
import dataclasses
import pathlib

ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"}


@dataclasses.dataclass
class Run:
    """One run of a job's script. Times are seconds since 1970."""
    run: str
    job: int
    restart: int
    first: float
    last: float
    ended: bool = False
    node: str = ""       # that of the script
    hostlist: str = ""   # all nodes, as Slurm writes them


def _begin_of(words):
    """Time, job and restart of a line; nothing when a process of it was killed, or could not be made."""
    try:
        return float(words[0]), int(words[1]), int(words[2])
    except ValueError:
        return None


def read(folder, name):
    """The runs of the job of that name, in the order in which they began."""
    path = pathlib.Path(folder, name)
    runs = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        words = line.split()
        begin = _begin_of(words) if len(words) >= 5 else None
        if not begin:
            continue
        time, job, restart = begin
        run_id, event = words[3:5]
        run = runs.setdefault(run_id, Run(run_id, job, restart, time, time))
        run.last = max(run.last, time)
        run.ended |= event == "end"
        if event == "start" and len(words) > 6:
            run.node, run.hostlist = words[5:7]
    return sorted(runs.values(), key=lambda run: run.first)


def _is_in(moment, spans):
    return any(begin <= moment <= end for begin, end in spans)


def judge(name, jobs, runs, restarts, cancelled=False, forgotten=(), unheard=lambda run: False,
          heard=lambda run: run.last):
    """What is wrong with a job: a list of sentences, empty when all is well.

    jobs: Slurm's records of that name. restarts: most that the faults allow. forgotten: spans (begin, end) of what
    slurmctld did not save before it was killed: a run that began or ended there may be done again. unheard: whether the
    end of a run that ended may have been lost with its pod. heard: when slurmctld heard of the end of a run.
    """
    if len(jobs) != 1:
        return [f"{name}: slurm has {len(jobs)} jobs of this name"]
    job = jobs[0]
    if job.state not in ENDED:
        return [f"{name}: job {job.id} is {job.state} ({job.reason})"]
    wrong = []
    if job.state != "COMPLETED" and not (cancelled and job.state == "CANCELLED"):
        wrong.append(f"job {job.id} ended as {job.state} ({job.reason}, exit code {job.exit_code})")
    if job.restarts > restarts:
        wrong.append(f"job {job.id} was restarted {job.restarts} times, at most {restarts} expected")
    counted = [run for run in runs
               if not any(_is_in(moment, forgotten) for moment in (run.first, run.last, heard(run)))]
    if len(counted) > job.restarts + 1:
        wrong.append(f"job {job.id} ran {len(runs)} times with {job.restarts} restarts")
    ended = [run for run in counted if run.ended and not (run is not runs[-1] and unheard(run))]
    if len(ended) > 1:
        wrong.append(f"job {job.id} ran to its end {sum(run.ended for run in runs)} times")
    if job.state == "COMPLETED" and not (runs and runs[-1].ended):
        wrong.append(f"job {job.id} is COMPLETED, but its last run did not end")
    for before, after in zip(runs, runs[1:]):
        if before.last > after.first:
            wrong.append(f"job {job.id}: run {before.run} went on for {before.last - after.first:.1f} s beside its successor")
    return [f"{name}: {sentence}" for sentence in wrong]
