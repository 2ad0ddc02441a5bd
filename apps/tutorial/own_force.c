/* SPDX-License-Identifier: Apache-2.0 */
/* A force of a program that varies in space: the acceleration A sin(2 pi y / H) along x (Kolmogorov flow).
 *
 *   gabion-launch -n 2 build/bin/own_force run apps/tutorial/own_force.yaml
 *
 * The page: doc/own-force.md. */
#include "apps/driver/flow/flow.h"
#include "lbm/setup/units.h"
#include "lbm/step/local_force.h"

#include <math.h>
#include <string.h>

static const gab_config_key keys[] = {{.name = "acceleration",
                                       .type = GAB_CONFIG_REAL,
                                       .unit = "m/s^2",
                                       .doc = "Amplitude of the acceleration along x."}};
static const gab_config_section section = {
    .path = "kolmogorov", .doc = "A force that is a sine of y.", .keys = keys, .count = 1};

static struct {
  const gab_forest *forest;
  double amplitude, height; /* lattice units of level 0 */
} sine;

static void row(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                double *const force[3])
{
  const gab_box cells = gab_block_cells(sine.forest, block);
  const double y = ((double)(cells.lo[1] + first[1]) + 0.5) / sine.height;
  (void)user;
  for (int32_t x = 0; x < count; x++) force[0][x] = sine.amplitude * sin(2 * acos(-1) * y);
}

static gab_status declare(gab_config *config)
{
  GAB_TRY(gab_solver_flow.declare(config));
  return gab_app_declare(config, &section, 1);
}

static gab_status read(gab_app_case *found)
{
  gab_units units;
  GAB_TRY(gab_solver_flow.read(found));
  GAB_TRY(gab_units_from_dt(found->grid.dx, found->dt, 1, &units));
  sine.amplitude =
      gab_units_acceleration_to_lattice(&units, gab_config_real(found->config, "kolmogorov.acceleration"));
  if (!(fabs(sine.amplitude) < 0.01))
    return gab_config_fail(found->config, "kolmogorov.acceleration",
                           "is %g in lattice units: must be below 0.01; lower units.dt", sine.amplitude);
  if (strcmp(gab_config_string(found->config, "lbm.kernel"), "in_place") != 0)
    return gab_config_fail(found->config, "lbm.kernel", "must be in_place with this force");
  if (gab_config_int(found->config, "refinement.levels") > 0)
    return gab_config_fail(found->config, "refinement.levels", "must be 0 with this force");
  return GAB_OK;
}

static gab_status add(gab_app_run *run)
{
  static const gab_local_force force = {.name = "kolmogorov", .row = row};
  GAB_TRY(gab_solver_flow.add(run));
  sine.forest = run->forest;
  sine.height = (double)gab_forest_domain_cells(run->forest).hi[1];
  return gab_lbm_set_local_force(gab_app_run_flow(run), &force);
}

int main(int argc, char **argv)
{
  gab_solver flow = gab_solver_flow; /* the flow, with one section and one force more */
  const gab_solver *const solvers[] = {&flow};
  flow.declare = declare;
  flow.read = read;
  flow.add = add;
  return gab_app_main(argc, argv, solvers, 1);
}
