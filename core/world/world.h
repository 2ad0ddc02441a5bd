/* SPDX-License-Identifier: Apache-2.0 */
/** @file world.h
 *  @brief The world: processes and ranks of a run, its communicators, fault state and repair.
 *
 *  The world owns every communicator of the framework, and those that an application derives by gab_world_dup() and
 *  gab_world_split(). A repair rebuilds all of them. Other modules use ranks, which are logical, and never the rank in a
 *  communicator; they communicate through ports (core/messages/port.h) and collectives (core/messages/collective.h).
 *
 *  Fault state: the error handler of every communicator records deaths and revocations. Under the policy
 *  ::GAB_POLICY_REVOKE_ALL it revokes all of them at once, so that no process stays blocked. The world is then *broken*:
 *  every call of the framework returns ::GAB_ERR_FAULT until gab_world_repair() has succeeded. Failures without a death
 *  are raised by gab_world_raise(). Other errors of MPI calls on a derived communicator are raised as ::GAB_ERR_MPI, even
 *  if the application ignores their return code.
 *
 *  Spare processes (GABION_SPARES, `gabion-launch --spares`) run no rank. They take part in the collective calls of the
 *  set-up without data, then idle and poll about every 2 ms, until a repair assigns them the rank of a dead process:
 *  @code
 *    set-up, by all  ->  gab_world_rest(): members continue, spares wait there
 *    a fault         ->  gab_world_repair(), by all: an assigned spare becomes a member
 *    the end         ->  gab_world_dismiss(): the spares leave gab_world_rest(), all take part again
 *  @endcode
 *
 *  Respawned processes (::GAB_REPLACEMENT_RESPAWN): a repair starts the same program with the same arguments in the folder of
 *  the start (MPI_Comm_spawn). Up to gab_world_rest() such a process acts as a spare, and its collective calls return the
 *  results that the others recorded in their set-up, up to 1 MiB. So the set-up must call the framework in the same
 *  order on members and spares, must not use MPI_COMM_WORLD, and must not send through ports. Processes are started until
 *  the first rest ends (gab_world_dismiss()), and none after a death in the set-up. Limits of time and places:
 *  doc/recovery.md, "Strategy respawn".
 *
 *  Environment, besides that of gabion-launch (doc/launcher.md): GABION_SPAWN_WITHIN, seconds that MPI_Comm_spawn may
 *  take (30); GABION_SHARES_CORES, 0: poll without pause, 1: sleep between polls (unset: sleep where the node has more
 *  processes than cores).
 *
 *  Thread safety: MPI_THREAD_FUNNELED; only the thread that initialised MPI may call functions of this header.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_CORE_WORLD_H
#define GABION_CORE_WORLD_H

#include "core/base/version.h"
#include "core/world/members.h"
#include "core/world/fault_point.h"
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_world gab_world;
/** A communicator that belongs to a world. */
typedef struct gab_comm gab_comm;

/** Reaction of the error handler to a fault. */
typedef enum gab_policy {
  GAB_POLICY_REVOKE_ALL, /**< revoke at once: all processes leave the step (global strategies) */
  GAB_POLICY_MARK_DOWN   /**< record the death of the peer and continue: while local recovery is active */
} gab_policy;

/** Treatment of the ranks of dead processes in a repair; bits. */
typedef enum gab_replacement {
  GAB_REPLACEMENT_NONE = 0,   /**< ranks stay vacant: the run shrinks */
  GAB_REPLACEMENT_SPARES = 1, /**< available spares take them */
  GAB_REPLACEMENT_RESPAWN = 2 /**< new processes are started for ranks without a spare */
} gab_replacement;

/** Initialises MPI if necessary (FUNNELED, SIGPIPE ignored) and creates a world of all processes; the rank of a process
 *  is its rank in MPI_COMM_WORLD. The last GABION_SPARES (environment, the same on all) processes are spares and run no
 *  rank. With GABION_SPARES=K/node the last K of each node are spares, and ranks are numbered without them. Collective
 *  over all processes. Sets the identity of the log, and rounding and denormal numbers of all threads
 *  (core/system/float_modes.h). If a process dies meanwhile, the world is broken from the start: the first call returns
 *  ::GAB_ERR_FAULT, and the repair delivers the abort request ::GAB_ERR_AGAIN to all (nothing is lost;
 *  gab_report_completion() converts it to the exit code). Sends the first sign of life to the launcher
 *  (GABION_PROGRESS), and creates the file named by GABION_BEGUN before MPI_Init.
 *  @param[in,out] argc,argv  of main; may be NULL
 *  @param[out] world  owned by the caller
 *  @return ::GAB_ERR_MPI if MPI fails or does not support FUNNELED; ::GAB_ERR_STATE if the program was compiled with
 *  headers of another major or minor version than the library */
gab_status gab_world_create(int *argc, char ***argv, gab_world **world);
#define gab_world_create(...) GAB_WITH_VERSION(gab_world_create(__VA_ARGS__))

/** Ends the world: agrees with the others once more, frees the communicators, and finalises MPI if
 * gab_world_create() initialised it. MPI_Finalize is omitted on all processes if a repair has ever tried to start
 * processes, since it then fails or hangs (doc/ulfm.md). Collective over live processes, except for a respawned
 * process that has not reached gab_world_rest(): it ends itself here by SIGKILL. If the world is broken beyond
 * repair, MPI is not finalised: the process must end with a nonzero code, after which the launcher ends the others.
 * All but the lowest rank wait a second for that rank, which may be writing files. Sets *world to NULL. */
void gab_world_destroy(gab_world **world);

/** Name and version of the MPI library; needs no world. Never NULL. */
GAB_EXTENDER const char *gab_world_mpi_name(void);

/** True if this MPI can continue after a death (built with ULFM). @param[in] world  may be NULL */
bool gab_world_survives_deaths(const gab_world *world);

/** The rank that this process runs. A spare has a number above all ranks, which is not a member and owns no blocks; it
 *  changes when a repair assigns a rank. */
gab_rank gab_world_rank(const gab_world *world);
/** The number of this process, which never changes. */
GAB_EXTENDER gab_process gab_world_process(const gab_world *world);
bool gab_world_is_spare(const gab_world *world);
/** Number of all processes so far, spares and respawned ones included. */
GAB_EXTENDER gab_process gab_world_processes(const gab_world *world);
/** The live processes of this world, spares included, as "ranks" of a gab_members. Borrowed. */
GAB_EXTENDER const gab_members *gab_world_living_processes(const gab_world *world);
/** Number of processes at the start of the job; processes with a higher number were respawned. */
GAB_EXTENDER gab_process gab_world_first_processes(const gab_world *world);
/** Returns a process of the start on the node of `process`: itself, or for a respawned process the one next
 * to which it was started. @return GAB_NO_PROCESS if it was not placed as requested, so that its node is
 * unknown */
GAB_EXTENDER gab_process gab_world_process_beside(const gab_world *world, gab_process process);
/** NULL if processes can be respawned in this job; else the reason as text. Local. */
GAB_EXTENDER const char *gab_world_why_no_respawn(const gab_world *world);
/** Known number of live spares: their deaths are detected only when they are needed. */
int32_t gab_world_spares(const gab_world *world);
/** Spares per node at the start; 0: not chosen by nodes. */
GAB_EXTENDER int32_t gab_world_spares_per_node(const gab_world *world);
/** The present members. Borrowed; changed by repairs. */
const gab_members *gab_world_members(const gab_world *world);
GAB_EXTENDER gab_incarnation gab_world_incarnation(const gab_world *world, gab_rank rank);
GAB_EXTENDER gab_epoch gab_world_epoch(const gab_world *world);
/** The lowest living rank: it writes files and the log, and makes decisions that depend on time. */
gab_rank gab_world_root(const gab_world *world);
bool gab_world_is_root(const gab_world *world);

/** The present step, for envelopes, logs and fault injections. */
GAB_EXTENDER void gab_world_set_step(gab_world *world, gab_step step);
gab_step gab_world_step(const gab_world *world);

/** Announces a fault point of this process; calls the hook, if any. */
GAB_EXTENDER void gab_world_enter(gab_world *world, gab_fault_point point);
GAB_EXTENDER gab_fault_point gab_world_fault_point(const gab_world *world);
typedef void (*gab_fault_point_hook)(void *user, gab_world *world, gab_fault_point point);
GAB_EXTENDER void gab_world_set_fault_point_hook(gab_world *world, gab_fault_point_hook hook, void *user);

/* ------------------------------------------------------------------------------------ fault state */

GAB_EXTENDER void gab_world_set_policy(gab_world *world, gab_policy policy);
GAB_EXTENDER gab_policy gab_world_get_policy(const gab_world *world);

/** @return GAB_OK, or GAB_ERR_FAULT if the world is broken. Local and cheap. */
gab_status gab_world_check(gab_world *world);

/** Lets MPI make progress, then sleeps for `seconds`. For waits without messages: with gabion-launch --dead-after a
 *  process that does not call MPI is declared dead. Sleep for a small part of that time only. Local. @return
 *  gab_world_check() */
GAB_EXTENDER gab_status gab_world_nap(gab_world *world, double seconds);

/** Raises an abort request, since this process cannot continue, and revokes the communicators. `abort_request` (not
 *  GAB_OK, not GAB_ERR_FAULT) and the present error message are kept for gab_world_repair(). Local. Several
 *  processes may raise requests at once; the repair delivers the highest value, from the lowest rank that raised it,
 *  to all.
 *  @return ::GAB_ERR_FAULT, so that it can be returned at once */
gab_status gab_world_raise(gab_world *world, gab_status abort_request);

/** Repairs a broken world; an intact one is broken first. Collective over live processes. Revokes, shrinks and agrees,
 *  repeatedly until all survivors agree. Then rebuilds communicators and drops messages in open ports. Afterwards
 *  gab_world_members() has the survivors, and gab_world_epoch() has increased, equal on all.
 *  @param[out] abort_request  the request that was raised, GAB_OK after deaths only; the message of an abort request is
 *                       the present error message on all processes
 *  @return GAB_OK, or ::GAB_ERR_LOST where this MPI cannot repair */
gab_status gab_world_repair(gab_world *world, gab_status *abort_request);

/** Times of the phases of the last repair, summed over attempts, in seconds. */
typedef struct gab_repair_times {
  double revoke; /**< until all processes had arrived */
  double shrink, agree;
  /** The longest `revoke` over all processes, i.e. the wait for the last one. Equal on all; 0 on a process that was
   * started by the repair. */
  double waited;
  int attempts; /**< number of attempts */
} gab_repair_times;
GAB_EXTENDER gab_repair_times gab_world_repair_times(const gab_world *world);

enum { GAB_AGREE_FLAGS = 16 };
/** Agreement of the participants (MPIX_Comm_agree): all get the bitwise AND of all flags, or all get an error, also if
 *  some are in gab_world_repair() already. Collective.
 *  @param[in,out] flags  the lower #GAB_AGREE_FLAGS bits
 *  @return GAB_ERR_FAULT if a process is dead or the world is broken; *flags is then undefined; ::GAB_ERR_ARGUMENT
 *  for higher bits */
gab_status gab_world_agree(gab_world *world, uint32_t *flags);

/* ------------------------------------------------------------------------------------ spares */

/** Sets whether repairs assign spares and start processes (at most three attempts per repair). The same on all, before gab_world_rest(); local. */
GAB_EXTENDER void gab_world_set_replacement(gab_world *world, gab_replacement replacement);
enum { GAB_FARTHEST = 3 };
/** Distance of two processes: from 0, on one node, to #GAB_FARTHEST. */
typedef int (*gab_distance_fn)(const void *user, gab_process a, gab_process b);
/** Sets the distance by which repairs choose a spare: the nearest to the dead process, the lowest of several; else the
 *  lowest of all. The same on all; local. @param[in] distance  equal on all; NULL: none @param[in] user  borrowed */
GAB_EXTENDER void gab_world_set_distance(gab_world *world, gab_distance_fn distance, const void *user);

/** Idles spares until they are needed. Collective over all. Returns at once on a member. Returns on a spare
 * when it gets a rank (gab_world_is_spare() is then false), when it is no longer needed, or when a repair
 * delivers an abort request. An idle spare polls some hundred times per second and takes part in repairs.
 * @param[out] abort_request result of gab_world_repair() on a spare that got a rank; GAB_OK otherwise @return
 * GAB_OK; ::GAB_ERR_FAULT on a member, and on a spare before it idles; on a spare the error of
 * gab_world_repair() */
gab_status gab_world_rest(gab_world *world, gab_status *abort_request);
/** Dismisses idle spares, despite further deaths, and passes them status and message of the
 * end, so that all processes continue alike. Collective over all; no effect in a world
 * without spares. All members must have agreed on the end before any of them calls it: later
 * deaths are not replaced, since others may have left. @param[in] end equal on all members;
 * ignored on spares @return `end`, on spares too; if `end` is GAB_OK, an error of the
 * dismissal */
gab_status gab_world_dismiss(gab_world *world, gab_status end);

/* ------------------------------------------------------------------------------------ an application's own MPI */

/** Duplicates the communicator of the live ranks for MPI calls of the application; repairs rebuild it. Collective.
 * Owned by the world. */
gab_status gab_world_dup(gab_world *world, gab_comm **comm);
/** Like MPI_Comm_split over the live ranks, ordered by rank. Collective. */
gab_status gab_world_split(gab_world *world, int colour, gab_comm **comm);
/** @return the present MPI communicator; query it again after each repair. MPI_COMM_NULL if colour was
 * MPI_UNDEFINED. */
MPI_Comm gab_comm_mpi(const gab_comm *comm);

#ifdef __cplusplus
}
#endif
#endif
