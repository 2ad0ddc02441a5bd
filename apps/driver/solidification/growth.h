/** @file growth.h
 *  @brief A phase field that runs: everything that is built from a case, and what it leaves behind.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_GROWTH_H
#define GABION_APPS_DRIVER_GROWTH_H

#include "apps/driver/plan/traffic.h"
#include "apps/driver/solidification/solidification.h"
#include "blockforest/output/parts.h"
#include "resilience/resilience_config.h"
#include "resilience/reports/summary.h"

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
  const solidification_case *parameters; /**< borrowed, as the rest of this group */
  const driver_options *options;
  const char *folder;
  gab_world *world;

  gab_forest *forest;
  gab_phasefield *model;
  gab_balance_report balance;
  gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES];
  gab_quantity_list quantities;
  gab_output *output;
  gab_output *failure_output;  /**< what is written if the run diverges: its last state */
  gab_output *good_output;     /**< and the last good one */
  gab_output *recovery_output; /**< what is drawn when processes have died */
  front_record front;
  gab_series *profile; /**< borrowed; NULL: not wanted */
  gab_schedule profile_schedule;
  gab_parts *slabs; /**< NULL: not wanted */
  bool slabs_known; /**< what is in the folder, as of `slabs_epoch` */
  gab_epoch slabs_epoch;
  lost_view lost[GROWTH_MOST_LOST];
  size_t lost_count;
  gab_buffer own_blocks; /**< ids of those that this slot had before the last death, ascending */
  gab_timeloop *loop;
  driver_traffic traffic;
  gab_run_lock *lock;                                    /**< of the folder, borrowed */
  gab_restart *restart;                                  /* until the loop has it */
  uint64_t level_blocks[GAB_PHASEFIELD_MOST_LEVELS + 1]; /**< at the end */
  bool keep_series;                                      /**< going back does not cut them any more */
  gab_summary summary;
} growth;

double growth_time(const growth *it, gab_step step);

/* ---- grid.c ---- */
/** Fills the forest. Collective. */
gab_status growth_build_grid(growth *it);
bool growth_rebalance_due(const void *user, gab_step step);
gab_status growth_rebalance(void *user, gab_step step);
bool growth_grid_due(const void *user, gab_step step);
gab_status growth_adapt_grid(void *user, gab_step step);
/** Blocks of each level, for the summary. Collective. */
gab_status growth_count_grid(growth *it);
/** The member "grid" of summary.json. */
void growth_summarize_grid(const growth *it, gab_json *json);

/* ---- output.c ---- */
/** Makes all writers. Local. */
gab_status growth_add_writers(growth *it);
bool growth_output_due(const void *user, gab_step step);
gab_status growth_write_output(void *user, gab_step step);
/** Writes the last state. Collective. */
gab_status growth_finish_output(growth *it, gab_step step);
/** Leaves the fields of a run that diverged, and a picture. Collective. */
/** Writes the state by one of the outputs for that, and says so. Collective. */
gab_status growth_leave_evidence(growth *it, gab_output *output, const char *name, gab_step step);
/** Cursors of all series. */
gab_status growth_pack_output(void *user, gab_buffer *out);
gab_status growth_unpack_output(void *user, gab_reader *in);

/* ---- lost.c: pictures of what has died ---- */
/** For a slice with outlines in the colours of owners (the first few of them): NAME_lost, the same of the
 * state that was restored, without the blocks that the dead had. */
gab_status growth_add_lost_slice(growth *it, const gab_slice_options *options);
/** Remembers which blocks are here. Local. */
gab_status growth_note_blocks(growth *it);
/** After the blocks of the dead have been adopted, before they are shared out. Collective. */
gab_status growth_draw_lost(growth *it);

/* ---- slabs.c: what leaves the window ---- */
gab_status growth_add_slabs(growth *it);
/** Moves the window if the front is too high; what leaves is written first. Collective. */
bool growth_window_due(const void *user, gab_step step);
gab_status growth_move_window(void *user, gab_step step);
/** The window as it is at the end: what the slabs lack. Collective. */
gab_status growth_finish_slabs(growth *it, gab_step step);

#endif
