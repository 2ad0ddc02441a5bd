/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=100 */
/* Blocks of bulk, with constant phi, are left out of sweeps and copies. Grains growing through melt in small blocks
 * have the bits of those in a single block, which is never left out. Meanwhile blocks ahead of fronts are bulk, are
 * woken, and become bulk again behind them; with aborted steps, a rollback, and a moving window. Memory errors in
 * their ghosts do not persist. */
#include "core/messages/collective.h"
#include "phase_common.h"

#include "phasefield/phasefield_impl.h"

#include <limits.h>

enum { MOST_BLOCKS = 4096 };

typedef struct grains {
  int dimension, solids;
  int32_t cells[3];
  double radius;
} grains;

static double square_to(const grains *it, const int64_t cell[3], const double middle[3])
{
  double sum = 0;
  for (int axis = 0; axis < it->dimension; axis++) {
    double away = fabs((double)cell[axis] + 0.5 - middle[axis] * it->cells[axis]);
    if (away > 0.5 * it->cells[axis]) away = it->cells[axis] - away;
    sum += away * away;
  }
  return sum;
}

static void grains_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  static const double middles[][3] = {{.3, .27, .22}, {.72, .61, .34}, {.24, .81, .3}};
  const grains *it = user;
  for (int i = 0; i < 3; i++)
    if (square_to(it, cell, middles[i]) < it->radius * it->radius * (1 + i)) {
      phi[i % it->solids] = 1;
      return;
    }
  phi[it->solids] = 1;
  mu[0] += 0.01 * noise(1, cell);
}

/* History of blocks. */
typedef struct history {
  bool was_bulk[MOST_BLOCKS]; /* by the number of the block */
  uint64_t bulk, woken, again;
  bool was_woken[MOST_BLOCKS];
} history;

static void note(const phase_run *it, history *all)
{
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_block_id id = gab_block_get_id(gab_forest_block(it->forest, i)) % MOST_BLOCKS;
    const bool bulk = gab_phasefield_block_of(it->model, i)->bulk.sweeps >= GAB_PHASEFIELD_BULK_COPIED;
    all->bulk += bulk;
    if (all->was_bulk[id] && !bulk) {
      all->woken++;
      all->was_woken[id] = true;
    }
    if (bulk && !all->was_bulk[id]) all->again += all->was_woken[id];
    all->was_bulk[id] = bulk;
  }
}

/* A step aborted after its first sweep, and started again. */
static void broken_step(phase_run *it)
{
  for (int i = 0; i < 3; i++) {
    REQUIRE_OK(gab_phasefield_exchange_mu_start(it->model));
    REQUIRE_OK(gab_phasefield_sweep_phi(it->model));
    REQUIRE_OK(gab_phasefield_exchange_mu_finish(it->model));
  }
  REQUIRE_OK(gab_phasefield_step(it->model));
}

typedef struct plan {
  int steps, shift_at, back_to; /* -1: never */
  bool breaks;
} plan;

enum { STEPS_BETWEEN = 10, STEPS_BACK = 130 };

/* Where a run goes back to, once. */
typedef struct image {
  gab_buffer blocks, place;
  uint64_t hash;
  int step; /* -1: none */
} image;

static void keep(const phase_run *it, int step, uint64_t hash, image *kept)
{
  kept->step = step;
  kept->hash = hash;
  REQUIRE_OK(gab_forest_pack(it->forest, &kept->blocks));
  REQUIRE_OK(gab_phasefield_pack(it->model, &kept->place));
}

static void go_back(const phase_run *it, const image *kept)
{
  gab_reader blocks = gab_reader_of_buffer(&kept->blocks), place = gab_reader_of_buffer(&kept->place);
  REQUIRE_OK(gab_forest_restore(it->forest, &blocks, 1, NULL, NULL));
  REQUIRE_OK(gab_phasefield_unpack(it->model, &place));
}

/* The hash of all cells every few steps. */
static uint64_t run(gab_world *world, const phase_case *given, const plan *how, history *all)
{
  phase_run it = phase_open(world, given);
  image kept = {.step = -1};
  uint64_t hash = 0;
  for (int step = 0; step < how->steps; step++) {
    if (how->breaks && step < 8) broken_step(&it);
    else phase_steps(&it, 1);
    if (all) note(&it, all);
    if (step == how->shift_at) REQUIRE_OK(gab_phasefield_shift(it.model, 3));
    if (step % STEPS_BETWEEN == 0) {
      uint64_t now = phase_hash(&it);
      REQUIRE_OK(gab_world_sum_u64(world, &now, 1));
      hash = gab_hash64(&now, sizeof now, hash);
    }
    if (step == how->back_to && kept.step < 0) keep(&it, step, hash, &kept);
    if (kept.step >= 0 && kept.step == how->back_to && step == kept.step + STEPS_BACK) {
      go_back(&it, &kept);
      step = kept.step;
      hash = kept.hash;
      kept.step = INT_MAX;
    }
  }
  gab_buffer_release(&kept.blocks);
  gab_buffer_release(&kept.place);
  phase_close(&it);
  return hash;
}

static void check(gab_world *world, phase_case given, grains *begin, const plan *how, int32_t edge,
                  bool wakes)
{
  static history all;
  const int members = (int)gab_members_count(gab_world_members(world));
  all = (history){.bulk = 0};
  memcpy(begin->cells, given.cells, sizeof begin->cells);
  begin->dimension = given.dimension;
  given.options.initial = grains_state;
  given.options.initial_user = begin;
  memcpy(given.block, given.cells, sizeof given.block);
  given.block[given.dimension - 1] /= members; /* every process has one */
  const uint64_t expected = run(world, &given, &(plan){how->steps, how->shift_at, -1, false}, NULL);
  for (int axis = 0; axis < given.dimension; axis++) given.block[axis] = edge;
  REQUIRE(run(world, &given, how, &all) == expected);
  uint64_t counts[3] = {all.bulk, all.woken, all.again};
  REQUIRE_OK(gab_world_sum_u64(world, counts, 3));
  REQUIRE(counts[0] > 0);
  if (wakes) REQUIRE(counts[1] > 0 && counts[2] > 0);
}

static double melt_beyond_x(const gab_phasefield_block *block)
{
  return gab_field_get(block->phi, block->model->cells[0], 1, 0, 1);
}

/* Melt alone: nothing is swept and copied but in the steps that look again. */
static void wrong_ghosts_do_not_stay(gab_world *world, phase_case given)
{
  grains none = {.solids = 1, .dimension = given.dimension};
  memcpy(none.cells, given.cells, sizeof none.cells);
  given.options.initial = grains_state;
  given.options.initial_user = &none;
  memcpy(given.block, (const int32_t[3]){6, 6, 1}, sizeof given.block);
  phase_run it = phase_open(world, &given);
  phase_steps(&it, 10);
  const gab_phasefield_block *block = gab_phasefield_block_of(it.model, 0);
  for (size_t i = 1; !block->bulk.beside[1]; i++) block = gab_phasefield_block_of(it.model, i);
  REQUIRE(block->bulk.is_skipped && block->bulk.beside[1]->bulk.is_skipped && melt_beyond_x(block) == 1);
  gab_field_set(block->phi, block->model->cells[0], 1, 0, 1, 0.5);
  gab_field_set(block->phi_new, block->model->cells[0], 1, 0, 1, 0.5);
  phase_steps(&it, 1);
  REQUIRE(melt_beyond_x(block) == 0.5); /* so it stays until then */
  phase_steps(&it, GAB_PHASEFIELD_LOOK_AGAIN);
  const gab_phasefield_block *other = block->bulk.beside[1];
  REQUIRE(melt_beyond_x(block) == gab_field_get(other->phi, 0, 1, 0, 1));
  phase_steps(&it, 1); /* the other field */
  REQUIRE(melt_beyond_x(block) == gab_field_get(other->phi, 0, 1, 0, 1));
  phase_close(&it);
}

static phase_case simple_case(void)
{
  phase_case given = {.dimension = 2, .cells = {72, 72, 1}, .dx = 1};
  given.options.thermo = simple_system(2, 0.1, 0.8);
  given.options.epsilon = 4;
  equal_interfaces(&given.options, 1, 1);
  given.options.dt = 0.1;
  return given;
}

static phase_case eutectic_case(void)
{
  phase_case given = {.dimension = 3, .cells = {12, 12, 36}, .dx = 3};
  given.options.thermo = symmetric_eutectic();
  given.options.epsilon = 8;
  equal_interfaces(&given.options, 1, 0.3713);
  given.options.triple = 10;
  given.options.dt = 0.18;
  given.options.temperature = (gab_phasefield_temperature){0.96, 0.06 / 800, 0.016};
  given.options.mu[0] = given.options.mu[1] = 1;
  given.options.sides[4].kind = GAB_PHASEFIELD_CLOSED;
  given.options.sides[5] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {1, 1}};
  return given;
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  phase_case plane = simple_case(), deep = eutectic_case();
  grains two = {.solids = 1, .radius = 5}, three = {.solids = 3, .radius = 3};
  wrong_ghosts_do_not_stay(world, plane);
  check(world, plane, &two, &(plan){300, -1, 150, false}, 4, true);
  check(world, plane, &two, &(plan){60, -1, -1, true}, 4, false);
  plane.options.noise = (gab_phasefield_noise){0.2, 5};
  all_sides(&plane.options, GAB_PHASEFIELD_CLOSED);
  check(world, plane, &two, &(plan){150, 70, -1, false}, 6, true);
  check(world, deep, &three, &(plan){180, 40, 45, false}, 4, false);
  return test_end(&world);
}
