/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 long=1 timeout=120 */
/* User-defined kernels sweep the same cells as those of the library: in place, in sparse blocks and with two fields,
 * on one level and on two, and in temporal blocks of several steps. A kernel that wrongly claims the bits of the
 * library is refused. A state computed with another arithmetic can be continued only by that kernel. */
#include "blockforest/adaptation/adapt.h"
#include "lbm/lbm_impl.h"
#include "tests/lbm/step/streaming_common.h"
#include "tests/install/own/own_kernels.h"

static gab_kernel_family in_sparse, in_two;

/* The bits of the library, except in the last cell of a call with 100 cells or more: there one is wrong. */
static void careless(const gab_sweep *at, const gab_run *runs, size_t count)
{
  gab_kernel_sweep(at, runs, count);
  if (at->reals != GAB_REALS_DOUBLE || count == 0 || runs[0].length < 100) return;
  double *last = (double *)at->to + runs[0].start + runs[0].length - 1 + at->sent[at->lattice->q - 1];
  *last = nextafter(*last, 1);
}
/* Writes next to its cells. */
static void spilling(const gab_sweep *at, const gab_run *runs, size_t count)
{
  gab_kernel_sweep(at, runs, count);
  if (at->reals == GAB_REALS_DOUBLE) ((double *)at->to)[runs[0].start + runs[0].length + at->sent[1]] = 1;
}
static const gab_kernel_family wrong[] = {
    {.name = "careless", .doc = "not always right", .fields = 1, .sweep = careless},
    {.name = "careless_in_two", .doc = "not always right", .fields = 2, .sweep = careless},
    {.name = "spilling", .doc = "too long", .fields = 2, .sweep = spilling}};
static gab_kernel_family revised, in_space;
static const char *not_in_the_plane(const gab_collision *collision, const gab_lattice *lattice,
                                    gab_kernel_reals reals, bool forced)
{
  (void)collision, (void)reals, (void)forced;
  return lattice->dimension == 3 ? NULL : "it is of space";
}

static void unsound_ones_are_refused(void)
{
  gab_kernel_family bad[10];
  for (int i = 0; i < 10; i++) bad[i] = gathered;
  bad[0].name = "auto";
  bad[1].name = "reference";
  bad[2].name = "two words";
  bad[3].name = "a|b";
  bad[4].name = NULL;
  bad[5].doc = NULL;
  bad[6].sweep = NULL;
  bad[7].fields = 3;
  bad[8].fields = 2; /* fluid cells only */
  bad[9].revision = -1;
  for (int i = 0; i < 10; i++) REQUIRE(gab_kernel_family_register(&bad[i]) == GAB_ERR_ARGUMENT);
  REQUIRE(!gab_kernel_family_at(5));
}

static void register_all(void)
{
  in_sparse = in_two = gathered;
  in_sparse.name = "gathered_sparse";
  in_sparse.blocks = GAB_KERNEL_BLOCKS_SPARSE;
  in_two.name = "gathered_two";
  in_two.fields = 2;
  in_two.blocks = GAB_KERNEL_BLOCKS_DENSE;
  in_space = in_two;
  in_space.name = "in_space";
  in_space.refuses = not_in_the_plane;
  revised = plain;
  revised.name = "revised";
  revised.revision = 2;
  const gab_kernel_family *const all[] = {&gathered, &in_sparse, &in_two,   &plain,   &revised,
                                          &wrong[0], &wrong[1],  &wrong[2], &in_space};
  for (int i = 0; i < 9; i++) {
    REQUIRE_OK(gab_kernel_family_register(all[i]));
    REQUIRE(gab_kernel_family_register(all[i]) == GAB_ERR_ARGUMENT);
    REQUIRE(gab_kernel_family_at(5 + i) == all[i] && gab_kernel_family_by_name(all[i]->name) == all[i]);
  }
  REQUIRE(!gab_kernel_family_at(14) && !gab_kernel_family_by_name("gather"));
  REQUIRE(strstr(gab_error_message(), "reference, gathered, gathered_sparse"));
}

/* ------------------------------------------------------------------------------------------ the same bits */

static void all_kinds_of_flows(gab_world *world)
{
  static const families kinds[] = {{.main = "gathered", .other = "gathered_two"},
                                   {.main = "gathered_sparse", .other = "gathered"},
                                   {.main = "gathered_two", .other = "gathered_sparse"}};
  for (int i = 0; i < 3; i++) {
    check_flow(world, &kinds[i], &gab_lattice_d2q9, i, &gab_collision_mrt, i % 2, 1 + i);
    check_flow(world, &kinds[i], &gab_lattice_d3q19, (i + 1) % 3, &gab_collision_trt, i % 2 == 0, i);
    check_slabs(world, kinds[i].main, 2 + i % 2, 1);
  }
  check_flow(world, &kinds[0], &gab_lattice_d3q27, 0, &gab_collision_rr, true, 3);
}

static gab_mark mark_second(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level == 0 && cells->lo[0] == 8 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* All cells are fluid, all blocks of one level. */
static void expect_blocks(const gab_forest *forest, const gab_lbm *lbm, const char *kernel)
{
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_lbm_block *block = gab_lbm_block_of(lbm, gab_forest_block(forest, i));
    REQUIRE((block->sparse != NULL) == (strcmp(kernel, "gathered_sparse") == 0));
    REQUIRE((block->dst != NULL) == (strcmp(kernel, "gathered_two") == 0));
  }
}

/* @param[in] levels  1 or 2 @param[out] swept  cells of all steps swept by `gathered` */
static uint64_t checksum_of(gab_world *world, const gab_lbm_options *options, int levels, uint64_t *swept)
{
  const gab_forest_options place = {
      .grid = {.dimension = 2, .roots = {4, 2, 1}}, .cells = {8, 8, 1}, .periodic = {true, false}, .dx = 1};
  gab_forest *forest;
  gab_lbm *lbm;
  uint64_t checksum;
  REQUIRE_OK(gab_forest_create(world, &place, &forest));
  REQUIRE_OK(gab_lbm_create(forest, NULL, options, &lbm));
  REQUIRE_OK(gab_forest_build(forest, mark_second, NULL, levels - 1, gab_balance_distribute, NULL, NULL));
  if (levels == 1) expect_blocks(forest, lbm, options->kernel);
  *swept = atomic_load(&gathered_cells);
  if (levels == 1) REQUIRE_OK(gab_lbm_steps(lbm, 12, 3));
  for (int step = 0; step < 12 && levels > 1; step++) REQUIRE_OK(gab_lbm_step(lbm));
  *swept = atomic_load(&gathered_cells) - *swept;
  const bool alone = gab_members_count(gab_world_members(world)) == 1;
  if (strcmp(options->kernel, "gathered") == 0)
    REQUIRE(lbm->temporally_blocked_steps == (alone && levels == 1 ? 12 : 0));
  REQUIRE_OK(gab_world_sum_u64(world, swept, 1));
  REQUIRE_OK(gab_forest_checksum(forest, &checksum));
  gab_lbm_destroy(&lbm);
  gab_forest_destroy(&forest);
  return checksum;
}

/* Sweeps every cell once in every step, those of the finer level twice. */
static void levels_and_temporal_blocks(gab_world *world)
{
  gab_lbm_options options = {.omega = 1.7, .force = {1e-5, 0, 0}, .initial = noisy_plane, .deepest = 1};
  options.sides[GAB_SIDE_Y_MIN].kind = options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
  for (int levels = 1; levels <= 2; levels++) {
    uint64_t swept, none;
    const uint64_t cells = levels == 1 ? 8 * 64 : 6 * 64 + 2 * (2 * 256);
    options.kernel = "auto";
    const uint64_t wanted = checksum_of(world, &options, levels, &none);
    static const char *const mine[] = {"gathered", "gathered_sparse", "gathered_two"};
    for (int i = 0; i < 3; i++) {
      options.kernel = mine[i];
      REQUIRE(checksum_of(world, &options, levels, &swept) == wanted);
      REQUIRE(swept == 12 * cells && none == 0);
    }
  }
}

/* ------------------------------------------------------------------------------------------ other bits */

static flow_case small(const char *kernel, const gab_collision *collision)
{
  return (flow_case){.dimension = 2,
                     .cells = {16, 16, 1},
                     .block = {8, 8, 1},
                     .options = {.kernel = kernel,
                                 .collision = collision,
                                 .omega = 1.3,
                                 .force = {1e-4, 0, 0},
                                 .initial = noisy_plane}};
}

static void wrong_ones_are_refused(gab_world *world)
{
  const gab_forest_options place = {
      .grid = {.dimension = 2, .roots = {2, 2, 1}}, .cells = {8, 8, 1}, .periodic = {true, true}, .dx = 1};
  gab_lbm_options options = {.omega = 1.3};
  gab_lbm *lbm;
  for (int i = 0; i < 3; i++) {
    gab_forest *forest;
    options.kernel = wrong[i].name;
    options.precision = GAB_PRECISION_DOUBLE;
    REQUIRE_OK(gab_forest_create(world, &place, &forest));
    REQUIRE(gab_lbm_create(forest, NULL, &options, &lbm) == GAB_ERR_ARGUMENT && !lbm);
    REQUIRE(strstr(gab_error_message(), wrong[i].name) && strstr(gab_error_message(), "D2Q9/double/TRT"));
    options.precision = GAB_PRECISION_FLOAT; /* in float they are correct */
    REQUIRE_OK(gab_lbm_create(forest, NULL, &options, &lbm));
    gab_lbm_destroy(&lbm);
    gab_forest_destroy(&forest);
  }
  gab_lbm_kernel_choice choice;
  options = (gab_lbm_options){.omega = 1, .lattice = &gab_lattice_d2q9, .kernel = "plain"};
  REQUIRE(gab_lbm_choose_kernel(&options, (const int32_t[3]){8, 8, 1}, &choice) == GAB_ERR_INPUT);
  REQUIRE(strstr(gab_error_message(), "it is SRT in double") && gab_lbm_fields(&options) == 0);
  options.collision = &gab_collision_srt;
  REQUIRE_OK(gab_lbm_choose_kernel(&options, (const int32_t[3]){8, 8, 1}, &choice));
  REQUIRE(strcmp(choice.name, "plain/D2Q9/double/free") == 0 && gab_lbm_fields(&options) == 2);
  options = (gab_lbm_options){.omega = 1, .kernel = "in_space"};
  REQUIRE(gab_lbm_fields(&options) == 2);
  options.lattice = &gab_lattice_d2q9;
  REQUIRE(gab_lbm_fields(&options) == 0);
  options.lattice = &gab_lattice_d3q27;
  REQUIRE(gab_lbm_fields(&options) == 2);
}

static void sum_of_speeds(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  double *sums = user;
  const double weight = (double)(1 + cell[0] + 16 * cell[1]);
  (void)fluid;
  sums[0] += weight * density;
  sums[1] += weight * u[0];
  sums[2] += weight * u[1];
}

/* Equal to the flow of SRT up to rounding; its state has its own arithmetic, the state of `gathered` that of the
 * library. */
static void plain_is_srt_in_other_bits(gab_world *world)
{
  static const char *const kernels[] = {"auto", "plain", "revised", "gathered"};
  uint64_t checksums[4];
  double sums[4][3] = {{0}};
  gab_buffer record[4];
  for (int i = 0; i < 4; i++) {
    const flow_case given = small(kernels[i], &gab_collision_srt);
    flow it = flow_open(world, &given);
    gab_buffer_init(&record[i], GAB_MEMORY_OTHER);
    REQUIRE_OK(gab_lbm_put_arithmetic(it.lbm, &record[i]));
    flow_run(&it, 20);
    REQUIRE_OK(gab_forest_checksum(it.forest, &checksums[i]));
    flow_visit(&it, sum_of_speeds, sums[i]);
    flow_close(&it);
  }
  REQUIRE(checksums[1] == checksums[2] && checksums[0] == checksums[3] && checksums[0] != checksums[1]);
  for (int k = 0; k < 3; k++) REQUIRE(fabs(sums[0][k] - sums[1][k]) < 1e-12 * 256 * 256 && sums[0][k] != 0);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++) {
      const flow_case given = small(kernels[k], &gab_collision_srt);
      flow it = flow_open(world, &given);
      gab_reader in = gab_reader_of_buffer(&record[i]);
      const bool fits = i == k || (i % 3 == 0 && k % 3 == 0);
      REQUIRE(gab_lbm_check_arithmetic(it.lbm, &in) == (fits ? GAB_OK : GAB_ERR_INPUT));
      flow_close(&it);
      if (i == 1 && k == 2)
        REQUIRE(strstr(gab_error_message(), "plain revision 1") &&
                strstr(gab_error_message(), "revised revision 2"));
    }
  for (int i = 0; i < 4; i++) gab_buffer_release(&record[i]);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  set_threads(1);
  unsound_ones_are_refused();
  register_all();
  all_kinds_of_flows(world);
  levels_and_temporal_blocks(world);
  wrong_ones_are_refused(world);
  plain_is_srt_in_other_bits(world);
  return test_end(&world);
}
