/* SPDX-License-Identifier: Apache-2.0 */
/* Flows of all kinds, step by step against the reference with two grids: the checksum of the packed populations, forces and
 * integrals after even and odd numbers of steps; also with other blocks and threads, after migrating blocks and after
 * restoring them at odd steps, so that neighbours are in different states. */
#ifndef GABION_TESTS_LBM_STREAMING_COMMON_H
#define GABION_TESTS_LBM_STREAMING_COMMON_H

#include "core/messages/collective.h"
#include "core/memory/memory.h"
#include "tests/lbm/lbm_common.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { STEPS = 9, MOST_BODIES = 64 };

static void set_threads(int count)
{
#ifdef _OPENMP
  omp_set_num_threads(count);
#else
  (void)count;
#endif
}

/* Observables of a flow after every step. */
typedef struct outcome {
  uint64_t checksum, hash;
  double force[MOST_BODIES][3];
  gab_lbm_integrals sums;
} outcome;

static outcome look(gab_world *world, flow *it)
{
  outcome seen;
  memset(&seen, 0, sizeof seen);
  REQUIRE_OK(gab_forest_checksum(it->forest, &seen.checksum));
  REQUIRE_OK(gab_lbm_integrate(it->lbm, true, &seen.sums));
  REQUIRE_OK(gab_lbm_check_finite(it->lbm, NULL));
  seen.hash = flow_hash(it);
  REQUIRE_OK(gab_world_sum_u64(world, &seen.hash, 1));
  gab_lbm_request_forces(it->lbm);
  REQUIRE_OK(gab_lbm_step(it->lbm));
  REQUIRE(gab_geometry_body_count(it->geometry) <= MOST_BODIES);
  REQUIRE_OK(gab_lbm_forces(it->lbm, seen.force));
  return seen;
}

static void expect_same(const outcome *a, const outcome *b, bool same_blocks, const char *what, int step)
{
  outcome other = *b;
  if (!same_blocks) other.checksum = a->checksum;
  if (memcmp(a, &other, sizeof *a) == 0) return;
  fprintf(stderr,
          "%s, step %d: checksum %016" PRIx64 " and %016" PRIx64 ", hash %016" PRIx64 " and %016" PRIx64
          ", strain %.17g and %.17g, force %.17g and %.17g\n",
          what, step, a->checksum, b->checksum, a->hash, b->hash, a->sums.strain, b->sums.strain,
          a->force[0][0], b->force[0][0]);
  _Exit(1);
}

static void run(gab_world *world, flow_case given, const char *kernel, int steps, outcome seen[STEPS])
{
  given.options.kernel = kernel;
  flow it = flow_open(world, &given);
  const char *name = strcmp(kernel, "auto") == 0 ? "in_place" : kernel;
  REQUIRE(strncmp(gab_lbm_kernel_name(it.lbm), name, strlen(name)) == 0);
  for (int step = 0; step < steps; step++) seen[step] = look(world, &it);
  flow_close(&it);
}

static void expect_run(gab_world *world, const flow_case *given, const char *kernel,
                       const outcome wanted[STEPS], bool same_blocks, const char *what)
{
  outcome seen[STEPS];
  run(world, *given, kernel, STEPS, seen);
  for (int step = 0; step < STEPS; step++) expect_same(&wanted[step], &seen[step], same_blocks, what, step);
}

/* Half of the blocks, in the order of the process, migrate to the next rank: remaining and arriving blocks are in different
 * states after an odd number of steps. */
static void move_half(gab_world *world, flow *it)
{
  const gab_members *members = gab_world_members(world);
  int32_t count = gab_members_count(members), mine = gab_members_index(members, gab_world_rank(world));
  size_t blocks = gab_forest_block_count(it->forest);
  gab_rank targets[64];
  REQUIRE(blocks <= 64);
  for (size_t i = 0; i < blocks; i++)
    targets[i] = gab_members_rank(members, (mine + (int32_t)((i + 1) % 2)) % count);
  REQUIRE_OK(gab_forest_migrate(it->forest, targets));
}

static void expect_moving(gab_world *world, const flow_case *given, const outcome wanted[STEPS])
{
  flow it = flow_open(world, given);
  for (int step = 0; step < STEPS; step++) {
    if (step == 3 || step == 4) move_half(world, &it);
    outcome seen = look(world, &it);
    expect_same(&wanted[step], &seen, true, "moving", step);
  }
  flow_close(&it);
}

/* Images of an odd and of an even step, restored after an odd and after an even number of further steps. */
static void expect_restored(gab_world *world, const flow_case *given, const outcome wanted[STEPS])
{
  for (int at = 3; at <= 4; at++)
    for (int more = 0; more <= 1; more++) {
      flow it = flow_open(world, given);
      flow_image image;
      flow_run(&it, at);
      flow_pack(&it, &image);
      flow_run(&it, more);
      flow_restore(&it, &image);
      for (int step = at; step < STEPS; step++) {
        outcome seen = look(world, &it);
        expect_same(&wanted[step], &seen, true, "restored", step);
      }
      flow_image_release(&image);
      flow_close(&it);
    }
}

/* Kernels that must give the bits of the reference: the first one in all cases, the second one only in some. */
typedef struct families {
  const char *main, *other;
} families;

static void check_case(gab_world *world, const flow_case *given, const families *kinds,
                       const int32_t (*blocks)[3], int count)
{
  outcome wanted[STEPS];
  run(world, *given, "reference", STEPS, wanted);
  REQUIRE(wanted[STEPS - 1].checksum != wanted[0].checksum && wanted[STEPS - 1].sums.strain > 0);
  expect_run(world, given, kinds->main, wanted, true, kinds->main);
  expect_run(world, given, kinds->other, wanted, true, kinds->other);
  for (int i = 0; i < count; i++) {
    flow_case other = *given;
    memcpy(other.block, blocks[i], sizeof other.block);
    outcome cut[STEPS];
    run(world, other, "reference", STEPS, cut);
    expect_run(world, &other, kinds->main, cut, true, "other blocks");
    for (int step = 0; step < STEPS; step++) expect_same(&wanted[step], &cut[step], false, "blocks", step);
  }
  set_threads(3);
  expect_run(world, given, kinds->main, wanted, true, "three threads");
  set_threads(1);
  flow_case of_kind = *given;
  of_kind.options.kernel = kinds->main;
  expect_moving(world, &of_kind, wanted);
  expect_restored(world, &of_kind, wanted);
}

/* All combinations of two kinds at opposite sides, in a few flows. */
static void set_sides(flow_case *given, int variant)
{
  static const gab_side_kind kinds[][6] = {{GAB_SIDE_PERIODIC, GAB_SIDE_PERIODIC, GAB_SIDE_PERIODIC,
                                            GAB_SIDE_PERIODIC, GAB_SIDE_PERIODIC, GAB_SIDE_PERIODIC},
                                           {GAB_SIDE_VELOCITY, GAB_SIDE_OUTFLOW, GAB_SIDE_WALL,
                                            GAB_SIDE_FREE_SLIP, GAB_SIDE_FREE_SLIP, GAB_SIDE_WALL},
                                           {GAB_SIDE_FREE_SLIP, GAB_SIDE_FREE_SLIP, GAB_SIDE_PRESSURE,
                                            GAB_SIDE_PRESSURE, GAB_SIDE_PERIODIC, GAB_SIDE_PERIODIC},
                                           {GAB_SIDE_OUTFLOW, GAB_SIDE_PRESSURE, GAB_SIDE_PERIODIC,
                                            GAB_SIDE_PERIODIC, GAB_SIDE_VELOCITY, GAB_SIDE_FREE_SLIP}};
  for (int side = 0; side < 2 * given->dimension; side++) {
    gab_side *made = &given->options.sides[side];
    made->kind = kinds[variant][side];
    if (made->kind == GAB_SIDE_PRESSURE) made->density = 1.01;
    if (made->kind != GAB_SIDE_VELOCITY) continue;
    *made = (gab_side){.kind = GAB_SIDE_VELOCITY,
                       .velocity = {0.05, 0.01, 0},
                       .profile = GAB_PROFILE_PARABOLIC,
                       .ramp_steps = 6};
  }
}

/* `reals`: 0 double, 1 float, 2 mixed. */
static void check_flow(gab_world *world, const families *kinds, const gab_lattice *lattice, int reals,
                       const gab_collision *collision, bool forced, int sides)
{
  const int dimension = lattice->dimension;
  const gab_body bodies[2] = {
      {.shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {0.4, 5.7, 4.2}, .radius = 3.3},
      {.shape = GAB_SHAPE_BOX, .lo = {6, -1, -1}, .hi = {9, 4, 9}, .velocity = {0.01, 0.02, 0}}};
  bool deep = dimension == 3;
  flow_case given = {.dimension = dimension,
                     .cells = {12, 12, deep ? 8 : 1},
                     .block = {6, 6, deep ? 4 : 1},
                     .bodies = bodies,
                     .body_count = 2};
  set_sides(&given, sides);
  given.options.precision = reals == 0 ? GAB_PRECISION_DOUBLE : GAB_PRECISION_FLOAT;
  given.options.mixed = reals == 2;
  given.options.lattice = lattice;
  given.options.collision = collision;
  given.options.omega = 1.6;
  if (forced) given.options.force[0] = 1e-4, given.options.force[1] = -3e-5;
  given.options.initial = deep ? noisy_state : noisy_plane;
  const int32_t plane[][3] = {{3, 3, 1}, {12, 3, 1}}, space[][3] = {{12, 3, 4}, {4, 12, 2}};
  check_case(world, &given, kinds, deep ? space : plane, 2);
}

/* Blocks large enough for several slabs, with one and more threads, against blocks of one slab. */
static void check_slabs(gab_world *world, const char *kernel, int dimension, int sides)
{
  const gab_body bodies[3] = {
      {.shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {40.4, 45.7, 11.2}, .radius = 9.3},
      {.shape = GAB_SHAPE_BOX, .lo = {50, -1, -1}, .hi = {60, 40, 9}, .velocity = {0.01, 0.02, 0}},
      {.shape = GAB_SHAPE_SPHERE, .centre = {300.4, 70.7, 0}, .radius = 30}};
  enum { FEW = 3 };
  bool deep = dimension == 3;
  flow_case given = {.dimension = dimension,
                     .cells = {deep ? 64 : 512, deep ? 96 : 128, deep ? 20 : 1},
                     .block = {16, 16, deep ? 10 : 1},
                     .bodies = bodies,
                     .body_count = 3};
  set_sides(&given, sides);
  given.options.omega = 1.6;
  given.options.force[1] = -3e-5;
  given.options.initial = deep ? noisy_state : noisy_plane;
  outcome wanted[STEPS], seen[STEPS];
  run(world, given, "reference", FEW, wanted);
  const int32_t large[3] = {deep ? 32 : 256, deep ? 48 : 64, deep ? 20 : 1};
  memcpy(given.block, large, sizeof large);
  for (int threads = 1; threads <= 3; threads += 2) {
    set_threads(threads);
    run(world, given, kernel, FEW, seen);
    for (int step = 0; step < FEW; step++) expect_same(&wanted[step], &seen[step], false, "slabs", step);
  }
  set_threads(1);
}

#endif
