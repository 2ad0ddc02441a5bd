/* SPDX-License-Identifier: Apache-2.0 */
/* What the proxy programs share, with and without resilience: arguments, clock, checksum, and a death on
 * purpose. Nothing of this framework. */
#ifndef PROXY_H
#define PROXY_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

typedef struct proxy_options {
  int size;  /* of the part of a process, along each edge */
  int steps; /* iterations of the main loop */
} proxy_options;

/* --size N, --steps N, --die RANK@ITERATION[,RANK@ITERATION...]: that process (its rank in the first MPI_COMM_WORLD)
 * sends itself SIGKILL at the beginning of that iteration. `usual`: what is not given. Ends the program with
 * 2 if they are wrong. */
proxy_options proxy_read_options(int argc, char **argv, proxy_options usual);
/* The main loop is entered, for the first time or again, at iteration `step`: one line with the time, and
 * with that of proxy_read_options(), ahead of all set-up. */
void proxy_enter(MPI_Comm comm, int64_t step);
/* An iteration begins. */
void proxy_iteration(int64_t step);
/* The main loop is done: one line with the time. */
void proxy_leave(MPI_Comm comm, int64_t step);

/* Sends `count` numbers to `to` and receives as many as come, at most `most`, from `from`; either may be
 * MPI_PROC_NULL. (Not by MPI_Sendrecv: of Open MPI 5.0, that crashes after a revocation if it has nobody to
 * receive from.)
 * @return how many came; 0 if anything failed */
int proxy_swap(MPI_Comm comm, int tag, const double *out, int count, int to, double *in, int most, int from);

/* Hash of `count` numbers, bit by bit. */
uint64_t proxy_hash(const double *values, size_t count, uint64_t seed);
/* The sum of the hashes of all processes: one line, "name: checksum ...". */
void proxy_checksum(MPI_Comm comm, const char *name, uint64_t hash);

#endif
