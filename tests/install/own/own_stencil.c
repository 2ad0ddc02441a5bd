/* SPDX-License-Identifier: Apache-2.0 */
/* An equation of a program's own with quantities of its own, which script_own_quantities.sh builds against the installed
 * libraries: a pattern that moves by one cell in a step. -DNAME=... is a name of the first quantity. */
#include "apps/driver/stencil/stencil.h"

#ifndef NAME
#define NAME "steepness"
#endif

static void start(const gab_config *config, const double centre[3], double *values)
{
  const int64_t x = (int64_t)centre[0], y = (int64_t)centre[1];
  if (centre[0] > gab_config_real(config, "pattern.edge")) return;
  values[0] = (double)((3 * x * x + 5 * x * y + 7 * y) % 97);
}

static void move(const gab_stencil_block *at)
{
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++)
      gab_field_set(at->next, x, y, 0, 0, gab_field_get(at->now, at->width > 1 ? x : x - 1, y, 0, 0));
}

static double slope(const gab_stencil_cell *at, int axis)
{
  const int32_t dx = axis == 0, dy = axis == 1;
  return (gab_field_get(at->now, at->x + dx, at->y + dy, at->z, 0) -
          gab_field_get(at->now, at->x - dx, at->y - dy, at->z, 0)) /
         (2 * at->width);
}

static void steepness(const gab_stencil_cell *at, double *values)
{
  const double by[2] = {slope(at, 0), slope(at, 1)};
  values[0] = gab_config_real(at->config, "pattern.factor") * sqrt(by[0] * by[0] + by[1] * by[1]);
}

static void slopes(const gab_stencil_cell *at, double *values)
{
  values[0] = slope(at, 0);
  values[1] = slope(at, 1);
  values[2] = 0;
}

static const gab_config_key keys[] = {
    {.name = "factor", .type = GAB_CONFIG_REAL, .default_text = "1", .doc = "Of the steepness."},
    {.name = "edge", .type = GAB_CONFIG_REAL, .default_text = "1e9", .doc = "Beyond it there is nothing."}};
static const char *const fields[] = {"u", NULL};
static const gab_stencil_quantity quantities[] = {
    {.name = NAME, .doc = "length of the gradient", .unit = "1/m", .components = 1, .evaluate = steepness},
    {.name = "slope", .doc = "the gradient", .components = 3, .diverging = true, .evaluate = slopes}};
static const gab_stencil pattern = {.name = "pattern",
                                    .title = "a pattern",
                                    .dimension = 2,
                                    .keys = keys,
                                    .key_count = 2,
                                    .fields = fields,
                                    .start = start,
                                    .update = move,
                                    .adaptive = true,
                                    .quantities = quantities,
                                    .quantity_count = 2};

int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &pattern); }
