/* Natural convection in a cavity with a hot side on the left and a cold one on the right (de Vahl Davis 1983): two physics on
 * the same blocks, a temperature that is carried by a flow and drives it.
 *
 *   gabion-launch -n 4 build/bin/convection run apps/tutorial/convection.yaml
 *
 *   flow          lattice Boltzmann (lbm/lbm.h), and buoyancy F = g beta (T - 1/2) upwards (Boussinesq), a local force
 *   temperature   dT/dt + div(j T) = kappa Laplace(T), finite volumes on the same cells, j the momentum of the flow
 *
 * Sides are at half a cell, T = 1 on the left and 0 on the right, no heat passes above and below. Finite volumes rather than
 * a second lattice: one number in a cell instead of nine, and what one cell loses the next one gets, so that on one level
 * exactly as much heat enters as leaves once the state is steady. Central differences, explicit: what they bear is looked at
 * when the case is read.
 *
 * With convection.levels blocks are refined where temperatures change from cell to cell. Finer levels of the flow take more
 * and shorter steps, in which the temperature stays; that takes the step of level 0 everywhere. Between levels what is conducted
 * meets exactly, what is carried does not: both sides then differ a little, nusselt_hot and nusselt_cold tell. */
#include "apps/driver/plan/app_plan.h"
#include "blockforest/adaptation/adapt.h"
#include "blockforest/exchange/level_ghosts.h"
#include "core/base/exact_sum.h"
#include "core/base/log.h"
#include "core/messages/collective.h"
#include "lbm/step/local_force.h"

#include <math.h>

/* ---- 1. Parameters. Lengths in cells, L is the width of the cavity; times in steps. */
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
    {INTEGER("adapt_every", 1, 9e15, "1000", "Steps between two adaptations of the grid.")},
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
  gab_step adapt_every;
} convection_case;

static gab_status declare(gab_config *config) { return gab_app_declare(config, &section, 1); }

/* What the explicit scheme bears (Hindmarsh, Gresho & Griffiths 1984), of a flow of up to 0.4 of that speed. */
static gab_status check_stability(const convection_case *which)
{
  const double fastest = 0.4 * which->speed, finest = ldexp(which->conductivity, 2 * which->finest);
  if (finest > 0.25)
    return gab_config_fail(which->base.config, "convection.rayleigh",
                           "a conductivity of %.3g in the finest cells is unstable above 1/4: fewer cells or "
                           "levels, or a smaller convection.speed",
                           finest);
  if (which->conductivity < fastest * fastest / 2)
    return gab_config_fail(
        which->base.config, "convection.rayleigh",
        "a conductivity of %.3g is unstable below %.3g: more cells, or a smaller convection.speed",
        which->conductivity, fastest * fastest / 2);
  return GAB_OK;
}

static gab_status read_case(gab_app_case *base)
{
  convection_case *which = (convection_case *)base;
  const gab_config *config = base->config;
  GAB_TRY(gab_app_case_refuse_others(base));
  GAB_TRY(gab_app_domain_read(config, &base->domain));
  if (base->domain.grid.dimension != 2)
    return gab_config_fail(config, "domain.cells", "a cavity heated from its side is computed in 2D");
  base->grid = base->domain;
  base->dt = 1;
  which->finest = (int)gab_config_int(config, "convection.levels");
  which->adapt_every = gab_config_int(config, "convection.adapt_every");
  for (int axis = 0; axis < 2 && which->finest > 0; axis++)
    if (base->grid.cells[axis] % 2 != 0 || base->grid.cells[axis] < 4)
      return gab_config_fail(config, "domain.block",
                             "with levels an even number of cells, 4 or more, is needed");
  which->length = (double)base->grid.grid.roots[0] * base->grid.cells[0];
  which->speed = gab_config_real(config, "convection.speed");
  which->buoyancy = which->speed * which->speed / which->length;
  const double rayleigh = gab_config_real(config, "convection.rayleigh"),
               prandtl = gab_config_real(config, "convection.prandtl");
  which->viscosity = which->speed * which->length * sqrt(prandtl / rayleigh);
  which->conductivity = which->viscosity / prandtl;
  GAB_TRY(check_stability(which));
  GAB_TRY(gab_app_balance_read(config, &base->balance, &base->rebalance));
  if (base->balance.measured)
    return gab_config_fail(config, "balance.work",
                           "the work of this program is not measured: its blocks are alike");
  GAB_TRY(gab_app_reconstruct_refuse(config, "a flow that nobody holds any more cannot be made up here"));
  return gab_app_case_settle(base);
}

static void describe(const gab_app_case *base)
{
  const convection_case *which = (const convection_case *)base;
  gab_log(GAB_LOG_INFO, "  Rayleigh number %g, viscosity %.4g, conductivity %.4g (of cells and steps)",
          gab_config_real(base->config, "convection.rayleigh"), which->viscosity, which->conductivity);
}

/* ---- 2. What lies on the blocks: the populations of the flow, and temperature and momentum of each cell. */
enum { TEMPERATURE, MOMENTUM_X, MOMENTUM_Y, COMPONENTS };

typedef struct convection {
  gab_app_run base;
  const convection_case *parameters;
  gab_lbm *lbm;
  gab_local_force buoyancy;
  gab_block_field shape;
  gab_data_id now, next;
  gab_level_ghosts *ghosts;
  gab_quantity quantities[3];
} convection;

static gab_status evaluate_temperature(void *user, const gab_forest *forest, const gab_block *block,
                                       double *values)
{
  const convection *it = user;
  const int component = TEMPERATURE;
  const gab_field *now = gab_block_data(block, it->now);
  const gab_box box = gab_field_interior(now);
  (void)forest;
  gab_field_pack_box(now, &box, &component, 1, values);
  return GAB_OK;
}

/* In steps of a tenth: isotherms are where they meet. */
static gab_status evaluate_isotherms(void *user, const gab_forest *forest, const gab_block *block,
                                     double *values)
{
  const gab_box box = gab_field_interior(gab_block_data(block, ((const convection *)user)->now));
  GAB_TRY(evaluate_temperature(user, forest, block, values));
  for (size_t i = 0; i < gab_box_count(&box); i++) values[i] = fmin(floor(10 * values[i]), 9) / 10 + 0.05;
  return GAB_OK;
}

static gab_status evaluate_velocity(void *user, const gab_forest *forest, const gab_block *block,
                                    double *values)
{
  const convection *it = user;
  const gab_field *now = gab_block_data(block, it->now);
  (void)forest;
  for (int32_t y = 0; y < now->shape.cells[1]; y++)
    for (int32_t x = 0; x < now->shape.cells[0]; x++)
      for (int axis = 0; axis < 3; axis++)
        *values++ = axis < 2 ? gab_field_get(now, x, y, 0, MOMENTUM_X + axis) : 0;
  return GAB_OK;
}

/* As high as the cell is warmer than the mean of the sides. */
static void buoyancy_of_row(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                            double *const force[3])
{
  const convection *it = user;
  const gab_field *now = gab_block_data(block, it->now);
  for (int32_t i = 0; i < count; i++)
    force[1][i] =
        it->parameters->buoyancy * (gab_field_get(now, first[0] + i, first[1], 0, TEMPERATURE) - 0.5);
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
  gab_forest_options options = run->parameters->grid, *grid = &options;
  const gab_side wall = {.kind = GAB_SIDE_WALL};
  it->parameters = (const convection_case *)run->parameters;
  const gab_lbm_options flow = {.omega = 1 / (3 * it->parameters->viscosity + 0.5),
                                .sides = {wall, wall, wall, wall},
                                .border_speed = it->parameters->finest > 0 ? 0.4 * it->parameters->speed : 0,
                                .kernel = "in_place"};
  it->buoyancy = (gab_local_force){.name = "buoyancy", .user = it, .row = buoyancy_of_row};
  it->shape = (gab_block_field){
      .shape = {.cells = {grid->cells[0], grid->cells[1], 1}, .ghosts = {1, 1, 0}, .components = COMPONENTS},
      .faces_only = true,
      .linear_split = true};
  it->quantities[0] =
      (gab_quantity){.name = "temperature", .components = 1, .evaluate = evaluate_temperature, .user = it};
  it->quantities[1] =
      (gab_quantity){.name = "velocity", .components = 3, .evaluate = evaluate_velocity, .user = it};
  it->quantities[2] =
      (gab_quantity){.name = "isotherms", .components = 1, .evaluate = evaluate_isotherms, .user = it};
  run->quantities = (gab_quantity_list){it->quantities, 3};
  const gab_block_data_kind now = gab_block_field_data(&it->shape, "temperature"),
                            next = gab_block_field_scratch(&it->shape, "next");
  options.weight = block_weight;
  GAB_TRY(gab_forest_create(run->world, grid, &run->forest));
  GAB_TRY(gab_lbm_create(run->forest, NULL, &flow, &it->lbm));
  GAB_TRY(gab_lbm_set_local_force(it->lbm, &it->buoyancy));
  GAB_TRY(gab_forest_add_data(run->forest, &now, &it->now));
  GAB_TRY(gab_forest_add_data(run->forest, &next, &it->next));
  return gab_level_ghosts_create(run->forest, it->now, &it->shape, it->parameters->finest, &it->ghosts);
}

static void release_run(gab_app_run *run)
{
  convection *it = (convection *)run;
  gab_level_ghosts_destroy(&it->ghosts);
  if (it->lbm) gab_lbm_destroy(&it->lbm);
  if (run->forest) gab_forest_destroy(&run->forest);
}

/* At rest, and as warm everywhere as the mean of both sides. */
static gab_status build(gab_app_run *run)
{
  const convection *it = (const convection *)run;
  GAB_TRY(gab_forest_build(run->forest, NULL, NULL, 0, gab_app_run_distribute_first, run, NULL));
  for (size_t b = 0; b < gab_forest_block_count(run->forest); b++) {
    gab_field *now = gab_block_data(gab_forest_block(run->forest, b), it->now);
    const gab_box box = gab_field_interior(now);
    gab_field_fill(now, TEMPERATURE, &box, 0.5);
  }
  return GAB_OK;
}

/* ---- 3. A step of the flow, driven by the temperature. */
/* Momentum in the middle of what buoyancy adds to it: what is stored has got all of it. */
static gab_status note_momentum(const convection *it, const gab_block *block)
{
  enum { ROW = 64 };
  gab_field *now = gab_block_data(block, it->now);
  double density[ROW], velocity[3 * ROW];
  const double half = ldexp(it->parameters->buoyancy / 2, -gab_block_level(it->base.forest, block));
  for (int32_t y = 0; y < now->shape.cells[1]; y++)
    for (int32_t first = 0; first < now->shape.cells[0]; first += ROW) {
      const int32_t left = now->shape.cells[0] - first, count = left < ROW ? left : ROW;
      const gab_box row = {{first, y, 0}, {first + count, y + 1, 1}};
      GAB_TRY(gab_lbm_macroscopic(it->lbm, block, &row, density, velocity));
      for (int32_t i = 0; i < count; i++) {
        const double warmer = gab_field_get(now, first + i, y, 0, TEMPERATURE) - 0.5;
        gab_field_set(now, first + i, y, 0, MOMENTUM_X, density[i] * velocity[3 * i]);
        gab_field_set(now, first + i, y, 0, MOMENTUM_Y, density[i] * velocity[3 * i + 1] - half * warmer);
      }
    }
  return GAB_OK;
}

static gab_status move_fluid(void *user, gab_step step)
{
  const convection *it = user;
  (void)step;
  GAB_TRY(gab_lbm_step(it->lbm));
  for (size_t b = 0; b < gab_forest_block_count(it->base.forest); b++)
    GAB_TRY(note_momentum(it, gab_forest_block(it->base.forest, b)));
  return GAB_OK;
}

/* ---- 4. A step of the temperature, carried by the flow. */

/* In cells of the level of a block. */
static gab_box domain_of(const convection *it, const gab_block *block)
{
  gab_box domain = gab_forest_domain_cells(it->base.forest);
  for (int axis = 0; axis < 2; axis++) domain.hi[axis] <<= gab_block_level(it->base.forest, block);
  return domain;
}

/* Ghosts beyond the sides: the mean of a ghost and its cell is what the side has, and nothing passes through it. */
static void fill_sides(const convection *it, const gab_block *block)
{
  gab_field *now = gab_block_data(block, it->now);
  const gab_box cells = gab_block_cells(it->base.forest, block), domain = domain_of(it, block);
  const int32_t *count = now->shape.cells;
  for (int side = 0; side < 4; side++) {
    const int axis = side / 2;
    const bool upper = side % 2;
    if (upper ? cells.hi[axis] != domain.hi[axis] : cells.lo[axis] != domain.lo[axis]) continue;
    for (int32_t i = 0; i < count[1 - axis]; i++) {
      int32_t cell[2] = {i, i}, ghost[2] = {i, i};
      cell[axis] = upper ? count[axis] - 1 : 0;
      ghost[axis] = upper ? count[axis] : -1;
      const double here = gab_field_get(now, cell[0], cell[1], 0, TEMPERATURE);
      gab_field_set(now, ghost[0], ghost[1], 0, TEMPERATURE, axis == 1 ? here : upper ? -here : 2 - here);
      for (int c = MOMENTUM_X; c <= MOMENTUM_Y; c++)
        gab_field_set(now, ghost[0], ghost[1], 0, c, -gab_field_get(now, cell[0], cell[1], 0, c));
    }
  }
}

/* A step of level 0 in cells of a level that are 2^-level as wide: how much faster heat is carried, and conducted. */
typedef struct rates {
  double carries, conducts;
} rates;

static rates rates_of(const convection *it, const gab_block *block)
{
  const int level = gab_block_level(it->base.forest, block);
  return (rates){ldexp(0.25, level), ldexp(it->parameters->conductivity, 2 * level)};
}

/* Heat that passes through the face between a cell and the one before it along an axis. */
static inline double flux(const double *t, const double *j, ptrdiff_t before, rates at)
{
  return at.carries * (j[0] + j[before]) * (t[0] + t[before]) - at.conducts * (t[0] - t[before]);
}

/* The temperature of a block one step later, into `next`. */
static void heat_block(const convection *it, const gab_block *block)
{
  const rates at = rates_of(it, block);
  const gab_field *now = gab_block_data(block, it->now);
  gab_field *next = gab_block_data(block, it->next);
  const ptrdiff_t row = now->map.stride[1], component = now->map.component_stride;
  for (int32_t y = 0; y < now->shape.cells[1]; y++) {
    const double *t = (const double *)now->data + gab_field_index(&now->map, 0, y, 0, TEMPERATURE);
    double *later = (double *)next->data + gab_field_index(&next->map, 0, y, 0, TEMPERATURE);
    const double *jx = t + component, *jy = jx + component;
#pragma omp simd
    for (int32_t x = 0; x < now->shape.cells[0]; x++)
      later[x] = t[x] + (flux(t + x, jx + x, -1, at) - flux(t + x + 1, jx + x + 1, -1, at)) +
                 (flux(t + x, jy + x, -row, at) - flux(t + x + row, jy + x + row, -row, at));
  }
}

static gab_status find_next(const convection *it)
{
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(it->base.forest);
  GAB_TRY(gab_level_ghosts_start(it->ghosts));
  GAB_TRY(gab_level_ghosts_finish(it->ghosts));
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t b = 0; b < count; b++) {
    const gab_block *block = gab_forest_block(it->base.forest, (size_t)b);
    fill_sides(it, block);
    heat_block(it, block);
  }
  return GAB_OK;
}

static gab_status move_heat(void *user, gab_step step)
{
  const convection *it = user;
  (void)step;
  GAB_TRY(find_next(it));
  for (size_t b = 0; b < gab_forest_block_count(it->base.forest); b++) {
    const gab_block *block = gab_forest_block(it->base.forest, b);
    gab_field *now = gab_block_data(block, it->now);
    const gab_field *next = gab_block_data(block, it->next);
    const gab_box box = gab_field_interior(now);
    gab_field_copy_component(now, &box, TEMPERATURE, next, &box, TEMPERATURE);
  }
  return GAB_OK;
}

/* ---- 5. Smaller cells where temperatures change most. */
static gab_status mark_block(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const convection *it = user;
  const int level = gab_block_level(forest, block);
  const double most = gab_config_real(it->base.parameters->config, "convection.difference");
  const gab_field *now = gab_block_data(block, it->now);
  double found = 0;
  for (int32_t y = 0; y < now->shape.cells[1]; y++)
    for (int32_t x = 0; x < now->shape.cells[0]; x++) {
      const double here = gab_field_get(now, x, y, 0, TEMPERATURE);
      if (x > 0) found = fmax(found, fabs(here - gab_field_get(now, x - 1, y, 0, TEMPERATURE)));
      if (y > 0) found = fmax(found, fabs(here - gab_field_get(now, x, y - 1, 0, TEMPERATURE)));
    }
  if (found > most && level < it->parameters->finest) *mark = GAB_MARK_REFINE;
  else if (found < most / 4 && level > 0) *mark = GAB_MARK_COARSEN;
  return GAB_OK;
}

static bool adapt_due(const void *user, gab_step step)
{
  const convection_case *which = ((const convection *)user)->parameters;
  return which->finest > 0 && step > 0 && step % which->adapt_every == 0 && step < which->base.steps;
}

static gab_status adapt(void *user, gab_step step)
{
  convection *it = user;
  const gab_adapt_options options = {.max_level = it->parameters->finest,
                                     .mark = mark_block,
                                     .user = it,
                                     .distribute = gab_app_run_distribute,
                                     .distribute_context = it};
  uint64_t updates = 0;
  (void)step;
  GAB_TRY(gab_forest_adapt(it->base.forest, &options, NULL));
  for (size_t b = 0; b < gab_forest_block_count(it->base.forest); b++)
    updates += UINT64_C(1) << gab_block_level(it->base.forest, gab_forest_block(it->base.forest, b));
  GAB_TRY(gab_world_sum_u64(it->base.world, &updates, 1));
  updates *= (uint64_t)it->shape.shape.cells[0] * (uint64_t)it->shape.shape.cells[1];
  gab_timeloop_set_updates(it->base.loop, updates); /* of the flow, in a step of level 0 */
  return GAB_OK;
}

/* ---- 6. The table: heat that passes, as a multiple of what fluid at rest would conduct. */
enum { HOT, COLD, ALL, SUMS }; /* faces of the sides, and the mean of both faces across x of all cells */

typedef struct numbers {
  gab_exact_sum sums[SUMS];
  double change; /* of a temperature in a step, the largest */
} numbers;

/* Of a finer level heat is counted in smaller cells, and per area of smaller faces. */
static void add_block(const convection *it, const gab_block *block, numbers *to)
{
  const int level = gab_block_level(it->base.forest, block);
  const rates at = rates_of(it, block);
  const gab_box cells = gab_block_cells(it->base.forest, block), domain = domain_of(it, block);
  const gab_field *now = gab_block_data(block, it->now), *next = gab_block_data(block, it->next);
  for (int32_t y = 0; y < now->shape.cells[1]; y++) {
    const double *t = (const double *)now->data + gab_field_index(&now->map, 0, y, 0, TEMPERATURE);
    const double *jx = t + now->map.component_stride;
    for (int32_t x = 0; x < now->shape.cells[0]; x++) {
      const double left = flux(t + x, jx + x, -1, at), right = flux(t + x + 1, jx + x + 1, -1, at);
      gab_exact_add(&to->sums[ALL], ldexp(left + right, -3 * level - 1));
      if (cells.lo[0] + x == domain.lo[0]) gab_exact_add(&to->sums[HOT], ldexp(left, -2 * level));
      if (cells.lo[0] + x + 1 == domain.hi[0]) gab_exact_add(&to->sums[COLD], ldexp(right, -2 * level));
      to->change = fmax(to->change, fabs(gab_field_get(next, x, y, 0, TEMPERATURE) - t[x]));
    }
  }
}

static gab_status nusselt_row(void *user, gab_step step, double time, double *row)
{
  const convection *it = user;
  const convection_case *which = it->parameters;
  numbers found = {.change = 0};
  (void)step, (void)time;
  for (int i = 0; i < SUMS; i++) gab_exact_clear(&found.sums[i]);
  GAB_TRY(find_next(it));
  for (size_t b = 0; b < gab_forest_block_count(it->base.forest); b++)
    add_block(it, gab_forest_block(it->base.forest, b), &found);
  GAB_TRY(gab_world_sum_exact(it->base.world, found.sums, SUMS));
  GAB_TRY(gab_world_max_f64(it->base.world, &found.change, 1));
  const gab_box domain = gab_forest_domain_cells(it->base.forest);
  const double height = (double)domain.hi[1], conducted = which->conductivity / which->length;
  for (int i = 0; i < SUMS; i++) row[i] = gab_exact_value(&found.sums[i]) / (height * conducted);
  row[ALL] /= which->length;
  row[3] = found.change * which->length / which->speed;
  row[4] = row[3] <= gab_config_real(it->base.parameters->config, "convection.steady");
  return GAB_OK;
}

static gab_status add_writers(gab_app_run *run)
{
  static const char *const columns[] = {"nusselt_hot", "nusselt_cold", "nusselt_mean", "change", "steady"};
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

/* ---- 7. What has to survive beside the blocks, and the table of all. */
static gab_status pack_flow(void *user, gab_buffer *out)
{
  const convection *it = user;
  GAB_TRY(gab_lbm_put_arithmetic(it->lbm, out));
  return gab_put_i64(out, gab_lbm_get_step(it->lbm));
}

static gab_status unpack_flow(void *user, gab_reader *in)
{
  const convection *it = user;
  int64_t step;
  GAB_TRY(gab_lbm_check_arithmetic(it->lbm, in));
  GAB_TRY(gab_get_i64(in, &step));
  gab_lbm_set_step(it->lbm, step);
  return GAB_OK;
}

static gab_status add(gab_app_run *run)
{
  const gab_entity flow = {
      .name = "flow", .kind = GAB_ENTITY_REPLICATED, .user = run, .pack = pack_flow, .unpack = unpack_flow};
  GAB_TRY(gab_timeloop_add_entity(run->loop, &flow));
  GAB_TRY(gab_timeloop_add_task(run->loop, "flow", move_fluid, run));
  GAB_TRY(gab_timeloop_add_task(run->loop, "temperature", move_heat, run));
  GAB_TRY(gab_timeloop_add_duty(run->loop, "grid", adapt_due, adapt, run));
  GAB_TRY(gab_app_run_add_balance(run));
  return gab_app_run_add_output(run);
}

static gab_status check_finite(gab_app_run *run)
{
  const convection *it = (const convection *)run;
  for (size_t b = 0; b < gab_forest_block_count(run->forest); b++) {
    const gab_field *now = gab_block_data(gab_forest_block(run->forest, b), it->now);
    for (int32_t y = 0; y < now->shape.cells[1]; y++)
      for (int32_t x = 0; x < now->shape.cells[0]; x++)
        for (int c = 0; c < COMPONENTS; c++)
          if (!isfinite(gab_field_get(now, x, y, 0, c)))
            GAB_FAIL(GAB_ERR_DIVERGED, "%s is %g", c == TEMPERATURE ? "the temperature" : "a velocity",
                     gab_field_get(now, x, y, 0, c));
  }
  return GAB_OK;
}

/* For `plan': the grid of the start has one level, and both physics exchange in each step of level 0. */
static gab_status plan(gab_app_run *run, gab_app_plan *plan)
{
  const convection *it = (const convection *)run;
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&it->shape);
  plan->fields = "populations, temperature";
  plan->adapts_every = it->parameters->finest > 0 ? it->parameters->adapt_every : 0;
  gab_app_plan_add_flow(plan, it->lbm);
  gab_app_plan_add_ghosts(plan, &ghosts);
  GAB_TRY(gab_app_plan_add_data(plan, it->now));
  return gab_app_plan_add_data(plan, it->next);
}

static int levels(const gab_app_run *run) { return ((const convection *)run)->parameters->finest + 1; }

static const char *const own[] = {"convection", NULL}, *const usual_fields[] = {"temperature", "velocity",
                                                                                NULL};
static const gab_physics physics = {.name = "convection",
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
                                    .usual_fields = usual_fields,
                                    .usual_slice = "temperature",
                                    .levels = levels,
                                    .finish = finish,
                                    .release_run = release_run,
                                    .plan = plan};

int main(int argc, char **argv)
{
  static const gab_physics *const all[] = {&physics};
  return gab_app_main(argc, argv, all, 1);
}
