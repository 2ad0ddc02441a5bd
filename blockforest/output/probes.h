/* SPDX-License-Identifier: Apache-2.0 */
/** @file probes.h
 *  @brief Probes: quantities at fixed points, as a series.
 *
 *  A point has the value of the cell that contains it; lower faces belong to the cell. The owner of the block contributes the
 *  value, so the series does not depend on the owners.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_PROBES_H
#define GABION_BLOCKFOREST_PROBES_H

#include "blockforest/output/csv.h"
#include "blockforest/output/output_quantity.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_probes gab_probes;

typedef struct gab_probes_options {
  const char *path;               /**< of the CSV file */
  const double (*points)[3];      /**< physical coordinates; z is ignored in 2D; copied */
  const char *const *names;       /**< of the points, for the columns; NULL: p0, p1, … */
  size_t point_count;             /**< at least 1 */
  const gab_quantity *quantities; /**< copied */
  size_t quantity_count;          /**< at least 1 */
} gab_probes_options;

/** Local. Columns: POINT.QUANTITY for scalars, POINT.QUANTITY.x and so on for vectors, point by point.
 *  @param[in] forest  borrowed as long as the probes live
 *  @return ::GAB_ERR_INPUT for a point outside the domain */
gab_status gab_probes_create(gab_forest *forest, const gab_probes_options *options, gab_probes **probes);
void gab_probes_destroy(gab_probes **probes);

/** Values of all points, in the order of the columns; NaN where there is no block or no value. Collective. */
gab_status gab_probes_sample(gab_probes *probes, double *values);

/** Samples and appends a row. Collective. */
gab_status gab_probes_write(gab_probes *probes, gab_step step, double time);

/** The series, for its cursor. Borrowed. */
gab_series *gab_probes_series(gab_probes *probes);

#ifdef __cplusplus
}
#endif
#endif
