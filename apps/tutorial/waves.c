/* SPDX-License-Identifier: Apache-2.0 */
/* Sound of a loudspeaker in a hall: rates of change from two layers of neighbours, integrated by a Runge-Kutta method.
 *
 *   gabion-launch -n 4 build/bin/waves run apps/tutorial/waves.yaml
 *
 *   dp/dt = -div v, dv/dt = -grad p, in units in which the speed of sound is 1: fourth order in space, third in time. */
#include "gabion/stencil.h"

enum { P, U, V };

/* ---- 1. Rates of change, and the longest stable time step of rk3. */
static double slope(const gab_field *now, int32_t x, int32_t y, int field, int axis)
{
  const int32_t i = axis == 0, j = axis == 1;
  return 8 * (gab_field_get(now, x + i, y + j, 0, field) - gab_field_get(now, x - i, y - j, 0, field)) -
         (gab_field_get(now, x + 2 * i, y + 2 * j, 0, field) -
          gab_field_get(now, x - 2 * i, y - 2 * j, 0, field));
}

static void rate(const gab_stencil_block *at)
{
  const double per = 1 / (12 * gab_forest_dx(at->forest, 0));
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      gab_field_set(at->next, x, y, 0, P, -per * (slope(at->now, x, y, U, 0) + slope(at->now, x, y, V, 1)));
      gab_field_set(at->next, x, y, 0, U, -per * slope(at->now, x, y, P, 0));
      gab_field_set(at->next, x, y, 0, V, -per * slope(at->now, x, y, P, 1));
    }
}

static double fastest(const gab_stencil_block *at) { return 0.89 * gab_forest_dx(at->forest, 0); }

/* ---- 2. Sides of type `own' across x: a loudspeaker in the wall x_min; x_max is open, waves leave there. */
static void beyond(const gab_stencil_ghost *at, double *values)
{
  const double across = (at->place[1] - 0.5) / 0.1, swell = 1 - exp(-25 * at->time * at->time);
  if (at->side == 0) values[U] = 2 * swell * exp(-across * across) * sin(25 * at->time) - values[U];
  else values[P] = values[U] = (values[P] + values[U]) / 2;
}

/* ---- 3. The table: energies. */
static void add(const double *values, double *terms)
{
  terms[0] = values[P] * values[P] / 2;
  terms[1] = (values[U] * values[U] + values[V] * values[V]) / 2;
}

static const char *const fields[] = {"pressure", "velocity_x", "velocity_y", NULL};
static const char *const sums[] = {"potential", "kinetic", NULL};
static const gab_stencil hall = {.name = "waves",
                                 .title = "sound in a hall",
                                 .dimension = 2,
                                 .fields = fields,
                                 .rate = rate,
                                 .depth = 2,
                                 .bound = fastest,
                                 .beyond = beyond,
                                 .sums = sums,
                                 .add = add};

int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &hall); }
