/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/png_cells.h"

#include "blockforest/pictures/png_figure_impl.h"

enum { MOST_PIXELS = 1600, USUAL_PIXELS = 700 };

/* Pixels of a cell if they are few, else 1: then some cells are left out. */
static int32_t magnification(const gab_cells_picture *picture)
{
  const int64_t longest = picture->cells[0] > picture->cells[1] ? picture->cells[0] : picture->cells[1];
  return longest < USUAL_PIXELS ? (int32_t)(USUAL_PIXELS / longest) : 1;
}

static int32_t pixels(int64_t cells, int64_t longest, int32_t each)
{
  if (longest <= MOST_PIXELS) return (int32_t)(cells * each);
  const int64_t fewer = cells * MOST_PIXELS / longest;
  return fewer > 0 ? (int32_t)fewer : 1;
}

gab_status gab_cells_picture_write(const gab_cells_picture *picture)
{
  if (!gab_canvas_can_save())
    GAB_FAIL(GAB_ERR_INPUT, "%s cannot be written: Gabion was built without libpng", picture->path);
  const int64_t longest = picture->cells[0] > picture->cells[1] ? picture->cells[0] : picture->cells[1];
  const int32_t each = magnification(picture);
  gab_figure figure = {.width = pixels(picture->cells[0], longest, each),
                       .height = pixels(picture->cells[1], longest, each),
                       .axis = {picture->axes[0], picture->axes[1]},
                       .title = picture->title,
                       .subtitle = picture->subtitle};
  for (int k = 0; k < 2; k++) {
    figure.lower[k] = picture->lower[k];
    figure.upper[k] = picture->upper[k];
    figure.range[k] = picture->range[k];
  }
  GAB_TRY(gab_figure_create(&figure));
  for (int32_t y = 0; y < figure.height; y++)
    for (int32_t x = 0; x < figure.width; x++) {
      const int64_t column = x * picture->cells[0] / figure.width,
                    row = (figure.height - 1 - y) * picture->cells[1] / figure.height;
      const double value = picture->value(picture->user, column, row);
      gab_canvas_fill(&figure.canvas, figure.left + x, figure.top + y, 1, 1,
                      gab_figure_colour(&figure, value));
    }
  const gab_status status = gab_canvas_save(&figure.canvas, picture->path);
  gab_canvas_release(&figure.canvas);
  return status;
}
