/* SPDX-License-Identifier: Apache-2.0 */
/* The injector: carries out fault injections. Stability: internal. */
#ifndef GABION_RESILIENCE_LOOP_FAULT_INJECTION_IMPL_H
#define GABION_RESILIENCE_LOOP_FAULT_INJECTION_IMPL_H

#include "resilience/loop/fault_injection.h"

/** Whether the injection was for an earlier attempt of gabion-launch only (gab_launch_attempt()): it never fires,
 * and its ranks may not exist. Local. */
bool gab_fault_injection_is_over(const gab_fault_injection *injection);

/** Checks the fault injection for a run with `ranks` ranks. Pure. @return ::GAB_ERR_INPUT for a rank outside of the
 * run or too many random ranks */
gab_status gab_fault_injection_check(const gab_fault_injection *injection, gab_rank ranks);

/** Watches the fault points of a world (takes its hook). Local.
 *  @param[in] injections  copied, those of this attempt (gab_launch_attempt()); random ranks are drawn now
 *  @return ::GAB_ERR_INPUT as gab_fault_injection_check() */
gab_status gab_fault_injector_create(gab_world *world, const gab_fault_injection *injections, size_t count,
                                     gab_events *events, gab_fault_injector **made);

/** Sets the forest whose bits may flip. Local. @param[in] forest borrowed; without it, flips do nothing */
void gab_fault_injector_set_forest(gab_fault_injector *injector, gab_forest *forest);

/** Returns the first step in which a fault injection may fire or counts visits of its fault point on this process,
 * possibly in the past; -1: none. Local. */
gab_step gab_fault_injector_next(const gab_fault_injector *injector);

/** Restores the hook. */
void gab_fault_injector_destroy(gab_fault_injector **injector);

#endif
