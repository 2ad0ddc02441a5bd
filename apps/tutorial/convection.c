/* Natural convection in a cavity with a hot side on the left and a cold one on the right (de Vahl Davis 1983): two physics on
 * the same blocks, a temperature that is carried by a flow and drives it.
 *
 *   gabion-launch -n 4 build/bin/convection run apps/tutorial/convection.yaml
 *
 *   flow          lattice Boltzmann (lbm/lbm.h), and buoyancy F = g beta (T - 1/2) upwards (Boussinesq), a local force
 *   temperature   dT/dt + div(j T) = kappa Laplace(T), finite volumes on the same cells, j the momentum of the flow
 *
 * Sides are at half a cell, T = 1 on the left and 0 on the right, no heat passes above and below. Finite volumes rather than
 * a second lattice: one number in a cell instead of nine, and what one cell loses the next one gets, so that in steady state
 * exactly as much heat enters as leaves. Central differences, explicit: what that bears is looked at when the case is read. */
#include "apps/driver/run/run.h"
#include "blockforest/adaptation/adapt.h"
#include "blockforest/forest/block_field.h"
#include "core/base/exact_sum.h"
#include "core/base/log.h"
#include "core/messages/collective.h"
#include "lbm/step/local_force.h"

#include <math.h>

/* ---- 1. Parameters. Lengths in cells, L is the width of the cavity; times in steps. */
#define REAL(key, most, preset, what)                                                                        \
  .name = key, .type = GAB_CONFIG_REAL, .min = 0, .max = most, .default_text = preset, .doc = what
static const gab_config_key keys[] = {
    {REAL("rayleigh", 1e9, NULL, "Rayleigh number g beta dT L^3 / (nu kappa)."), .min_excluded = true},
    {REAL("prandtl", 1e3, "0.71", "Prandtl number nu / kappa; that of air if left out."),
     .min_excluded = true},
    {REAL("speed", 0.4, "0.2", "sqrt(g beta dT L) in cells per step; the flow gets about a quarter as fast."),
     .min_excluded = true},
    {REAL("steady", 1, "1e-5",
          "The state is steady when no temperature changes by more in a time L / speed."),
     .outside = true},
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .unit = "steps",
     .min = 1,
     .max = 9e15,
     .default_text = "500",
     .outside = true,
     .doc = "Steps between two rows of convection.csv."},
};
static const gab_config_section section = {.path = "convection",
                                           .doc = "A cavity heated from its side.",
                                           .keys = keys,
                                           .count = sizeof keys / sizeof keys[0]};

typedef struct convection_case {
  gab_app_case base;
  double length, speed, viscosity, conductivity, buoyancy; /* g beta dT */
} convection_case;

static gab_status declare(gab_config *config) { return gab_app_declare(config, &section, 1); }

/* What the explicit scheme bears (Hindmarsh, Gresho & Griffiths 1984), of a flow of up to 0.4 of that speed. */
static gab_status check_stability(const convection_case *which)
{
  const double fastest = 0.4 * which->speed;
  if (which->conductivity > 0.25)
    return gab_config_fail(
        which->base.config, "convection.rayleigh",
        "a conductivity of %.3g is unstable above 1/4: fewer cells, or a smaller convection.speed",
        which->conductivity);
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
  gab_block_field shape;
  gab_data_id now, next;
  gab_exchange *exchange;
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

static gab_status prepare(gab_app_run *run)
{
  convection *it = (convection *)run;
  const gab_forest_options *grid = &run->parameters->grid;
  const gab_side wall = {.kind = GAB_SIDE_WALL};
  it->parameters = (const convection_case *)run->parameters;
  const gab_lbm_options flow = {.omega = 1 / (3 * it->parameters->viscosity + 0.5),
                                .sides = {wall, wall, wall, wall},
                                .kernel = "in_place"};
  it->shape = (gab_block_field){
      .shape = {.cells = {grid->cells[0], grid->cells[1], 1}, .ghosts = {1, 1, 0}, .components = COMPONENTS},
      .faces_only = true};
  it->quantities[0] =
      (gab_quantity){.name = "temperature", .components = 1, .evaluate = evaluate_temperature, .user = it};
  it->quantities[1] =
      (gab_quantity){.name = "velocity", .components = 3, .evaluate = evaluate_velocity, .user = it};
  it->quantities[2] =
      (gab_quantity){.name = "isotherms", .components = 1, .evaluate = evaluate_isotherms, .user = it};
  run->quantities = (gab_quantity_list){it->quantities, 3};
  const gab_block_data_kind now = gab_block_field_data(&it->shape, "temperature"),
                            next = gab_block_field_scratch(&it->shape, "next");
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&it->shape);
  GAB_TRY(gab_forest_create(run->world, grid, &run->forest));
  GAB_TRY(gab_lbm_create(run->forest, NULL, &flow, &it->lbm));
  GAB_TRY(gab_forest_add_data(run->forest, &now, &it->now));
  GAB_TRY(gab_forest_add_data(run->forest, &next, &it->next));
  return gab_exchange_create(run->forest, it->now, &ghosts, &it->exchange);
}

static void release_run(gab_app_run *run)
{
  convection *it = (convection *)run;
  gab_exchange_destroy(&it->exchange);
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
static void buoyancy_of_row(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                            double *const force[3])
{
  const convection *it = user;
  const gab_field *now = gab_block_data(block, it->now);
  for (int32_t i = 0; i < count; i++)
    force[1][i] =
        it->parameters->buoyancy * (gab_field_get(now, first[0] + i, first[1], 0, TEMPERATURE) - 0.5);
}

/* Momentum in the middle of what buoyancy adds to it: density times velocity, and half of the force. */
static gab_status note_momentum(const convection *it, const gab_block *block)
{
  enum { ROW = 64 };
  gab_field *now = gab_block_data(block, it->now);
  double density[ROW], velocity[3 * ROW];
  for (int32_t y = 0; y < now->shape.cells[1]; y++)
    for (int32_t first = 0; first < now->shape.cells[0]; first += ROW) {
      const int32_t left = now->shape.cells[0] - first, count = left < ROW ? left : ROW;
      const gab_box row = {{first, y, 0}, {first + count, y + 1, 1}};
      GAB_TRY(gab_lbm_macroscopic(it->lbm, block, &row, density, velocity));
      for (int32_t i = 0; i < count; i++) {
        const double warmer = gab_field_get(now, first + i, y, 0, TEMPERATURE) - 0.5;
        gab_field_set(now, first + i, y, 0, MOMENTUM_X, density[i] * velocity[3 * i]);
        gab_field_set(now, first + i, y, 0, MOMENTUM_Y,
                      density[i] * velocity[3 * i + 1] + it->parameters->buoyancy * warmer / 2);
      }
    }
  return GAB_OK;
}

static gab_status move_fluid(void *user, gab_step step)
{
  const convection *it = user;
  const gab_local_force buoyancy = {.name = "buoyancy", .user = user, .row = buoyancy_of_row};
  (void)step;
  GAB_TRY(gab_lbm_step(it->lbm));
  for (size_t b = 0; b < gab_forest_block_count(it->base.forest); b++)
    GAB_TRY(note_momentum(it, gab_forest_block(it->base.forest, b)));
  return gab_lbm_apply_local_force(it->lbm, &buoyancy);
}

/* ---- 4. A step of the temperature, carried by the flow. */

/* Ghosts beyond the sides: the mean of a ghost and its cell is what the side has, and nothing passes through it. */
static void fill_sides(const convection *it, const gab_block *block)
{
  gab_field *now = gab_block_data(block, it->now);
  const gab_box cells = gab_block_cells(it->base.forest, block),
                domain = gab_forest_domain_cells(it->base.forest);
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

/* Heat that passes through the face between a cell and the one before it along an axis. */
static inline double flux(const double *t, const double *j, ptrdiff_t before, double conductivity)
{
  return 0.25 * (j[0] + j[before]) * (t[0] + t[before]) - conductivity * (t[0] - t[before]);
}

/* The temperature of a block one step later, into `next`. */
static void heat_block(const convection *it, const gab_block *block)
{
  const double conductivity = it->parameters->conductivity;
  const gab_field *now = gab_block_data(block, it->now);
  gab_field *next = gab_block_data(block, it->next);
  const ptrdiff_t row = now->map.stride[1], component = now->map.component_stride;
  for (int32_t y = 0; y < now->shape.cells[1]; y++) {
    const double *t = (const double *)now->data + gab_field_index(&now->map, 0, y, 0, TEMPERATURE);
    double *later = (double *)next->data + gab_field_index(&next->map, 0, y, 0, TEMPERATURE);
    const double *jx = t + component, *jy = jx + component;
#pragma omp simd
    for (int32_t x = 0; x < now->shape.cells[0]; x++)
      later[x] =
          t[x] + (flux(t + x, jx + x, -1, conductivity) - flux(t + x + 1, jx + x + 1, -1, conductivity)) +
          (flux(t + x, jy + x, -row, conductivity) - flux(t + x + row, jy + x + row, -row, conductivity));
  }
}

static gab_status find_next(const convection *it)
{
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(it->base.forest);
  GAB_TRY(gab_exchange_start(it->exchange));
  GAB_TRY(gab_exchange_finish(it->exchange));
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

/* ---- 5. The table: heat that passes, as a multiple of what fluid at rest would conduct. */
enum { HOT, COLD, ALL, SUMS }; /* faces of the sides, and the mean of both faces across x of all cells */

typedef struct numbers {
  gab_exact_sum sums[SUMS];
  double change; /* of a temperature in a step, the largest */
} numbers;

static void add_block(const convection *it, const gab_block *block, numbers *to)
{
  const double conductivity = it->parameters->conductivity;
  const gab_box cells = gab_block_cells(it->base.forest, block),
                domain = gab_forest_domain_cells(it->base.forest);
  const gab_field *now = gab_block_data(block, it->now), *next = gab_block_data(block, it->next);
  for (int32_t y = 0; y < now->shape.cells[1]; y++) {
    const double *t = (const double *)now->data + gab_field_index(&now->map, 0, y, 0, TEMPERATURE);
    const double *jx = t + now->map.component_stride;
    for (int32_t x = 0; x < now->shape.cells[0]; x++) {
      const double left = flux(t + x, jx + x, -1, conductivity),
                   right = flux(t + x + 1, jx + x + 1, -1, conductivity);
      gab_exact_add(&to->sums[ALL], 0.5 * (left + right));
      if (cells.lo[0] + x == domain.lo[0]) gab_exact_add(&to->sums[HOT], left);
      if (cells.lo[0] + x + 1 == domain.hi[0]) gab_exact_add(&to->sums[COLD], right);
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

/* ---- 6. What has to survive beside the blocks, and the table of all. */
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
                                    .finish = finish,
                                    .release_run = release_run};

int main(int argc, char **argv)
{
  static const gab_physics *const all[] = {&physics};
  return gab_app_main(argc, argv, all, 1);
}
