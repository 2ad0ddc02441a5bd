/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=1 timeout=150 */
/* Solidification on a grid that follows the front, compared with a grid that is fine everywhere. A planar front and
 * lamellae of the symmetric eutectic advance equally and leave the same concentrations, except for the effect of wide
 * cells on the melt far above. All is conserved; the bits are the same for any number of processes and threads, and
 * for blocks that are redistributed or restored. A moving window leaves the front at its position, and its ledger
 * closes; an interface that reaches coarser cells is reported. */
#include "tests/phasefield/levels/levels_common.h"

#include "core/base/hash.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { LEVELS = 2, EVERY = 20, MARGIN = 8 };
static const gab_phasefield_grid grid = {.margin = MARGIN, .distribute = gab_balance_distribute};

typedef struct scene {
  phase_case given;
  int solids, height; /* lamellae of 16 cells each below this row */
} scene;

static void lamellae(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const scene *it = user;
  (void)mu;
  const int64_t row = cell[it->given.dimension - 1];
  phi[row < it->height ? cell[0] / 16 % it->solids : it->given.options.thermo.phases - 1] = 1;
}

static scene scene_of(int solids, int dimension, const char *kernel)
{
  scene made = {.solids = solids, .height = 34};
  made.given = (phase_case){.dimension = dimension, .dx = 3, .cells = {48, 144, 1}, .block = {12, 12, 1}};
  if (dimension == 3) memcpy(made.given.cells, (int32_t[3]){48, 48, 96}, sizeof made.given.cells);
  if (dimension == 3) made.given.block[2] = 12;
  made.given.options = (gab_phasefield_options){.thermo = symmetric_eutectic(),
                                                .epsilon = 8,
                                                .triple = 10,
                                                .dt = dimension == 2 ? 0.5 : 0.35,
                                                .interpolation = GAB_INTERPOLATION_CUBIC,
                                                .temperature = {0.9, 0.06 / 800, 0.016},
                                                .mu = {1, 1},
                                                .kernel = kernel,
                                                .initial = lamellae,
                                                .levels = LEVELS};
  equal_interfaces(&made.given.options, 1, 0.3713);
  gab_phasefield_side *bottom = &made.given.options.sides[2 * dimension - 2];
  bottom[0].kind = GAB_PHASEFIELD_CLOSED;
  bottom[1] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {1, 1}};
  return made;
}

static phase_run scene_open(gab_world *world, scene *it)
{
  it->given.options.initial_user = it;
  return levels_open(world, &it->given, &grid);
}

static uint64_t grow(phase_run *it, int64_t from, int64_t to)
{
  uint64_t changes = 0;
  for (int64_t step = from; step < to; step++) {
    gab_adapt_report report;
    REQUIRE_OK(gab_phasefield_step(it->model));
    if ((step + 1) % EVERY != 0) continue;
    REQUIRE_OK(gab_phasefield_adapt(it->model, &grid, &report));
    changes += report.changed;
  }
  REQUIRE_OK(gab_phasefield_check_finite(it->model));
  return changes;
}

/* ------------------------------------------------------------------------------------------ against a fine
 * grid */

static double solid_rows(const phase_run *it, const gab_phasefield_integrals *sums, int melt, int axis)
{
  return (1 - sums->fraction[melt] / sums->cells) * it->cells[axis];
}

static void agrees_with_fine_grid(gab_world *world, int solids, int64_t steps)
{
  scene coarse = scene_of(solids, 2, NULL), fine = coarse;
  fine.given.options.levels = 0;
  phase_run adaptive = scene_open(world, &coarse), uniform = scene_open(world, &fine);
  uint64_t blocks[GAB_PHASEFIELD_MOST_LEVELS + 1], all;
  REQUIRE_OK(gab_forest_global_blocks(uniform.forest, &all));
  const uint64_t changes = grow(&adaptive, 0, steps);
  phase_steps(&uniform, steps);
  levels_count(&adaptive, blocks);
  const gab_phasefield_integrals a = phase_sums(&adaptive), u = phase_sums(&uniform);
  double gained[GAB_MOST_INDEPENDENTS];
  REQUIRE_OK(gab_phasefield_ledger(adaptive.model, gained));
  const double rows = solid_rows(&adaptive, &a, 3, 1), fine_rows = solid_rows(&uniform, &u, 3, 1);
  double worst = 0;
  for (int p = 0; p < 4; p++) worst = fmax(worst, fabs(a.fraction[p] - u.fraction[p]) / u.cells);
  for (int i = 0; i < 2; i++) worst = fmax(worst, fabs(a.content[i] - u.content[i]) / u.cells);
  if (getenv("SHOW"))
    printf("%d solids: %.4f rows, %.4f on the fine grid; fractions and contents within %.2g; %d changes, "
           "blocks %d + %d + %d of %d\n",
           solids, rows, fine_rows, worst, (int)changes, (int)blocks[0], (int)blocks[1], (int)blocks[2],
           (int)all);
  REQUIRE(rows > 35 && fabs(rows - fine_rows) < 0.01);
  REQUIRE(worst < 1e-4 && changes > 0);
  REQUIRE(blocks[0] + blocks[1] + blocks[2] < all);
  phase_close(&uniform);
  phase_close(&adaptive);
}

/* ------------------------------------------------------------------------------------------ bits */

static uint64_t state_of(const phase_run *it)
{
  double gained[GAB_MOST_INDEPENDENTS] = {0};
  const gab_phasefield_integrals sums = phase_sums((phase_run *)(uintptr_t)it);
  REQUIRE_OK(gab_phasefield_ledger(it->model, gained));
  return levels_checksum(it) + gab_hash64(gained, sizeof gained, 2) + gab_hash64(&sums, sizeof sums, 3);
}

static void is_the_same_bits(gab_world *world, int dimension, const char *kernel, uint64_t expected)
{
  enum { STEPS = 80 };
  scene at = scene_of(3, dimension, kernel);
  gab_buffer image = {0}, place = {0}, ledger = {0};
#ifdef _OPENMP
  omp_set_num_threads(1);
#endif
  phase_run first = scene_open(world, &at), second = scene_open(world, &at);
  grow(&first, 0, STEPS / 2 + 1);
  REQUIRE_OK(gab_forest_pack(first.forest, &image));
  REQUIRE_OK(gab_phasefield_pack(first.model, &place));
  REQUIRE_OK(gab_phasefield_ledger_pack(first.model, &ledger));
  gab_rank targets[1024];
  REQUIRE(gab_forest_block_count(first.forest) <= 1024);
  for (int i = 0; i < 1024; i++) targets[i] = gab_world_root(world);
  REQUIRE_OK(gab_forest_migrate(first.forest, targets));
  grow(&first, STEPS / 2 + 1, STEPS);
  gab_reader blocks = gab_reader_of_buffer(&image), where = gab_reader_of_buffer(&place),
             account = gab_reader_of_buffer(&ledger);
  REQUIRE_OK(gab_forest_restore(second.forest, &blocks, 1, NULL, NULL));
  REQUIRE_OK(gab_phasefield_unpack(second.model, &where));
  REQUIRE_OK(gab_phasefield_ledger_unpack(second.model, &account));
#ifdef _OPENMP
  omp_set_num_threads(2);
#endif
  grow(&second, STEPS / 2 + 1, STEPS);
  const uint64_t state = state_of(&first);
  if (getenv("SHOW")) printf("state %016" PRIx64 "\n", state);
  REQUIRE(state == state_of(&second));
  REQUIRE(!expected || state == expected);
#ifdef _OPENMP
  omp_set_num_threads(1);
#endif
  gab_buffer_release(&image);
  gab_buffer_release(&place);
  gab_buffer_release(&ledger);
  phase_close(&second);
  phase_close(&first);
}

/* ------------------------------------------------------------------------------------------ window */

/* The window keeps the front eight rows below where it begins. */
static void window_follows(gab_world *world, scene still, int64_t steps)
{
  scene moving = still;
  phase_run fixed_run = scene_open(world, &still), it = scene_open(world, &moving);
  const int64_t unit = gab_phasefield_shift_unit(it.model);
  const gab_phasefield_integrals start = phase_sums(&it);
  int64_t front, fixed_front;
  REQUIRE(unit == 4);
  REQUIRE(gab_phasefield_shift(it.model, 2) == GAB_ERR_ARGUMENT);
  for (int64_t step = 0; step < steps; step += EVERY) {
    grow(&fixed_run, step, step + EVERY);
    grow(&it, step, step + EVERY);
    REQUIRE_OK(gab_phasefield_front(it.model, &front));
    const int64_t rows = (front - (still.height - 8)) / unit * unit;
    if (rows > 0) REQUIRE_OK(gab_phasefield_shift(it.model, rows));
  }
  const gab_phasefield_integrals end = phase_sums(&it);
  double gained[GAB_MOST_INDEPENDENTS];
  REQUIRE_OK(gab_phasefield_front(it.model, &front));
  REQUIRE_OK(gab_phasefield_front(fixed_run.model, &fixed_front));
  REQUIRE_OK(gab_phasefield_ledger(it.model, gained));
  const int64_t shift = gab_phasefield_get_shift(it.model);
  if (getenv("SHOW"))
    printf("front %d + %d, fixed %d; ledger %g %g\n", (int)front, (int)shift, (int)fixed_front,
           (end.content[0] - start.content[0] - gained[0]) / start.content[0],
           (end.content[1] - start.content[1] - gained[1]) / start.content[1]);
  REQUIRE(shift >= 8 && front + shift == fixed_front);
  for (int i = 0; i < 2; i++)
    REQUIRE(fabs(end.content[i] - start.content[i] - gained[i]) < 1e-13 * start.content[i]);
  phase_close(&it);
  phase_close(&fixed_run);
}

/* One solid, so high that there are wide cells below the front. */
static scene high_solid(void)
{
  scene made = scene_of(1, 2, NULL);
  made.given.cells[1] = 240;
  made.height = 130;
  return made;
}

/* ------------------------------------------------------------------------------------------ too late */

/* Without adaptation the front grows out of its fine blocks. The world is broken then: the last of all. */
static void is_told_about(gab_world *world)
{
  scene at = scene_of(3, 2, NULL);
  at.given.options.temperature.value = 0.8;
  phase_run it = scene_open(world, &at);
  gab_status status = GAB_OK, abort_request;
  for (int step = 0; step < 20000 && status == GAB_OK; step++) status = gab_phasefield_step(it.model);
  REQUIRE(status == GAB_ERR_FAULT || status == GAB_ERR_STATE);
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_ERR_STATE);
  REQUIRE(strstr(gab_error_message(), "an interface has come to coarser cells") != NULL);
  phase_close(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  agrees_with_fine_grid(world, 1, 700);
  agrees_with_fine_grid(world, 3, 700);
  is_the_same_bits(world, 2, "fast", 0);
  is_the_same_bits(world, 2, "reference", 0);
  is_the_same_bits(world, 3, "fast", 0);
  window_follows(world, scene_of(3, 2, NULL), 240);
  window_follows(world, high_solid(), 240);
  if (test_may_break(world)) is_told_about(world);
  return test_end(&world);
}
