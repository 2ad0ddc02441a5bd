/* SPDX-License-Identifier: Apache-2.0 */
/** @file alone.h
 *  @brief A world without MPI, of one process: for plans and checks, which leave nothing behind so.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_ALONE_H
#define GABION_CORE_ALONE_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Makes a world of this process alone and does not start MPI. Local. Communicators that are made from it are MPI_COMM_NULL.
 *  Under mpirun each process has a world of its own, and only rank 0 writes to the log.
 *  @param[out] world  owned by the caller; gab_world_destroy() */
gab_status gab_world_create_alone(gab_world **world);

#ifdef __cplusplus
}
#endif

#endif
