/* SPDX-License-Identifier: Apache-2.0 */
/** @file completion.h
 *  @brief Messages of a run to its launcher: progress and end; and messages from the launcher.
 *
 *  mpirun's own exit code is unreliable after a death, and a hang inside the MPI library is not reported. So the root
 *  writes two small files, whose names are in the environment: GABION_PROGRESS, rewritten at most once a second, and
 *  GABION_COMPLETION with "exit CODE". Without these variables no file is written.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_RESILIENCE_COMPLETION_H
#define GABION_RESILIENCE_COMPLETION_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Number of restarts of this run by the launcher (GABION_ATTEMPT), after a hang or the end of its job. An existing
 *  lock or file is then of the run itself. Local. @return 0: the first start, no launcher, or an invalid number */
GAB_EXTENDER int gab_launch_attempt(void);

/** Root only, at most once a second; others and more often: nothing. Local.
 *  @param[in] longest  seconds of the longest step so far, for `gabion-launch --dead-after`; 0: not known */
void gab_report_progress(const gab_world *world, gab_step step, double longest);

/** Announces the end of the run, also if processes die meanwhile: the lowest living rank writes, all agree, and after
 *  a death on the way it is repeated. In a world beyond repair any process that arrives here writes. Collective over
 *  the living. A code other than 0 breaks the world, so that the failure of a single process, before the time loop or
 *  after it, leaves no process waiting; waiting processes arrive here with ::GAB_ERR_FAULT and get its code. After a
 *  death before any time loop nothing is lost: the code is that of ::GAB_ERR_AGAIN.
 *  @return `code`, or that of the failure which broke the world; to be returned by main */
int gab_report_completion(gab_world *world, int code);

#ifdef __cplusplus
}
#endif
#endif
