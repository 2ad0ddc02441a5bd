/* SPDX-License-Identifier: Apache-2.0 */
/* gabion: runs simulations from parameter files. */
#include "apps/driver/solver.h"

int main(int argc, char **argv)
{
  static const gab_solver *const solvers[] = {&gab_solver_solidification, &gab_solver_flow};
  return gab_app_main(argc, argv, solvers, sizeof solvers / sizeof solvers[0]);
}
