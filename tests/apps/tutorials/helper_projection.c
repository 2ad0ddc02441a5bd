/* SPDX-License-Identifier: Apache-2.0 */
/* The tutorial projection.c with two additions. If VORTEX is set, the flow begins as a Taylor-Green vortex in a
 * uniform flow of speed 1 in x, on a periodic square of length 1. From the time RECORD_TIME on, the quantity `record'
 * appends the values of each cell to the file RECORD: x and y of its lower corner, u and v on its lower faces and at
 * its centre, pressure, divergence. */
#define main tutorial_main
int tutorial_main(int argc, char **argv);
#include "apps/tutorial/projection.c"
#undef main

#include <stdio.h>
#include <stdlib.h>

static void vortex(const gab_config *config, const double position[3], double *values)
{
  const double k = 2 * acos(-1.0);
  (void)config;
  values[U] = 1 + sin(k * position[0]) * cos(k * position[1]);
  values[V] = -cos(k * position[0]) * sin(k * position[1]);
}

static void record(const gab_stencil_cell *at, double *values)
{
  const part of = part_of(at->forest, at->block, at->now);
  double centre[3];
  gab_block_cell_centre(at->forest, at->block, at->x, at->y, 0, centre);
  const bool wanted = getenv("RECORD") && at->time >= atof(getenv("RECORD_TIME"));
  FILE *file = wanted ? fopen(getenv("RECORD"), "a") : NULL;
  values[0] = divergence(&of, at->x, at->y);
  if (!file) return;
  const double u = value(&of, U, at->x, at->y), v = value(&of, V, at->x, at->y);
  fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", centre[0] - of.width / 2,
          centre[1] - of.width / 2, u, v, (u + value(&of, U, at->x + 1, at->y)) / 2,
          (v + value(&of, V, at->x, at->y + 1)) / 2, value(&of, P, at->x, at->y), values[0]);
  fclose(file);
}

int main(int argc, char **argv)
{
  static const gab_stencil_quantity quantities[] = {
      {.name = "record", .doc = "divergence", .components = 1, .evaluate = record}};
  static gab_stencil with;
  with = cavity;
  with.quantities = quantities;
  with.quantity_count = 1;
  with.untried = true; /* it writes a file */
  if (getenv("VORTEX")) with.start = vortex;
  return gab_stencil_main(argc, argv, &with);
}
