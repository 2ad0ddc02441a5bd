/* SPDX-License-Identifier: Apache-2.0 */
/* The game of life as a stencil (apps/driver/stencil/stencil.h): with diagonal neighbours, and sums other than its
 * fields. */
#include "apps/driver/stencil/stencil.h"

/* A glider. */
static void start(const gab_config *config, const double centre[3], double *values)
{
  static const int living[5][2] = {{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}};
  (void)config;
  for (int i = 0; i < 5; i++)
    if ((int)centre[0] == living[i][0] && (int)centre[1] == living[i][1]) values[0] = 1;
}

static void live(const gab_stencil_block *at)
{
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      const double alive = gab_field_get(at->now, x, y, 0, 0);
      double around = -alive;
      for (int i = 0; i < 9; i++) around += gab_field_get(at->now, x + i % 3 - 1, y + i / 3 - 1, 0, 0);
      gab_field_set(at->next, x, y, 0, 0, around == 3 || (around == 2 && alive == 1) ? 1 : 0);
    }
}

static void count(const double *values, double *terms)
{
  terms[0] = values[0];
  terms[1] = 1 - values[0];
}

static const char *const fields[] = {"cell", NULL}, *const sums[] = {"living", "dead", NULL};

int main(int argc, char **argv)
{
  static const gab_stencil life = {.name = "life",
                                   .title = "the game of life",
                                   .dimension = 2,
                                   .fields = fields,
                                   .start = start,
                                   .update = live,
                                   .diagonals = true,
                                   .sums = sums,
                                   .add = count};
  static const gab_stencil unsound = {.name = "unsound",
                                      .title = "a stencil with more sums than fields",
                                      .fields = fields,
                                      .update = live,
                                      .sums = sums};
  return gab_stencil_main(argc, argv, argc > 1 && argv[1][0] == '!' ? &unsound : &life);
}
