/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/png_figure_impl.h"

#include "blockforest/pictures/png_axes_impl.h"

#include <math.h>
#include <string.h>

/* Sizes in pixels. */
#define TITLE_SIZE    17.0 /* height of a capital */
#define SUBTITLE_SIZE 12.0
#define TICK_SIZE     GAB_TICK_SIZE
#define MARGIN        22
#define TICK_LENGTH   GAB_TICK_LENGTH
#define BAR_WIDTH     24
#define LABEL_BYTES   32

static const gab_rgb white = {255, 255, 255}, black = {28, 28, 32}, dim = {96, 96, 104},
                     solid = {150, 150, 154}, nothing = {228, 228, 232};

gab_rgb gab_figure_colour(const gab_figure *figure, double value)
{
  if (isnan(value)) return solid;
  double t = (value - figure->range[0]) / (figure->range[1] - figure->range[0]);
  return figure->colours[t <= 0 ? 0 : t >= 1 ? 255 : (int)(t * 255 + 0.5)];
}

static void name_axes(gab_figure *figure)
{
  char letter[2] = {figure->axis[0]};
  gab_canvas_text(&figure->canvas, figure->left + figure->width / 2.0,
                  figure->top + figure->height + TICK_LENGTH + 14 + 2 * TICK_SIZE + 2, TICK_SIZE,
                  GAB_TEXT_CENTRE, dim, letter);
  letter[0] = figure->axis[1];
  gab_canvas_text(&figure->canvas, MARGIN, figure->top + figure->height / 2.0, TICK_SIZE, GAB_TEXT_LEFT, dim,
                  letter);
}

static void draw_bar(gab_figure *figure, int32_t left, const gab_ticks *values)
{
  gab_canvas *canvas = &figure->canvas;
  int32_t top = figure->top, height = figure->height;
  for (int32_t j = 0; j < height; j++) {
    double share = height > 1 ? (double)(height - 1 - j) / (height - 1) : 0;
    gab_rgb colour =
        gab_figure_colour(figure, figure->range[0] + share * (figure->range[1] - figure->range[0]));
    gab_canvas_fill(canvas, left, top + j, BAR_WIDTH, 1, colour);
  }
  gab_canvas_frame(canvas, left - 1, top - 1, BAR_WIDTH + 2, height + 2, 1, black);
  for (int i = 0; i < values->count; i++) {
    double share = (values->at[i] - figure->range[0]) / (figure->range[1] - figure->range[0]);
    int32_t y = top + height - 1 - (int32_t)lround(share * (height - 1));
    gab_canvas_fill(canvas, left + BAR_WIDTH + 1, y, TICK_LENGTH, 1, black);
    gab_canvas_text(canvas, left + BAR_WIDTH + TICK_LENGTH + 8, y + 0.5 + TICK_SIZE / 2, TICK_SIZE,
                    GAB_TEXT_LEFT, black, values->label[i]);
  }
}

gab_status gab_figure_create(gab_figure *figure)
{
  gab_ticks horizontal, vertical, values;
  gab_ticks_make(figure->lower[0], figure->upper[0], figure->width / 90, &horizontal);
  gab_ticks_make(figure->lower[1], figure->upper[1], figure->height / 60, &vertical);
  gab_ticks_make(figure->range[0], figure->range[1], figure->height / 45, &values);
  gab_colour_map(figure->diverging, figure->colours);

  figure->left = MARGIN + (int32_t)TICK_SIZE + 14 + gab_ticks_widest(&vertical) + TICK_LENGTH + 8;
  figure->top = MARGIN + (int32_t)(TITLE_SIZE + SUBTITLE_SIZE) + 34;
  int32_t bar = figure->left + figure->width + 26;
  int32_t width = bar + BAR_WIDTH + TICK_LENGTH + 10 + gab_ticks_widest(&values) + MARGIN;
  int32_t height = figure->top + figure->height + TICK_LENGTH + 16 + 2 * (int32_t)TICK_SIZE + 8 + MARGIN;
  /* A slim picture must not cut its title off. */
  double text = fmax(gab_canvas_text_width(TITLE_SIZE, figure->title),
                     gab_canvas_text_width(SUBTITLE_SIZE, figure->subtitle));
  if (width < figure->left + (int32_t)ceil(text) + MARGIN)
    width = figure->left + (int32_t)ceil(text) + MARGIN;

  GAB_TRY(gab_canvas_create(&figure->canvas, width, height, white));
  gab_canvas_fill(&figure->canvas, figure->left, figure->top, figure->width, figure->height, nothing);
  gab_canvas_text(&figure->canvas, figure->left, MARGIN + TITLE_SIZE, TITLE_SIZE, GAB_TEXT_LEFT, black,
                  figure->title);
  gab_canvas_text(&figure->canvas, figure->left, MARGIN + TITLE_SIZE + 16 + SUBTITLE_SIZE, SUBTITLE_SIZE,
                  GAB_TEXT_LEFT, dim, figure->subtitle);
  const gab_axes axes = {.left = figure->left,
                         .top = figure->top,
                         .width = figure->width,
                         .height = figure->height,
                         .lower = {figure->lower[0], figure->lower[1]},
                         .upper = {figure->upper[0], figure->upper[1]}};
  gab_axes_draw(&figure->canvas, &axes, &horizontal, &vertical);
  name_axes(figure);
  draw_bar(figure, bar, &values);
  return GAB_OK;
}

void gab_figure_legend(gab_figure *figure, const char *title, const int32_t *numbers, size_t count, bool more)
{
  double right = figure->left + figure->width, size = TICK_SIZE;
  double base = figure->top + figure->height + TICK_LENGTH + 16 + 2 * TICK_SIZE;
  if (more) {
    gab_canvas_text(&figure->canvas, right, base, size, GAB_TEXT_RIGHT, dim, "...");
    right -= gab_canvas_text_width(size, "...") + 12;
  }
  for (size_t i = count; i-- > 0;) {
    char number[LABEL_BYTES];
    snprintf(number, sizeof number, "%" PRId32, numbers[i]);
    gab_canvas_text(&figure->canvas, right, base, size, GAB_TEXT_RIGHT, dim, number);
    right -= gab_canvas_text_width(size, number) + 6 + size;
    gab_canvas_fill(&figure->canvas, (int32_t)right, (int32_t)(base - size), (int32_t)size, (int32_t)size,
                    gab_colour_of_number(numbers[i]));
    right -= 14;
  }
  gab_canvas_text(&figure->canvas, right, base, size, GAB_TEXT_RIGHT, dim, title);
}
