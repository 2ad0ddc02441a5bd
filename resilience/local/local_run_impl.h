/* SPDX-License-Identifier: Apache-2.0 */
/* Local recovery in a time loop: the state machine of local.h on the reliable channel of
 * core/messages/logged/reliable_channel.h.
 *
 * local_run.c (a generation: state machine, reliable channel, and their interaction), local_neighbours.c (the
 * communication partners of a rank), local_step.c (the time loop: begin, checkpoints, sections, taking over a rank),
 * local_times.c (checkpoints of single clusters), local_limit.c (limit of the message logs), local_state.c (contents of
 * an image), local_settle.c (the end of a generation: images become snapshots, claims become faults), local_strategy.c
 * (the strategy by name, and parameters that exclude it). doc/local-recovery.md, "On MPI".
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
  bool has_image; /* an image is present; it will be restored when no operation is in progress */
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
  gab_local *machine; /* NULL: none; recovery is global */
  gab_epoch epoch;
  gab_members members; /* at the start of the generation */
  gab_placement placement;
  uint64_t revision; /* of the forest at that time, or when this process took its rank */
  bool took_part;    /* this process runs or ran a rank in this generation */
  bool is_inside;    /* in a global section: the message logger is off */
  bool
      is_gathering; /* has entered a section with its complete state; if all have, nothing needs to be restored */
  gab_local_restart restart;
  gab_buffer packed;             /* image of a checkpoint while it is handed in; kept to reuse its pages */
  gab_rank counted_for;          /* the rank for which the next two are valid, with own_every */
  gab_rank clusters, my_cluster; /* with own_every: number of clusters, index of the own cluster */
  double offered_at;             /* seconds: when this spare was offered its rank */
  gab_step first_own;            /* the first checkpoint that this process took itself; -1: none yet */
  double taken_at;     /* seconds: when this process took its last checkpoint; 0: none in this generation */
  double alone_since;  /* seconds: when this spare found no active process alive; 0: it found one */
  double checked_at;   /* seconds: when this process last checked its messages */
  bool is_behind;      /* this rank was restored and has not caught up */
  bool is_taking_over; /* this spare is about to restore its rank for the first time */
  gab_claim earlier[GAB_MOST_CLAIMS - 1]; /* earlier processes of this rank, as far as images record them */
  int earlier_count;
  uint64_t meetings; /* of the world at the start of the generation, or when this process took its rank */
  gab_local_counted counted;
  uint64_t log_steps;     /* maximum between two checkpoints, the same on all; 0: unknown yet */
  uint64_t logged_before; /* bytes logged in the whole run until the last checkpoint */
  gab_step logged_since;  /* step of that checkpoint */
  char why_over[160];     /* reason of the transfer to the next strategy; "": none */
  /* the whole run */
  gab_division division;
  gab_step own_every; /* steps between two checkpoints of a single cluster; 0: none */
  double log_limit;   /* of logs, in units of the state of a rank; 0: none */
  double
      commit_share; /* bound of the wait for the commit, as a share of the checkpoint interval; 0: no wait */
  gab_rank commit_children;
  bool verify;       /* compare recomputed messages with those received before */
  bool has_gathered; /* the last recovery involved all ranks */
  bool is_off;       /* turned off for the rest of the run */
};

/* ---- local_run.c: the run (local_recovery_impl.h) and its generations */

gab_status gab_local_run_create(gab_timeloop *loop, const gab_protection *options, gab_local_run **run);
void gab_local_run_destroy(gab_local_run **run);

/* Begins a generation: machine and reliable channel of an active process or of an idle spare. Local. */
gab_status gab_local_generation(gab_local_run *run);
/* Ends a generation and drops its messages; after a repair, or without pending operations. */
void gab_local_discard(gab_local_run *run);
/* Activates the message logger. */
void gab_local_carry(gab_local_run *run);
void gab_local_note_totals(gab_local_run *run);
/* The cluster of the rank at a place. */
gab_rank gab_local_cluster_at(const gab_local_run *run, gab_rank place);
/* Whether this rank has the image from which it resumes, expects no other one, and local recovery is still active. */
bool gab_local_has_to_restart(const gab_local_run *run);
/* Serves other processes until `done`. @return ::GAB_ERR_FAULT if the caller must unwind */
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
/* Makes the reliable channel probe these ranks in each call. */
gab_status gab_local_look_near(const gab_local_run *run, const gab_local_ranks *list);
/* Within a section, after a change of the grid or of owners: gives the new neighbours to the machine. Collective. */
gab_status gab_local_change_grid(gab_local_run *run);

/* ---- local_step.c */

/* Called by an idle spare. @param[in,out] run of type gab_local_run @param[out] took_rank it runs a rank now */
gab_status gab_local_rest(void *run, bool *took_rank);

/* Passes an image to the machine as soon as it accepts one, and waits shortly for the commit. @param[in] own for a
 * checkpoint of the cluster only */
gab_status gab_local_hand_in(gab_local_run *run, const gab_buffer *image, bool own);

/* ---- local_times.c: both do nothing without own_every */

/* At the start of a generation: checks the program. Local. @return ::GAB_ERR_INPUT with a mailbox */
gab_status gab_local_begin_own_times(gab_local_run *run);
/* After a step without a common checkpoint. Collective within clusters. */
gab_status gab_local_own_times_due(gab_local_run *run);

/* ---- local_limit.c: all do nothing without a limit */

/* Called right after a checkpoint was taken or restored. Local. */
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

/* Packs the state of this rank as the next snapshot, and the snapshot as an image. */
gab_status gab_local_pack(gab_local_run *run, gab_buffer *image);
/* Packs an image only: snapshots, and the number of the next one, do not change. */
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
