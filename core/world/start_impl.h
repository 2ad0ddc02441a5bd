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

/** MPI_Init_thread(FUNNELED), if nobody has called it, in an environment that is complete. A process that no mpirun has
 *  started gets neither shared memory nor TCP, which only others need, and leaves no files. In a job on one machine MPI's
 *  listening sockets take connections of this machine alone: GABION_LOOPBACK=0|1, else as the variables of Open MPI say.
 *  @param[in] is_spawned  this process was started by MPI_Comm_spawn
 *  @param[out] level  of the support for threads @param[out] started  whether this call has initialised MPI */
gab_status gab_mpi_start(int *argc, char ***argv, bool is_spawned, int *level, bool *started);

/** Removes what killed processes of this user have left in the memory of this node. For one process of each node, behind the end
 *  of MPI. */
void gab_mpi_clean_up(void);

#endif
