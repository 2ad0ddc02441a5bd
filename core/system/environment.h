/* SPDX-License-Identifier: Apache-2.0 */
/** @file environment.h
 *  @brief Environment variables that Open MPI does not start without.
 *
 *  Depends on no other file of the project: gabion-launch compiles it in.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_ENVIRONMENT_H
#define GABION_CORE_ENVIRONMENT_H

#ifdef __cplusplus
extern "C" {
#endif

/** Sets HOME if it is unset: to the home folder of this user in the user database, else to `/`. Open MPI 5.0 ends a
 *  process without HOME with exit code 14. Local; before other threads start. */
void gab_environment_complete(void);

#ifdef __cplusplus
}
#endif

#endif
