/* SPDX-License-Identifier: Apache-2.0 */
/* A boundary condition of a program: a wall on which the fluid slips (Navier), u = b du/dn with the slip length b.
 *
 *   gabion-launch -n 2 build/bin/own_boundary run apps/tutorial/own_boundary.yaml
 *
 * The page: doc/own-boundary.md. */
#include "apps/driver/flow/flow.h"
#include "lbm/sides/boundary.h"
#include "lbm/setup/units.h"

#include <math.h>
#include <stdio.h>

/* Bounce-back off a wall with the velocity u b / (b + 1/2), u in the cell next to it. */
static double arrives(const gab_boundary_link *at)
{
  const double length = ldexp(at->numbers[0], at->level), share = length / (length + 0.5);
  double along = 0;
  for (int axis = 0; axis < at->lattice->dimension; axis++)
    if (axis != at->side / 2) along += at->lattice->c[at->q][axis] * share * at->velocity[axis];
  return at->sent[gab_lattice_opposite(at->q)] + 6 * at->lattice->weight[at->q] * along;
}

static gab_status read(const gab_config *config, const char *path, const gab_units *units,
                       double numbers[GAB_BOUNDARY_NUMBERS])
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  numbers[0] = gab_config_real(config, gab_config_path(key, "%s.length", path)) / units->dx;
  if (numbers[0] > 1000)
    return gab_config_fail(config, key, "is %g cells: must be at most 1000; use free_slip", numbers[0]);
  return GAB_OK;
}

static const gab_config_key keys[] = {{.name = "length",
                                       .type = GAB_CONFIG_REAL,
                                       .min = 0,
                                       .max = INFINITY,
                                       .unit = "m",
                                       .doc = "Slip length."}};
static const gab_boundary slip = {.name = "navier_slip",
                                  .doc = "A wall on which the fluid slips by a slip length.",
                                  .keys = keys,
                                  .key_count = 1,
                                  .read = read,
                                  .arrives = arrives};

int main(int argc, char **argv)
{
  const gab_solver *const solvers[] = {&gab_solver_flow};
  if (gab_boundary_register(&slip) != GAB_OK) {
    fprintf(stderr, "error: %s\n", gab_error_message());
    return 1;
  }
  return gab_app_main(argc, argv, solvers, 1);
}
