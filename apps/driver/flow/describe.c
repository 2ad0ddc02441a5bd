/* SPDX-License-Identifier: Apache-2.0 */
/* The derived numbers of a flow, for `gabion check` and the head of the log. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"
#include "apps/driver/case/case_impl.h"
#include "lbm/setup/rheology_keys.h"

#include <math.h>
#include <string.h>

static void append(char *text, size_t capacity, const char *format, double value, const char *between)
{
  size_t used = strlen(text);
  if (used > 0) {
    snprintf(text + used, capacity - used, "%s", between);
    used = strlen(text);
  }
  snprintf(text + used, capacity - used, format, value);
}

static void describe_domain(const flow_case *which)
{
  const gab_domain *domain = &which->domain;
  char cells[64] = "", blocks[64] = "", size[96] = "";
  double count = 1;
  for (int d = 0; d < domain->dimension; d++) {
    append(cells, sizeof cells, "%.0f", (double)domain->cells[d], " x ");
    append(blocks, sizeof blocks, "%.0f", which->base.grid.cells[d], " x ");
    append(size, sizeof size, "%.6g", (double)domain->cells[d] * domain->dx, " x ");
    count *= (double)domain->cells[d];
  }
  gab_log(GAB_LOG_INFO, "  domain %s, cells %s (%.4g), blocks of %s, dx %.6g", size, cells, count, blocks,
          domain->dx);
}

/* And the parts of sets. */
static void describe_bodies(const gab_body *bodies, size_t count, double dx)
{
  for (size_t i = 0; i < count; i++) {
    char text[512];
    describe_bodies(bodies[i].parts, bodies[i].part_count, dx);
    if (!bodies[i].own || !bodies[i].own->describe) continue;
    bodies[i].own->describe(&bodies[i], dx, text, sizeof text);
    gab_log(GAB_LOG_INFO, "  %s %s: %s", bodies[i].own->name, bodies[i].name, text);
  }
}

static void describe_flow(const flow_case *which)
{
  const gab_lbm_setup *setup = &which->setup;
  double dt = setup->units.dt;
  gab_log(GAB_LOG_INFO, "  %" GAB_PRI_STEP " steps of dt %.6g, physical time %.6g", which->base.steps, dt,
          (double)which->base.steps * dt);
  char text[160] = "";
  if (setup->reynolds > 0) append(text, sizeof text, "Re %.6g", setup->reynolds, ", ");
  append(text, sizeof text, "viscosity %.6g", setup->viscosity, ", ");
  append(text, sizeof text, "omega %.5f", setup->options.omega, ", ");
  if (setup->reference_velocity > 0) {
    double u = gab_units_velocity_to_lattice(&setup->units, setup->reference_velocity);
    append(text, sizeof text, "velocity %.4g", setup->reference_velocity, ", ");
    append(text, sizeof text, "= %.4f cells per step", u, " ");
    append(text, sizeof text, "Mach %.3f", u * sqrt(3), ", ");
  }
  gab_log(GAB_LOG_INFO, "  %s", text);
  char fluid[320];
  gab_rheology_describe(which->base.config, &setup->units, &setup->options, fluid, sizeof fluid);
  if (fluid[0]) gab_log(GAB_LOG_INFO, "  fluid %s", fluid);
  if (setup->reference_length > 0)
    gab_log(GAB_LOG_INFO, "  reference length %.6g = %.1f cells", setup->reference_length,
            setup->reference_length / which->domain.dx);
  if (setup->body_count > 0)
    gab_log(GAB_LOG_INFO, "  %zu %s", setup->body_count, setup->body_count == 1 ? "body" : "bodies");
  describe_bodies(setup->bodies, setup->body_count, which->domain.dx);
}

/* ---------------------------------------------------------------- blocks */

typedef struct block_numbers {
  uint64_t blocks, fluid, most; /**< fluid cells of all, of the fullest block */
  uint64_t updates;             /**< of cells in a step of level 0 */
  uint64_t of_level[GAB_BALANCE_LEVELS];
  int levels;
} block_numbers;

static void count_block(block_numbers *numbers, const gab_geometry *geometry, int level, const gab_box *cells)
{
  uint64_t fluid = gab_geometry_fluid_cells(geometry, level, cells);
  numbers->blocks++;
  numbers->of_level[level]++;
  if (level >= numbers->levels) numbers->levels = level + 1;
  numbers->fluid += fluid;
  numbers->updates += fluid << level;
  if (fluid > numbers->most) numbers->most = fluid;
}

/* Visits all possible blocks: acceptable for an interactive command. */
static void count_roots(const flow_case *which, const gab_geometry *geometry, block_numbers *numbers)
{
  const int64_t roots = gab_app_root_count(&which->base.grid);
  for (int64_t root = 0; root < roots; root++) {
    const gab_box box = gab_app_root_cells(&which->base.grid, root);
    if (gab_geometry_block_exists((void *)(uintptr_t)geometry, 0, &box))
      count_block(numbers, geometry, 0, &box);
  }
}

static void count_proxies(gab_proxies *proxies, const gab_geometry *geometry, block_numbers *numbers)
{
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    const gab_block_id id = gab_proxies_get(proxies, i)->id;
    const gab_box cells = gab_proxies_cells(proxies, id);
    count_block(numbers, geometry, gab_proxies_level(proxies, id), &cells);
  }
}

static void describe_levels(const flow_case *which, const block_numbers *numbers)
{
  const gab_refinement_setup *setup = &which->refinement;
  char text[256] = "";
  for (int level = 0; level < numbers->levels; level++)
    append(text, sizeof text, "%.0f", (double)numbers->of_level[level], " + ");
  gab_log(GAB_LOG_INFO, "  blocks of levels 0 to %d: %s, dx of level %d %.6g", numbers->levels - 1, text,
          numbers->levels - 1, ldexp(which->domain.dx, 1 - numbers->levels));
  if (setup->every > 0)
    gab_log(GAB_LOG_INFO,
            "  this is the initial grid; it adapts to the flow every %" GAB_PRI_STEP
            " steps, up to level %d, and quantities of the blocks change with it",
            setup->every, setup->max_level);
}

static void describe_blocks(const flow_case *which, const block_numbers *numbers)
{
  int64_t processes = gab_config_int(which->base.config, "run.processes");
  const gab_lbm_options *options = &which->setup.options;
  const int q = options->lattice ? options->lattice->q : gab_lattice_usual(which->domain.dimension)->q;
  const double image = (double)numbers->blocks * which->base.grid.cells[0] * which->base.grid.cells[1] *
                       which->base.grid.cells[2] * q * (double)gab_precision_bytes(options->precision) /
                       (double)processes;
  double snapshots = 0;
  gab_log(GAB_LOG_INFO,
          "  %" PRIu64 " blocks with %" PRIu64 " fluid cells (at most %" PRIu64 " in one): %.3g cell updates",
          numbers->blocks, numbers->fluid, numbers->most,
          (double)numbers->updates * (double)which->base.steps);
  if (which->refinement.max_level > 0) describe_levels(which, numbers);
  gab_app_grid_describe_collision(which, numbers->of_level, numbers->levels);
  if (gab_app_snapshot_factor(which->base.config, (int32_t)processes, &snapshots) == GAB_OK)
    gab_log(GAB_LOG_INFO,
            "  on the recommended %" PRId64
            " processes: %.1f MB of populations and %.1f MB of checkpoints each",
            processes, 1e-6 * image * gab_lbm_fields(options), 1e-6 * image * snapshots);
  gab_app_describe_spares(which->base.config, processes);
  if (numbers->blocks < (uint64_t)processes)
    gab_log(GAB_LOG_WARNING, "%" PRIu64 " blocks are too few for the recommended %" PRId64 " processes",
            numbers->blocks, processes);
}

void gab_app_flow_case_describe(const gab_app_case *which)
{
  const char *title = gab_config_string(which->config, "run.title");
  const flow_case *flow = (const flow_case *)which;
  if (title[0]) gab_log(GAB_LOG_INFO, "  %s", title);
  describe_domain(flow);
  describe_flow(flow);
  gab_app_scalars_describe(&flow->scalars, flow->setup.bodies, flow->setup.body_count);
  gab_app_means_describe(which->config, &flow->means);
  gab_app_flow_tracers_describe(&flow->tracers, which->dt);
}

void gab_app_flow_case_describe_blocks(const flow_case *which, const gab_geometry *geometry,
                                       gab_proxies *proxies)
{
  block_numbers numbers = {.levels = 1};
  if (proxies) count_proxies(proxies, geometry, &numbers);
  else count_roots(which, geometry, &numbers);
  describe_blocks(which, &numbers);
}
