/* The derived numbers of a case, for `gabion check` and the head of the log. */
#include "apps/driver/driver.h"

#include "core/log.h"

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

static void describe_domain(const run_case *which)
{
  const gab_domain *domain = &which->domain;
  char cells[64] = "", blocks[64] = "", size[96] = "";
  double count = 1;
  for (int d = 0; d < domain->dimension; d++) {
    append(cells, sizeof cells, "%.0f", (double)domain->cells[d], " x ");
    append(blocks, sizeof blocks, "%.0f", which->forest.cells[d], " x ");
    append(size, sizeof size, "%.6g", (double)domain->cells[d] * domain->dx, " x ");
    count *= (double)domain->cells[d];
  }
  gab_log(GAB_LOG_INFO, "  domain %s, cells %s (%.4g), blocks of %s, dx %.6g", size, cells, count, blocks,
          domain->dx);
}

static void describe_flow(const run_case *which)
{
  const gab_lbm_setup *setup = &which->setup;
  double dt = setup->units.dt;
  gab_log(GAB_LOG_INFO, "  %" GAB_PRI_STEP " steps of dt %.6g, physical time %.6g", which->steps, dt,
          (double)which->steps * dt);
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
  if (setup->reference_length > 0)
    gab_log(GAB_LOG_INFO, "  reference length %.6g = %.1f cells", setup->reference_length,
            setup->reference_length / which->domain.dx);
  if (setup->body_count > 0)
    gab_log(GAB_LOG_INFO, "  %zu %s", setup->body_count, setup->body_count == 1 ? "body" : "bodies");
}

/* Visits all blocks that could exist: fine for a person who waits, hence only with a geometry. */
static void describe_blocks(const run_case *which, const gab_geometry *geometry)
{
  const gab_root_grid *grid = &which->forest.grid;
  uint64_t blocks = 0, fluid = 0, heaviest = 0;
  for (int32_t z = 0; z < grid->roots[2]; z++)
    for (int32_t y = 0; y < grid->roots[1]; y++)
      for (int32_t x = 0; x < grid->roots[0]; x++) {
        const int32_t at[3] = {x, y, z};
        gab_box box;
        for (int d = 0; d < 3; d++) {
          box.lo[d] = (int64_t)at[d] * which->forest.cells[d];
          box.hi[d] = box.lo[d] + which->forest.cells[d];
        }
        uint64_t cells = gab_geometry_fluid_cells(geometry, 0, &box);
        blocks += cells > 0;
        fluid += cells;
        if (cells > heaviest) heaviest = cells;
      }
  int64_t processes = gab_config_int(which->config, "run.processes");
  const gab_lbm_options *options = &which->setup.options;
  int q = options->lattice ? options->lattice->q : which->domain.dimension == 2 ? 9 : 19;
  double bytes = (double)blocks * which->forest.cells[0] * which->forest.cells[1] * which->forest.cells[2] *
                 q * (double)gab_precision_bytes(options->precision);
  gab_log(GAB_LOG_INFO,
          "  %" PRIu64 " blocks with %" PRIu64 " fluid cells (at most %" PRIu64 " in one): %.3g cell updates",
          blocks, fluid, heaviest, (double)fluid * (double)which->steps);
  /* A state with R = 2 images in two buffers (Kohl et al. 2017, eq. 2). */
  gab_log(GAB_LOG_INFO,
          "  on the recommended %" PRId64
          " processes: %.1f MB of populations (twice that with kernels that keep two fields) and %.1f MB of "
          "checkpoints each",
          processes, 1e-6 * bytes / (double)processes, 4e-6 * bytes / (double)processes);
  if (blocks < (uint64_t)processes)
    gab_log(GAB_LOG_WARNING, "%" PRIu64 " blocks are too few for the recommended %" PRId64 " processes",
            blocks, processes);
}

void run_case_describe(const run_case *which, const gab_geometry *geometry)
{
  const char *title = gab_config_string(which->config, "run.title");
  if (title[0]) gab_log(GAB_LOG_INFO, "  %s", title);
  describe_domain(which);
  describe_flow(which);
  if (geometry) describe_blocks(which, geometry);
}
