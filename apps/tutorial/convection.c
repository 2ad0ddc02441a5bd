/* SPDX-License-Identifier: Apache-2.0 */
/* Natural convection in a cavity with a hot side on the left and a cold one on the right (de Vahl Davis 1983): two solvers on
 * the same blocks, a temperature that is carried by a flow and drives it.
 *
 *   gabion-launch -n 4 build/bin/convection run apps/tutorial/convection.yaml
 *
 *   flow          lattice Boltzmann (lbm/lbm.h), driven by buoyancy F = g beta (T - 1/2) upwards (Boussinesq)
 *   temperature   dT/dt + div(j T) = kappa Laplace(T) by finite volumes on the same cells (lbm/scalar/scalar.h)
 *
 * Sides are at half a cell, T = 1 on the left and 0 on the right, no heat passes above and below. With convection.levels blocks
 * are refined where temperatures change from cell to cell. */
#include "gabion/app.h"

#include <math.h>

/* ---- 1. Parameters. Lengths in cells, L is the width of the cavity; times in steps. */
#define FASTEST 0.4 /* the flow in units of convection.speed, at most */
#define REAL(key, most, preset, what)                                                                        \
  .name = key, .type = GAB_CONFIG_REAL, .min = 0, .max = most, .default_text = preset, .doc = what
#define INTEGER(key, least, most, preset, what)                                                              \
  .name = key, .type = GAB_CONFIG_INT, .min = least, .max = most, .default_text = preset, .doc = what
static const gab_config_key keys[] = {
    {REAL("rayleigh", 1e9, NULL, "Rayleigh number g beta dT L^3 / (nu kappa)."), .min_excluded = true},
    {REAL("prandtl", 1e3, "0.71", "Prandtl number nu / kappa; that of air if left out."),
     .min_excluded = true},
    {REAL("speed", 0.4, "0.2", "sqrt(g beta dT L) in cells per step; the flow gets about a quarter as fast."),
     .min_excluded = true},
    {REAL("steady", 1, "1e-5",
          "The state is steady when no temperature changes by more in a time L / speed."),
     .outside = true},
    {INTEGER("every", 1, 9e15, "500", "Steps between two rows of convection.csv."), .outside = true},
    {INTEGER("levels", 0, 3, "0", "How often blocks may be refined below the cells of domain.cells.")},
    {INTEGER("adapt_every", 1, 9e15, "1000", "Interval of adaptations, in steps.")},
    {REAL("difference", 1, "0.02",
          "Blocks in which temperatures of cells side by side differ by more are refined, below a "
          "quarter of it they may be merged again."),
     .min_excluded = true},
};
static const gab_config_section section = {.path = "convection",
                                           .doc = "A cavity heated from its side.",
                                           .keys = keys,
                                           .count = sizeof keys / sizeof keys[0]};

typedef struct convection_case {
  gab_app_case base;
  double length, speed, viscosity, conductivity, buoyancy; /* g beta dT; all in cells of level 0 */
  int finest;
} convection_case;

static gab_status declare(gab_config *config) { return gab_app_declare(config, &section, 1); }

static gab_status read_case(gab_app_case *base)
{
  convection_case *which = (convection_case *)base;
  const gab_config *config = base->config;
  GAB_TRY(gab_app_case_read_alike(base, 2));
  which->finest = (int)gab_config_int(config, "convection.levels");
  if (which->finest > 0) GAB_TRY(gab_app_domain_check_levels(config, &base->grid));
  which->length = (double)base->grid.grid.roots[0] * base->grid.cells[0];
  which->speed = gab_config_real(config, "convection.speed");
  which->buoyancy = which->speed * which->speed / which->length;
  const double rayleigh = gab_config_real(config, "convection.rayleigh"),
               prandtl = gab_config_real(config, "convection.prandtl");
  which->viscosity = which->speed * which->length * sqrt(prandtl / rayleigh);
  which->conductivity = which->viscosity / prandtl;
  GAB_TRY(gab_app_blame(
      config, "convection.rayleigh",
      gab_lbm_scalar_check_stable(which->conductivity, 2, which->finest, FASTEST * which->speed)));
  return gab_app_case_settle(base);
}

static void describe(const gab_app_case *base)
{
  const convection_case *which = (const convection_case *)base;
  gab_log(GAB_LOG_INFO, "  Rayleigh number %g, viscosity %.4g, conductivity %.4g (of cells and steps)",
          gab_config_real(base->config, "convection.rayleigh"), which->viscosity, which->conductivity);
}

/* ---- 2. What lies on the blocks: the populations of the flow, and the temperature. */
typedef struct convection {
  gab_app_run base;
  const convection_case *parameters;
  gab_lbm *lbm;
  gab_lbm_scalar *temperature;
  gab_quantity quantities[3];
} convection;

/* In steps of a tenth: isotherms are where they meet. */
static gab_status evaluate_isotherms(void *user, const gab_forest *forest, const gab_block *block,
                                     double *values)
{
  const gab_quantity *temperature = ((const convection *)user)->quantities;
  GAB_TRY(temperature->evaluate(temperature->user, forest, block, values));
  for (size_t i = 0; i < gab_quantity_block_values(forest, temperature); i++)
    values[i] = fmin(floor(10 * values[i]), 9) / 10 + 0.05;
  return GAB_OK;
}

/* Finer blocks take more steps of the flow. */
static uint64_t block_weight(void *user, int level, const gab_box *cells)
{
  (void)user, (void)cells;
  return UINT64_C(1) << level;
}

static gab_status prepare(gab_app_run *run)
{
  convection *it = (convection *)run;
  const convection_case *which = it->parameters = (const convection_case *)run->parameters;
  const gab_side wall = {.kind = GAB_SIDE_WALL};
  const gab_lbm_options flow = {.omega = 1 / (3 * which->viscosity + 0.5),
                                .sides = {wall, wall, wall, wall},
                                .border_speed = which->finest > 0 ? FASTEST * which->speed : 0,
                                .deepest = which->finest,
                                .kernel = "in_place"};
  const gab_lbm_scalar_options temperature = {.name = "temperature",
                                              .diffusivity = which->conductivity,
                                              .sides = {{GAB_SCALAR_FIXED, 1}, {GAB_SCALAR_FIXED, 0}},
                                              .buoyancy = {0, which->buoyancy},
                                              .reference = 0.5};
  gab_forest_options grid = run->parameters->grid;
  grid.weight = block_weight;
  run->finest_level = which->finest;
  GAB_TRY(gab_forest_create(run->world, &grid, &run->forest));
  GAB_TRY(gab_lbm_create(run->forest, NULL, &flow, &it->lbm));
  GAB_TRY(gab_lbm_scalar_create(run->forest, it->lbm, &temperature, which->finest, &it->temperature));
  gab_lbm_scalar_quantities(it->temperature, it->quantities);
  it->quantities[2] =
      (gab_quantity){.name = "isotherms", .components = 1, .evaluate = evaluate_isotherms, .user = it};
  run->quantities = (gab_quantity_list){it->quantities, 3};
  return GAB_OK;
}

static void release_run(gab_app_run *run)
{
  convection *it = (convection *)run;
  gab_lbm_scalar_destroy(&it->temperature);
  if (it->lbm) gab_lbm_destroy(&it->lbm);
  if (run->forest) gab_forest_destroy(&run->forest);
}

/* At rest, and as warm everywhere as the mean of both sides. */
static gab_status build(gab_app_run *run)
{
  GAB_TRY(gab_forest_build(run->forest, NULL, NULL, 0, gab_app_run_distribute_first, run, NULL));
  gab_lbm_scalar_fill(((convection *)run)->temperature, 0.5);
  return GAB_OK;
}

/* ---- 3. A step, and smaller cells where temperatures change most. */
static gab_status move_fluid(void *user, gab_step step)
{
  (void)step;
  return gab_lbm_step(((const convection *)user)->lbm);
}

static gab_status move_heat(void *user, gab_step step)
{
  (void)step;
  return gab_lbm_scalar_step(((const convection *)user)->temperature);
}

static gab_status mark_block(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const convection *it = user;
  const int level = gab_block_level(forest, block);
  const double most = gab_config_real(it->base.parameters->config, "convection.difference"),
               found = gab_lbm_scalar_difference(it->temperature, block);
  if (found > most && level < it->parameters->finest) *mark = GAB_MARK_REFINE;
  else if (found < most / 4 && level > 0) *mark = GAB_MARK_COARSEN;
  return GAB_OK;
}

static gab_status add(gab_app_run *run)
{
  convection *it = (convection *)run;
  const gab_entity flow = gab_lbm_entity(it->lbm);
  const gab_app_adaptation follow = {.every =
                                         gab_config_int(run->parameters->config, "convection.adapt_every"),
                                     .finest = it->parameters->finest,
                                     .mark = mark_block,
                                     .substeps = true};
  GAB_TRY(gab_timeloop_add_entity(run->loop, &flow));
  GAB_TRY(gab_timeloop_add_task(run->loop, "flow", move_fluid, run));
  GAB_TRY(gab_timeloop_add_task(run->loop, "temperature", move_heat, run));
  GAB_TRY(gab_app_run_add_adaptation(run, &follow));
  GAB_TRY(gab_app_run_add_balance(run));
  return gab_app_run_add_output(run);
}

/* ---- 4. The table: heat that passes, as a multiple of what fluid at rest would conduct. */
static const char *const columns[] = {"nusselt_hot", "nusselt_cold", "nusselt_mean", "change", "steady"};

static gab_status nusselt_row(void *user, gab_step step, double time, double *row)
{
  const convection *it = user;
  const convection_case *which = it->parameters;
  const double height = (double)gab_forest_domain_cells(it->base.forest).hi[1],
               conducted = height * (which->conductivity / which->length);
  gab_lbm_scalar_flux flux;
  (void)step, (void)time;
  GAB_TRY(gab_lbm_scalar_measure(it->temperature, 0, &flux));
  row[0] = flux.lower / conducted;
  row[1] = flux.upper / conducted;
  row[2] = flux.volume / conducted / which->length;
  row[3] = flux.change * which->length / which->speed;
  row[4] = row[3] <= gab_config_real(it->base.parameters->config, "convection.steady");
  return GAB_OK;
}

static gab_status add_writers(gab_app_run *run)
{
  const gab_schedule schedule = {.every = gab_config_int(run->parameters->config, "convection.every")};
  return gab_output_add_series(run->output, schedule, "convection", columns, 5, nusselt_row, run, NULL);
}

static gab_status finish(gab_app_run *run, gab_step step)
{
  double row[5];
  GAB_TRY(nusselt_row(run, step, gab_app_run_time(run, step), row));
  gab_log(GAB_LOG_INFO,
          "  Nusselt number %.4f at the hot side, %.4f at the cold one, %.4f on the whole; %s: temperatures "
          "change by up to %.2g in a time L / speed",
          row[0], row[1], row[2], row[4] > 0 ? "steady" : "not steady yet", row[3]);
  return GAB_OK;
}

/* ---- 5. The table of all. */
static gab_status check_finite(gab_app_run *run)
{
  return gab_lbm_scalar_check_finite(((const convection *)run)->temperature);
}

static gab_config_choice quantity(int index)
{
  static const gab_config_choice words[] = {{.name = "temperature"},
                                            {.name = "velocity"},
                                            {.name = "isotherms", .doc = "temperature in tenths"},
                                            {0}};
  return words[index];
}

/* For `plan': the grid of the start has one level. */
static gab_status plan(gab_app_run *run, gab_app_plan *plan)
{
  const convection *it = (const convection *)run;
  gab_data_id data[2];
  const gab_ghost_kind ghosts = gab_lbm_scalar_fields(it->temperature, data);
  plan->fields = "populations, temperature";
  if (it->parameters->finest > 0)
    plan->adapts_every = gab_config_int(run->parameters->config, "convection.adapt_every");
  gab_app_plan_add_flow(plan, it->lbm);
  gab_app_plan_add_ghosts(plan, &ghosts);
  GAB_TRY(gab_app_plan_add_data(plan, data[0]));
  return gab_app_plan_add_data(plan, data[1]);
}

static const char *const own[] = {"convection", NULL}, *const usual_fields[] = {"temperature", "velocity",
                                                                                NULL};
static const gab_solver solver = {.name = "convection",
                                  .title = "natural convection",
                                  .section = "convection",
                                  .own = own,
                                  .case_bytes = sizeof(convection_case),
                                  .declare = declare,
                                  .read = read_case,
                                  .describe = describe,
                                  .run_bytes = sizeof(convection),
                                  .prepare = prepare,
                                  .add_writers = add_writers,
                                  .build = build,
                                  .add = add,
                                  .check_finite = check_finite,
                                  .quantities = quantity,
                                  .usual_fields = usual_fields,
                                  .usual_slice = "temperature",
                                  .finish = finish,
                                  .release_run = release_run,
                                  .plan = plan};

int main(int argc, char **argv)
{
  static const gab_solver *const all[] = {&solver};
  return gab_app_main(argc, argv, all, 1);
}
