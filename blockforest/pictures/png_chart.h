/* SPDX-License-Identifier: Apache-2.0 */
/** @file png_chart.h
 *  @brief Pictures of curves: one value per process, or per anything that is numbered from 0, as PNG files
 * with axes.
 *
 *  Local, no communication. The same calls give the same bytes.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_PNG_CHART_H
#define GABION_BLOCKFOREST_PNG_CHART_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_chart gab_chart;

typedef struct gab_chart_options {
  const char *title, *subtitle; /**< copied onto the picture */
  const char *axis[2];          /**< what is horizontal, what is vertical */
  double lower[2], upper[2];    /**< of the axes, upper > lower */
  int32_t width, height;        /**< of the area of the curves, in pixels */
} gab_chart_options;

/** @param[out] chart  owned by the caller @return ::GAB_ERR_ARGUMENT for axes that cannot be,
 * ::GAB_ERR_MEMORY */
gab_status gab_chart_create(const gab_chart_options *options, gab_chart **chart);
void gab_chart_destroy(gab_chart **chart);

/** Draws a curve through the points (k, values[k]), straight in between; where points are closer than pixels,
 * all that it passes. @param[in] shade  0: yellow … 1: dark blue, see gab_slice */
void gab_chart_curve(gab_chart *chart, const double *values, size_t count, double shade);
/** Marks a point by a red cross. */
void gab_chart_cross(gab_chart *chart, double x, double y);

/** @return ::GAB_ERR_IO that says why, ::GAB_ERR_INPUT if Gabion was built without libpng; no file is left
 * then */
gab_status gab_chart_save(const gab_chart *chart, const char *path);

#ifdef __cplusplus
}
#endif
#endif
