/* SPDX-License-Identifier: Apache-2.0 */
/* Heat in a plate with time steps that no explicit scheme could take: an implicit equation, solved by multigrid.
 *
 *   gabion-launch -n 4 build/bin/heat_implicit run apps/tutorial/heat_implicit.yaml
 * A burner runs round a plate whose opposite edges meet: (1 - dt k Laplace) u(t + dt) = u(t) + dt q(x, t). */
#include "gabion/stencil.h"

/* ---- 1. Parameters. */
static const gab_config_key keys[] = {{.name = "k",
                                       .type = GAB_CONFIG_REAL,
                                       .min = 0,
                                       .max = INFINITY,
                                       .default_text = "0.2",
                                       .doc = "Conductivity."}};

/* ---- 2. The right-hand side, and the operator: alpha u - beta Laplace(u), in units of cells. */
static void add_burner(const gab_stencil_block *at)
{
  const double edge = (double)gab_forest_domain_cells(at->forest).hi[0] * gab_forest_dx(at->forest, 0);
  const double angle = at->time / 240;
  const double burner[2] = {edge * (0.5 + 0.3 * cos(angle)), edge * (0.5 + 0.3 * sin(angle))};
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      double centre[3];
      gab_block_cell_centre(at->forest, at->block, x, y, 0, centre);
      const double away = hypot(centre[0] - burner[0], centre[1] - burner[1]), q = away < edge / 40 ? 1 : 0;
      gab_field_set(at->next, x, y, 0, 0, gab_field_get(at->now, x, y, 0, 0) + at->dt * q);
    }
}

static void conduct(const gab_config *config, double *alpha, double *beta)
{
  *alpha = 1;
  *beta = gab_config_real(config, "heat_implicit.dt") * gab_config_real(config, "heat_implicit.k");
}

/* ---- 3. The table. */
static const char *const fields[] = {"temperature", NULL}, *const sums[] = {"heat", NULL};
static const gab_stencil_implicit implicit[] = {{.field = 0, .operation = conduct}};
static const gab_stencil plate = {.name = "heat_implicit",
                                  .title = "a heated plate, implicit in time",
                                  .dimension = 2,
                                  .keys = keys,
                                  .key_count = 1,
                                  .fields = fields,
                                  .update = add_burner,
                                  .dt = 20, /* the limit of an explicit scheme is 1/(4 k) = 1.25 */
                                  .implicit = implicit,
                                  .implicit_count = 1,
                                  .adaptive = true,
                                  .sums = sums};

int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &plate); }
