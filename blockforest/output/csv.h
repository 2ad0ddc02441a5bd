/* SPDX-License-Identifier: Apache-2.0 */
/** @file csv.h
 *  @brief Series: a table that grows by a row per step, as a CSV file that survives rollbacks.
 *
 *  All ranks append the same rows (results of reductions); the root rank writes them, the others only count
 *  the bytes. So everyone knows the *cursor*, the length of the file, and whoever is the root after a fault
 * can go on: after gab_series_unpack() the file is cut back to the cursor, and the rows that are computed
 * again follow. The result is, byte for byte, the file of an undisturbed run.
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

/** Whether a text can be the name of a column: 1 to #GAB_LONGEST_COLUMN bytes without commas, semicolons, double quotes,
 *  control characters, and blanks at its ends. Pure. @return ::GAB_ERR_INPUT that says what is wrong */
gab_status gab_column_check(const char *name);

/** Local; the same on all ranks. The file is made when the first row comes, over what may be there.
 *  @param[in] path     copied
 *  @param[in] columns  names of the columns behind "step" and "time"; copied
 *  @param[out] series  owned by the caller
 *  @return ::GAB_ERR_INPUT for a name that gab_column_check() refuses, or that is there twice */
gab_status gab_series_create(gab_world *world, const char *path, const char *const *columns, size_t count,
                             gab_series **series);
/** Writes what is still held back, then releases. NULL is allowed. Errors at that point go to the log: call
 *  gab_series_flush() first to get them. */
void gab_series_destroy(gab_series **series);

/** Appends a row. Local; all ranks have to give the same values. Numbers are written with as many digits as
 * it takes to read the same double again, NaN as "nan". A row for the step of the last row is left out.
 *  @return ::GAB_ERR_ARGUMENT for a step before the last row's, ::GAB_ERR_IO on the root if the disk refuses
 */
gab_status gab_series_append(gab_series *series, gab_step step, double time, const double *values);
/** Appends several rows of one step, one behind the other, e.g. one per layer of cells; else as above.
 *  @param[in] values  [rows][columns] */
gab_status gab_series_append_rows(gab_series *series, gab_step step, double time, const double *values,
                                  size_t rows);

/** Whether the last row is one of that step. Pure; the same on all ranks. */
bool gab_series_has(const gab_series *series, gab_step step);

/** Hands everything to the operating system, and looks whether what was written is still there: a file that was removed or
 *  renamed is restored, rows that cannot be had back are named in a warning. Waits for a disk that refuses
 *  (gab_output_set_retry()). Local. @return ::GAB_ERR_IO with path and cause */
gab_status gab_series_flush(gab_series *series);

/** Length of the file in bytes, once all is flushed. */
uint64_t gab_series_cursor(const gab_series *series);

/** Flushes, then appends the cursor: the same bytes on all ranks (a replicated entity). Local.
 *  @return ::GAB_ERR_IO if flushing fails */
gab_status gab_series_pack(gab_series *series, gab_buffer *out);
/** Goes back, or forth after a restart, to a packed cursor: rows held back are dropped, and the root cuts the
 *  file to that length. Where rows before it are not in the file any more, a warning names them. Local.
 *  @return ::GAB_ERR_CORRUPT if the cursor cannot be read; ::GAB_ERR_IO on the root if the file cannot be cut */
gab_status gab_series_unpack(gab_series *series, gab_reader *in);
/** Begins an empty file, for a run that goes on with other columns than the one before had. What lies there
 * is moved aside by the root, as NAME_1.csv or the next number that is free. Local. @return ::GAB_ERR_IO on
 * the root */
gab_status gab_series_begin_anew(gab_series *series);
/** A hash of the names of the columns. */
uint64_t gab_series_columns_hash(const gab_series *series);

#ifdef __cplusplus
}
#endif
#endif
