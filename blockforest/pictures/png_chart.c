/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/png_chart.h"

#include "blockforest/pictures/png_axes_impl.h"
#include "core/memory/memory.h"

#include <math.h>

/* Sizes in pixels. */
#define TITLE_SIZE    17.0 /* height of a capital */
#define SUBTITLE_SIZE 12.0
#define MARGIN        22
#define HALF_LINE     0.55
#define CROSS         6

static const gab_rgb white = {255, 255, 255}, black = {28, 28, 32}, dim = {96, 96, 104}, red = {205, 28, 28};

struct gab_chart {
  gab_axes axes;
  gab_canvas canvas;
  gab_rgb colours[256];
};

/* ---------------------------------------------------------------- making it */

static void lay_out(gab_chart *chart, const gab_ticks *vertical, const gab_chart_options *options,
                    int32_t size[2])
{
  gab_axes *axes = &chart->axes;
  *axes = (gab_axes){.width = options->width, .height = options->height};
  for (int k = 0; k < 2; k++) {
    axes->lower[k] = options->lower[k];
    axes->upper[k] = options->upper[k];
  }
  axes->left = MARGIN + gab_ticks_widest(vertical) + GAB_TICK_LENGTH + 10;
  axes->top = MARGIN + (int32_t)(TITLE_SIZE + SUBTITLE_SIZE + GAB_TICK_SIZE) + 48;
  const double text = fmax(gab_canvas_text_width(TITLE_SIZE, options->title),
                           gab_canvas_text_width(SUBTITLE_SIZE, options->subtitle));
  size[0] = axes->left + (int32_t)fmax(axes->width + GAB_TICK_SIZE, ceil(text)) + MARGIN;
  size[1] = axes->top + axes->height + GAB_TICK_LENGTH + 16 + 2 * (int32_t)GAB_TICK_SIZE + 8 + MARGIN;
}

static void write_texts(gab_chart *chart, const gab_chart_options *options)
{
  const gab_axes *axes = &chart->axes;
  gab_canvas_text(&chart->canvas, axes->left, MARGIN + TITLE_SIZE, TITLE_SIZE, GAB_TEXT_LEFT, black,
                  options->title);
  gab_canvas_text(&chart->canvas, axes->left, MARGIN + TITLE_SIZE + 16 + SUBTITLE_SIZE, SUBTITLE_SIZE,
                  GAB_TEXT_LEFT, dim, options->subtitle);
  gab_canvas_text(&chart->canvas, axes->left, axes->top - 10, GAB_TICK_SIZE, GAB_TEXT_LEFT, dim,
                  options->axis[1]);
  gab_canvas_text(&chart->canvas, axes->left + axes->width / 2.0,
                  axes->top + axes->height + GAB_TICK_LENGTH + 16 + 2 * GAB_TICK_SIZE, GAB_TICK_SIZE,
                  GAB_TEXT_CENTRE, dim, options->axis[0]);
}

static gab_status make(gab_chart *chart, const gab_chart_options *options)
{
  gab_ticks horizontal, vertical;
  int32_t size[2];
  gab_ticks_make(options->lower[0], options->upper[0], options->width / 90, &horizontal);
  gab_ticks_make(options->lower[1], options->upper[1], options->height / 60, &vertical);
  gab_colour_map(false, chart->colours);
  lay_out(chart, &vertical, options, size);
  GAB_TRY(gab_canvas_create(&chart->canvas, size[0], size[1], white));
  write_texts(chart, options);
  gab_axes_draw(&chart->canvas, &chart->axes, &horizontal, &vertical);
  return GAB_OK;
}

gab_status gab_chart_create(const gab_chart_options *options, gab_chart **chart)
{
  *chart = NULL;
  for (int k = 0; k < 2; k++)
    if (!(options->upper[k] > options->lower[k]) || !isfinite(options->upper[k] - options->lower[k]))
      GAB_FAIL(GAB_ERR_ARGUMENT, "an axis from %g to %g", options->lower[k], options->upper[k]);
  if (options->width < 16 || options->height < 16 || options->width > 16384 || options->height > 16384)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a picture of %" PRId32 " x %" PRId32 " pixels", options->width,
             options->height);
  GAB_TRY(GAB_NEW(chart, GAB_MEMORY_OTHER));
  gab_status status = make(*chart, options);
  if (status != GAB_OK) gab_chart_destroy(chart);
  return status;
}

void gab_chart_destroy(gab_chart **chart)
{
  if (!*chart) return;
  gab_canvas_release(&(*chart)->canvas);
  gab_free(chart);
}

/* ---------------------------------------------------------------- drawing */

/* Pixels from the left and from the top of the canvas. */
static double pixel_x(const gab_axes *axes, double x)
{
  return axes->left + (x - axes->lower[0]) / (axes->upper[0] - axes->lower[0]) * (axes->width - 1) + 0.5;
}

static double pixel_y(const gab_axes *axes, double y)
{
  return axes->top + axes->height - 0.5 -
         (y - axes->lower[1]) / (axes->upper[1] - axes->lower[1]) * (axes->height - 1);
}

static double value_at(const double *values, size_t count, double x)
{
  if (x <= 0) return values[0];
  if (x >= (double)(count - 1)) return values[count - 1];
  const size_t k = (size_t)x;
  return values[k] + (values[k + 1] - values[k]) * (x - (double)k);
}

/* A vertical stroke in a column of pixels, fading where it covers a pixel in part. */
static void stroke(gab_chart *chart, int32_t x, double top, double bottom, gab_rgb colour)
{
  const gab_axes *axes = &chart->axes;
  const double first = fmax(floor(top), axes->top), last = fmin(ceil(bottom), axes->top + axes->height);
  for (int32_t y = (int32_t)first; y < (int32_t)last; y++) {
    const double covered = fmin(bottom, y + 1) - fmax(top, y);
    if (covered > 0) gab_canvas_blend(&chart->canvas, x, y, colour, covered);
  }
}

void gab_chart_curve(gab_chart *chart, const double *values, size_t count, double shade)
{
  const gab_axes *axes = &chart->axes;
  if (count == 0) return;
  const double from_paper = 0.12; /* the palest colours are lost on white */
  const int index = (int)lround(255 * (1 - from_paper) * (1 - fmin(fmax(shade, 0), 1)));
  const double per_pixel = (axes->upper[0] - axes->lower[0]) / (axes->width - 1);
  for (int32_t column = 0; column < axes->width; column++) {
    const double from = axes->lower[0] + (column - 0.5) * per_pixel, to = from + per_pixel;
    if (to < 0 || from > (double)(count - 1)) continue;
    double least = fmin(value_at(values, count, from), value_at(values, count, to));
    double most = fmax(value_at(values, count, from), value_at(values, count, to));
    for (double k = fmax(ceil(from), 0); k <= to && k < (double)count; k++) {
      least = fmin(least, values[(size_t)k]);
      most = fmax(most, values[(size_t)k]);
    }
    stroke(chart, axes->left + column, pixel_y(axes, most) - HALF_LINE, pixel_y(axes, least) + HALF_LINE,
           chart->colours[index]);
  }
}

void gab_chart_cross(gab_chart *chart, double x, double y)
{
  const int32_t i = (int32_t)floor(pixel_x(&chart->axes, x)), j = (int32_t)floor(pixel_y(&chart->axes, y));
  for (int32_t k = -CROSS; k <= CROSS; k++) {
    gab_canvas_fill(&chart->canvas, i + k, j + k, 2, 2, red);
    gab_canvas_fill(&chart->canvas, i + k, j - k, 2, 2, red);
  }
}

gab_status gab_chart_save(const gab_chart *chart, const char *path)
{
  return gab_canvas_save(&chart->canvas, path);
}
