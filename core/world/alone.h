/* SPDX-License-Identifier: Apache-2.0 */
/** @file alone.h
 *  @brief A world of one process without MPI, for plans and checks.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_ALONE_H
#define GABION_CORE_ALONE_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Creates a world of this process only, without starting MPI. Local. Derived communicators are MPI_COMM_NULL. Under
 *  mpirun each process has a separate world, and only rank 0 writes to the log.
 *  @param[out] world  owned by the caller; gab_world_destroy() */
gab_status gab_world_create_alone(gab_world **world);

#ifdef __cplusplus
}
#endif

#endif
