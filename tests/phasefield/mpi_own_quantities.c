/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* User-defined quantities of a phase field: incomplete ones, and names that are taken or invalid, are refused. The
 * others are listed after those of the model and see the same numbers, with gradients of phi and mu across borders of
 * blocks and of levels, and at sides of the domain as in the equations. Evaluation does not change the state, and
 * gradients that were not updated are refused. */
#include "phasefield/observe/cell_quantity.h"
#include "tests/phasefield/levels/levels_common.h"

static void solid_of(const gab_phasefield_cell *at, double *values)
{
  values[0] = 1 - at->phi[at->phases - 1];
}
static void slope_of_melt(const gab_phasefield_cell *at, double *values)
{
  for (int k = 0; k < 3; k++) values[k] = at->phi_gradient[at->phases - 1][k];
}
static void slope_of_mu(const gab_phasefield_cell *at, double *values)
{
  for (int k = 0; k < 3; k++) values[k] = at->mu_gradient[0][k];
}
static void rest_of(const gab_phasefield_cell *at, double *values)
{
  values[0] = at->mu[0] + 1000 * at->c[0];
  values[1] = at->temperature;
  values[2] = at->dx + 100 * at->level;
}

static const gab_phasefield_quantity sound[] = {
    {.name = "own_solid", .doc = "as solid", .components = 1, .evaluate = solid_of},
    {.name = "melt_slope", .doc = "of phi", .components = 3, .gradient = true, .evaluate = slope_of_melt},
    {.name = "mu_slope_1", .doc = "of mu", .components = 3, .gradient = true, .evaluate = slope_of_mu},
    {.name = "rest", .doc = "the rest", .components = 3, .evaluate = rest_of}};
enum { OWN = 4 };
static gab_phasefield_quantity kept[OWN];

static void is_registered(void)
{
  gab_phasefield_quantity bad[7];
  for (int i = 0; i < 7; i++) bad[i] = sound[0];
  bad[0].name = "solid";
  bad[1].name = "phi_mine";
  bad[2].name = "two words";
  bad[3].name = NULL;
  bad[4].doc = NULL;
  bad[5].components = 2;
  bad[6].evaluate = NULL;
  for (int i = 0; i < 7; i++) REQUIRE(gab_phasefield_quantity_register(&bad[i]) == GAB_ERR_ARGUMENT);
  REQUIRE(!gab_phasefield_own_quantity_choice(0).name);
  for (int i = 0; i < OWN; i++) {
    kept[i] = sound[i];
    if (i == 2) kept[i].name = "slope_of_mu";
    REQUIRE_OK(gab_phasefield_quantity_register(&kept[i]));
    REQUIRE(gab_phasefield_quantity_register(&kept[i]) == GAB_ERR_ARGUMENT);
    REQUIRE(strcmp(gab_phasefield_own_quantity_choice(i).name, kept[i].name) == 0);
  }
}

/* ---------------------------------------------------------------- quantities */

/* x is periodic; ghosts beyond the sides of y mirror the cells inside. */
static double fraction(const int32_t all[3], int64_t x, int64_t y)
{
  x = (x + all[0]) % all[0];
  y = y < 0 ? 0 : y >= all[1] ? all[1] - 1 : y;
  return 0.5 + 0.4 * cos(0.7 * (double)x + 0.1 * (double)y);
}
static void wavy(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const phase_case *given = user;
  phi[1] = fraction(given->cells, cell[0], cell[1]);
  phi[0] = 1 - phi[1];
  mu[0] = 0.25 * (double)cell[1];
}
static void sloped_melt(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user;
  phi[1] = 1;
  mu[0] = 0.25 * (double)cell[1];
}

static phase_case case_of(gab_phasefield_initial_fn initial, int levels)
{
  phase_case given = {
      .dimension = 2, .cells = {24, 32, 1}, .block = {6, 8, 1}, .dx = 0.5, .options.levels = levels};
  if (levels > 0) memcpy(given.cells, (int32_t[3]){48, 64, 1}, sizeof given.cells);
  given.options.thermo = simple_system(2, 0.5, 0);
  given.options.initial = initial;
  given.options.epsilon = 2;
  given.options.dt = 0.01;
  given.options.temperature.value = 0.9;
  equal_interfaces(&given.options, 1, 1);
  given.options.sides[2].kind = given.options.sides[3].kind = GAB_PHASEFIELD_CLOSED;
  return given;
}

enum { CAPACITY = 3 * 64 };

static void evaluate(const phase_run *it, const char *name, const gab_block *block, double values[CAPACITY])
{
  gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES];
  const gab_quantity *found;
  const gab_quantity_list all = gab_phasefield_quantities(it->model, items);
  REQUIRE_OK(gab_quantity_find(all, name, &found));
  REQUIRE(gab_quantity_block_values(it->forest, found) <= CAPACITY);
  REQUIRE_OK(found->evaluate(found->user, it->forest, block, values));
}

/* All but those with a gradient are functions of one cell. */
static void says_what_it_looks_at(gab_phasefield *model)
{
  gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES];
  const gab_quantity_list all = gab_phasefield_quantities(model, items);
  for (size_t q = 0; q < all.count; q++)
    REQUIRE(all.items[q].pointwise ==
            (strcmp(all.items[q].name, "melt_slope") != 0 && strcmp(all.items[q].name, "slope_of_mu") != 0));
}

static void sees_cells(gab_world *world)
{
  phase_case given = case_of(wavy, 0);
  given.options.initial_user = &given;
  phase_run it = phase_open(world, &given);
  gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES];
  const gab_quantity *early;
  double melt[CAPACITY], slope[CAPACITY], mu[CAPACITY], solid[CAPACITY], own[CAPACITY], rest[CAPACITY],
      c[CAPACITY], warm[CAPACITY];
  REQUIRE_OK(gab_quantity_find(gab_phasefield_quantities(it.model, items), "melt_slope", &early));
  if (gab_forest_block_count(it.forest) > 0)
    REQUIRE(early->evaluate(early->user, it.forest, gab_forest_block(it.forest, 0), melt) == GAB_ERR_STATE);
  REQUIRE_OK(gab_phasefield_update_quantities(it.model));
  gab_world_set_step(world, gab_world_step(world) + 1);
  if (gab_forest_block_count(it.forest) > 0)
    REQUIRE(early->evaluate(early->user, it.forest, gab_forest_block(it.forest, 0), melt) == GAB_ERR_STATE);
  REQUIRE_OK(gab_phasefield_update_quantities(it.model));
  says_what_it_looks_at(it.model);
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    const gab_box place = gab_block_cells(it.forest, block);
    evaluate(&it, "melt_slope", block, slope);
    evaluate(&it, "slope_of_mu", block, mu);
    evaluate(&it, "solid", block, solid);
    evaluate(&it, "own_solid", block, own);
    evaluate(&it, "mu_1", block, melt);
    evaluate(&it, "c_1", block, c);
    evaluate(&it, "temperature", block, warm);
    evaluate(&it, "rest", block, rest);
    for (int i = 0; i < 48; i++) {
      const int64_t x = place.lo[0] + i % 6, y = place.lo[1] + i / 6;
      const double twice = 2 * given.dx, inner = y > 0 && y < 31 ? 2 : 1;
      CHECK(fabs(slope[3 * i] - (fraction(given.cells, x + 1, y) - fraction(given.cells, x - 1, y)) / twice) <
            1e-12);
      CHECK(fabs(slope[3 * i + 1] -
                 (fraction(given.cells, x, y + 1) - fraction(given.cells, x, y - 1)) / twice) < 1e-12);
      CHECK(slope[3 * i + 2] == 0 && mu[3 * i + 2] == 0);
      CHECK(fabs(mu[3 * i]) < 1e-11 && fabs(mu[3 * i + 1] - 0.25 * inner / twice) < 1e-11);
      CHECK(own[i] == solid[i]);
      CHECK(rest[3 * i] == melt[i] + 1000 * c[i] && rest[3 * i + 1] == warm[i] && rest[3 * i + 2] == 0.5);
    }
  }
  phase_close(&it);
}

/* mu is linear in space, and so across borders of levels. Exceptions are fine cells opposite to a wide one at a
 * closed side: its slope, which ends at the side, corrects their ghosts. */
static gab_mark mark_corner(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}
static void sees_levels(gab_world *world)
{
  phase_case given = case_of(sloped_melt, 2);
  uint64_t blocks[GAB_PHASEFIELD_MOST_LEVELS + 1];
  double mu[CAPACITY], rest[CAPACITY];
  phase_run it = levels_create(world, &given);
  REQUIRE_OK(gab_forest_build(it.forest, mark_corner, NULL, 2, gab_balance_distribute, NULL, NULL));
  levels_count(&it, blocks);
  REQUIRE(blocks[0] > 0 && blocks[1] > 0 && blocks[2] > 0);
  REQUIRE_OK(gab_phasefield_update_quantities(it.model));
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    const int level = gab_block_level(it.forest, block);
    const int64_t first = gab_block_cells(it.forest, block).lo[1], rows = 64 >> (2 - level);
    evaluate(&it, "slope_of_mu", block, mu);
    evaluate(&it, "rest", block, rest);
    for (int i = 0; i < 48; i++) {
      const int64_t y = first + i / 6;
      const double inner = y > 0 && y < rows - 1 ? 2 : 1;
      CHECK(fabs(mu[3 * i + 1] - 0.25 * inner) < 1e-11);
      CHECK(y < 2 || y >= rows - 2 || fabs(mu[3 * i]) < 1e-11);
      CHECK(rest[3 * i + 2] == ldexp(0.5, 2 - level) + 100 * level);
    }
  }
  phase_close(&it);
}

static void changes_nothing(gab_world *world, int levels)
{
  phase_case given = case_of(levels ? sloped_melt : wavy, levels);
  uint64_t hash[2];
  given.options.initial_user = &given;
  for (int looks = 0; looks < 2; looks++) {
    phase_run it = levels_create(world, &given);
    REQUIRE_OK(gab_forest_build(it.forest, levels ? mark_corner : NULL, NULL, levels, gab_balance_distribute,
                                NULL, NULL));
    for (int step = 0; step < 6; step++) {
      if (looks) REQUIRE_OK(gab_phasefield_update_quantities(it.model));
      phase_steps(&it, 1);
    }
    hash[looks] = levels_checksum(&it);
    phase_close(&it);
  }
  REQUIRE(hash[0] == hash[1]);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  is_registered();
  sees_cells(world);
  sees_levels(world);
  changes_nothing(world, 0);
  changes_nothing(world, 2);
  return test_end(&world);
}
