/* SPDX-License-Identifier: Apache-2.0 */
/* A lattice of a program: rest, axes and corners of a cube (Qian, d'Humieres & Lallemand 1992).
 *
 *   gabion-launch -n 2 build/bin/own_lattice run apps/tutorial/own_lattice.yaml
 *
 * The page: doc/own-lattice.md. */
#include "apps/driver/flow/flow.h"
#include "lbm/kernels/lattice.h"

#include <stdio.h>

#define REST   2. / 9
#define AXIS   1. / 9, 1. / 9
#define CORNER 1. / 72, 1. / 72

/* clang-format off */
static const gab_lattice d3q15 = {
    .name = "D3Q15",
    .doc = "axes and corners",
    .dimension = 3,
    .q = 15,
    .c = {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1},
          {1, 1, 1}, {-1, -1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, 1, 1}},
    .weight = {REST, AXIS, AXIS, AXIS, CORNER, CORNER, CORNER, CORNER}};
/* clang-format on */

int main(int argc, char **argv)
{
  const gab_solver *const solvers[] = {&gab_solver_flow};
  if (gab_lattice_register(&d3q15) != GAB_OK) {
    fprintf(stderr, "error: %s\n", gab_error_message());
    return 1;
  }
  return gab_app_main(argc, argv, solvers, 1);
}
