/* SPDX-License-Identifier: Apache-2.0 */
/** @file reinit.h
 *  @brief Global restart behind one call: all processes return to one function, at full size, within the job.
 *
 *  After Georgakoudis et al. 2020 (Reinit++), section 3.1, figures 1 and 2; for programs with a fixed decomposition and
 *  their own loop. A spare process, or one started by MPI_Comm_spawn (gab_reinit_allow_respawning()), replaces a dead one.
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
 *  process it runs alone, while the others wait in the repair. The function runs on active processes only. `state`
 *  describes the process, not the data: REINITED processes may have nothing to load.
 *
 *  Rollback is synchronous. After a death every call of the framework returns ::GAB_ERR_FAULT, and a process rolls back
 *  when its function returns that. Programs that save by other means call gab_reinit_test(). Then cleanup handlers run,
 *  the last one first, the world is repaired, and the function is called again on all. A further death repeats this.
 *
 *  Communicators come from gab_world_dup() and gab_world_split(), which each repair rebuilds with the same ranks.
 *  MPI_COMM_WORLD is not rebuilt: its use after a fault ends gab_reinit() on all with ::GAB_ERR_STATE.
 *
 *  Reports to gabion-launch that the program must make (completion, progress): doc/resilience.md, "An MPI program of one's
 *  own".
 *
 *  Stability: stable.
 */
#ifndef GABION_RESILIENCE_REINIT_H
#define GABION_RESILIENCE_REINIT_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** State of this process in this call of the function, with respect to the last fault. It says nothing about data:
 *  the application determines whether a checkpoint exists, with the same result on all. */
typedef enum gab_reinit_state {
  GAB_REINIT_NEW,      /**< the first call, on all */
  GAB_REINIT_REINITED, /**< active before the last fault, also as a replacement process */
  GAB_REINIT_RESTARTED /**< it replaces a process that died in the last fault */
} gab_reinit_state;

/** The function to which all processes return. @return GAB_OK: finished; gab_reinit() ends when all live processes have
 *  returned it; ::GAB_ERR_FAULT: call it again; any other status, from any process, ends gab_reinit() on all with that status */
typedef gab_status (*gab_restart_point)(gab_world *world, int argc, char **argv, gab_reinit_state state,
                                        void *user);

/** Calls `point` on all active processes, again after each fault, until all have finished it. Collective over all
 *  processes; spares wait in it, and take part in collective calls after its end. A process that returns from the
 *  function waits for all others; after a death meanwhile it is called again. @param[in] argc,argv,user passed to
 *  `point`
 *  @return on all: GAB_OK; the error of a call of `point`; ::GAB_ERR_LOST if a dead process has no spare and no
 *  process could be started (unless gab_reinit_allow_shrinking()); ::GAB_ERR_AGAIN instead, if nothing is lost:
 *  the program keeps its state by gab_state and no save was complete, or a process died before all had called
 *  the first gab_reinit() of the program (in a further one: ::GAB_ERR_LOST); ::GAB_ERR_STATE within `point`, and
 *  for a second call in a program with gab_reinit_allow_respawning(), since respawned processes could not reach
 *  it */
gab_status gab_reinit(gab_world *world, int argc, char **argv, gab_restart_point point, void *user);

/** Allows a run without remaining spares to continue without the lost ranks, with smaller communicators. The same on
 *  all, before gab_reinit(). Local. */
void gab_reinit_allow_shrinking(gab_world *world, bool allow);

/** Allows processes to be started for dead ones without a spare (core/world/world.h): only in the first
 *  gab_reinit() of a program, not after a death before it, with at most three attempts per repair. A
 *  replacement process executes the program before gab_reinit() alone; its first call of the function is
 *  RESTARTED. The same on all, before gab_reinit(). Local. @return ::GAB_ERR_STATE with the reason if processes
 *  cannot be started */
gab_status gab_reinit_allow_respawning(gab_world *world, bool allow);

/** A point at which a rollback may happen; on the root also a sign of life for the launcher (once a second). Local
 *  and cheap. @return ::GAB_ERR_FAULT; return it from the function */
gab_status gab_reinit_test(gab_world *world);

/** Adds a cleanup handler, which runs before this process rolls back: closes files, frees memory that the function will
 *  allocate again. Called once, in reverse order, then removed; also removed when the function returns GAB_OK. It must not
 *  communicate. Handlers run before the repair, while other processes may still compute. They may release buffers of ports,
 *  since the framework keeps messages in transit. They must not free memory of an unfinished MPI request of the program: Open
 *  MPI 5.0 reads it when the peer answers later (the sender crashed), and a wait for a long send ends only when the peer calls
 *  MPI, although the communicator is revoked (a waiting handler blocked). Keep such memory and reuse it. Within `point`; local.
 *  @return ::GAB_ERR_STATE outside of gab_reinit(), ::GAB_ERR_MEMORY */
gab_status gab_reinit_add_cleanup(gab_world *world, void (*cleanup)(void *user), void *user);

#ifdef __cplusplus
}
#endif
#endif
