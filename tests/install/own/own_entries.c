/* SPDX-License-Identifier: Apache-2.0 */
/* A program outside of the source tree with an entry of its own in each registry, which script_own_entries.sh builds against the
 * installed libraries: `gabion' with more to choose from, by one call. The boundary condition is that of navier_slip.h, the collision with a
 * function of its own for a cell that of power_law.h, the kernels those of own_kernels.h, the lattice that of d3q15.h. */
#include "d3q15.h"
#include "navier_slip.h"
#include "own_kernels.h"
#include "power_law.h"

#include "apps/driver/flow/flow.h"
#include "core/memory/memory.h"
#include "lbm/boundaries/geometry.h"
#include "lbm/collision/collision.h"
#include "lbm/lbm.h"
#include "lbm/levels/refinement/cell_criterion.h"
#include "lbm/step/local_force.h"
#include "resilience/loop/monitor.h"
#include "resilience/recovery/recovery.h"
#include "resilience/schemes/scheme.h"

#include <math.h>
#include <stdio.h>

/* ---- A body: a disc by its signed distance, times a factor that may be 1 at most. */
static const gab_config_key ring_keys[] = {
    {.name = "centre",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 2,
     .unit = "m",
     .doc = "Centre."},
    {.name = "radius", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .unit = "m", .doc = "Radius."},
    {.name = "factor", .type = GAB_CONFIG_REAL, .default_text = "1", .doc = "Of the distance."}};

static gab_status read_ring(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  const double *centre = gab_config_reals(config, gab_config_path(key, "%s.centre", path), &count);
  const double radius = gab_config_real(config, gab_config_path(key, "%s.radius", path));
  for (int axis = 0; axis < dimension; axis++) {
    body->numbers[axis] = centre[axis];
    body->lo[axis] = centre[axis] - radius;
    body->hi[axis] = centre[axis] + radius;
  }
  body->numbers[2] = radius;
  body->numbers[3] = gab_config_real(config, gab_config_path(key, "%s.factor", path));
  return GAB_OK;
}

static double ring_distance(const gab_body *body, const double point[3])
{
  const double *numbers = body->numbers;
  return (hypot(point[0] - numbers[0], point[1] - numbers[1]) - numbers[2]) * numbers[3];
}

static const gab_body_shape places = {.name = "ring",
                                      .doc = "A disc in the plane.",
                                      .keys = ring_keys,
                                      .key_count = 3,
                                      .read = read_ring,
                                      .distance = ring_distance};

/* ---- A collision model with kernels that are there: MRT with one rate for all that is not stress. */
static void equal_rates(gab_lbm_options *options) { options->mrt = (gab_mrt_rates){1.3, 1.3, 1.3, 1.3, 1.3}; }
static gab_collision two_groups;

/* ---- Quantities: the library's q_criterion once more, and a vector without gradients. */
static void q_of_cell(const gab_lbm_cell *at, double *values)
{
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += at->gradient[i][j] * at->gradient[j][i];
  values[0] = -0.5 * sum;
}
static void momentum_of_cell(const gab_lbm_cell *at, double *values)
{
  for (int k = 0; k < 3; k++) values[k] = at->density * at->velocity[k];
}
/* The friction on the wall beside a cell: what of the stress there lies along it. */
static void shear_of_cell(const gab_lbm_cell *at, double *values)
{
  const double *n = at->wall_normal;
  double across = 0;
  for (int i = 0; i < 3; i++) {
    values[i] = at->wall_stress[i][0] * n[0] + at->wall_stress[i][1] * n[1] + at->wall_stress[i][2] * n[2];
    across += values[i] * n[i];
  }
  for (int i = 0; i < 3; i++) values[i] = at->at_wall ? values[i] - across * n[i] : NAN;
}
static const gab_lbm_quantity own_shear = {.name = "own_shear",
                                           .doc = "friction on walls",
                                           .unit = "Pa",
                                           .components = 3,
                                           .stress = true,
                                           .evaluate = shear_of_cell};
static const gab_lbm_quantity own_q = {.name = "own_q",
                                       .doc = "Q criterion",
                                       .unit = "1/s^2",
                                       .components = 1,
                                       .diverging = true,
                                       .gradient = true,
                                       .evaluate = q_of_cell};
static const gab_lbm_quantity momentum = {
    .name = "momentum", .doc = "rho u", .unit = "kg/m^2/s", .components = 3, .evaluate = momentum_of_cell};

/* ---- A criterion of refinement: the vorticity of a flow in the plane, with a sign that does not matter. */
static double turning(const gab_lbm_cell *at) { return fabs(at->gradient[0][1] - at->gradient[1][0]); }
static const gab_lbm_criterion own_curl = {
    .name = "own_curl", .doc = "Where the flow turns.", .unit = "1/s", .value = turning};

/* ---- A redundancy scheme: one copy, at the member before. */
static int one(int32_t count) { return count > 1; }
static int32_t all_the_way_back(const gab_scheme_places *places, int copy, int copies)
{
  (void)copy, (void)copies;
  return places->count - 1;
}
static const gab_scheme before = {
    .name = "before", .doc = "a copy at the member before", .most_copies = one, .shift = all_the_way_back};

/* ---- A strategy: as shrink, and says so. */
static gab_status restore(const gab_recovery *recovery, gab_fault *fault)
{
  if (gab_world_is_root(recovery->world)) fprintf(stderr, "own_shrink: %d lost\n", (int)fault->lost_count);
  return gab_strategy_shrink.restore(recovery, fault);
}
static const gab_strategy own_shrink = {
    .name = "own_shrink", .doc = "goes on without the dead", .restore = restore};

/* ---- A balancer: of four blocks one to the last process, the others to the first. */
static gab_status assign(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                         gab_balance_report *report)
{
  void *memory;
  const size_t count = gab_proxies_count(proxies);
  (void)report;
  GAB_TRY(gab_alloc(count * sizeof **part, GAB_MEMORY_OTHER, &memory));
  *part = memory;
  for (size_t i = 0; i < count; i++)
    (*part)[i] = gab_proxies_get(proxies, i)->id % 4 == 0 ? options->parts - 1 : 0;
  return GAB_OK;
}
static const gab_balancer lopsided = {.name = "lopsided",
                                      .doc = "a quarter of the blocks to the last process",
                                      .is_built = true,
                                      .assign = assign};

/* ---- A monitor: nothing is faster than 0.12 m/s; by the quantities of the run, of whichever solver they belong to. */
static bool due(const void *user, gab_step step)
{
  (void)user;
  return step % 5 == 0;
}
static gab_status look(void *user, gab_step step)
{
  const gab_app_run *run = user;
  const gab_quantity *speed;
  gab_component component;
  void *memory;
  gab_status status = GAB_OK;
  (void)step;
  GAB_TRY(gab_quantity_find_scalar(run->quantities, "speed", &speed, &component));
  const size_t count = gab_quantity_block_values(run->forest, speed);
  GAB_TRY(gab_alloc(count * sizeof(double), GAB_MEMORY_OTHER, &memory));
  const double *values = memory;
  for (size_t b = 0; b < gab_forest_block_count(run->forest) && status == GAB_OK; b++) {
    status = speed->evaluate(speed->user, run->forest, gab_forest_block(run->forest, b), memory);
    for (size_t i = 0; i < count && status == GAB_OK; i++)
      if (values[i] > 0.12)
        status = gab_error_set(GAB_ERR_SUSPECT, __FILE__, __LINE__, "faster than anything should be");
  }
  gab_free(&memory);
  return status;
}
static gab_status add_ceiling(void *user, gab_timeloop *loop)
{
  return gab_timeloop_add_monitor(loop, "ceiling", due, look, user);
}
static const gab_monitor ceiling = {"ceiling", "nothing is faster than 0.12 m/s", add_ceiling};

/* ---- A flow with one thing more: a force that differs from cell to cell, here on one half of the domain. */
static const gab_config_key drive_keys[] = {
    {.name = "force", .type = GAB_CONFIG_REAL, .default_text = "0", .doc = "Along x, in lattice units."},
    {.name = "share",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 1,
     .default_text = "1",
     .doc = "Of the cells, from below."}};
static const gab_config_section drive_section = {.path = "drive",
                                                 .doc = "A force on a part of the fluid.",
                                                 .keys = drive_keys,
                                                 .count = 2,
                                                 .optional = true};

static void drive_row(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                      double *const force[3])
{
  const gab_app_run *run = user;
  const gab_config *config = run->parameters->config;
  const double share = gab_config_real(config, "drive.share");
  const gab_box domain = gab_forest_domain_cells(run->forest), cells = gab_block_cells(run->forest, block);
  const double height = (double)(cells.lo[1] + first[1]) + 0.5;
  if (height > share * (double)domain.hi[1]) return;
  for (int32_t x = 0; x < count; x++) force[0][x] = gab_config_real(config, "drive.force");
}

static gab_status declare_driven(gab_config *config)
{
  GAB_TRY(gab_solver_flow.declare(config));
  return gab_app_declare(config, &drive_section, 1);
}

static gab_status add_driven(gab_app_run *run)
{
  static gab_local_force force;
  GAB_TRY(gab_solver_flow.add(run));
  if (gab_config_real(run->parameters->config, "drive.force") == 0) return GAB_OK;
  force = (gab_local_force){.name = "drive", .user = run, .row = drive_row};
  return gab_lbm_set_local_force(gab_app_run_flow(run), &force);
}

/* The table of the flow, with these two, and one section more that belongs to it. */
static const gab_solver *driven_flow(void)
{
  static gab_solver driven;
  static const char *own[32] = {"drive"};
  driven = gab_solver_flow;
  for (int i = 0; i < 30 && driven.own[i]; i++) own[i + 1] = driven.own[i];
  driven.own = own;
  driven.declare = declare_driven;
  driven.add = add_driven;
  return &driven;
}

/* ---- All of them, before anything is read; none twice. */
static int twice(void)
{
  return gab_boundary_register(&slip) == GAB_OK || gab_body_shape_register(&places) == GAB_OK ||
         gab_collision_register(&two_groups) == GAB_OK || gab_collision_register(&power_law) == GAB_OK ||
         gab_lbm_quantity_register(&own_q) == GAB_OK || gab_lbm_criterion_register(&own_curl) == GAB_OK ||
         gab_scheme_register(&before) == GAB_OK || gab_strategy_register(&own_shrink) == GAB_OK ||
         gab_balancer_register(&lopsided) == GAB_OK || gab_monitor_register(&ceiling) == GAB_OK ||
         gab_kernel_family_register(&gathered) == GAB_OK || gab_lattice_register(&d3q15) == GAB_OK;
}

static gab_status register_all(void)
{
  two_groups = gab_collision_mrt;
  two_groups.name = "two_groups";
  two_groups.title = "TwoGroups";
  two_groups.doc = "stress and all else";
  two_groups.keys = two_groups.keys_of_space = NULL;
  two_groups.read = NULL;
  two_groups.fill = equal_rates;
  GAB_TRY(gab_boundary_register(&slip));
  GAB_TRY(gab_body_shape_register(&places));
  GAB_TRY(gab_collision_register(&two_groups));
  GAB_TRY(gab_collision_register(&power_law));
  GAB_TRY(gab_lbm_quantity_register(&own_q));
  GAB_TRY(gab_lbm_quantity_register(&momentum));
  GAB_TRY(gab_lbm_quantity_register(&own_shear));
  GAB_TRY(gab_lbm_criterion_register(&own_curl));
  GAB_TRY(gab_scheme_register(&before));
  GAB_TRY(gab_strategy_register(&own_shrink));
  GAB_TRY(gab_balancer_register(&lopsided));
  GAB_TRY(gab_monitor_register(&ceiling));
  GAB_TRY(gab_kernel_family_register(&gathered));
  GAB_TRY(gab_kernel_family_register(&plain));
  GAB_TRY(gab_lattice_register(&d3q15));
  return twice() ? GAB_ERR_STATE : GAB_OK;
}

int main(int argc, char **argv)
{
  static const gab_solver *solvers[2];
  solvers[0] = &gab_solver_solidification;
  solvers[1] = driven_flow();
  if (register_all() != GAB_OK) {
    fprintf(stderr, "error: %s\n", gab_error_message());
    return 1;
  }
  return gab_app_main(argc, argv, solvers, 2);
}
