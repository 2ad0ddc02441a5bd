/* SPDX-License-Identifier: Apache-2.0 */
/* The injector: carries out fault injections. Stability: internal. */
#ifndef GABION_RESILIENCE_LOOP_FAULT_INJECTION_IMPL_H
#define GABION_RESILIENCE_LOOP_FAULT_INJECTION_IMPL_H

#include "resilience/loop/fault_injection.h"

/** Whether it was for an earlier attempt of gabion-launch (gab_launch_attempt()) alone: it never fires any more, and
 *  the ranks that it names may be gone. Local. */
bool gab_fault_injection_is_over(const gab_fault_injection *injection);

/** Whether a run of so many ranks can have the fault injection. Pure.
 *  @return ::GAB_ERR_INPUT if it names a rank that is none of the run or wants more than there are */
gab_status gab_fault_injection_check(const gab_fault_injection *injection, gab_rank ranks);

/** Watches the fault points of a world (takes its hook). Local.
 *  @param[in] injections  copied, those of this attempt (gab_launch_attempt()); random ranks are drawn now
 *  @return ::GAB_ERR_INPUT if a fault injection names a rank that is none of the run or wants more than there are */
gab_status gab_fault_injector_create(gab_world *world, const gab_fault_injection *injections, size_t count,
                                     gab_events *events, gab_fault_injector **made);

/** Whose bits may flip. Local. @param[in] forest  borrowed; fault injections that flip do nothing without it */
void gab_fault_injector_set_forest(gab_fault_injector *injector, gab_forest *forest);

/** The first step in which a fault injection may fire here or counts how often this process comes to its fault point, which may
 *  have begun already; -1: none does any more. Local. */
gab_step gab_fault_injector_next(const gab_fault_injector *injector);

/** Gives the hook back. */
void gab_fault_injector_destroy(gab_fault_injector **injector);

#endif
