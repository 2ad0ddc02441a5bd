/* SPDX-License-Identifier: Apache-2.0 */
/* Heat in a plate: from an equation to a program with parameter files, pictures and checkpoints, in the fewest lines.
 *
 *   gabion-launch -n 4 build/bin/heat run apps/tutorial/heat.yaml
 *   build/bin/heat help heat                                   also check, plan, info, status; --set heat.k=0.1
 *
 * A burner runs round a plate whose opposite edges meet: du/dt = k Laplace(u) + q(x, t). */
#include "gabion/stencil.h"

#include <math.h>

/* ---- 1. Parameters: of the section `heat', checked against this table. */
static const gab_config_key keys[] = {{.name = "k",
                                       .type = GAB_CONFIG_REAL,
                                       .min = 0,
                                       .max = 0.25,
                                       .default_text = "0.2",
                                       .doc = "Conductivity; up to 0.25 it is stable."}};

/* ---- 2. A time step of a block, from what it holds now and one layer of cells around it. */
static void heat_block(const gab_stencil_block *at)
{
  const double k = gab_config_real(at->config, "heat.k") / (at->width * at->width);
  const double edge = (double)gab_forest_domain_cells(at->forest).hi[0] * gab_forest_dx(at->forest, 0),
               radius = edge / 40;
  const double angle = (double)at->step / 240; /* of the burner on its way round */
  const double burner[2] = {edge * (0.5 + 0.3 * cos(angle)), edge * (0.5 + 0.3 * sin(angle))};
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      double centre[3];
      gab_block_cell_centre(at->forest, at->block, x, y, 0, centre);
      const double here = gab_field_get(at->now, x, y, 0, 0);
      const double around = gab_field_get(at->now, x - 1, y, 0, 0) + gab_field_get(at->now, x + 1, y, 0, 0) +
                            gab_field_get(at->now, x, y - 1, 0, 0) + gab_field_get(at->now, x, y + 1, 0, 0);
      const double dx = centre[0] - burner[0], dy = centre[1] - burner[1];
      const double q = dx * dx + dy * dy < radius * radius ? 1 : 0;
      gab_field_set(at->next, x, y, 0, 0, here + k * (around - 4 * here) + q);
    }
}

/* ---- 3. That is all. The plate is cold at first; out/heat/heat.csv has its heat, a sum over all cells. */
static const char *const fields[] = {"temperature", NULL}, *const sums[] = {"heat", NULL};
static const gab_stencil plate = {.name = "heat",
                                  .title = "a heated plate",
                                  .dimension = 2,
                                  .keys = keys,
                                  .key_count = 1,
                                  .fields = fields,
                                  .update = heat_block,
                                  .adaptive = true,
                                  .sums = sums};

int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &plate); }
