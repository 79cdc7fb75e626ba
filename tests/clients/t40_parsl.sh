# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Parsl, from PyPI: a block of two nodes, whose workers connect to the login pod.
# Release: clients
# shellcheck source=tests/clients/lib.sh
source "$E2E_FOLDER/../clients/lib.sh"

test_parsl() {
  local out
  ada_logs_in
  ada_file block.py <<'END'
import parsl
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.launchers import SrunLauncher
from parsl.providers import SlurmProvider

@parsl.python_app
def square(n):
    import socket
    import time
    time.sleep(0.5)
    return n * n, socket.gethostname()

if __name__ == "__main__":
    provider = SlurmProvider(nodes_per_block=2, max_blocks=1, walltime="00:05:00", launcher=SrunLauncher(),
                             worker_init=". /opt/clients/bin/activate")
    with parsl.load(Config(executors=[HighThroughputExecutor(label="slurm", max_workers_per_node=2,
                                                             provider=provider)])):
        results = [future.result() for future in [square(n) for n in range(16)]]
    print("squares:", *(value for value, _ in results))
    print("hosts:", *sorted({host for _, host in results}))
END
  out=$(ada 'python block.py' </dev/null)
  assert_equal squares "0 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225" "$(said squares "$out")"
  [[ $(said hosts "$out") =~ ^compute-[0-7]\ compute-[0-7]$ ]] || fail "hosts: $(said hosts "$out")"
}
