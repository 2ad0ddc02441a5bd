/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 quick=2 timeout=120 */
/* A user-defined boundary condition is equivalent to one of the library: pressure sides written in a test give the
 * bits of the library's, on one level and where levels touch at the side, in 2D and on both lattices of 3D, in dense
 * and sparse blocks and with the reference. */
#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

enum { BLOCK = 6, BLOCKS = 4, STEPS = 20 };

static double even_part(const gab_lattice *lattice, int q, int normal, double drho, const double u[3])
{
  const int8_t *c = lattice->c[q];
  double along = 0, square = 0;
  for (int axis = 0; axis < 3; axis++) {
    square += u[axis] * u[axis];
    along += axis == normal ? 0 : c[axis] * u[axis];
  }
  const double across = c[normal] * u[normal];
  return lattice->weight[q] * (drho + (1 + drho) * (4.5 * (across * across + along * along) - 1.5 * square));
}

/* As in the library: lbm/sides/open_sides.c; the cells are fine enough. */
static double pressure_arrives(const gab_boundary_link *at)
{
  const gab_lattice *lattice = at->lattice;
  const int normal = at->side / 2, out = at->side % 2 == 1 ? 1 : -1;
  double spread = 0, strain = 0, at_side[3] = {at->velocity[0], at->velocity[1], at->velocity[2]};
  for (int axis = 0; axis < lattice->dimension; axis++) {
    int along = 1;
    while (lattice->c[along][axis] != 1 ||
           abs(lattice->c[along][0]) + abs(lattice->c[along][1]) + abs(lattice->c[along][2]) != 1)
      along++;
    const double weight = lattice->weight[along];
    strain += at->spread[axis] / (3 * weight);
    if (lattice->c[at->q][axis] == 0) spread += lattice->weight[at->q] / weight * at->spread[axis];
  }
  at_side[normal] -= 0.5 * out * strain;
  double drho = at->sent[0]; /* density - 1 would lose digits */
  for (int q = 1; q < lattice->q; q += 2) drho += at->sent[q] + at->sent[q + 1];
  const double change = even_part(lattice, at->q, normal, at->numbers[0] - 1, at_side) -
                        even_part(lattice, at->q, normal, drho, at->velocity);
  return at->next + 2 * change + spread;
}

static const gab_boundary pressure = {
    .name = "own_pressure", .doc = "A given density.", .arrives = pressure_arrives};

static gab_mark mark_second(void *user, int level, const gab_box *cells)
{
  const int *levels = user;
  return level + 1 < *levels && cells->lo[0] == BLOCK ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static uint64_t checksum_of(gab_world *world, const gab_lattice *lattice, int levels, const char *kernel,
                            bool own)
{
  const bool deep = lattice->dimension == 3;
  gab_forest_options options = {.grid = {.dimension = lattice->dimension, .roots = {BLOCKS, 1, 1}},
                                .cells = {BLOCK, BLOCK, deep ? BLOCK : 1},
                                .periodic = {true, false, deep},
                                .dx = 1};
  gab_lbm_options wanted = {.lattice = lattice,
                            .kernel = kernel,
                            .omega = 1.2,
                            .force = {1e-5, 0, 0},
                            .initial = deep ? noisy_state : noisy_plane};
  for (int side = GAB_SIDE_Y_MIN; side <= GAB_SIDE_Y_MAX; side++) {
    const double density = side == GAB_SIDE_Y_MIN ? 1.01 : 1;
    wanted.sides[side] = (gab_side){.kind = GAB_SIDE_PRESSURE, .density = density};
    if (own) wanted.sides[side] = (gab_side){.kind = GAB_SIDE_OWN, .own = &pressure, .numbers = {density}};
  }
  gab_forest *forest;
  gab_lbm *lbm;
  uint64_t checksum;
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  REQUIRE_OK(gab_lbm_create(forest, NULL, &wanted, &lbm));
  REQUIRE_OK(gab_forest_build(forest, mark_second, &levels, levels - 1, gab_balance_distribute, NULL, NULL));
  for (int step = 0; step < STEPS; step++) REQUIRE_OK(gab_lbm_step(lbm));
  REQUIRE_OK(gab_lbm_check_finite(lbm, NULL));
  REQUIRE_OK(gab_forest_checksum(forest, &checksum));
  gab_lbm_destroy(&lbm);
  gab_forest_destroy(&forest);
  return checksum;
}

static void unsound_conditions_are_refused(gab_world *world)
{
  gab_boundary bad = pressure;
  CHECK(gab_boundary_register(&bad) == GAB_ERR_ARGUMENT); /* the name is taken */
  bad.name = "outflow";
  CHECK(gab_boundary_register(&bad) == GAB_ERR_ARGUMENT);
  bad.name = "a|b";
  CHECK(gab_boundary_register(&bad) == GAB_ERR_ARGUMENT);
  bad = (gab_boundary){.name = "empty", .doc = "Nothing arrives."};
  CHECK(gab_boundary_register(&bad) == GAB_ERR_ARGUMENT);
  const gab_config_key length = {.name = "length", .type = GAB_CONFIG_REAL, .doc = "Nobody reads it."};
  bad = (gab_boundary){
      .name = "unread", .doc = "Has a key.", .keys = &length, .key_count = 1, .arrives = pressure.arrives};
  CHECK(gab_boundary_register(&bad) == GAB_ERR_ARGUMENT);
  CHECK(gab_boundary_at(0) == &pressure && !gab_boundary_at(1));
  CHECK(strcmp(gab_boundary_name(GAB_SIDE_OWN), "own_pressure") == 0 && !gab_boundary_name(GAB_SIDE_OWN + 1));

  gab_forest_options options = {
      .grid = {.dimension = 2, .roots = {2, 1, 1}}, .cells = {4, 4, 1}, .periodic = {true}, .dx = 1};
  gab_lbm_options wanted = {.omega = 1};
  wanted.sides[GAB_SIDE_Y_MIN].kind = wanted.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_OWN;
  gab_forest *forest;
  gab_lbm *lbm;
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  CHECK(gab_lbm_create(forest, NULL, &wanted, &lbm) == GAB_ERR_INPUT && strstr(gab_error_message(), "y-"));
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  static const char *const kernels[] = {"in_place", "sparse", "vector", "reference"};
  gab_world *world;
  REQUIRE_OK(gab_boundary_register(&pressure));
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  unsound_conditions_are_refused(world);
  for (int l = 0; gab_lattice_at(l); l++)
    for (int levels = 1; levels <= 2; levels++) {
      const uint64_t wanted = checksum_of(world, gab_lattice_at(l), levels, "in_place", false);
      for (int k = 0; k < 4; k++)
        CHECK(checksum_of(world, gab_lattice_at(l), levels, kernels[k], true) == wanted);
    }
  return test_end(&world);
}
