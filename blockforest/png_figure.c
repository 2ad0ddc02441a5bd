#include "blockforest/png_figure_impl.h"

#include <math.h>
#include <string.h>

/* Sizes in pixels. */
#define TITLE_SIZE    17.0 /* height of a capital */
#define SUBTITLE_SIZE 12.0
#define TICK_SIZE     12.0
#define MARGIN        22
#define TICK_LENGTH   6
#define BAR_WIDTH     24
#define MAX_TICKS     16
#define LABEL_BYTES   32

static const gab_rgb white = {255, 255, 255}, black = {28, 28, 32}, dim = {96, 96, 104},
                     solid = {150, 150, 154}, nothing = {228, 228, 232};

/* Round numbers between two values. */
typedef struct ticks {
  int count;
  double at[MAX_TICKS];
  char label[MAX_TICKS][LABEL_BYTES];
} ticks;

/* Steps of 1, 2 or 5 times a power of ten, at most `wanted` of them. */
static void make_ticks(double lower, double upper, int wanted, ticks *made)
{
  made->count = 0;
  double span = upper - lower;
  if (!(span > 0) || !isfinite(span)) return;
  if (wanted > MAX_TICKS - 2) wanted = MAX_TICKS - 2;
  if (wanted < 2) wanted = 2;
  double decade = pow(10, floor(log10(span / wanted))), step = decade;
  static const double factors[] = {1, 2, 5, 10};
  for (int i = 0; i < 4; i++) {
    step = factors[i] * decade;
    if (span / step <= wanted) break;
  }
  double first = ceil(lower / step - 1e-9), last = floor(upper / step + 1e-9);
  for (double k = first; k <= last && made->count < MAX_TICKS; k++) {
    int i = made->count++;
    made->at[i] = k == 0 ? 0 : k * step;
    snprintf(made->label[i], LABEL_BYTES, "%.6g", made->at[i]);
  }
}

static int widest_label(const ticks *which)
{
  double widest = 0;
  for (int i = 0; i < which->count; i++)
    widest = fmax(widest, gab_canvas_text_width(TICK_SIZE, which->label[i]));
  return (int)ceil(widest);
}

gab_rgb gab_figure_colour(const gab_figure *figure, double value)
{
  if (isnan(value)) return solid;
  double t = (value - figure->range[0]) / (figure->range[1] - figure->range[0]);
  return figure->colours[t <= 0 ? 0 : t >= 1 ? 255 : (int)(t * 255 + 0.5)];
}

static void draw_axes(gab_figure *figure, const ticks *horizontal, const ticks *vertical)
{
  gab_canvas *canvas = &figure->canvas;
  int32_t left = figure->left, top = figure->top, bottom = top + figure->height;
  char letter[2] = {0};
  for (int i = 0; i < horizontal->count; i++) {
    double share = (horizontal->at[i] - figure->lower[0]) / (figure->upper[0] - figure->lower[0]);
    int32_t x = left + (int32_t)lround(share * (figure->width - 1));
    gab_canvas_fill(canvas, x, bottom + 1, 1, TICK_LENGTH, black);
    gab_canvas_text(canvas, x + 0.5, bottom + TICK_LENGTH + 7 + TICK_SIZE, TICK_SIZE, GAB_TEXT_CENTRE, black,
                    horizontal->label[i]);
  }
  for (int i = 0; i < vertical->count; i++) {
    double share = (vertical->at[i] - figure->lower[1]) / (figure->upper[1] - figure->lower[1]);
    int32_t y = bottom - 1 - (int32_t)lround(share * (figure->height - 1));
    gab_canvas_fill(canvas, left - 1 - TICK_LENGTH, y, TICK_LENGTH, 1, black);
    gab_canvas_text(canvas, left - TICK_LENGTH - 7, y + 0.5 + TICK_SIZE / 2, TICK_SIZE, GAB_TEXT_RIGHT, black,
                    vertical->label[i]);
  }
  gab_canvas_frame(canvas, left - 1, top - 1, figure->width + 2, figure->height + 2, 1, black);
  letter[0] = figure->axis[0];
  gab_canvas_text(canvas, left + figure->width / 2.0, bottom + TICK_LENGTH + 14 + 2 * TICK_SIZE + 2,
                  TICK_SIZE, GAB_TEXT_CENTRE, dim, letter);
  letter[0] = figure->axis[1];
  gab_canvas_text(canvas, MARGIN, top + figure->height / 2.0, TICK_SIZE, GAB_TEXT_LEFT, dim, letter);
}

static void draw_bar(gab_figure *figure, int32_t left, const ticks *values)
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
  ticks horizontal, vertical, values;
  make_ticks(figure->lower[0], figure->upper[0], figure->width / 90, &horizontal);
  make_ticks(figure->lower[1], figure->upper[1], figure->height / 60, &vertical);
  make_ticks(figure->range[0], figure->range[1], figure->height / 45, &values);
  gab_colour_map(figure->diverging, figure->colours);

  figure->left = MARGIN + (int32_t)TICK_SIZE + 14 + widest_label(&vertical) + TICK_LENGTH + 8;
  figure->top = MARGIN + (int32_t)(TITLE_SIZE + SUBTITLE_SIZE) + 34;
  int32_t bar = figure->left + figure->width + 26;
  int32_t width = bar + BAR_WIDTH + TICK_LENGTH + 10 + widest_label(&values) + MARGIN;
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
  draw_axes(figure, &horizontal, &vertical);
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
