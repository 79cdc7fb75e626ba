# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that are held in Slurm's queue: nothing is scheduled for them."""
from cluster import slurm, wait_for

# An update of each task makes a record of its own of it.
FILL = r"""
job=$(sbatch --parsable --hold --output=/dev/null --array="0-$(($1 - 1))" --wrap true)
scontrol update jobid="${job}_[0-$(($1 - 1))]" comment=x
"""


def fill_queue(jobs):
    """slurmctld must have MaxArraySize and MaxJobCount for them."""
    slurm(FILL, str(jobs))
    wait_for(f"{jobs} jobs", 120, lambda: int(slurm("squeue -h -r -o %i | wc -l")) >= jobs)
