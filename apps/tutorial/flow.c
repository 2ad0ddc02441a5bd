/* SPDX-License-Identifier: Apache-2.0 */
/* Flow past two bodies in a wind tunnel with perforated walls: a whole program, without a parameter file.
 *
 *   gabion-launch -n 4 build/bin/flow [STEPS]
 *
 * Writes drag, lift and energy (out/flow/tunnel.csv) and a picture. Lattice units: cells, steps, density 1.
 * If one of its processes is killed, all output stays the same to the last bit. */
#include "gabion/gabion.h"
#include <math.h>
#include <stdlib.h>

/* clang-format off */
static const gab_body bodies[] = { /* ---- 1. A cylinder, and a square rod in its wake. */
    {.name = "cylinder", .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {96, 79}, .radius = 8},
    {.name = "rod", .shape = GAB_SHAPE_BOX, .lo = {192, 80}, .hi = {200, 88}}};
/* clang-format on */
static const double width[] = {16, 8}, inflow = 0.1, reynolds = 100;
enum { STEPS = 20000, EVERY = 50 }; /* in all; between two rows of the table */

typedef struct tunnel {
  gab_geometry *geometry;
  gab_forest *forest; /* the blocks of this process */
  gab_lbm *lbm;       /* the flow in them */
  gab_lbm_quantities *view;
  gab_output *output;
  gab_timeloop *loop;
} tunnel;

/* ---- 2. A user-defined boundary condition: air leaves through a perforated sheet at p / (rho c Z), with p the excess pressure and c the speed of sound. Z = 1 does not reflect sound at normal incidence. */
static double leaks(const gab_boundary_link *at)
{
  const double impedance = at->numbers[0], speed = (at->density - 1) / (sqrt(3) * impedance);
  const int8_t along = at->lattice->c[at->q][at->side / 2], outward = at->side % 2 ? along : -along;
  return at->sent[gab_lattice_opposite(at->q)] + 6 * at->lattice->weight[at->q] * outward * speed;
}
static const gab_boundary sheet = {.name = "perforated", .doc = "A sheet with holes.", .arrives = leaks};

static gab_status flow_step(void *user, gab_step step) /* ---- 3. A time step. */
{
  tunnel *app = user;
  if ((step + 1) % EVERY == 0) gab_lbm_request_forces(app->lbm);
  return gab_lbm_step(app->lbm);
}

/* ---- 4. A user-defined diagnostic: coefficients of drag and lift, and the energy per cell. */
static const char *const columns[] = {"cylinder.c_d", "cylinder.c_l", "rod.c_d", "rod.c_l", "kinetic_energy"};
static gab_status forces_and_energy(void *user, gab_step step, double time, double *row)
{
  tunnel *app = user;
  double forces[2][3];
  gab_lbm_integrals sums;
  (void)step, (void)time;
  GAB_TRY(gab_lbm_forces(app->lbm, forces));
  GAB_TRY(gab_lbm_integrate(app->lbm, false, &sums));
  for (int i = 0; i < 4; i++) row[i] = forces[i / 2][i % 2] / (0.5 * inflow * inflow * width[i / 2]);
  row[4] = sums.kinetic_energy / sums.volume;
  return GAB_OK;
}

static gab_status look_and_write(void *user, gab_step step) /* ---- 5. After each step. */
{
  tunnel *app = user;
  if (!gab_output_due(app->output, step)) return GAB_OK;
  GAB_TRY(gab_lbm_check_finite(app->lbm, NULL)); /* a diverged flow ends the run on all processes */
  GAB_TRY(gab_lbm_quantities_update(app->view));
  return gab_output_write(app->output, step, (double)step);
}

static gab_status report(void *user, gab_step step) /* ---- 6. At the end. */
{
  uint64_t checksum;
  GAB_TRY(gab_forest_checksum(((tunnel *)user)->forest, &checksum));
  gab_log(GAB_LOG_INFO, "flow after %" GAB_PRI_STEP " steps: checksum %016" PRIx64, step, checksum);
  return GAB_OK;
}

/* ---- 7. After a death the survivors distribute the blocks again. */
static gab_status share(void *user, gab_forest *forest) { return gab_balance_forest(forest, user, NULL); }

static gab_status run(gab_world *world, tunnel *app, gab_step steps)
{
  const gab_side inlet = {.kind = GAB_SIDE_VELOCITY, .velocity = {inflow}};
  const gab_side outlet = {.kind = GAB_SIDE_OUTFLOW};
  const gab_side perforated = {.kind = GAB_SIDE_OWN, .own = &sheet, .numbers = {1}};
  const gab_lbm_options flow = {.omega = gab_omega_of_viscosity(inflow * width[0] / reynolds),
                                .velocity = {inflow},
                                .sides = {inlet, outlet, perforated, perforated}}; /* x- x+ y- y+ */
  gab_forest_options grid = {.grid = {.dimension = 2, .roots = {12, 4, 1}}, .cells = {40, 40, 1}, .dx = 1};
  const gab_domain domain = gab_lbm_domain(&grid);
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  if (steps < EVERY) GAB_FAIL(GAB_ERR_INPUT, "STEPS must be a number, at least %d", EVERY);
  gab_slice_options slice = {.axis = 2, .fixed_range = true, .range = {-0.04, 0.04}};
  GAB_TRY(gab_geometry_create(&domain, bodies, 2, &app->geometry));
  GAB_TRY(gab_forest_create(world, &grid, &app->forest));
  GAB_TRY(gab_lbm_create(app->forest, app->geometry, &flow, &app->lbm));
  GAB_TRY(gab_lbm_quantities_create(app->forest, app->lbm, &(gab_units){1, 1, 1, false}, true, &app->view));
  GAB_TRY(gab_balance_initial(app->forest, NULL, NULL)); /* now each process has its blocks */
  GAB_TRY(gab_output_folder_make(world, "out/flow"));
  GAB_TRY(gab_output_create(app->forest, "out/flow", &app->output));
  GAB_TRY(gab_quantity_find(gab_lbm_quantities_list(app->view, 2, items), "vorticity", &slice.quantity));
  GAB_TRY(gab_output_add_slice(app->output, (gab_schedule){.every = steps, .start = steps}, &slice));
  GAB_TRY(gab_output_add_series(app->output, (gab_schedule){.every = EVERY, .start = EVERY}, "tunnel",
                                columns, 5, forces_and_energy, app, NULL));
  /* State besides the blocks that must survive: the steps of the flow and the length of the table. */
  const gab_entity done = gab_lbm_entity(app->lbm), table = gab_output_entity(app->output);
  GAB_TRY(gab_timeloop_create(app->forest, steps, &app->loop));
  GAB_TRY(gab_timeloop_add_task(app->loop, "flow", flow_step, app));
  GAB_TRY(gab_timeloop_add_action(app->loop, "output", NULL, look_and_write, app));
  GAB_TRY(gab_timeloop_add_finish(app->loop, "report", report, app));
  GAB_TRY(gab_timeloop_add_entity(app->loop, &done));
  GAB_TRY(gab_timeloop_add_entity(app->loop, &table));
  /* The line that makes it survive: */
  GAB_TRY(gab_timeloop_protect(app->loop, &(gab_protection){.every = {.steps = 500}, .rebalance = share}));
  return gab_timeloop_run(app->loop);
}

int main(int argc, char **argv)
{
  gab_world *world;
  tunnel app = {0};
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  const gab_status status = run(world, &app, argc > 1 ? atoll(argv[1]) : STEPS);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s: %s", gab_status_name(status), gab_error_message());
  gab_timeloop_destroy(&app.loop);
  gab_output_destroy(&app.output);
  gab_lbm_quantities_destroy(&app.view);
  gab_lbm_destroy(&app.lbm);
  gab_forest_destroy(&app.forest);
  gab_geometry_destroy(&app.geometry);
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}
