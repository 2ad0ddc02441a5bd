/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: a small raster canvas: rectangles, text, colour maps, and writing it as PNG. No communication. */
#ifndef GABION_BLOCKFOREST_PNG_CANVAS_IMPL_H
#define GABION_BLOCKFOREST_PNG_CANVAS_IMPL_H

#include "blockforest/output/output_files_impl.h"

typedef struct gab_rgb {
  unsigned char r, g, b;
} gab_rgb;

/* Rows from the top. */
typedef struct gab_canvas {
  int32_t width, height;
  gab_rgb *pixels;
} gab_canvas;

gab_status gab_canvas_create(gab_canvas *canvas, int32_t width, int32_t height, gab_rgb background);
void gab_canvas_release(gab_canvas *canvas);

/* Fills [x, x+width) x [y, y+height), clipped. */
void gab_canvas_fill(gab_canvas *canvas, int32_t x, int32_t y, int32_t width, int32_t height, gab_rgb colour);
/* The inner border of that rectangle, `thickness` pixels wide. */
void gab_canvas_frame(gab_canvas *canvas, int32_t x, int32_t y, int32_t width, int32_t height,
                      int32_t thickness, gab_rgb colour);
/* Mixes a colour in; weight 0 … 1. Clipped. */
void gab_canvas_blend(gab_canvas *canvas, int32_t x, int32_t y, gab_rgb colour, double weight);

/* Where the given x stands relative to the text. */
typedef enum gab_text_anchor { GAB_TEXT_LEFT = 0, GAB_TEXT_CENTRE, GAB_TEXT_RIGHT } gab_text_anchor;

/* Draws one line of text; `size` is the height of a capital in pixels, y its base line. */
void gab_canvas_text(gab_canvas *canvas, double x, double y, double size, gab_text_anchor anchor,
                     gab_rgb colour, const char *text);
double gab_canvas_text_width(double size, const char *text);

/* Writes the file; nothing is left on failure. The same canvas gives the same bytes. */
gab_status gab_canvas_save(const gab_canvas *canvas, const char *path);
bool gab_canvas_can_save(void);

/* 256 colours from low to high. Sequential: dark blue over green to yellow, lightness rising evenly, so that
 * it reads in grey and for the colour-blind. Diverging: blue over near-white to red. */
void gab_colour_map(bool diverging, gab_rgb colours[256]);
/* A colour to tell ranks or levels apart: neighbouring numbers look different. */
gab_rgb gab_colour_of_number(int32_t number);

#endif
