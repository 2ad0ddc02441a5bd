/* SPDX-License-Identifier: Apache-2.0 */
/** @file completion.h
 *  @brief What a run tells its launcher: that it gets on, and how it ended; and what it hears from it.
 *
 *  mpirun's own exit code cannot be trusted after a death, and a hang inside the MPI library shows nowhere.
 *  So the root writes two small files whose names the launcher gives in the environment: GABION_PROGRESS,
 *  rewritten at most once a second, and GABION_COMPLETION with "exit CODE". Without these variables nothing
 *  is written.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_RESILIENCE_COMPLETION_H
#define GABION_RESILIENCE_COMPLETION_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How often the launcher has started this run again (GABION_ATTEMPT): because it hung, or its job had ended. What is there
 *  then is the run's own. Local. @return 0: this is the first time, or there is no launcher, or its word is no number */
GAB_EXTENDER int gab_launch_attempt(void);

/** Root only, at most once a second; others and more often: nothing. Local.
 *  @param[in] longest  seconds of the longest step so far, for `gabion-launch --dead-after`; 0: not known */
void gab_report_progress(const gab_world *world, gab_step step, double longest);

/** Announces the end of the run, also when processes die while it is announced: the lowest rank that lives
 *  writes, all agree, and if somebody died on the way it is done again. In a world beyond repair whoever
 * comes here writes. Collective over the living. A code other than 0 breaks the world, so that a process that
 * failed alone, before the time loop or after it, leaves nobody waiting; those that were waiting come here
 * with ::GAB_ERR_FAULT and get its code. If it was a death, and no time loop has begun, nothing is lost: the
 *  code is that of ::GAB_ERR_AGAIN.
 *  @return `code`, or that of the failure which broke the world; to be returned by main */
int gab_report_completion(gab_world *world, int code);

#ifdef __cplusplus
}
#endif
#endif
