/* SPDX-License-Identifier: Apache-2.0 */
/** @file plane_input.h
 *  @brief Files of planes (blockforest/output/planes/planes.h) as input: grid, times, and the values row by row.
 *
 *  Reads also files of other programs in that format (doc/field-format.md). Local; one thread at a time.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_PLANE_INPUT_H
#define GABION_BLOCKFOREST_PLANE_INPUT_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_plane_input {
  char *path;       /**< owned, as is `times` */
  int dimension;    /**< 2: a line */
  int axis;         /**< normal of the plane */
  double position;  /**< on that axis */
  double origin[3]; /**< first point */
  double spacing[2];
  int64_t points[2]; /**< along the other axes, in ascending order; 1 where there is none */
  uint64_t rows;
  double *times; /**< of the rows, ascending */
} gab_plane_input;

/** Reads all except the values. @param[out] input  zero on failure @return ::GAB_ERR_INPUT or ::GAB_ERR_IO with file
 *  and reason */
gab_status gab_plane_input_open(const char *path, gab_plane_input *input);
void gab_plane_input_close(gab_plane_input *input);
/** Reads the values of a quantity in one row. @param[in] components  1 or 3
 *  @param[out] values  [up][across][component]; NaN: no value
 *  @return ::GAB_ERR_INPUT if the file lacks the quantity, or has changed; ::GAB_ERR_IO */
gab_status gab_plane_input_read(const gab_plane_input *input, const char *quantity, int components,
                                uint64_t row, double *values);

#ifdef __cplusplus
}
#endif
#endif
