/* SPDX-License-Identifier: Apache-2.0 */
/* `gabion' with quantities of a phase field more, which script_own_quantities.sh builds against the installed libraries. */
#include "apps/driver/solver.h"
#include "phasefield/observe/cell_quantity.h"

#include <math.h>
#include <stdio.h>

static void fixed(const gab_phasefield_cell *at, double *values) { values[0] = 1 - at->phi[at->phases - 1]; }

static void steepness(const gab_phasefield_cell *at, double *values)
{
  const double *by = at->phi_gradient[at->phases - 1];
  values[0] = sqrt(by[0] * by[0] + by[1] * by[1] + by[2] * by[2]);
}

static const gab_phasefield_quantity own[] = {
    {.name = "fixed", .doc = "what is no melt", .components = 1, .evaluate = fixed},
    {.name = "steepness",
     .doc = "length of the gradient of the melt",
     .unit = "1/m",
     .components = 1,
     .gradient = true,
     .evaluate = steepness}};

int main(int argc, char **argv)
{
  static const gab_solver *const solvers[] = {&gab_solver_solidification, &gab_solver_flow};
  if (gab_phasefield_quantity_register(&own[0]) != GAB_OK ||
      gab_phasefield_quantity_register(&own[1]) != GAB_OK ||
      gab_phasefield_quantity_register(&own[1]) == GAB_OK) {
    fprintf(stderr, "error: %s\n", gab_error_message());
    return 1;
  }
  return gab_app_main(argc, argv, solvers, 2);
}
