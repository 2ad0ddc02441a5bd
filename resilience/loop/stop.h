/* SPDX-License-Identifier: Apache-2.0 */
/** @file stop.h
 *  @brief Stopping before a time limit: on a signal, a file, or a walltime.
 *
 *  After a stop request a run takes a last checkpoint, writes it to disk if disk checkpoints are enabled, and
 *  ends on all processes with ::GAB_ERR_REQUEUE, exit code 75. The same command resumes. Requests:
 *  - SIGTERM, SIGINT (a second one ends the process), SIGHUP, SIGUSR1, SIGUSR2 or SIGXCPU to any of its
 *    processes;
 *  - the file named by the environment variable GABION_STOP (gabion-launch creates it on a stop request: a signal
 *    reaches one machine, a file all of them);
 *  - a deadline: when the remaining time just suffices for stopping.
 *
 *  A reduction about once a second finds requests, at steps that all ranks know beforehand, at least every 64
 *  steps; other steps cost nothing. Under strategy `local` there is no reduction: a request goes up the tree of
 *  acknowledgements and returns with the commit of a checkpoint, so the run stops up to two intervals later,
 *  which a deadline allows for (resilience/local/protocol/local.h).
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_STOP_H
#define GABION_RESILIENCE_STOP_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_stop gab_stop;

/** Reason of a stop; of several the last one. */
typedef enum gab_stop_reason {
  GAB_STOP_NOT = 0,  /**< continue */
  GAB_STOP_DEADLINE, /**< the wall time is used up */
  GAB_STOP_FILE,     /**< the file GABION_STOP exists */
  GAB_STOP_SIGNAL    /**< a process received one of these signals */
} gab_stop_reason;

/** Handles these signals of this process, except for ignored ones. Local. @param[in] deadline  seconds since 1970; 0:
 *  none */
gab_status gab_stop_create(gab_world *world, double deadline, gab_stop **stop);
/** Restores their handlers. */
void gab_stop_destroy(gab_stop **stop);

/** After a step. Collective at the steps that it announced, local at others.
 *  @param[in] step_seconds time of a step, on the root: the next query is one or more steps later and must be in
 *  time @param[in] reserve time of stopping in seconds, on the root @return ::GAB_ERR_FAULT after a fault */
gab_status gab_stop_ask(gab_stop *stop, gab_step step, double step_seconds, double reserve,
                        gab_stop_reason *reason);

/** Returns the step of the next query; at once if it is past. Equal on all. */
gab_step gab_stop_next(const gab_stop *stop);

/** Reason known to this process alone. Local. @param[in] reserve  as in gab_stop_ask() */
gab_stop_reason gab_stop_look(const gab_stop *stop, double reserve);
/** The same of all, at once. Collective. @return ::GAB_ERR_FAULT if the world broke */
gab_status gab_stop_look_together(const gab_stop *stop, double reserve, gab_stop_reason *reason);

/** After a recovery: queries after the next step. Local, equal on all. */
void gab_stop_restart(gab_stop *stop, gab_step step);

/** "the wall time is used up" and so on, for logs. */
const char *gab_stop_text(gab_stop_reason reason);

/** Reads a wall time: "3600", "90 s", "30 min", "24 h", "1-12:00:00", "12:00:00" or "30:00" as batch systems write
 *  them (a plain number is in seconds). @return ::GAB_ERR_INPUT with the accepted forms */
gab_status gab_walltime_parse(const char *text, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
