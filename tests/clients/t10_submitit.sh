# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# submitit, from PyPI: functions as jobs of an array.
# Release: clients
# shellcheck source=tests/clients/lib.sh
source "$E2E_FOLDER/../clients/lib.sh"

test_submitit() {
  local out
  ada_logs_in
  ada_file squares.py <<'END'
import socket
import submitit

def square(n):
    if n == 13:
        raise ValueError("thirteen")
    return n * n, socket.gethostname()

executor = submitit.AutoExecutor(folder="submitit")
executor.update_parameters(timeout_min=5)
jobs = executor.map_array(square, range(12))
unlucky = executor.submit(square, 13)
results = [job.result() for job in jobs]
print("squares:", *(value for value, _ in results))
print("hosts:", *sorted({host for _, host in results}))
print("error:", "ValueError: thirteen" in str(unlucky.exception()))
END
  out=$(ada 'python squares.py' </dev/null)
  assert_equal squares "0 1 4 9 16 25 36 49 64 81 100 121" "$(said squares "$out")"
  assert_equal "a function that fails" True "$(said error "$out")"
  # Nobody asked for memory, so each had a node of its own.
  [[ $(said hosts "$out") =~ ^(compute-[0-7] ){3,7}compute-[0-7]$ ]] || fail "hosts: $(said hosts "$out")"
}
