/* SPDX-License-Identifier: Apache-2.0 */
/** @file monitor.h
 *  @brief Monitors by name, which parameter files can request.
 *
 *  @code
 *    static gab_status add_mass(void *user, gab_timeloop *loop)
 *    {
 *      return gab_timeloop_add_monitor(loop, "mass", every_hundredth, check_mass, user);
 *    }
 *    static const gab_monitor monitors[] = {{"mass", "the total mass is conserved", add_mass}};
 *
 *    GAB_TRY(gab_resilience_check(config, (gab_monitor_list){monitors, 1}));
 *    ...
 *    GAB_TRY(gab_resilience_protect(loop, config, &(gab_resilience_context){.monitors = {monitors, 1},
 *                                                                           .monitor_user = &app}));
 *  @endcode
 *  With `resilience.monitors: [mass]` the loop then has that monitor; names that are not in the list
 *  are refused.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_MONITOR_H
#define GABION_RESILIENCE_MONITOR_H

#include "resilience/loop/timeloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A monitor of a program. */
typedef struct gab_monitor {
  const char *name; /**< in parameter files */
  const char *doc;  /**< short description */
  /** Adds the monitor to the time loop: gab_timeloop_add_monitor(), and its state as an entity. Called once if the
   *  parameter file requests it, before the protection is turned on. Local, the same on all ranks. */
  gab_status (*add)(void *user, gab_timeloop *loop);
} gab_monitor;

/** The monitors of a program; zero: none. */
typedef struct gab_monitor_list {
  const gab_monitor *items; /**< borrowed */
  size_t count;
} gab_monitor_list;

enum { GAB_MOST_MONITORS = 16 };

/** Registers a monitor in addition to all lists. For programs without their own list, such as those of gab_app_main()
 *  (apps/driver/solver.h), where `user` of add() is the gab_app_run. Before the configuration is read, the same on all
 *  processes. @param[in] monitor  borrowed until the process ends
 *  @return ::GAB_ERR_ARGUMENT if the name is taken, it or add() is missing, or the table is full */
gab_status gab_monitor_register(const gab_monitor *monitor);
/** @return the index-th registered monitor, NULL after the last */
const gab_monitor *gab_monitor_at(int index);
/** @return the monitor of that name, from the list or registered. NULL with an error message if it is unknown (with
 *  the known names) or in both */
const gab_monitor *gab_monitor_find(gab_monitor_list list, const char *name);

#ifdef __cplusplus
}
#endif
#endif
