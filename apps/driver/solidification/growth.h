/* SPDX-License-Identifier: Apache-2.0 */
/** @file growth.h
 *  @brief Run of a phase field: objects built from a case, and its output.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_GROWTH_H
#define GABION_APPS_DRIVER_GROWTH_H

#include "apps/driver/plan/app_plan.h"
#include "apps/driver/solidification/solidification.h"
#include "blockforest/output/fields/slab_writer.h"
#include "resilience/resilience_config.h"

/** The last row of front.csv, from which the velocity of the next one follows: part of the state. */
typedef struct front_record {
  gab_step step; /**< -1: none yet */
  double time, height, velocity;
} front_record;

struct growth;

/** A slice that is drawn when processes have died. */
typedef struct lost_view {
  const struct growth *owner;
  gab_quantity shown;
  char name[GAB_PHASE_NAME_LENGTH + 64];
} lost_view;

enum { GROWTH_MOST_LOST = 8 };

typedef struct growth {
  gab_app_run base;
  const solidification_case *parameters; /**< the same as base.parameters */
  gab_phasefield *model;
  gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES];
  front_record front;
  gab_slab_writer *slabs; /**< NULL: not wanted */
  bool slabs_known;       /**< content of the folder, as of `slabs_epoch` */
  gab_epoch slabs_epoch;
  lost_view lost[GROWTH_MOST_LOST];
  size_t lost_count;
  gab_buffer own_blocks; /**< ids of the blocks of this rank before the last death, ascending */
} growth;

/* ---- solidification_run.c: as in ::gab_solver ---- */
gab_status gab_app_growth_prepare(gab_app_run *run);
gab_app_memory gab_app_growth_memory(const gab_app_run *run);
gab_status gab_app_growth_build(gab_app_run *run);
void gab_app_growth_describe(const gab_app_run *run);
gab_status gab_app_growth_add(gab_app_run *run);
gab_status gab_app_growth_rebalance(void *user, gab_forest *forest);
gab_status gab_app_growth_check_finite(gab_app_run *run);
gab_status gab_app_growth_update_quantities(gab_app_run *run);
int gab_app_growth_levels(const gab_app_run *run);
gab_status gab_app_growth_check_recomputed(gab_app_run *run, bool at_rest);
gab_sample_report gab_app_growth_recomputation(const gab_app_run *run);
void gab_app_growth_name_levers(const gab_app_run *run);
void gab_app_growth_report(const gab_app_run *run);
void gab_app_growth_release(gab_app_run *run);
/** Names of files in addition to those of the writers. */
extern const char gab_app_growth_files[];

/* ---- solidification_grid.c ---- */
/** Fills the forest. Collective. */
gab_status gab_app_growth_build_grid(growth *it);
/** As in ::gab_solver. */
gab_status gab_app_growth_plan(gab_app_run *run, gab_app_plan *plan);
bool gab_app_growth_grid_due(const void *user, gab_step step);
gab_status gab_app_growth_adapt_grid(void *user, gab_step step);

/* ---- solidification_output.c: as in ::gab_solver ---- */
gab_status gab_app_growth_add_writers(gab_app_run *run);
gab_status gab_app_growth_settle_slice(gab_app_run *run, const char *quantity, gab_slice_options *options);
void gab_app_growth_pick_evidence(const gab_app_run *run, gab_quantity *picked, size_t *count,
                                  const char **quantity, gab_slice_options *slice);
gab_status gab_app_growth_pack_series(const gab_app_run *run, gab_buffer *out);
gab_status gab_app_growth_unpack_series(gab_app_run *run, gab_reader *in);

/* ---- lost.c: pictures of lost blocks ---- */
/** For a slice with outlines in the colours of owners (the first few of them): NAME_lost, the same of the
 *  state that was restored, without the blocks that the dead had. */
gab_status gab_app_growth_add_lost_slice(growth *it, const gab_slice_options *options);
/** Remembers which blocks are here. Local. */
gab_status gab_app_growth_note_blocks(growth *it);
/** After the blocks of the dead have been adopted, before they are shared out. Collective. */
gab_status gab_app_growth_draw_lost(growth *it);

/* ---- slabs.c: rows that leave the window ---- */
gab_status gab_app_growth_add_slabs(growth *it);
/** Moves the window if the front is too high; leaving rows are written first. Collective. */
bool gab_app_growth_window_due(const void *user, gab_step step);
gab_status gab_app_growth_move_window(void *user, gab_step step);
/** Writes the final window, which the slabs lack. Collective. */
gab_status gab_app_growth_finish_slabs(gab_app_run *run, gab_step step);

#endif
