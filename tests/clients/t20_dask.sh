# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dask-jobqueue, from PyPI: workers are jobs that connect to the login pod.
# Release: clients
# shellcheck source=tests/clients/lib.sh
source "$E2E_FOLDER/../clients/lib.sh"

has_no_job_of_ada() { [[ -z $(ada 'squeue --noheader --me' </dev/null) ]]; }

test_dask_jobqueue() {
  local out
  ada_logs_in
  ada_file workers.py <<'END'
import socket
from dask.distributed import Client
from dask_jobqueue import SLURMCluster

def square(n):
    return n * n

if __name__ == "__main__":
    cluster = SLURMCluster(cores=2, processes=1, memory="900MB", walltime="00:05:00", log_directory="dask")
    cluster.scale(jobs=3)
    with cluster, Client(cluster) as client:
        client.wait_for_workers(3, timeout=150)
        print("sum:", sum(client.gather(client.map(square, range(40)))))
        print("hosts:", *sorted(set(client.run(socket.gethostname).values())))
END
  out=$(ada 'python workers.py' </dev/null)
  assert_equal "sum of squares" 20540 "$(said sum "$out")"
  [[ $(said hosts "$out") =~ ^(compute-[0-7] ){2}compute-[0-7]$ ]] || fail "hosts: $(said hosts "$out")"
  wait_for "the workers' jobs ended with their cluster" has_no_job_of_ada
}
