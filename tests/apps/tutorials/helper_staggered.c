/* SPDX-License-Identifier: Apache-2.0 */
/* Staggered fields in 2D: each is x + 10 y + t at the position of its values, in the domain and in two layers beyond
 * sides. The field `wrong` has the largest deviation at a cell. VARIANT makes an invalid table. */
#include "apps/driver/stencil/stencil.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4, WRONG = FIELDS, DEPTH = 2 };

static void start(const gab_config *config, const double centre[3], double *values)
{
  (void)config;
  for (int f = 0; f < FIELDS; f++) values[f] = centre[0] + 10 * centre[1];
}

static double deviation(const gab_stencil_block *at, int f, int32_t x, int32_t y)
{
  double position[3];
  gab_stencil_position(at, f, x, y, 0, position);
  return fabs(gab_field_get(at->now, x, y, 0, f) - (position[0] + 10 * position[1] + at->time));
}

static void update(const gab_stencil_block *at)
{
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      double most = gab_field_get(at->now, x, y, 0, WRONG);
      for (int f = 0; f < FIELDS; f++) {
        for (int32_t i = -DEPTH; i <= DEPTH; i++)
          most = fmax(most, fmax(deviation(at, f, x + i, y), deviation(at, f, x, y + i)));
        gab_field_set(at->next, x, y, 0, f, gab_field_get(at->now, x, y, 0, f) + at->dt);
      }
      gab_field_set(at->next, x, y, 0, WRONG, most);
    }
}

static void add(const double *values, double *terms)
{
  terms[0] = values[WRONG];
  for (int f = 0; f < FIELDS; f++) terms[1 + f] = values[f];
}

int main(int argc, char **argv)
{
  static const char *const fields[] = {"centre", "u", "v", "corner", "wrong", NULL}, *const sums[] = {
                                                                                         "wrong",  "centre",
                                                                                         "u",      "v",
                                                                                         "corner", NULL};
  static gab_stencil_centring centring[] = {GAB_STENCIL_CELL, GAB_STENCIL_X_FACE, GAB_STENCIL_Y_FACE,
                                            GAB_STENCIL_Z_EDGE, GAB_STENCIL_CELL};
  const char *variant = getenv("VARIANT") ? getenv("VARIANT") : "";
  if (strcmp(variant, "unknown") == 0) centring[2] = (gab_stencil_centring)8;
  const gab_stencil staggered = {.name = "staggered",
                                 .title = "a staggered grid",
                                 .dimension = 2,
                                 .fields = fields,
                                 .centring = centring,
                                 .start = start,
                                 .update = update,
                                 .depth = strcmp(variant, "levels") == 0 ? 1 : DEPTH,
                                 .adaptive = strcmp(variant, "levels") == 0,
                                 .dt = 0.25,
                                 .sums = sums,
                                 .add = add};
  return gab_stencil_main(argc, argv, &staggered);
}
