/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/png_axes_impl.h"

#include <math.h>

static const gab_rgb black = {28, 28, 32};

void gab_ticks_make(double lower, double upper, int wanted, gab_ticks *made)
{
  made->count = 0;
  double span = upper - lower;
  if (!(span > 0) || !isfinite(span)) return;
  if (wanted > GAB_MOST_TICKS - 2) wanted = GAB_MOST_TICKS - 2;
  if (wanted < 2) wanted = 2;
  double decade = pow(10, floor(log10(span / wanted))), step = decade;
  static const double factors[] = {1, 2, 5, 10};
  for (int i = 0; i < 4; i++) {
    step = factors[i] * decade;
    if (span / step <= wanted) break;
  }
  double first = ceil(lower / step - 1e-9), last = floor(upper / step + 1e-9);
  for (double k = first; k <= last && made->count < GAB_MOST_TICKS; k++) {
    int i = made->count++;
    made->at[i] = k == 0 ? 0 : k * step;
    snprintf(made->label[i], sizeof made->label[i], "%.6g", made->at[i]);
  }
}

int gab_ticks_widest(const gab_ticks *which)
{
  double widest = 0;
  for (int i = 0; i < which->count; i++)
    widest = fmax(widest, gab_canvas_text_width(GAB_TICK_SIZE, which->label[i]));
  return (int)ceil(widest);
}

void gab_axes_draw(gab_canvas *canvas, const gab_axes *axes, const gab_ticks *horizontal,
                   const gab_ticks *vertical)
{
  int32_t left = axes->left, bottom = axes->top + axes->height;
  for (int i = 0; i < horizontal->count; i++) {
    double share = (horizontal->at[i] - axes->lower[0]) / (axes->upper[0] - axes->lower[0]);
    int32_t x = left + (int32_t)lround(share * (axes->width - 1));
    gab_canvas_fill(canvas, x, bottom + 1, 1, GAB_TICK_LENGTH, black);
    gab_canvas_text(canvas, x + 0.5, bottom + GAB_TICK_LENGTH + 7 + GAB_TICK_SIZE, GAB_TICK_SIZE,
                    GAB_TEXT_CENTRE, black, horizontal->label[i]);
  }
  for (int i = 0; i < vertical->count; i++) {
    double share = (vertical->at[i] - axes->lower[1]) / (axes->upper[1] - axes->lower[1]);
    int32_t y = bottom - 1 - (int32_t)lround(share * (axes->height - 1));
    gab_canvas_fill(canvas, left - 1 - GAB_TICK_LENGTH, y, GAB_TICK_LENGTH, 1, black);
    gab_canvas_text(canvas, left - GAB_TICK_LENGTH - 7, y + 0.5 + GAB_TICK_SIZE / 2, GAB_TICK_SIZE,
                    GAB_TEXT_RIGHT, black, vertical->label[i]);
  }
  gab_canvas_frame(canvas, left - 1, axes->top - 1, axes->width + 2, axes->height + 2, 1, black);
}
