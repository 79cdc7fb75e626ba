// SPDX-License-Identifier: GPL-2.0-or-later
// An MPI program: a token goes around all ranks, each of which adds its number; then the sum is asked for in another
// way. Rank 0 prints ranks, both sums and the hosts in the order of the ranks.
#include <stdio.h>
#include <string.h>

#include <mpi.h>

enum { kName = MPI_MAX_PROCESSOR_NAME };

static int pass_token(int rank, int ranks) {
  int token = 0;
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  token += rank;
  if (ranks == 1) return token;
  MPI_Send(&token, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&token, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return token;
}

int main(int argc, char** argv) {
  static char names[1024 * kName];
  char name[kName] = "";
  int rank, ranks, length, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_processor_name(name, &length);
  const int token = pass_token(rank, ranks);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (ranks <= 1024) MPI_Gather(name, kName, MPI_CHAR, names, kName, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("ranks=%d token=%d sum=%d hosts=", ranks, token, sum);
    for (int i = 0; i < ranks; ++i) printf("%s%s", i ? "," : "", names + i * kName);
    printf("\n");
  }
  MPI_Finalize();
  return 0;
}
