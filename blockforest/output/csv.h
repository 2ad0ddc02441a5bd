/* SPDX-License-Identifier: Apache-2.0 */
/** @file csv.h
 *  @brief Series: a table with a row per step, as a CSV file that survives rollbacks.
 *
 *  All ranks append the same rows (results of reductions). The root rank writes them, the others only count the bytes.
 *  So every rank knows the *cursor*, the length of the file, and any rank can become root after a fault.
 *  gab_series_unpack() cuts the file to the cursor, and recomputed rows follow. The result is, byte for byte, the file
 *  of an undisturbed run.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_CSV_H
#define GABION_BLOCKFOREST_CSV_H

#include "core/base/buffer.h"
#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_series gab_series;

#define GAB_LONGEST_COLUMN 120 /**< bytes of a column's name */

/** Whether a text can be the name of a column: 1 to #GAB_LONGEST_COLUMN bytes without commas, semicolons, double
 *  quotes, control characters, and blanks at its ends. Pure. @return ::GAB_ERR_INPUT with the reason */
gab_status gab_column_check(const char *name);

/** Local; the same on all ranks. The first row creates the file and overwrites an existing one.
 *  @param[in] path     copied
 *  @param[in] columns  names of the columns behind "step" and "time"; copied
 *  @param[out] series  owned by the caller
 *  @return ::GAB_ERR_INPUT for a repeated name, or one that gab_column_check() refuses */
gab_status gab_series_create(gab_world *world, const char *path, const char *const *columns, size_t count,
                             gab_series **series);
/** Writes pending rows, then releases. NULL is allowed. Errors go to the log; call gab_series_flush() first to
 *  receive them. */
void gab_series_destroy(gab_series **series);

/** Appends a row. Local; the same values on all ranks. Numbers have as many digits as reading the same double needs,
 *  NaN is "nan". A second row for the last step is ignored.
 *  @return ::GAB_ERR_ARGUMENT for a step before the last row's, ::GAB_ERR_IO on the root if the disk refuses
 */
gab_status gab_series_append(gab_series *series, gab_step step, double time, const double *values);
/** Appends several rows of one step in order, e.g. one per layer of cells; otherwise as gab_series_append().
 *  @param[in] values  [rows][columns] */
gab_status gab_series_append_rows(gab_series *series, gab_step step, double time, const double *values,
                                  size_t rows);

/** Whether the last row has that step. Pure; the same on all ranks. */
bool gab_series_has(const gab_series *series, gab_step step);

/** Passes pending rows to the operating system and checks the file: a removed or renamed file is restored, rows that
 *  cannot be recovered are named in a warning. Waits while the disk refuses (gab_output_set_retry()). Local. @return
 *  ::GAB_ERR_IO with path and cause */
gab_status gab_series_flush(gab_series *series);

/** Length of the file in bytes after a flush. */
uint64_t gab_series_cursor(const gab_series *series);

/** Flushes, then appends the cursor: the same bytes on all ranks (a replicated entity). Local.
 *  @return ::GAB_ERR_IO if flushing fails */
gab_status gab_series_pack(gab_series *series, gab_buffer *out);
/** Returns to a packed cursor, or advances to it after a restart: pending rows are dropped, and the root cuts the
 *  file to that length. A warning names rows that the file lacks. Local.
 *  @return ::GAB_ERR_CORRUPT if the cursor cannot be read; ::GAB_ERR_IO on the root if the file cannot be cut */
gab_status gab_series_unpack(gab_series *series, gab_reader *in);
/** Begins an empty file, for a resumed run with other columns than before. The root moves the existing file to
 *  NAME_1.csv or the next free number. Local. @return ::GAB_ERR_IO on the root */
gab_status gab_series_begin_anew(gab_series *series);
/** Adds data on which the rows depend besides the names of the columns, e.g. the place of a measurement: a resumed run with
 *  other data begins a new file. Local; after creation, the same on all ranks. */
void gab_series_depend_on(gab_series *series, const void *data, size_t bytes);
/** A hash of the names of the columns, and of the data above. */
uint64_t gab_series_columns_hash(const gab_series *series);

#ifdef __cplusplus
}
#endif
#endif
