/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/particles/tracers.h"

#include "blockforest/forest/forest_impl.h"
#include "blockforest/forest/position.h"
#include "blockforest/particles/tracers_impl.h"
#include "core/base/log.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- life */

static gab_status register_data(gab_tracers *made)
{
  const gab_forest_options *forest = &made->forest->options;
  const gab_particle_kind records = {made->options.name, sizeof(gab_tracer)};
  char name[96];
  snprintf(name, sizeof name, "velocity of %s", made->options.name);
  made->field = (gab_block_field){.shape = {.cells = {forest->cells[0], forest->cells[1], forest->cells[2]},
                                            .ghosts = {1, 1, forest->grid.dimension == 2 ? 0 : 1},
                                            .components = forest->grid.dimension}};
  const gab_block_data_kind velocity = gab_block_field_scratch(&made->field, name);
  GAB_TRY(gab_particles_create(made->forest, &records, &made->particles));
  GAB_TRY(gab_forest_add_data(made->forest, &velocity, &made->velocity));
  const gab_ghost_kind ghosts = gab_tracers_ghosts(made);
  return gab_exchange_create(made->forest, made->velocity, &ghosts, &made->exchange);
}

gab_status gab_tracers_create(gab_forest *forest, const gab_tracers_options *options, gab_tracers **tracers)
{
  gab_tracers *made;
  *tracers = NULL;
  if (!options->name) GAB_FAIL(GAB_ERR_ARGUMENT, "tracers have no name");
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (gab_tracers){.forest = forest, .options = *options};
  const gab_status status = register_data(made);
  made->options.name = NULL; /* is not ours */
  if (status != GAB_OK) gab_tracers_destroy(&made);
  *tracers = made;
  return status;
}

void gab_tracers_destroy(gab_tracers **tracers)
{
  if (!*tracers) return;
  if ((*tracers)->exchange) gab_exchange_destroy(&(*tracers)->exchange);
  gab_particles_destroy(&(*tracers)->particles);
  gab_free(tracers);
}

gab_field *gab_tracers_velocity(const gab_tracers *tracers, const gab_block *block)
{
  return gab_block_data(block, tracers->velocity);
}

gab_data_id gab_tracers_velocity_data(const gab_tracers *tracers) { return tracers->velocity; }

/* Next to other levels ghosts stay without a value. */
gab_ghost_kind gab_tracers_ghosts(const gab_tracers *tracers)
{
  gab_ghost_kind ghosts = gab_block_field_ghosts(&tracers->field);
  ghosts.coupled = true;
  return ghosts;
}

gab_particles *gab_tracers_particles(const gab_tracers *tracers) { return tracers->particles; }

/* ---------------------------------------------------------------- velocities */

/* Ghosts that nobody fills have no value. */
static void clear_ghosts(const gab_tracers *tracers, const gab_block *block)
{
  gab_field *field = gab_block_data(block, tracers->velocity);
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    gab_direction_offset(direction, offset);
    if (direction == GAB_DIRECTION_CENTRE || (offset[2] != 0 && field->shape.ghosts[2] == 0)) continue;
    const gab_box ghosts = gab_direction_receive_box(direction, field->shape.cells, 1);
    gab_field_fill(field, -1, &ghosts, NAN);
  }
}

gab_status gab_tracers_exchange(gab_tracers *tracers)
{
  for (size_t b = 0; b < tracers->forest->block_count; b++) clear_ghosts(tracers, tracers->forest->blocks[b]);
  GAB_TRY(gab_exchange_start(tracers->exchange));
  return gab_exchange_finish(tracers->exchange);
}

gab_status gab_tracers_add(gab_tracers *tracers, uint64_t id, const double at[3], int64_t born, bool *added)
{
  const gab_forest *forest = tracers->forest;
  gab_tracer made = {.base = {.id = id}, .born = born};
  for (int axis = 0; axis < forest->options.grid.dimension; axis++) made.base.at[axis] = at[axis];
  if (added) *added = false;
  const bool is_inside = gab_forest_wrap(forest, made.base.at);
  const gab_block *block = is_inside ? gab_forest_block_at(forest, made.base.at) : NULL;
  if (is_inside && !block) return GAB_OK;
  if (block) {
    const gab_tracers_place place = gab_tracers_place_of(tracers, block);
    if (!gab_tracers_may_be_at(&place, made.base.at)) return GAB_OK;
    gab_tracers_velocity_at(&place, made.base.at, made.velocity);
  }
  return gab_particles_add(tracers->particles, &made, added);
}

/* ---------------------------------------------------------------- a step */

/* Moves a tracer by a distance, unless a wall is in its way or the distance means nothing.
 * @param[out] waits  the tracer is where it was */
static gab_status push(const gab_tracers_place *place, gab_tracer *one, const double by[3], bool *waits)
{
  const gab_forest *forest = place->tracers->forest;
  const double width = gab_forest_dx(forest, place->level);
  double to[3] = {one->base.at[0], one->base.at[1], one->base.at[2]};
  *waits = true;
  for (int axis = 0; axis < forest->options.grid.dimension; axis++) {
    if (!isfinite(by[axis])) return GAB_OK;
    if (fabs(by[axis]) > 0.5 * forest->options.cells[axis] * width)
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "tracer %" PRIu64
               " at (%g, %g, %g), velocity (%g, %g, %g), would move by %g along %c in a step: "
               "at most half a block, %g, is possible; take shorter steps",
               one->base.id, to[0], to[1], to[2], one->velocity[0], one->velocity[1], one->velocity[2],
               by[axis], "xyz"[axis], 0.5 * forest -> options.cells[axis] * width);
    to[axis] += by[axis];
  }
  if (!gab_tracers_may_be_at(place, to)) return GAB_OK;
  for (int axis = 0; axis < 3; axis++) one->base.at[axis] = to[axis];
  *waits = false;
  return GAB_OK;
}

static gab_status predict(const gab_tracers_place *place, gab_tracer *one, double dt)
{
  bool waits;
  const double by[3] = {dt * one->velocity[0], dt * one->velocity[1], dt * one->velocity[2]};
  GAB_TRY(push(place, one, by, &waits));
  one->waits = waits;
  return GAB_OK;
}

/* From the predicted position, or from that of the start. */
static gab_status correct(const gab_tracers_place *place, gab_tracer *one, double dt)
{
  bool waits;
  double then[3], by[3];
  gab_tracers_velocity_at(place, one->base.at, then);
  for (int k = 0; k < 3; k++)
    by[k] = 0.5 * dt * (one->waits ? one->velocity[k] + then[k] : then[k] - one->velocity[k]);
  one->waits = 0;
  return push(place, one, by, &waits);
}

static gab_status settle(const gab_tracers_place *place, gab_tracer *one, double dt)
{
  (void)dt;
  gab_tracers_velocity_at(place, one->base.at, one->velocity);
  return GAB_OK;
}

typedef gab_status (*part_fn)(const gab_tracers_place *place, gab_tracer *one, double dt);

static gab_status for_all(gab_tracers *tracers, part_fn part, double dt)
{
  const gab_forest *forest = tracers->forest;
  for (size_t b = 0; b < forest->block_count; b++) {
    size_t count;
    gab_tracer *all = gab_particles_of(tracers->particles, forest->blocks[b], &count);
    const gab_tracers_place place = gab_tracers_place_of(tracers, forest->blocks[b]);
    const double start = tracers->options.is_timed && count > 0 ? gab_seconds() : 0;
    for (size_t i = 0; i < count; i++) GAB_TRY(part(&place, &all[i], dt));
    if (tracers->options.is_timed && count > 0)
      gab_particles_add_work(tracers->particles, forest->blocks[b],
                             (uint64_t)(1e9 * (gab_seconds() - start)));
  }
  return GAB_OK;
}

/* A failure of this process alone ends the run on all. */
static gab_status do_part(gab_tracers *tracers, part_fn part, double dt)
{
  const gab_status status = for_all(tracers, part, dt);
  return status == GAB_OK ? GAB_OK : gab_world_raise(tracers->forest->world, status);
}

gab_status gab_tracers_step(gab_tracers *tracers, double dt, uint64_t *removed)
{
  uint64_t gone = 0, more = 0;
  if (removed) *removed = 0;
  GAB_TRY(gab_tracers_exchange(tracers));
  GAB_TRY(do_part(tracers, predict, dt));
  GAB_TRY(gab_particles_move(tracers->particles, &gone));
  GAB_TRY(do_part(tracers, correct, dt));
  GAB_TRY(gab_particles_move(tracers->particles, &more));
  GAB_TRY(do_part(tracers, settle, dt));
  if (removed) *removed = gone + more;
  return GAB_OK;
}
