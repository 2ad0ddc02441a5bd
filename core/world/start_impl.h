/* SPDX-License-Identifier: Apache-2.0 */
/** @file start_impl.h
 *  @brief Start of MPI: its settings, its listening sockets, and the removal of its leftovers.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_CORE_START_IMPL_H
#define GABION_CORE_START_IMPL_H

#include "core/base/status.h"

#include <stdbool.h>

/** Calls MPI_Init_thread(FUNNELED) if necessary, after completing the environment. A process without mpirun gets
 *  neither shared memory nor TCP, and leaves no files. In a job on one machine MPI's listening sockets accept
 *  connections of this machine only: GABION_LOOPBACK=0|1, else according to the variables of Open MPI.
 *  @param[in] is_spawned  this process was started by MPI_Comm_spawn
 *  @param[out] level  of the support for threads @param[out] started  whether this call has initialised MPI */
gab_status gab_mpi_start(int *argc, char ***argv, bool is_spawned, int *level, bool *started);

/** Removes shared memory that killed processes of this user have left on this node. Call it on one process per node,
 * after the end of MPI. */
void gab_mpi_clean_up(void);

#endif
