/* SPDX-License-Identifier: Apache-2.0 */
/** @file respawn_impl.h
 *  @brief Internal declarations of respawn.c, spawn.c and nodes.c: placement and start of replacement processes.
 *
 *  A *replacement process* is started in a repair for a vacant rank. The *bridge* is a communicator of the spawning
 *  process, its rank 0, and all replacement processes of an attempt.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_CORE_RESPAWN_IMPL_H
#define GABION_CORE_RESPAWN_IMPL_H

#include "core/world/world_impl.h"

/** Placement of the replacement processes of an attempt, numbered by ascending vacant rank. */
typedef struct gab_replacement_plan {
  int32_t count;
  gab_process *origins; /**< per replacement process: a process of the start on its requested node */
  int32_t *groups;      /**< per replacement process: its node, numbered by first occurrence */
  int32_t group_count;
  char (
      *hosts)[MPI_MAX_PROCESSOR_NAME]; /**< per group, on rank 0 of `comm`: MPI's name of the node; "": any */
} gab_replacement_plan;

void gab_replacement_plan_release(gab_replacement_plan *plan);

/** State that a replacement process receives, and applies after its set-up. */
struct gab_arrival {
  gab_members processes, members, whole;
  uint32_t next_context;
  gab_epoch epoch;
  int32_t replacements; /* number in this attempt */
  int32_t number;       /* of this one */
  gab_process *origins; /* of all respawned processes */
};

/* ---------------------------------------------------------------- nodes.c */

/** @return number of ranks that became vacant in this repair and are still vacant */
int32_t gab_world_vacancies(const gab_world *world);
/** Creates the plan: the node of the lost rank if a process of the start is alive there, else the node
 *  with such a process and the fewest ranks. Collective over `comm`; equal on all except `hosts`.
 *  After an error others may wait in it, so revoke the communicator. @param[out] plan always release
 *  it */
gab_status gab_nodes_plan(gab_world *world, gab_replacement_plan *plan);
/** The name that MPI gives to this node. */
void gab_node_name(char name[MPI_MAX_PROCESSOR_NAME]);

/* ---------------------------------------------------------------- spawn.c */

/** Starts all replacement processes of a plan and creates the bridge. On one process, which the kernel ends after 30
 *  s. @param[in] anywhere ignore the hosts of the plan */
gab_status gab_spawn_replacements(const gab_replacement_plan *plan, bool anywhere, MPI_Comm *bridge);
/** The part of a replacement process in gab_spawn_replacements(). @param[out] group its group in the plan @return false after an error */
bool gab_spawn_meet(MPI_Comm parent, MPI_Comm *bridge, int32_t *group, int32_t *group_count);
/** Cancels the time limit of this replacement process after it was accepted. */
void gab_spawn_limit_end(void);
/** Collective over `mine` and the processes that are to join it. @param[in] bridge  of rank 0 of `mine` */
bool gab_spawn_widen(MPI_Comm mine, MPI_Comm bridge, int other_leader, bool is_new, MPI_Comm *wide);
/** Broadcasts over the bridge from its rank 0. @param[in,out] bytes in on rank 0; out on the others */
bool gab_spawn_spread(MPI_Comm bridge, gab_buffer *bytes);
/** Packs the variables of the launcher, which daemons of other nodes do not have. */
gab_status gab_spawn_put_environment(gab_buffer *out);
gab_status gab_spawn_take_environment(gab_reader *in);

/* ---------------------------------------------------------------- respawn_facts.c */

gab_status gab_facts_put(const gab_world *world, const gab_replacement_plan *plan, gab_buffer *out);
/** @param[in] group of this replacement process @param[out] host its requested node, capacity for a name of MPI; "":
 *  any */
gab_status gab_facts_take(gab_world *world, gab_arrival *arrival, int32_t group, char *host, gab_reader in);

#endif
