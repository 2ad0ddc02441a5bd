/* SPDX-License-Identifier: Apache-2.0 */
/* A stencil that becomes steady, and ends when its sum is small: u' = -u / 2 and v' = 1 - v, by rk2. */
#include "apps/driver/stencil/stencil.h"

static void start(const gab_config *config, const double centre[3], double *values)
{
  (void)config;
  values[0] = 1 + (centre[0] < 1);
}

static void relax(const gab_stencil_block *at)
{
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      gab_field_set(at->next, x, y, 0, 0, -0.5 * gab_field_get(at->now, x, y, 0, 0));
      gab_field_set(at->next, x, y, 0, 1, 1 - gab_field_get(at->now, x, y, 0, 1));
    }
}

static const char *ended(const gab_stencil_end *at)
{
  return at->sums[0] < gab_config_real(at->config, "relax.small") && at->time > 0 && at->change[0] > 0
             ? "little of u is left"
             : NULL;
}

int main(int argc, char **argv)
{
  static const char *const fields[] = {"u", "v", NULL};
  static const gab_config_key keys[] = {{.name = "small",
                                         .type = GAB_CONFIG_REAL,
                                         .min = 0,
                                         .max = 1e9,
                                         .default_text = "0",
                                         .outside = true,
                                         .doc = "Sum of u that ends the run."}};
  static const gab_stencil relaxation = {.name = "relax",
                                         .title = "a relaxation",
                                         .dimension = 2,
                                         .keys = keys,
                                         .key_count = 1,
                                         .fields = fields,
                                         .start = start,
                                         .rate = relax,
                                         .integrator = "rk2",
                                         .dt = 0.1,
                                         .sums = fields,
                                         .ended = ended};
  return gab_stencil_main(argc, argv, &relaxation);
}
