/* SPDX-License-Identifier: Apache-2.0 */
/** @file reinit.h
 *  @brief Global restart behind one call: all processes return to one function, at full size, within the job.
 *
 *  After Georgakoudis et al. 2020 (Reinit++), section 3.1, figures 1 and 2; for programs with a fixed decomposition
 *  and their own loop. A spare process takes over from a dead one, or a process that MPI_Comm_spawn starts
 *  (gab_reinit_allow_respawning()).
 *
 *  @code
 *    static gab_status foo(gab_world *world, int argc, char **argv, gab_reinit_state state, void *user)
 *    {
 *      application *app = user;
 *      gab_step k = 0;
 *      set_up(app, argc, argv);                         // as at the very start, in every call
 *      GAB_TRY(gab_state_add(app->saved, "x", app->x, app->bytes));
 *      GAB_TRY(gab_state_load(app->saved, &k));         // leaves x and k unchanged if nothing was saved
 *      while (k < app->steps) {
 *        compute(app, k);                               // return codes of MPI may be ignored
 *        GAB_TRY(gab_state_save(app->saved, ++k));      // returns GAB_ERR_FAULT after a death
 *      }
 *      return GAB_OK;
 *    }
 *
 *    if (gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
 *    gab_status status = gab_state_create(world, NULL, &app.saved);
 *    if (status == GAB_OK) status = gab_reinit(world, argc, argv, foo, &app);
 *    if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
 *    gab_state_destroy(&app.saved);
 *    const int code = gab_report_completion(world, gab_status_exit_code(status));
 *    gab_world_destroy(&world);
 *    return code;
 *  @endcode
 *
 *  Code before gab_reinit() runs on all processes, spares included, which take part in collective calls. On a respawned
 *  process it runs alone, while the others wait in the repair. The function runs on active processes only.
 *  `state` describes the process, not the data: REINITED processes may have nothing to load.
 *
 *  Rollback is synchronous. After a death every call of the framework returns ::GAB_ERR_FAULT, and a process rolls back
 *  when its function returns that. Programs that save by other means call gab_reinit_test(). Then cleanup handlers run,
 *  the last one first, the world is repaired, and the function is called again on all. A further death repeats this.
 *
 *  Communicators come from gab_world_dup() and gab_world_split(), which each repair rebuilds with the same ranks.
 *  MPI_COMM_WORLD is not rebuilt: its use after a fault ends gab_reinit() on all with ::GAB_ERR_STATE.
 *
 *  Reports to gabion-launch that the program must make (completion, progress): doc/resilience.md, "An MPI program of one's own".
 *
 *  Stability: stable.
 */
#ifndef GABION_RESILIENCE_REINIT_H
#define GABION_RESILIENCE_REINIT_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What this process is in this call of the function. It speaks of the process and of the last fault only, not of data:
 *  whether there is a checkpoint to load is for the application to find out, alike on all. */
typedef enum gab_reinit_state {
  GAB_REINIT_NEW,      /**< the first call, on all */
  GAB_REINIT_REINITED, /**< it was there before the last fault; also one that took over at an earlier one */
  GAB_REINIT_RESTARTED /**< it has taken over from a process that died in the last fault */
} gab_reinit_state;

/** The function to which all go back. @return GAB_OK: finished, and so are all when all have returned that, alive;
 *  ::GAB_ERR_FAULT: to be called again; anything else, of any process, ends gab_reinit() on all with that status */
typedef gab_status (*gab_restart_point)(gab_world *world, int argc, char **argv, gab_reinit_state state,
                                        void *user);

/** Calls `point` on all that run a rank, again after every fault, until all have finished it. Collective over all
 *  processes; spares wait in it. The spares are let go when it returns, and take part in what follows.
 *  A process that returns from the function does not leave before all have: when one dies meanwhile, it is called again.
 *  @param[in] argc,argv,user  handed on
 *  @return GAB_OK on all; what some call of `point` failed with, on all; ::GAB_ERR_LOST on all if there is no spare for a
 *  dead process, and none could be started (unless gab_reinit_allow_shrinking()); ::GAB_ERR_AGAIN instead, nothing being lost, if the
 *  program keeps its state by gab_state and no save was complete, or if a process died before all had called gab_reinit() (the first one
 *  in a program; a further one: ::GAB_ERR_LOST);
 *  ::GAB_ERR_STATE from within `point`, and a second time in a program where processes are to be started for the dead: they
 *  could not come to it (gab_reinit_allow_respawning(); without that it may be called again) */
gab_status gab_reinit(gab_world *world, int argc, char **argv, gab_restart_point point, void *user);

/** Allows a run without spares left to continue without the lost ranks, with smaller communicators. The same on
 *  all, before gab_reinit(). Local. */
void gab_reinit_allow_shrinking(gab_world *world, bool allow);

/** Lets processes be started for the dead for whom no spare is left (core/world/world.h): in the first gab_reinit() of a program
 *  only, not after a death before it, and three attempts in each repair at most. A replacement process comes to
 *  gab_reinit() by itself, through what is before it in the program, alone; its first call of the function is
 *  RESTARTED. The same on all, before gab_reinit(). Local. @return ::GAB_ERR_STATE with the reason where nobody can
 *  start processes */
gab_status gab_reinit_allow_respawning(gab_world *world, bool allow);

/** A point at which the rollback may happen, and, on the root, a sign of life for the launcher (once a second); nothing
 *  else. Local and cheap. @return ::GAB_ERR_FAULT, to be returned */
gab_status gab_reinit_test(gab_world *world);

/** Adds something to be done before this process goes back: close files, free what the function will allocate again.
 *  Called once, the last added first, then forgotten; forgotten, too, when the function returns GAB_OK. No
 *  communication in it. Handlers run before the repair, while other processes may still compute. Buffers of ports may be released
 *  in it: the framework keeps what is under way. Memory of an own MPI request that has not ended may not: Open MPI 5.0 reads it
 *  on when the peer answers later (the sender crashed), and a wait for a long send ends only when the peer looks at MPI, although its
 *  communicator is revoked (a handler that waited stood still). Such memory has to be kept, and used again. Within `point`; local.
 *  @return ::GAB_ERR_STATE outside of gab_reinit(), ::GAB_ERR_MEMORY */
gab_status gab_reinit_add_cleanup(gab_world *world, void (*cleanup)(void *user), void *user);

#ifdef __cplusplus
}
#endif
#endif
