/* SPDX-License-Identifier: Apache-2.0 */
/* Conduction between sides in a square or cube of length 1, against exact solutions: fields `a' and `b', and their errors after a step. SIDES
 * names the solution: value, gradient (along x), mirrored (along all axes; `b' is odd). VARIANT: diagonals (an operator of nine cells),
 * deep (one of fourth order; the error is that of the operator), levels. */
#include "apps/driver/stencil/stencil.h"

#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static const char *sides, *variant;
static bool is(const char *name) { return strcmp(variant, name) == 0; }

static void exact(const double at[3], int axes, double time, double values[2])
{
  const double decay = exp(-pi * pi * time);
  if (strcmp(sides, "value") == 0) values[0] = values[1] = 1 + 2 * at[0] + sin(pi * at[0]) * decay;
  else if (strcmp(sides, "gradient") == 0) values[0] = values[1] = 2 * at[0] + cos(pi * at[0]) * decay;
  else {
    values[0] = values[1] = 1;
    for (int axis = 0; axis < axes; axis++)
      values[0] *= cos(pi * at[axis]) * decay, values[1] *= sin(pi * at[axis]) * decay;
  }
}

static int axes_of(const gab_config *config)
{
  size_t axes = 0;
  (void)gab_config_ints(config, "domain.cells", &axes);
  return (int)axes;
}

static void start(const gab_config *config, const double centre[3], double *values)
{
  exact(centre, axes_of(config), 0, values);
}

/* Times the square of the width. */
static double laplace(const gab_field *now, const int32_t at[3], int field, int axes)
{
  double sum = 0;
  const double here = gab_field_get(now, at[0], at[1], at[2], field);
  for (int axis = 0; axis < axes; axis++)
    for (int by = -2; by <= 2; by++) {
      int32_t to[3] = {at[0], at[1], at[2]};
      to[axis] += by;
      if (by == 0 || (abs(by) == 2 && !is("deep"))) continue;
      const double weight = is("deep") ? (abs(by) == 2 ? -1. / 12 : 4. / 3) : is("diagonals") ? 2. / 3 : 1;
      sum += weight * (gab_field_get(now, to[0], to[1], to[2], field) - here);
    }
  for (int corner = 0; corner < 4 && is("diagonals"); corner++) {
    const int32_t x = at[0] + (corner & 1 ? 1 : -1), y = at[1] + (corner & 2 ? 1 : -1);
    sum += 1. / 6 * (gab_field_get(now, x, y, at[2], field) - here);
  }
  return sum;
}

static void update(const gab_stencil_block *at)
{
  const int axes = axes_of(at->config);
  const double width = gab_forest_dx(at->forest, gab_block_level(at->forest, at->block)),
               finest = width / at->width, step = 0.1 * finest * finest;
  for (int32_t z = 0; z < at->cells[2]; z++)
    for (int32_t y = 0; y < at->cells[1]; y++)
      for (int32_t x = 0; x < at->cells[0]; x++) {
        double centre[3], known[2];
        gab_block_cell_centre(at->forest, at->block, x, y, z, centre);
        exact(centre, axes, step * (double)(at->step + 1), known);
        for (int f = 0; f < 2; f++) {
          const double here = gab_field_get(at->now, x, y, z, f),
                       change = laplace(at->now, (const int32_t[3]){x, y, z}, f, axes) / (width * width);
          const double error = is("deep") ? change + axes * pi * pi * here : here + step * change - known[f];
          gab_field_set(at->next, x, y, z, f, here + step * change);
          gab_field_set(at->next, x, y, z, 2 + f, error);
        }
      }
}

static void add(const double *values, double *terms)
{
  terms[0] = values[2] * values[2];
  terms[1] = values[3] * values[3];
}

int main(int argc, char **argv)
{
  static const char *const fields[] = {"a", "b", "error_a", "error_b", NULL}, *const sums[] = {"a", "b",
                                                                                               NULL};
  static gab_stencil rod = {.name = "rod",
                            .title = "a rod",
                            .fields = fields,
                            .start = start,
                            .update = update,
                            .sums = sums,
                            .add = add};
  sides = getenv("SIDES") ? getenv("SIDES") : "mirrored";
  variant = getenv("VARIANT") ? getenv("VARIANT") : "";
  rod.diagonals = is("diagonals");
  rod.depth = is("deep") ? 2 : 1;
  rod.adaptive = is("levels");
  return gab_stencil_main(argc, argv, &rod);
}
