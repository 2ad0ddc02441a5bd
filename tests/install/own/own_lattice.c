/* SPDX-License-Identifier: Apache-2.0 */
/* A program outside of the source tree with lattices of its own, which script_own_lattice.sh builds against the installed
 * libraries: `gabion' with D3Q15, and with the library's lattices once more under other names, on which every flow has to be what it
 * is on those. */
#include "d3q15.h"
#include "own_kernels.h"
#include "power_law.h"

#include "apps/driver/flow/flow.h"

#include <stdio.h>

static gab_status register_all(void)
{
  static gab_lattice copies[3];
  static const char *const names[3] = {"Copy-D2Q9", "Copy-D3Q19", "Copy-D3Q27"};
  const gab_lattice *const of[3] = {&gab_lattice_d2q9, &gab_lattice_d3q19, &gab_lattice_d3q27};
  GAB_TRY(gab_lattice_register(&d3q15));
  for (int i = 0; i < 3; i++) {
    copies[i] = *of[i];
    copies[i].name = names[i];
    GAB_TRY(gab_lattice_register(&copies[i]));
  }
  GAB_TRY(gab_collision_register(&power_law));
  GAB_TRY(gab_kernel_family_register(&gathered));
  GAB_TRY(gab_kernel_family_register(&plain));
  return GAB_OK;
}

int main(int argc, char **argv)
{
  const gab_solver *solvers[1] = {&gab_solver_flow};
  if (register_all() != GAB_OK) {
    fprintf(stderr, "error: %s\n", gab_error_message());
    return 1;
  }
  return gab_app_main(argc, argv, solvers, 1);
}
