/* SPDX-License-Identifier: Apache-2.0 */
/** @file respawn_impl.h
 *  @brief What respawn.c, spawn.c and nodes.c share: where replacement processes are to sit, and how they are started there.
 *
 *  A *replacement process* is started in a repair for a vacant rank. The *bridge* is a communicator of the
 *  process that starts them, its rank 0, and of all replacement processes of a try.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_CORE_RESPAWN_IMPL_H
#define GABION_CORE_RESPAWN_IMPL_H

#include "core/world/world_impl.h"

/** Where the replacement processes of a try are to sit. They are numbered by the vacant ranks, ascending. */
typedef struct gab_replacement_plan {
  int32_t count;
  gab_process *origins; /**< per replacement process: a process of the start on whose node it is to run */
  int32_t *groups;      /**< per replacement process: its node, numbered in the order in which they occur */
  int32_t group_count;
  char (*hosts)
      [MPI_MAX_PROCESSOR_NAME]; /**< per group, known to rank 0 of `comm`: what MPI calls it; "": where MPI likes */
} gab_replacement_plan;

void gab_replacement_plan_release(gab_replacement_plan *plan);

/** What a replacement process is told, and becomes when its set-up is done. */
struct gab_arrival {
  gab_members processes, members, whole;
  uint32_t next_context;
  gab_epoch epoch;
  int32_t replacements; /* of this try */
  int32_t number;       /* of this one */
  gab_process *origins; /* of all respawned processes */
};

/* ---------------------------------------------------------------- nodes.c */

/** The ranks that became vacant in this repair and are vacant still. */
int32_t gab_world_vacancies(const gab_world *world);
/** Makes the plan: on the node where the rank was run as long as a process of the first start lives there, else on
 *  that of such nodes on which the fewest ranks are run.
 *  Collective over `comm`; the same on all but for `hosts`. Where it fails others may be waiting in it: to be followed by a
 *  revocation. @param[out] plan  to be released in any case */
gab_status gab_nodes_plan(gab_world *world, gab_replacement_plan *plan);
/** The name that MPI gives to this node. */
void gab_node_name(char name[MPI_MAX_PROCESSOR_NAME]);

/* ---------------------------------------------------------------- spawn.c */

/** Starts all replacement processes of a plan and makes the bridge; by one process alone, which is ended by the
 *  kernel if it takes longer than 30 s. @param[in] anywhere  the hosts of the plan are not asked for */
gab_status gab_spawn_replacements(const gab_replacement_plan *plan, bool anywhere, MPI_Comm *bridge);
/** The part of a replacement process in that. @param[out] group  of the plan, to which it belongs @return false: it failed */
bool gab_spawn_meet(MPI_Comm parent, MPI_Comm *bridge, int32_t *group, int32_t *group_count);
/** This replacement process is received: it is not ended any more when it takes long. */
void gab_spawn_limit_end(void);
/** Collective over `mine` and the processes that are to join it. @param[in] bridge  of rank 0 of `mine` */
bool gab_spawn_widen(MPI_Comm mine, MPI_Comm bridge, int other_leader, bool is_new, MPI_Comm *wide);
/** Over the bridge, from its first process. @param[in,out] bytes  of that process; filled on the others */
bool gab_spawn_spread(MPI_Comm bridge, gab_buffer *bytes);
/** The variables that the launcher has set, which the daemon of another node does not know. */
gab_status gab_spawn_put_environment(gab_buffer *out);
gab_status gab_spawn_take_environment(gab_reader *in);

/* ---------------------------------------------------------------- respawn_facts.c */

gab_status gab_facts_put(const gab_world *world, const gab_replacement_plan *plan, gab_buffer *out);
/** @param[in] group  of this replacement process @param[out] host  where it was to sit, capacity for a name of MPI;
 *  "": anywhere */
gab_status gab_facts_take(gab_world *world, gab_arrival *arrival, int32_t group, char *host, gab_reader in);

#endif
