/* SPDX-License-Identifier: Apache-2.0 */
/* Stencils with several stages in a step, chosen by VARIANT. Two fields that rotate into each other and diffuse, with
 * an exact solution on the grid: a' = -w b + k Laplace a, b' = w a + k Laplace b, for one wave in space, which is the
 * third field. */
#include "apps/driver/stencil/stencil.h"

#include <stdlib.h>
#include <string.h>

#define W  3.0
#define K  0.05
#define PI 3.14159265358979323846
static const char *variant;

static bool is(const char *name) { return strcmp(variant, name) == 0; }

static void start(const gab_config *config, const double centre[3], double *values)
{
  const int64_t cells = (int64_t)gab_config_real(config, "turn.cells");
  values[0] = values[2] = sin(2 * PI * centre[0] / (double)cells);
}

static double rate_of(const gab_field *now, int32_t x, int32_t y, int c)
{
  if (c == 2) return 0;
  const double here = gab_field_get(now, x, y, 0, c), other = gab_field_get(now, x, y, 0, 1 - c);
  return (c == 0 ? -W : W) * other +
         K * (gab_field_get(now, x - 1, y, 0, c) + gab_field_get(now, x + 1, y, 0, c) - 2 * here);
}

static void rate(const gab_stencil_block *at)
{
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++)
      for (int c = 0; c < 3; c++)
        gab_field_set(at->next, x, y, 0, c,
                      is("clock") ? 3 * at->time * at->time : rate_of(at->now, x, y, c));
}

/* rk3 by hand: the same bits as the library's. */
static void update(const gab_stencil_block *at)
{
  static const double first[] = {0, 0.75, 1.0 / 3}, now[] = {1, 0.25, 2.0 / 3}, part[] = {1, 0.25, 2.0 / 3};
  const int s = at->stage, beyond = is("beyond") && s == 2;
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++)
      for (int c = 0; c < 3; c++) {
        const double here = gab_field_get(at->now, x, y, 0, c),
                     slope = part[s] * at->dt * rate_of(at->now, x, y, c);
        const double old = gab_field_get(at->first, x + beyond, y + beyond, 0, c);
        if (s > 0) gab_field_set(at->next, x, y, 0, c, first[s] * old + (now[s] * here + slope));
        else gab_field_set(at->next, x, y, 0, c, here + slope);
        if (is("writes") && s == 1)
          ((double *)at->first->data)[gab_field_index(&at->first->map, x, y, 0, c)] = 0;
        if (is("ghosts") && s == 2 && gab_field_get(at->first, x - 1, y, 0, c) == 7) abort();
      }
}

/* The amplitude of a, times half of the cells. */
static void along(const double *values, double *terms)
{
  terms[0] = values[0] * values[2];
  terms[1] = values[1];
}

int main(int argc, char **argv)
{
  static const char *const fields[] = {"a", "b", "wave", NULL}, *const sums[] = {"along", "b", NULL};
  static const double times[] = {0, 1, 0.5}, late[] = {0.5, 1, 1};
  static const gab_config_key keys[] = {{.name = "cells",
                                         .type = GAB_CONFIG_REAL,
                                         .min = 1,
                                         .max = 1024,
                                         .default_text = "24",
                                         .doc = "Cells of a wave."}};
  variant = getenv("VARIANT") ? getenv("VARIANT") : "rate";
  const bool by_hand = is("hand") || is("beyond") || is("writes") || is("ghosts") || is("late");
  const gab_stencil turn = {.name = "turn",
                            .title = "two fields that turn",
                            .dimension = 2,
                            .keys = keys,
                            .key_count = 1,
                            .fields = fields,
                            .start = start,
                            .update = by_hand || is("both") ? update : NULL,
                            .stages = by_hand ? 3 : 0,
                            .stage_times = is("late") ? late
                                           : by_hand  ? times
                                                      : NULL,
                            .rate = by_hand ? NULL : rate,
                            .dt = 0.1,
                            .adaptive = is("levels"),
                            .sums = sums,
                            .add = along};
  return gab_stencil_main(argc, argv, &turn);
}
