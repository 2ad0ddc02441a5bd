/* SPDX-License-Identifier: Apache-2.0 */
/** @file png_cells.h
 *  @brief A picture (PNG) of numbers on a plane of cells, with axes and colour bar, from a function.
 *
 *  Local.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_PNG_CELLS_H
#define GABION_BLOCKFOREST_PNG_CELLS_H

#include "core/base/status.h"

/** What is drawn. */
typedef struct gab_cells_picture {
  const char *path; /**< of the file */
  const char *title, *subtitle;
  char axes[2];              /**< letters of the horizontal and the vertical axis */
  int64_t cells[2];          /**< along them; above 1600 some are left out */
  double lower[2], upper[2]; /**< physical coordinates of the edges */
  double range[2];           /**< of the colours */
  double (*value)(void *user, int64_t horizontal, int64_t vertical); /**< of a cell; NaN: grey */
  void *user;
} gab_cells_picture;

/** Writes it. @return ::GAB_ERR_IO with path and cause, then no file is left; ::GAB_ERR_INPUT if Gabion was built without libpng */
gab_status gab_cells_picture_write(const gab_cells_picture *picture);

#endif
