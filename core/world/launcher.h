/* SPDX-License-Identifier: Apache-2.0 */
/** @file launcher.h
 *  @brief Numbers in the environment of a process set by the launcher of MPI: Open MPI's mpirun, and launchers with PMI such as MPICH's.
 *
 *  All functions are local and need neither MPI nor a world.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_LAUNCHER_H
#define GABION_CORE_LAUNCHER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Number of processes in MPI_COMM_WORLD; 1 without a launcher. */
int32_t gab_launcher_processes(void);
/** Number of these processes on this node; 0: unknown. */
int32_t gab_launcher_local_processes(void);
/** Rank in MPI_COMM_WORLD; -1: unknown. */
int32_t gab_launcher_rank(void);

#ifdef __cplusplus
}
#endif

#endif
