/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: a frame with ticks at round numbers. No communication. */
#ifndef GABION_BLOCKFOREST_PNG_AXES_IMPL_H
#define GABION_BLOCKFOREST_PNG_AXES_IMPL_H

#include "blockforest/pictures/png_canvas_impl.h"

/* Sizes in pixels. */
#define GAB_TICK_SIZE   12.0 /* height of a capital */
#define GAB_TICK_LENGTH 6

enum { GAB_MOST_TICKS = 16 };

/* Round numbers between two values. */
typedef struct gab_ticks {
  int count;
  double at[GAB_MOST_TICKS];
  char label[GAB_MOST_TICKS][32];
} gab_ticks;

/* Steps of 1, 2 or 5 times a power of ten, at most `wanted` of them. */
void gab_ticks_make(double lower, double upper, int wanted, gab_ticks *made);
/* Width of the widest label in pixels. */
int gab_ticks_widest(const gab_ticks *which);

/* Where the picture is on the canvas, and the coordinates of its edges. */
typedef struct gab_axes {
  int32_t left, top, width, height;
  double lower[2], upper[2];
} gab_axes;

void gab_axes_draw(gab_canvas *canvas, const gab_axes *axes, const gab_ticks *horizontal,
                   const gab_ticks *vertical);

#endif
