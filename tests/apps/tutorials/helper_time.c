/* SPDX-License-Identifier: Apache-2.0 */
/* Stencils with time steps from a bound, or constant ones, chosen by VARIANT. A front by Burgers' equation, upwind,
 * u_t + u (u_x + u_y) = 0. */
#include "apps/driver/stencil/stencil.h"

#include <stdlib.h>
#include <string.h>

static const char *variant;

static void start(const gab_config *config, const double centre[3], double *values)
{
  (void)config;
  values[0] =
      1 + 0.5 * sin(2 * 3.14159265358979323846 * centre[0]) * cos(2 * 3.14159265358979323846 * centre[1]);
  values[1] = 0;
}

static double u(const gab_field *now, int32_t x, int32_t y) { return gab_field_get(now, x, y, 0, 0); }

/* Field 1 has the time that the program counts itself. */
static void carry(const gab_stencil_block *at)
{
  const double dx = gab_forest_dx(at->forest, 0);
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      const double here = u(at->now, x, y), slope = 2 * here - u(at->now, x - 1, y) - u(at->now, x, y - 1);
      gab_field_set(at->next, x, y, 0, 0, here - at->dt * here * slope / dx);
      gab_field_set(at->next, x, y, 0, 1, at->time + at->dt);
    }
}

static double fastest(const gab_stencil_block *at)
{
  double most = 0;
  const int32_t beyond = strcmp(variant, "beyond") == 0;
  if (strcmp(variant, "zero") == 0 && at->step == 3) return 0;
  if (strcmp(variant, "unlimited") == 0) return INFINITY;
  for (int32_t y = 0; y < at->cells[1] + beyond; y++)
    for (int32_t x = 0; x < at->cells[0] + beyond; x++) most = fmax(most, u(at->now, x, y));
  return gab_forest_dx(at->forest, 0) / (2 * most);
}

static void elapsed(const gab_stencil_cell *at, double *values) { values[0] = at->time; }

int main(int argc, char **argv)
{
  static const char *const fields[] = {"u", "counted", NULL};
  static const gab_stencil_quantity quantities[] = {
      {.name = "elapsed", .doc = "Time.", .components = 1, .evaluate = elapsed}};
  static const gab_config_key keys[] = {{.name = "cfl",
                                         .type = GAB_CONFIG_REAL,
                                         .min = 0,
                                         .max = 1,
                                         .default_text = "1",
                                         .doc = "There twice."}};
  variant = getenv("VARIANT") ? getenv("VARIANT") : "";
  const bool is_constant = strcmp(variant, "constant") == 0, is_twice = strcmp(variant, "twice") == 0;
  const gab_stencil front = {.name = "front",
                             .title = "a front",
                             .dimension = 2,
                             .keys = is_twice ? keys : NULL,
                             .key_count = is_twice,
                             .fields = fields,
                             .start = start,
                             .update = carry,
                             .dt = is_constant ? 0.005 : 0,
                             .bound = is_constant ? NULL : fastest,
                             .quantities = quantities,
                             .quantity_count = 1,
                             .sums = fields};
  return gab_stencil_main(argc, argv, &front);
}
