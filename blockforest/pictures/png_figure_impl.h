/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: the figure around the picture of a slice: title, axes, colour bar, legend. No communication. */
#ifndef GABION_BLOCKFOREST_PNG_FIGURE_IMPL_H
#define GABION_BLOCKFOREST_PNG_FIGURE_IMPL_H

#include "blockforest/pictures/png_canvas_impl.h"

#define GAB_LEGEND_ENTRIES 16 /* more are not named in a legend */

/* What a figure shows. */
typedef struct gab_figure {
  int32_t width, height;     /* of the picture, in pixels */
  char axis[2];              /* letters of the horizontal and vertical axis */
  double lower[2], upper[2]; /* physical coordinates of the picture's edges */
  double range[2];           /* values of the ends of the colour bar */
  bool diverging;            /* which colour map */
  const char *title;         /* quantity and unit */
  const char *subtitle;      /* step, time, ... */
  int32_t left, top;         /* out: where the picture is */
  gab_rgb colours[256];      /* out */
  gab_canvas canvas;         /* out: the caller releases it */
} gab_figure;

/* Makes the canvas with everything but the picture, which is filled with the colour of "no block here". */
gab_status gab_figure_create(gab_figure *figure);
/* Colour of a value; grey for NaN. */
gab_rgb gab_figure_colour(const gab_figure *figure, double value);
/* Names the ranks or levels whose blocks are outlined, below the picture. */
void gab_figure_legend(gab_figure *figure, const char *title, const int32_t *numbers, size_t count,
                       bool more);

#endif
