/* SPDX-License-Identifier: Apache-2.0 */
/* The Laplace operator of fourth order (two layers) or sixth order (three) in space, by DEPTH: `next' is its result for a wave, and the
 * sum `squares' that of the squares of its errors. */
#include "apps/driver/stencil/stencil.h"

#include <stdlib.h>

static int depth;
static double wave(const double centre[3])
{
  const double angle = 2 * 3.14159265358979323846; /* the domain has length 1 */
  return sin(angle * (centre[0] + 2 * centre[1])) + cos(angle * centre[2]);
}
static double laplace(const double centre[3])
{
  const double square = 4 * 3.14159265358979323846 * 3.14159265358979323846;
  const double z = cos(2 * 3.14159265358979323846 * centre[2]);
  return -square * (5 * (wave(centre) - z) + z);
}

static void start(const gab_config *config, const double centre[3], double *values)
{
  (void)config;
  values[0] = wave(centre);
}

/* Weights of cells at a distance of 0, 1, 2, 3. */
static const double weights[2][4] = {{-5. / 2, 4. / 3, -1. / 12, 0}, {-49. / 18, 3. / 2, -3. / 20, 1. / 90}};

static void update(const gab_stencil_block *at)
{
  const double width = gab_forest_dx(at->forest, 0), *weight = weights[depth - 2];
  for (int32_t z = 0; z < at->cells[2]; z++)
    for (int32_t y = 0; y < at->cells[1]; y++)
      for (int32_t x = 0; x < at->cells[0]; x++) {
        double sum = 3 * weight[0] * gab_field_get(at->now, x, y, z, 0), centre[3];
        for (int i = 1; i <= depth; i++)
          sum +=
              weight[i] * (gab_field_get(at->now, x - i, y, z, 0) + gab_field_get(at->now, x + i, y, z, 0) +
                           gab_field_get(at->now, x, y - i, z, 0) + gab_field_get(at->now, x, y + i, z, 0) +
                           gab_field_get(at->now, x, y, z - i, 0) + gab_field_get(at->now, x, y, z + i, 0));
        gab_block_cell_centre(at->forest, at->block, x, y, z, centre);
        gab_field_set(at->next, x, y, z, 0, sum / (width * width));
        gab_field_set(at->next, x, y, z, 1, sum / (width * width) - laplace(centre));
      }
}

static void add(const double *values, double *terms) { terms[0] = values[1] * values[1]; }

int main(int argc, char **argv)
{
  static const char *const fields[] = {"u", "error", NULL}, *const sums[] = {"squares", NULL};
  static gab_stencil deep = {.name = "deep",
                             .title = "a deep stencil",
                             .dimension = 3,
                             .fields = fields,
                             .start = start,
                             .update = update,
                             .sums = sums,
                             .add = add};
  deep.depth = depth = getenv("DEPTH") ? atoi(getenv("DEPTH")) : 2;
  deep.adaptive = argc > 1 && argv[1][0] == '!';
  return gab_stencil_main(argc, argv, &deep);
}
