/* SPDX-License-Identifier: Apache-2.0 */
/* A drop that spreads in 2D, on blocks that adapt to a user-defined criterion: number of cells above a tenth. With
 * `!' it requests a feature that levels lack, with `!!' too many criteria. */
#include "apps/driver/stencil/stencil.h"

#include <string.h>

static double drop_of(double x, double y)
{
  const double dx = x - 36, dy = y - 30;
  return exp(-(dx * dx + dy * dy) / 50);
}

static void start(const gab_config *config, const double centre[3], double *values)
{
  (void)config;
  values[1] = drop_of(centre[0], centre[1]);
}

static void spread(const gab_stencil_block *at)
{
  const double k = 0.2 / (at->width * at->width);
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++)
      for (int f = 0; f < 2; f++) {
        const double here = gab_field_get(at->now, x, y, 0, f);
        const double around = gab_field_get(at->now, x - 1, y, 0, f) +
                              gab_field_get(at->now, x + 1, y, 0, f) +
                              gab_field_get(at->now, x, y - 1, 0, f) + gab_field_get(at->now, x, y + 1, 0, f);
        gab_field_set(at->next, x, y, 0, f, here + k * (around - 4 * here));
      }
}

static double wet_cells(const gab_field *now, int field)
{
  double wet = 0;
  for (int32_t y = 0; y < now->shape.cells[1]; y++)
    for (int32_t x = 0; x < now->shape.cells[0]; x++) wet += gab_field_get(now, x, y, 0, field) > 0.1;
  return wet;
}

int main(int argc, char **argv)
{
  static const char *const fields[] = {"air", "water", NULL};
  static const gab_stencil_criterion criteria[] = {
      {"wet_cells", "Where it is wet: cells with more than a tenth.", wet_cells}};
  static gab_stencil drop = {.name = "drop",
                             .title = "a drop",
                             .dimension = 2,
                             .fields = fields,
                             .start = start,
                             .update = spread,
                             .adaptive = true,
                             .criteria = criteria,
                             .criterion_count = 1,
                             .sums = fields};
  if (argc > 1 && strcmp(argv[1], "!") == 0) drop.diagonals = true;
  if (argc > 1 && strcmp(argv[1], "!!") == 0) drop.criterion_count = GAB_STENCIL_MOST_CRITERIA + 1;
  return gab_stencil_main(argc, argv, &drop);
}
