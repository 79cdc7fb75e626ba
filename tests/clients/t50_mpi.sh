# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Open MPI and MPICH, from Debian: images/clients/ring.c on four nodes, started by srun and by the library's own mpirun.
# The nodes' image does not know the user.
# Release: clients
# shellcheck source=tests/clients/lib.sh
source "$E2E_FOLDER/../clients/lib.sh"

NODES='--nodes=4 --ntasks=4 --nodelist=compute-[0-3]'
RING='ranks=4 token=6 sum=6 hosts=compute-0,compute-1,compute-2,compute-3'

# by_srun LIBRARY PMI: from zero, as a user would after logging in.
by_srun() {
  ada_logs_in
  assert_equal "$1 by srun --mpi=$2" "$RING" \
    "$(ada "srun $NODES --mpi=$2 ring.$1 2>ring.err || cat ring.err" </dev/null)"
}
# by_mpirun LIBRARY: in a batch job, from zero.
by_mpirun() {
  ada_logs_in
  assert_equal "$1 by mpirun" "$RING" "$(ada "rm -f ring.out
    sbatch --quiet --wait $NODES --output=ring.out --wrap 'mpirun.$1 ring.$1'; cat ring.out" </dev/null)"
}

test_the_user_comes_with_the_job() {
  ada_logs_in
  assert_equal "name, and lines of the image" "ada 0" \
    "$(ada 'srun --quiet -N1 sh -c "id -un; grep -c ^ada: /etc/passwd || true"' </dev/null | paste -sd ' ')"
}
test_open_mpi_by_srun() { by_srun openmpi pmix; }
test_open_mpi_by_mpirun() { by_mpirun openmpi; }
test_mpich_by_srun() { by_srun mpich pmi2; }
test_mpich_by_mpirun() { by_mpirun mpich; }

# ranks_of OPTION… PROGRAM: what each of two tasks counts.
ranks_of() { ada "srun --nodes=2 --ntasks=2 $* 2>/dev/null" </dev/null | cut -d ' ' -f 1 | paste -sd ' '; }

# Without --mpi, or with one that the library does not know, each is alone, and nothing says so
# (docs/user/environment.md, MPI).
test_srun_without_mpi() {
  ada_logs_in
  assert_equal "ranks" "ranks=1 ranks=1" "$(ranks_of ring.openmpi)"
  assert_equal "ranks of MPICH, which has no library of PMIx" "ranks=1 ranks=1" "$(ranks_of --mpi=pmix ring.mpich)"
}
