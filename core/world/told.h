/* SPDX-License-Identifier: Apache-2.0 */
/** @file told.h
 *  @brief What the launcher of MPI says in the environment of a process. Needs neither MPI nor a world; local.
 *
 *  Open MPI and launchers with PMI, as that of MPICH.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_TOLD_H
#define GABION_CORE_TOLD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Processes that were started with this one; 1 without a launcher. */
int32_t gab_world_processes_told(void);
/** The same of this node; 0 where it is not said. */
int32_t gab_world_processes_told_of_node(void);
/** Rank in MPI_COMM_WORLD; -1 where it is not said. */
int32_t gab_told_rank(void);

#ifdef __cplusplus
}
#endif

#endif
