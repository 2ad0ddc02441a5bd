/* SPDX-License-Identifier: Apache-2.0 */
/** @file monitor.h
 *  @brief Live monitors by name, which parameter files of a program can request.
 *
 *  @code
 *    static gab_status add_mass(void *user, gab_timeloop *loop)
 *    {
 *      return gab_timeloop_add_monitor(loop, "mass", every_hundredth, check_mass, user);
 *    }
 *    static const gab_monitor monitors[] = {{"mass", "more came or went than can", add_mass}};
 *
 *    GAB_TRY(gab_resilience_check(config, (gab_monitor_list){monitors, 1}));
 *    ...
 *    GAB_TRY(gab_resilience_protect(loop, config, &(gab_resilience_context){.monitors = {monitors, 1},
 *                                                                           .monitor_user = &app}));
 *  @endcode
 *  With `resilience.monitors: [mass]` the loop then has that monitor; a name that is not in the list is
 * refused.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_MONITOR_H
#define GABION_RESILIENCE_MONITOR_H

#include "resilience/loop/timeloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A live monitor that a program has. */
typedef struct gab_monitor {
  const char *name; /**< in parameter files */
  const char *doc;  /**< a few words */
  /** Adds it to the time loop: gab_timeloop_add_monitor(), and what it has to remember as an entity. Called once if
   * the parameter file asks for it, before the protection is turned on. Local, the same on all ranks. */
  gab_status (*add)(void *user, gab_timeloop *loop);
} gab_monitor;

/** The monitors of a program; zero: none. */
typedef struct gab_monitor_list {
  const gab_monitor *items; /**< borrowed */
  size_t count;
} gab_monitor_list;

enum { GAB_MOST_MONITORS = 16 };

/** Adds a monitor to those that every list has: for programs that cannot name theirs in one, as those of gab_app_main()
 *  (apps/driver/solver.h), where `user` of add() is the gab_app_run. Before the configuration is read, the same on all
 *  processes. @param[in] monitor  borrowed for ever
 *  @return ::GAB_ERR_ARGUMENT if the name is taken, it or add() is missing, or the table is full */
gab_status gab_monitor_register(const gab_monitor *monitor);
/** @return the index-th that was registered, NULL behind the last */
const gab_monitor *gab_monitor_at(int index);
/** @return the one of that name in the list or registered, NULL with an error message that lists those that there are, or
 *  says that both have one */
const gab_monitor *gab_monitor_find(gab_monitor_list list, const char *name);

#ifdef __cplusplus
}
#endif
#endif
