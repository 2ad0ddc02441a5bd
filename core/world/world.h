/* SPDX-License-Identifier: Apache-2.0 */
/** @file world.h
 *  @brief The world: processes and ranks of a run, its communicators, fault state and repair.
 *
 *  The world owns every communicator of the framework, and those that an application derives by gab_world_dup() and
 *  gab_world_split(). A repair rebuilds all of them. Other modules use ranks, which are logical, and never the rank in a
 *  communicator; they communicate through ports (core/messages/port.h) and collectives (core/messages/collective.h).
 *
 *  Fault state: the error handler of every communicator records deaths and revocations. Under the policy
 *  ::GAB_POLICY_REVOKE_ALL it revokes at once, so that no process stays blocked. From then on the world is *broken*:
 *  every call of the framework returns ::GAB_ERR_FAULT until gab_world_repair() has succeeded. Failures without a death
 *  are raised by gab_world_raise(). Other errors of MPI calls on a derived communicator are raised as ::GAB_ERR_MPI, even
 *  if the application ignores their return code.
 *
 *  Spare processes (GABION_SPARES, `gabion-launch --spares`) run no rank. They take part in the collective calls of the
 *  set-up without data, then rest and poll about every 2 ms, until a repair assigns them the rank of a dead process:
 *  @code
 *    set-up, by all  ->  gab_world_rest(): members continue, spares wait there
 *    a fault         ->  gab_world_repair(), by all: an assigned spare is a member from then on
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

/** What the error handler does about a fault. */
typedef enum gab_policy {
  GAB_POLICY_REVOKE_ALL, /**< revoke at once: everyone falls out of the step (global strategies) */
  GAB_POLICY_MARK_DOWN   /**< note that the peer is down and go on: for local recovery, while it is on */
} gab_policy;

/** What a repair does about the ranks of the dead; bits. */
typedef enum gab_replacement {
  GAB_REPLACEMENT_NONE = 0,   /**< they stay empty: the run shrinks */
  GAB_REPLACEMENT_SPARES = 1, /**< spares take them, as far as there are any */
  GAB_REPLACEMENT_RESPAWN = 2 /**< new processes are started for ranks that no spare takes */
} gab_replacement;

/** Initialises MPI if nobody has (FUNNELED, SIGPIPE ignored) and makes a world of all processes; the rank of
 *  a process is its rank in MPI_COMM_WORLD. The last GABION_SPARES (environment, the same on all) processes are spares
 *  and run no rank; with GABION_SPARES=K/node the last K of each node are, and the ranks of the others are counted without
 *  them. Collective over all processes. Sets the identity of the log, and rounding and denormal numbers of all threads
 *  (core/system/float_modes.h).
 *  If a process dies meanwhile the world comes up broken: the first call returns ::GAB_ERR_FAULT, and the repair tells
 *  all the abort request ::GAB_ERR_AGAIN (nothing is lost; gab_report_completion() makes the exit code of it).
 *  Gives the launcher its first sign of life (GABION_PROGRESS), and before MPI_Init makes the file that GABION_BEGUN names.
 *  @param[in,out] argc,argv  of main; may be NULL
 *  @param[out] world  owned by the caller
 *  @return ::GAB_ERR_MPI if the MPI gives no FUNNELED support or refuses; ::GAB_ERR_STATE if the program was compiled with
 *  headers of another major or minor version than the library */
gab_status gab_world_create(int *argc, char ***argv, gab_world **world);
#define gab_world_create(...) GAB_WITH_VERSION(gab_world_create(__VA_ARGS__))

/** Ends the world: agrees with the others once more, frees the communicators, and finalises MPI if
 *  gab_world_create() initialised it. Once a repair has tried to start processes MPI_Finalize is left out, on all: it fails or
 *  hangs then (doc/ulfm.md), and the program just ends. Collective over the living, but for a replacement process
 *  that has not come to gab_world_rest(): that ends itself here by SIGKILL. In a world that is broken beyond repair
 *  MPI is left as it is: the process has to end with a non-zero code, which makes the launcher end the others. All but the lowest
 *  rank wait a second for that one, which may be writing files. Sets *world to NULL. */
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
/** The processes that live in this world, spares included, as "ranks" of a gab_members. Borrowed. */
GAB_EXTENDER const gab_members *gab_world_living_processes(const gab_world *world);
/** Number of processes at the start of the job; processes with a higher number were respawned. */
GAB_EXTENDER gab_process gab_world_first_processes(const gab_world *world);
/** A process of the start on the node of `process`: itself, or, of a respawned process, the one next to which it was
 *  started.
 *  @return GAB_NO_PROCESS if it was placed elsewhere than requested, so that its node is not known */
GAB_EXTENDER gab_process gab_world_process_beside(const gab_world *world, gab_process process);
/** NULL if processes can be respawned in this job; else the reason as text. Local. */
GAB_EXTENDER const char *gab_world_why_no_respawn(const gab_world *world);
/** Number of living spares, as far as known: their deaths are noticed when they are needed. */
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

/** GAB_OK in a whole world, GAB_ERR_FAULT in a broken one. Local and cheap. */
gab_status gab_world_check(gab_world *world);

/** Lets MPI make progress, then sleeps for `seconds`. For waits without messages: with gabion-launch --dead-after a
 *  process that does not call MPI is declared dead. Sleep for a small part of that time only. Local. @return
 *  gab_world_check() */
GAB_EXTENDER gab_status gab_world_nap(gab_world *world, double seconds);

/** Raises an abort request and revokes the communicators, since this process cannot continue: `abort_request` (not GAB_OK, not GAB_ERR_FAULT)
 *  and the present error message are kept for gab_world_repair(), the communicators are revoked.
 *  Local. Several processes may do so at once; the repair hands everyone the abort request of the highest value,
 *  of the lowest rank that raised it.
 *  @return ::GAB_ERR_FAULT, so that it can be returned at once */
gab_status gab_world_raise(gab_world *world, gab_status abort_request);

/** Repairs a broken world; an intact one is broken first. Collective over the living. Revoke, shrink, agree; repeated if
 *  a step fails, until the survivors agree. Then communicators are rebuilt, and messages in open ports are dropped.
 *  Afterwards gab_world_members() has the survivors, and gab_world_epoch() has increased, equal on all.
 *  @param[out] abort_request  the request that was raised, GAB_OK after deaths only; the message of an abort request is
 *                      the present error message on all processes
 *  @return GAB_OK, or ::GAB_ERR_LOST where this MPI cannot repair */
gab_status gab_world_repair(gab_world *world, gab_status *abort_request);

/** How long the parts of the last repair took, all attempts together, in seconds. */
typedef struct gab_repair_times {
  double revoke; /**< until all had come */
  double shrink, agree;
  /** The longest `revoke` of all earlier processes, which is their wait for the last one. Equal on these; 0 on a process
   *  that was started by the repair. */
  double waited;
  int attempts; /**< number of attempts */
} gab_repair_times;
GAB_EXTENDER gab_repair_times gab_world_repair_times(const gab_world *world);

enum { GAB_AGREE_FLAGS = 16 };
/** Agreement of those who take part (MPIX_Comm_agree): everyone gets the bitwise AND of all flags, or everyone an
 *  error, also if some are in gab_world_repair() already. Collective.
 *  @param[in,out] flags  the lower #GAB_AGREE_FLAGS bits
 *  @return GAB_ERR_FAULT if anyone is dead or the world is broken; *flags is then meaningless;
 *  ::GAB_ERR_ARGUMENT for higher bits */
gab_status gab_world_agree(gab_world *world, uint32_t *flags);

/* ------------------------------------------------------------------------------------ spares */

/** Whether repairs call spares, and start processes: three attempts in a repair at most. The same on all, before gab_world_rest(); local. */
GAB_EXTENDER void gab_world_set_replacement(gab_world *world, gab_replacement replacement);
enum { GAB_FARTHEST = 3 };
/** How far apart two processes are: from 0, on one node, to #GAB_FARTHEST. */
typedef int (*gab_distance_fn)(const void *user, gab_process a, gab_process b);
/** Repairs call the spare that is nearest to the dead process, the lowest of several. Without it the lowest of all.
 *  The same on all; local. @param[in] distance  of which all know the same; NULL: does not matter @param[in] user  borrowed */
GAB_EXTENDER void gab_world_set_distance(gab_world *world, gab_distance_fn distance, const void *user);

/** Spares wait in this call until they are needed. Collective over all. On a member it returns at once; on a spare when
 *  it is called (gab_world_is_spare() is then false), when it is not needed any more, or when a repair raised an abort
 *  request. A spare at rest polls some hundred times a second and takes part in repairs by itself.
 *  @param[out] abort_request  what gab_world_repair() gave to a spare that was called; GAB_OK otherwise
 *  @return GAB_OK; ::GAB_ERR_FAULT on a member, also on a spare before it rests; on a spare what gab_world_repair()
 *  failed with */
gab_status gab_world_rest(gab_world *world, gab_status *abort_request);
/** The end of what spares rested for: recalls them, through further deaths, and hands them status and message of how it
 *  ended, so that all processes go on alike. Collective over all; nothing happens in a world without spares.
 *  All members have to have agreed that they are at the end before one calls it: a spare is called for nobody who dies behind
 *  that, since the others have left.
 *  @param[in] end  equal on all members; of a spare nothing
 *  @return `end`, on spares too; what went wrong in telling them, if `end` was GAB_OK */
gab_status gab_world_dismiss(gab_world *world, gab_status end);

/* ------------------------------------------------------------------------------------ an application's own MPI */

/** Collective. A duplicate of the communicator of the living, for the application's own MPI calls; rebuilt
 *  by every repair. Owned by the world. */
gab_status gab_world_dup(gab_world *world, gab_comm **comm);
/** Collective. Like MPI_Comm_split over the living, ordered by rank; colour as there. */
gab_status gab_world_split(gab_world *world, int colour, gab_comm **comm);
/** @return the present MPI communicator; fetch it again after every repair. MPI_COMM_NULL where colour was
 *  MPI_UNDEFINED. */
MPI_Comm gab_comm_mpi(const gab_comm *comm);

#ifdef __cplusplus
}
#endif
#endif
