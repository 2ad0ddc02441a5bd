/* SPDX-License-Identifier: Apache-2.0 */
/* Two liquids that separate from noise: an equation of fourth order in one update, which reads two layers around a block.
 *
 *   gabion-launch -n 4 build/bin/cahn_hilliard run apps/tutorial/cahn_hilliard.yaml
 *
 *   dc/dt = M Laplace(mu), mu = c^3 - c - Laplace(c) (Cahn & Hilliard 1958); M = 0.015, stable up to 0.025. */
#include "apps/driver/stencil/stencil.h"
#include "core/base/hash.h"

static void start(const gab_config *config, const double centre[3], double *values)
{
  const uint64_t noise = gab_hash_counter(1, (uint64_t)centre[1], (uint64_t)centre[0]);
  values[0] = 0.1 * ((double)(noise >> 11) * 0x1p-53 - 0.5);
  (void)config;
}

static double c(const gab_field *now, int32_t x, int32_t y) { return gab_field_get(now, x, y, 0, 0); }
static double mu(const gab_field *now, int32_t x, int32_t y)
{
  const double u = c(now, x, y);
  return u * u * u + 3 * u - c(now, x - 1, y) - c(now, x + 1, y) - c(now, x, y - 1) - c(now, x, y + 1);
}

static void separate(const gab_stencil_block *at)
{
  const gab_field *now = at->now;
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      const double around = mu(now, x - 1, y) + mu(now, x + 1, y) + mu(now, x, y - 1) + mu(now, x, y + 1);
      gab_field_set(at->next, x, y, 0, 0, c(now, x, y) + 0.015 * (around - 4 * mu(now, x, y)));
    }
}

static const char *const fields[] = {"c", NULL};
static const gab_stencil mixture = {.name = "cahn_hilliard",
                                    .title = "a mixture of two liquids",
                                    .dimension = 2,
                                    .fields = fields,
                                    .start = start,
                                    .update = separate,
                                    .depth = 2,
                                    .diagonals = true,
                                    .sums = fields};

int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &mixture); }
