/* SPDX-License-Identifier: Apache-2.0 */
/* Tracers of a flow: the velocity of its cells, seeds, ages, counts. */
#include "apps/driver/flow/carried/flow_tracers.h"

#include "core/base/log.h"
#include "core/messages/collective.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { EMITTED, LEFT, EXPIRED, COUNTS };

struct flow_tracers {
  tracer_flow flow;
  const tracer_plan *plan;
  gab_tracers *tracers;
  uint64_t counts[COUNTS]; /* of this rank, since the start */
};

/* ---------------------------------------------------------------- geometry */

static bool is_solid(void *user, int level, const int64_t cell[3], double velocity[3])
{
  const flow_tracers *it = user;
  const int body = gab_geometry_cell(it->flow.geometry, level, cell);
  if (body < 0) return false;
  for (int axis = 0; axis < 3; axis++)
    velocity[axis] = gab_units_velocity_to_physical(
        it->flow.units, gab_geometry_body(it->flow.geometry, (size_t)body)->velocity[axis]);
  return true;
}

/* Whether fluid cannot pass the side or patch beyond which a position lies: a wall, free slip, or a given tangential
 * velocity. */
static bool is_closed(void *user, int side, const double at[3])
{
  const flow_tracers *it = user;
  const gab_lbm_options *options = gab_lbm_get_options(it->flow.lbm);
  const gab_domain *domain = gab_geometry_domain(it->flow.geometry);
  int64_t face[3] = {0, 0, 0};
  for (int axis = 0; options->patches && axis < domain->dimension; axis++)
    face[axis] = (int64_t)floor((at[axis] - domain->origin[axis]) / domain->dx);
  const int condition = gab_patches_condition_at(options->patches, domain, side, face);
  const gab_side *given = gab_lbm_condition(options, condition);
  if (!gab_side_kind_passes_fluid(given->kind)) return true;
  return !gab_side_kind_is_open(given->kind) && given->velocity[side / 2] == 0;
}

/* Of the cells of level 0. */
static bool is_in_body(const flow_tracers *it, const double at[3])
{
  const gab_forest_options *domain = gab_forest_get_options(it->flow.forest);
  int64_t cell[3] = {0, 0, 0};
  for (int axis = 0; axis < domain->grid.dimension; axis++)
    cell[axis] = (int64_t)floor((at[axis] - domain->origin[axis]) / domain->dx);
  return gab_geometry_cell(it->flow.geometry, 0, cell) >= 0;
}

static gab_status check_seeds(const flow_tracers *it)
{
  const int dimension = gab_forest_get_options(it->flow.forest)->grid.dimension;
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t s = 0; s < it->plan->seeding_count; s++) {
    const seeding *which = &it->plan->seedings[s];
    bool has_fluid = false;
    for (uint64_t i = 0; i < which->count && !has_fluid; i++) {
      double at[3];
      (void)gab_app_seeding_place(it->plan, which, dimension, which->start, i, at);
      has_fluid = !is_in_body(it, at);
    }
    if (!has_fluid)
      return gab_config_fail(it->flow.config, gab_config_path(path, "tracers.seeds.%zu", s),
                             "%s in a body, where nothing flows; move %s",
                             which->count == 1 ? "the place is" : "all places are",
                             which->count == 1 ? "it" : "them");
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- life */

gab_status gab_app_flow_tracers_create(const tracer_flow *flow, const tracer_plan *plan,
                                       flow_tracers **tracers)
{
  flow_tracers *made;
  *tracers = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (flow_tracers){.flow = *flow, .plan = plan};
  gab_tracers_options options = {.name = "tracers",
                                 .is_closed = is_closed,
                                 .is_solid = is_solid,
                                 .user = made,
                                 .is_timed = flow->is_timed};
  gab_status status = check_seeds(made);
  if (status == GAB_OK) status = gab_tracers_create(flow->forest, &options, &made->tracers);
  if (status != GAB_OK) gab_app_flow_tracers_destroy(&made);
  *tracers = made;
  return status;
}

void gab_app_flow_tracers_destroy(flow_tracers **tracers)
{
  if (!*tracers) return;
  gab_tracers_destroy(&(*tracers)->tracers);
  gab_free(tracers);
}

/* ---------------------------------------------------------------- the velocity of cells */

/* Above this, in cells per step, a flow has diverged; tracers wait for the monitor that ends it. */
static const double fastest = 0.6;

static bool is_sound(const double u[3], bool is_fluid)
{
  return is_fluid && u[0] * u[0] + u[1] * u[1] + u[2] * u[2] <= fastest * fastest;
}

typedef struct cells {
  double *density, *velocity;
  uint8_t *fluid;
} cells;

static gab_status fill_block(const flow_tracers *it, const gab_block *block, const cells *memory)
{
  gab_field *field = gab_tracers_velocity(it->tracers, block);
  const int32_t *size = field->shape.cells;
  const gab_box box = {{0, 0, 0}, {size[0], size[1], size[2]}};
  const double scale = gab_units_velocity_to_physical(it->flow.units, 1);
  const double *u = memory->velocity;
  const uint8_t *fluid = memory->fluid;
  GAB_TRY(gab_lbm_macroscopic(it->flow.lbm, block, &box, memory->density, memory->velocity));
  gab_lbm_take_half_force(it->flow.lbm, block, &box, memory->density, memory->velocity);
  GAB_TRY(gab_lbm_fluid_mask(it->flow.lbm, block, &box, memory->fluid));
  for (int32_t z = 0; z < size[2]; z++)
    for (int32_t y = 0; y < size[1]; y++, u += 3 * (size_t)size[0], fluid += size[0])
      for (int k = 0; k < field->shape.components; k++) {
        double *to = (double *)field->data + gab_field_index(&field->map, 0, y, z, k);
        for (int32_t x = 0; x < size[0]; x++)
          to[x] = is_sound(u + 3 * x, fluid[x]) ? scale * u[3 * x + k] : NAN;
      }
  return GAB_OK;
}

static gab_status fill_blocks(const flow_tracers *it)
{
  const int32_t *size = gab_forest_get_options(it->flow.forest)->cells;
  const size_t count = gab_forest_block_count(it->flow.forest), all = (size_t)size[0] * size[1] * size[2];
  gab_status failed = GAB_OK;
#pragma omp parallel
  {
    cells memory = {0};
    gab_status status = GAB_NEW_ARRAY(&memory.velocity, 3 * all, GAB_MEMORY_OTHER);
    if (status == GAB_OK) status = GAB_NEW_ARRAY(&memory.density, all, GAB_MEMORY_OTHER);
    if (status == GAB_OK) status = GAB_NEW_ARRAY(&memory.fluid, all, GAB_MEMORY_OTHER);
#pragma omp for schedule(dynamic, 1)
    for (size_t b = 0; b < count; b++)
      if (status == GAB_OK) status = fill_block(it, gab_forest_block(it->flow.forest, b), &memory);
    if (status != GAB_OK) {
#pragma omp atomic write
      failed = status;
    }
    gab_free(&memory.velocity);
    gab_free(&memory.density);
    gab_free(&memory.fluid);
  }
  if (failed != GAB_OK) GAB_FAIL(failed, "no velocities for tracers: %s", gab_status_name(failed));
  return GAB_OK;
}

static gab_status fill(flow_tracers *it)
{
  const gab_status status = fill_blocks(it);
  return status == GAB_OK ? GAB_OK : gab_world_raise(gab_forest_world(it->flow.forest), status);
}

/* ---------------------------------------------------------------- a step */

static gab_status emit(flow_tracers *it, gab_step step)
{
  const int dimension = gab_forest_get_options(it->flow.forest)->grid.dimension;
  for (size_t s = 0; s < it->plan->seeding_count; s++) {
    const seeding *which = &it->plan->seedings[s];
    if (!gab_app_seeding_is_due(which, step)) continue;
    for (uint64_t i = 0; i < which->count; i++) {
      double at[3];
      bool is_here;
      const uint64_t id = gab_app_seeding_place(it->plan, which, dimension, step, i, at);
      GAB_TRY(gab_tracers_add(it->tracers, id, at, step, &is_here));
      it->counts[EMITTED] += is_here;
    }
  }
  return GAB_OK;
}

static void expire(flow_tracers *it, gab_step step)
{
  gab_particles *particles = gab_tracers_particles(it->tracers);
  if (it->plan->lifetime == 0) return;
  for (size_t b = 0; b < gab_forest_block_count(it->flow.forest); b++) {
    const gab_block *block = gab_forest_block(it->flow.forest, b);
    size_t count, kept = 0;
    gab_tracer *all = gab_particles_of(particles, block, &count);
    for (size_t i = 0; i < count; i++)
      if (step - all[i].born < it->plan->lifetime) all[kept++] = all[i];
    it->counts[EXPIRED] += count - kept;
    gab_particles_keep(particles, block, kept);
  }
}

/* Tracers of step 0 are counted in the first step, since a process that joins a run from disk creates some too. */
static void count_first(flow_tracers *it)
{
  for (size_t b = 0; b < gab_forest_block_count(it->flow.forest); b++) {
    size_t count;
    (void)gab_particles_of(gab_tracers_particles(it->tracers), gab_forest_block(it->flow.forest, b), &count);
    it->counts[EMITTED] += count;
  }
}

static gab_status advance(void *user, gab_step step)
{
  flow_tracers *it = user;
  const gab_step done = step + 1;
  uint64_t left;
  if (step == 0) count_first(it);
  if (done % it->plan->every != 0) return GAB_OK;
  GAB_TRY(fill(it));
  GAB_TRY(gab_tracers_step(it->tracers, (double)it->plan->every * it->flow.units->dt, &left));
  it->counts[LEFT] += left;
  expire(it, done);
  const gab_status status = emit(it, done);
  return status == GAB_OK ? GAB_OK : gab_world_raise(gab_forest_world(it->flow.forest), status);
}

gab_status gab_app_flow_tracers_begin(flow_tracers *it)
{
  GAB_TRY(fill(it));
  GAB_TRY(gab_tracers_exchange(it->tracers));
  GAB_TRY(emit(it, 0));
  it->counts[EMITTED] = 0;
  return GAB_OK;
}

/* ---------------------------------------------------------------- entities */

static gab_status pack_counts(void *user, gab_buffer *out)
{
  const flow_tracers *it = user;
  for (int k = 0; k < COUNTS; k++) GAB_TRY(gab_put_u64(out, it->counts[k]));
  return GAB_OK;
}

static gab_status unpack_counts(void *user, gab_reader *in)
{
  flow_tracers *it = user;
  for (int k = 0; k < COUNTS; k++) GAB_TRY(gab_get_u64(in, &it->counts[k]));
  return GAB_OK;
}

static gab_status adopt_counts(void *user, gab_rank dead, gab_reader *in)
{
  flow_tracers *it = user;
  (void)dead;
  for (int k = 0; k < COUNTS; k++) {
    uint64_t theirs;
    GAB_TRY(gab_get_u64(in, &theirs));
    it->counts[k] += theirs;
  }
  return GAB_OK;
}

gab_status gab_app_flow_tracers_add(flow_tracers *it, gab_timeloop *loop)
{
  const gab_entity counts = {.name = "tracers",
                             .kind = GAB_ENTITY_PER_RANK,
                             .user = it,
                             .pack = pack_counts,
                             .unpack = unpack_counts,
                             .adopt = adopt_counts};
  GAB_TRY(gab_timeloop_add_entity(loop, &counts));
  return gab_timeloop_add_task(loop, "tracers", advance, it);
}

/* ---------------------------------------------------------------- output */

const gab_particles *gab_app_flow_tracers_records(const flow_tracers *it)
{
  return gab_tracers_particles(it->tracers);
}

static gab_status row(void *user, gab_step step, double time, double *values)
{
  const flow_tracers *it = user;
  uint64_t sums[COUNTS], count;
  (void)time;
  memcpy(sums, it->counts, sizeof sums);
  GAB_TRY(gab_particles_count(gab_tracers_particles(it->tracers), &count));
  GAB_TRY(gab_world_sum_u64(gab_forest_world(it->flow.forest), sums, COUNTS));
  if (step == 0) sums[EMITTED] = count;
  *values++ = (double)count;
  for (int k = 0; k < COUNTS; k++) *values++ = (double)sums[k];
  return GAB_OK;
}

gab_status gab_app_flow_tracers_add_writers(flow_tracers *it, gab_output *output)
{
  static const char *const columns[] = {"tracers", "emitted", "left", "expired"};
  static const gab_particle_column numbers[] = {
      {"velocity", "m/s", offsetof(gab_tracer, velocity), 3, GAB_PARTICLE_F64},
      {"born", "step", offsetof(gab_tracer, born), 1, GAB_PARTICLE_I64}};
  const gab_particle_output_options files = {.name = "tracers",
                                             .columns = numbers,
                                             .column_count = sizeof numbers / sizeof numbers[0],
                                             .compression = it->plan->compression};
  if (it->plan->output.every == 0) return GAB_OK;
  GAB_TRY(gab_output_add_particles(output, it->plan->output, gab_tracers_particles(it->tracers), &files));
  return gab_output_add_series(output, it->plan->output, "tracers", columns, 1 + COUNTS, row, it, NULL);
}

gab_status gab_app_flow_tracers_plan(const flow_tracers *it, gab_app_plan *plan)
{
  const gab_ghost_kind ghosts = gab_tracers_ghosts(it->tracers);
  gab_app_plan_add_ghosts(plan, &ghosts);
  gab_log(GAB_LOG_INFO, "records of tracers, %zu bytes each, and their messages are not in these figures",
          sizeof(gab_tracer));
  return gab_app_plan_add_data(plan, gab_tracers_velocity_data(it->tracers));
}

void gab_app_flow_tracers_describe(const tracer_plan *plan, double dt)
{
  bool comes_again = false;
  char life[64] = "";
  if (!plan->is_wanted) return;
  for (size_t s = 0; s < plan->seeding_count; s++) comes_again |= plan->seedings[s].every > 0;
  if (plan->lifetime > 0) snprintf(life, sizeof life, ", which live for %.6g", (double)plan->lifetime * dt);
  gab_log(GAB_LOG_INFO, "  %" PRIu64 " tracer%s in %zu seeding%s%s%s, step %.6g", plan->total,
          plan->total == 1 ? "" : "s", plan->seeding_count, plan->seeding_count == 1 ? "" : "s",
          comes_again ? ", more later" : "", life, (double)plan->every * dt);
}
