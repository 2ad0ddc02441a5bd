/* SPDX-License-Identifier: Apache-2.0 */
/* Local recovery at work: the machine of local.h on the reliable channel of core/messages/logged/reliable_channel.h,
 * for a time loop.
 *
 * local_run.c (a generation: machine, reliable channel, and what passes between them), local_neighbours.c (the communication
 * partners of a rank), local_step.c (the time loop: begin, checkpoints, sections, taking over a rank), local_times.c
 * (checkpoints of a cluster alone), local_limit.c (how long logs may grow), local_state.c (what is in an image),
 * local_settle.c (the end of a generation: images become snapshots, claims become faults), local_strategy.c (the
 * strategy by name, and what does not go with it). doc/local-recovery.md, "On MPI".
 *
 * Internal. */
#ifndef GABION_RESILIENCE_LOCAL_RUN_IMPL_H
#define GABION_RESILIENCE_LOCAL_RUN_IMPL_H

#include "core/messages/logged/message_logger.h"
#include "core/messages/logged/reliable_channel.h"
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/local/protocol/local.h"
#include "resilience/local/local_division_impl.h"
#include "resilience/loop/timeloop_impl.h"

/* The image to which this rank will roll back. */
typedef struct gab_local_restart {
  bool there; /* it will be restored when no operation is in progress */
  gab_step checkpoint;
  gab_buffer image;
} gab_local_restart;

/* Counts of a generation that were added to the totals. */
typedef struct gab_local_counted {
  uint64_t replayed, left_out, compared, jumps, rollbacks, logged_bytes, handed_over, copied, own, restored;
} gab_local_counted;

struct gab_local_run {
  gab_timeloop *loop;
  gab_world *world;
  gab_message_logger logger;
  /* a generation */
  gab_reliable_channel *channel;
  gab_local *machine; /* NULL: none; what happens is global */
  gab_epoch epoch;
  gab_members members; /* when it began */
  gab_placement placement;
  uint64_t revision; /* of the forest then, or when this process took its rank */
  bool had_part;     /* this process runs or ran a rank in it */
  bool inside;       /* in a global section: the message logger is off */
  bool gathers; /* has entered a section with its complete state; if all have, nothing needs to be restored */
  gab_local_restart restart;
  gab_buffer packed;             /* image of a checkpoint while it is handed in; kept to reuse its pages */
  gab_rank counted_for;          /**< the rank for which the next two hold, with own times */
  gab_rank clusters, my_cluster; /* with own times: number of clusters, and index of that of this process */
  double called;                 /* seconds: when this spare was offered its rank */
  gab_step own;                  /* the first checkpoint that this process took itself; -1: none yet */
  double taken;       /* seconds: when this process took its last checkpoint; 0: none in this generation */
  double alone_since; /* seconds: when this spare learned that no active process lives; 0: one does */
  double looked;      /* seconds: when this process looked at its messages last */
  bool behind;        /* this rank came back and has not caught up */
  bool takes_over;    /* this spare is about to restore its rank for the first time */
  gab_claim earlier[GAB_MOST_CLAIMS - 1]; /* earlier processes of this rank, as far as images record them */
  int earlier_count;
  uint64_t meetings; /* of the world when the generation began, or this process took its rank */
  gab_local_counted counted;
  uint64_t log_steps;     /* between two checkpoints at most, the same on all; 0: not known yet */
  uint64_t logged_before; /* bytes ever logged when the last checkpoint was taken */
  gab_step logged_since;  /* its step */
  char why_over[160];     /* why it was handed over; "": it was not */
  /* of the whole run */
  gab_division division;
  gab_step own_every; /* steps between two checkpoints that a cluster takes alone; 0: none */
  double log_limit;   /* of logs, in units of the state of a rank; 0: none */
  double
      commit_share; /* bound of the wait for the commit, as a share of the checkpoint interval; 0: no wait */
  gab_rank commit_children;
  bool verify;   /* messages that are sent again are compared with those received before */
  bool gathered; /* the last recovery involved all ranks */
  bool off;      /* for good */
};

/* ---- local_run.c: the run (local_recovery_impl.h), and its generations */

gab_status gab_local_run_create(gab_timeloop *loop, const gab_protection *options, gab_local_run **run);
void gab_local_run_destroy(gab_local_run **run);

/* A generation begins: machine and reliable channel of an active process, or of a spare at rest. Local. */
gab_status gab_local_generation(gab_local_run *run);
/* Ends a generation and drops its messages; after a repair, or without pending operations. */
void gab_local_discard(gab_local_run *run);
/* Activates the message logger. */
void gab_local_carry(gab_local_run *run);
void gab_local_note_totals(gab_local_run *run);
/* The cluster of the rank at a place. */
gab_rank gab_local_cluster_at(const gab_local_run *run, gab_rank place);
/* Whether this rank has the image from which it resumes: no other one is expected, and nothing was handed over. */
bool gab_local_has_to_restart(const gab_local_run *run);
/* Serves other processes until `done`. @return ::GAB_ERR_FAULT to unwind */
gab_status gab_local_wait(gab_local_run *run, bool (*done)(const gab_local_run *run));

/* ---- local_neighbours.c */

/* Index of a rank among the members; negative if it is not a member. Pure. */
gab_rank gab_local_place(const gab_local_run *run, gab_rank rank);

/* Communication partners of this rank, each once. */
typedef struct gab_local_ranks {
  const gab_local_run *run;
  gab_rank *ranks; /* places; owned */
  size_t count;
} gab_local_ranks;

/* Partners by logged messages in the present forest. Local. */
gab_status gab_local_list_neighbours(gab_local_ranks *list);
/* Ranks whose images it stores. Local. */
gab_status gab_local_list_protected(gab_local_ranks *list);
/* Makes the reliable channel probe these each time. */
gab_status gab_local_look_near(const gab_local_run *run, const gab_local_ranks *list);
/* Within a section, after a change of the grid or of owners: gives the new neighbours to the machine. Collective. */
gab_status gab_local_change_grid(gab_local_run *run);

/* ---- local_step.c */

/* Called by a spare at rest. @param[in,out] run  of type gab_local_run @param[out] took_rank  it runs a rank now */
gab_status gab_local_rest(void *run, bool *took_rank);

/* Hands in an image as soon as the machine accepts it, and waits shortly for the commit. @param[in] own  of the
 * cluster alone */
gab_status gab_local_hand_in(gab_local_run *run, const gab_buffer *image, bool own);

/* ---- local_times.c: both do nothing without own times */

/* When a generation begins: how many clusters there are. Local. @return ::GAB_ERR_INPUT */
gab_status gab_local_begin_own_times(gab_local_run *run);
/* After a step without a common checkpoint. Collective within clusters. */
gab_status gab_local_own_times_due(gab_local_run *run);

/* ---- local_limit.c: all do nothing without a limit */

/* A checkpoint was taken, or restored, and nothing has been logged since. Local. */
void gab_local_limit_mark(gab_local_run *run);
/* Before a checkpoint: determines the largest interval that the limit allows. Collective, by logged messages or
 * within a section. */
gab_status gab_local_limit_measure(gab_local_run *run);
/* After a checkpoint, when its clock is set: moves the next checkpoint forward. Local. */
void gab_local_limit_apply(gab_local_run *run);

/* ---- local_step.c, local_settle.c: members of the table in local_strategy.c, as local_recovery_impl.h describes them */

gab_status gab_local_begin(gab_timeloop *loop);
gab_status gab_local_enter(gab_timeloop *loop);
gab_status gab_local_checkpoint_due(gab_timeloop *loop, bool *done);
gab_status gab_local_help(gab_timeloop *loop);
bool gab_local_is_on(const gab_timeloop *loop);
gab_status gab_local_go_back(gab_timeloop *loop, bool *alone);
int gab_local_faults(const gab_timeloop *loop);
bool gab_local_before_repair(gab_timeloop *loop);
gab_status gab_local_after_repair(gab_timeloop *loop, gab_members *before);

/* ---- local_state.c */

/* Packs the state of this rank as the next snapshot, and that as an image. */
gab_status gab_local_pack(gab_local_run *run, gab_buffer *image);
/* The same as an image alone: snapshots, and the number of the next one, stay as they are. */
gab_status gab_local_pack_own(gab_local_run *run, gab_buffer *image);
/* Restores the state of the present restart. */
gab_status gab_local_unpack(gab_local_run *run);
/* The parts of an image: messages as in a snapshot, and the history of the run. */
typedef struct gab_local_parts {
  uint64_t blocks, own_blocks; /* of all ranks, and of this one */
  uint64_t log_steps;
  gab_reader own, replicated, history;
  gab_reader lives; /* of earlier processes of the rank: 24 bytes each */
  gab_image_header header;
} gab_local_parts;
gab_status gab_local_cut(gab_reader image, gab_local_parts *parts);

#endif
