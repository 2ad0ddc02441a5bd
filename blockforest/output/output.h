/* SPDX-License-Identifier: Apache-2.0 */
/** @file output.h
 *  @brief Output: a list of writers, each with its schedule.
 *
 *  @code
 *    GAB_TRY(gab_output_folder_make(world, "OUT"));
 *    GAB_TRY(gab_output_create(forest, "OUT", &output));
 *    GAB_TRY(gab_output_add_volume(output, (gab_schedule){.every = 1000}, &volume));
 *    GAB_TRY(gab_output_add_slice(output, (gab_schedule){.every = 100}, &slice));
 *    ...
 *    if (gab_output_due(output, step)) GAB_TRY(gab_output_write(output, step, time));
 *  @endcode
 *
 *  The cursors of all series and planes form one replicated entity: gab_output_entity().
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_OUTPUT_H
#define GABION_BLOCKFOREST_OUTPUT_H

#include "blockforest/output/csv.h"
#include "blockforest/output/fields/hdf5_output.h"
#include "blockforest/output/output_files.h"
#include "blockforest/output/particle_output.h"
#include "blockforest/output/planes/planes.h"
#include "blockforest/output/probes.h"
#include "blockforest/pictures/png_slice.h"
#include "core/base/entity.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_output gab_output;

/** Steps of output: start, start + every, start + 2 every, …; or the steps nearest to start + k interval. */
typedef struct gab_schedule {
  gab_step every; /**< > 0; 0: only by gab_output_write_now() */
  gab_step start; /**< >= 0 */
  bool last;      /**< also at the last step of the run: gab_output_write_last() */
  /** In steps, not whole and above 1, instead of `every` (which must be > 0 too); 0: none. */
  double interval;
  int64_t stride; /**< every stride-th of these steps; 0, 1: all */
  int64_t skip;   /**< number of these steps left out at the beginning */
} gab_schedule;

GAB_EXTENDER bool gab_schedule_due(gab_schedule schedule, gab_step step);
/** The k-th step of the schedule, from k = 0. Pure. @param[in] schedule  with at least one step */
GAB_EXTENDER gab_step gab_schedule_step(gab_schedule schedule, int64_t k);
/** Number of scheduled steps before `step`. Pure. */
GAB_EXTENDER int64_t gab_schedule_count(gab_schedule schedule, gab_step step);

/** Local. @param[in] forest  borrowed as long as the output lives; `folder` is copied */
gab_status gab_output_create(gab_forest *forest, const char *folder, gab_output **output);
/** Destroys the writers and series that were made through the output. */
void gab_output_destroy(gab_output **output);

/* Adding writers: local, the same in the same order on all ranks; options.folder NULL means the output's.
 * ::GAB_ERR_INPUT for a name of another writer, or one that gab_output_name_check() refuses; ::GAB_ERR_ARGUMENT for a
 * schedule with negative steps. */

gab_status gab_output_add_volume(gab_output *output, gab_schedule schedule,
                                 const gab_volume_options *options);
gab_status gab_output_add_slice(gab_output *output, gab_schedule schedule, const gab_slice_options *options);
/** Probes; options.path NULL means FOLDER/probes.csv. */
gab_status gab_output_add_probes(gab_output *output, gab_schedule schedule,
                                 const gab_probes_options *options);

/** Particles; in FOLDER/fields. */
gab_status gab_output_add_particles(gab_output *output, gab_schedule schedule, const gab_particles *particles,
                                    const gab_particle_output_options *options);

/** A plane; FOLDER/NAME.h5. */
GAB_EXTENDER gab_status gab_output_add_plane(gab_output *output, gab_schedule schedule,
                                             const gab_plane_options *options);

/** Values of a row of a series, called when the row is due. Collective; the same values on all ranks. */
typedef gab_status (*gab_row_fn)(void *user, gab_step step, double time, double *values);
/** FOLDER/NAME.csv with rows from a function. @param[in] row  NULL: the application appends the rows
 *  @param[out] series  borrowed, owned by the output; may be NULL */
gab_status gab_output_add_series(gab_output *output, gab_schedule schedule, const char *name,
                                 const char *const *columns, size_t count, gab_row_fn row, void *user,
                                 gab_series **series);

/** All rows of a step, for example one per layer of cells. Collective; the same values on all ranks. @param[out] rows
 *  [count][columns]; released by the output with gab_free() */
typedef gab_status (*gab_rows_fn)(void *user, gab_step step, double time, double **rows, size_t *count);
/** FOLDER/NAME.csv with several rows for each step. */
gab_status gab_output_add_table(gab_output *output, gab_schedule schedule, const char *name,
                                const char *const *columns, size_t count, gab_rows_fn rows, void *user);

/** Appends the names of the files of its writers, one per line, relative to the folder, with `<n>` for a number.
 *  Local. */
GAB_EXTENDER gab_status gab_output_list_files(const gab_output *output, gab_buffer *names);

/** True if some writer is due at this step. Local, the same on all ranks. */
bool gab_output_due(const gab_output *output, gab_step step);

/** True if a writer due at this step evaluates a quantity that is not pointwise, so that ghosts and other data around
 *  cells must be up to date. Callbacks of series update their data themselves. Local, the same on all ranks. */
GAB_EXTENDER bool gab_output_looks_around(const gab_output *output, gab_step step);

/** Runs the writers that are due at this step. Collective. Announces ::GAB_FAULT_POINT_OUTPUT.
 *  @return on all ranks the same: GAB_OK, ::GAB_ERR_IO if some rank could not write (message of that rank),
 *  ::GAB_ERR_FAULT in a broken world */
gab_status gab_output_write(gab_output *output, gab_step step, double time);

/** Kinds of writers, to be combined. */
typedef enum gab_output_kind {
  GAB_OUTPUT_VOLUME = 1,
  GAB_OUTPUT_SLICE = 2,
  GAB_OUTPUT_SERIES = 4, /**< series and probes */
  GAB_OUTPUT_PARTICLES = 8,
  GAB_OUTPUT_PLANE = 16, /**< rows of planes */
  GAB_OUTPUT_ALL = 31
} gab_output_kind;

/** Writes now, regardless of schedules, e.g. the state of a run that diverged. Collective.
 *  @param[in] kinds  sum of ::gab_output_kind */
GAB_EXTENDER gab_status gab_output_write_now(gab_output *output, unsigned kinds, gab_step step, double time);

/** True if a writer with schedule.last was not due at this last step. Local, the same on all ranks. */
GAB_EXTENDER bool gab_output_lacks_last(const gab_output *output, gab_step step);

/** Runs the writers for which gab_output_lacks_last() is true. Collective. @return as gab_output_write() */
gab_status gab_output_write_last(gab_output *output, gab_step step, double time);

/** Flushes all series. Collective. */
gab_status gab_output_flush(gab_output *output);

/** Flushes the series and appends their cursors: the same bytes on all ranks. Local. */
GAB_EXTENDER gab_status gab_output_pack(gab_output *output, gab_buffer *out);
/** Restores the cursors and cuts the files; volume output cleans its folder at the next write. A series without a
 *  cursor, or with one of other columns (a resumed run may have other series), begins a new file and moves the old one
 *  aside. Cursors of series that no longer exist are ignored. Local. */
GAB_EXTENDER gab_status gab_output_unpack(gab_output *output, gab_reader *in);
/** gab_output_pack() and gab_output_unpack() as the entity "output", equal on all ranks, for
 *  gab_timeloop_add_entity(). Pure.
 *  @param[in] output  borrowed as long as the entity is used */
gab_entity gab_output_entity(gab_output *output);

#ifdef __cplusplus
}
#endif
#endif
