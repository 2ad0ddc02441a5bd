/* SPDX-License-Identifier: Apache-2.0 */
/** @file png_slice.h
 *  @brief Pictures: axis-aligned slices of a scalar as PNG files, with axes, colour bar, title and, on
 *  request, the outlines of the blocks in the colours of their owners or levels. Each pixel shows the cell
 *  there, of whatever level its block is.
 *
 *  Only the pixels of the slice travel to the root rank, which holds the picture and one rank's part at a
 *  time. Unless it shows owners a picture is a function of the state alone: the same bytes for any number of
 *  ranks.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_PNG_SLICE_H
#define GABION_BLOCKFOREST_PNG_SLICE_H

#include "blockforest/output/output_quantity.h"
#include "blockforest/particles/particles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_slice gab_slice;

/** What the colours of outlines tell. */
typedef enum gab_outline { GAB_OUTLINE_OWNER = 0, GAB_OUTLINE_LEVEL } gab_outline;

typedef struct gab_slice_options {
  const char *folder;           /**< where the picture goes */
  const char *name;             /**< file name without step and ending; NULL: quantity, component and axis */
  const gab_quantity *quantity; /**< copied */
  gab_component component;
  int axis;         /**< normal of the slice: 0 x, 1 y, 2 z; in 2D it must be 2 */
  double position;  /**< physical coordinate on that axis; moved to the nearest cell inside. Ignored in 2D */
  bool fixed_range; /**< use `range`; else minimum and maximum of the slice */
  double range[2];
  bool outlines;        /**< draw the blocks */
  gab_outline outlined; /**< in the colours of what */
  const gab_particles
      *particles; /**< drawn as dots, in 3D those in the cells of the slice; borrowed; NULL: none */
} gab_slice_options;

/** True if Gabion was built with libpng. */
GAB_EXTENDER bool gab_slice_is_built(void);

/** Local. @param[in] forest  borrowed as long as the slice lives
 *  @return ::GAB_ERR_INPUT for an axis or range that cannot be, a position outside the domain, or if Gabion
 * was built without libpng */
gab_status gab_slice_create(gab_forest *forest, const gab_slice_options *options, gab_slice **slice);
/** First part of the names of its pictures. */
GAB_EXTENDER const char *gab_slice_name(const gab_slice *slice);
void gab_slice_destroy(gab_slice **slice);

/** Writes FOLDER/NAME_0000001000.png. Collective. @param[in] time  physical time, for the title
 *  @return on all ranks the same: GAB_OK, ::GAB_ERR_IO with path and cause (no file is left), ::GAB_ERR_FAULT
 */
gab_status gab_slice_write(gab_slice *slice, gab_step step, double time);

/** Where the picture of the cells lies inside the PNG: pixels from the left and top, size, and pixels per
 *  cell of level 0 (below 1 if the picture is reduced). For tests and tools; as of the last write, on the
 * root. */
typedef struct gab_slice_layout {
  int32_t left, top, width, height;
  double pixels_per_cell;
  double range[2];
} gab_slice_layout;
GAB_EXTENDER gab_slice_layout gab_slice_get_layout(const gab_slice *slice);

#ifdef __cplusplus
}
#endif
#endif
