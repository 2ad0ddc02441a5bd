/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* Time means equal those of the samples, without loss of digits for fluctuations far below the mean. Blocks pass them
 * on when they split and merge, exactly where all cells have the same number of samples. */
#include "blockforest/output/means.h"

#include "blockforest/adaptation/adapt.h"
#include "core/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 4, SAMPLES = 50 };

static gab_world *world;
static int now;              /* number of the sample */
static bool has_solid_cells; /* the first cell of a block on level 0, the first quarter of it on level 1 */

static double value_at(const double at[3], int sample, int component)
{
  const double swing = sin(0.7 * sample + at[0] + 3 * at[1] + component);
  return component == 0 ? 1e6 + 1e-3 * swing : (component + 1) * swing + at[1];
}

static bool is_solid(const double at[3]) { return has_solid_cells && at[0] < 0.5 && at[1] < 0.5; }

static gab_status fill(int components, const gab_forest *forest, const gab_block *block, double *values)
{
  for (int32_t y = 0; y < CELLS; y++)
    for (int32_t x = 0; x < CELLS; x++) {
      double at[3];
      gab_block_cell_centre(forest, block, x, y, 0, at);
      for (int c = 0; c < components; c++) *values++ = is_solid(at) ? NAN : value_at(at, now, c);
    }
  return GAB_OK;
}

static gab_status scalar(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  (void)user;
  return fill(1, forest, block, values);
}

static gab_status vector(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  (void)user;
  return fill(3, forest, block, values);
}

static const gab_quantity quantities[] = {
    {.name = "height", .unit = "m", .components = 1, .pointwise = true, .evaluate = scalar},
    {.name = "velocity", .components = 3, .pointwise = true, .evaluate = vector}};

static const gab_means_options usual = {
    .quantities = quantities, .quantity_count = 2, .dimension = 2, .rms = true, .stresses = true};

static gab_status stay(void *context, gab_proxies *proxies)
{
  (void)context, (void)proxies;
  return GAB_OK;
}

typedef struct fixture {
  gab_forest *forest;
  gab_means *means;
  gab_quantity items[GAB_MOST_MEAN_QUANTITIES];
  size_t count;
} fixture;

static fixture make_of(const gab_means_options *options)
{
  fixture made = {0};
  const gab_forest_options domain = {
      .grid = {.dimension = 2, .roots = {1, 1, 1}}, .cells = {CELLS, CELLS, 1}, .dx = 1};
  assert_int_equal(gab_forest_create(world, &domain, &made.forest), GAB_OK);
  assert_int_equal(gab_means_create(options, &made.means), GAB_OK);
  assert_int_equal(gab_means_attach(made.means, made.forest), GAB_OK);
  assert_int_equal(gab_forest_build(made.forest, NULL, NULL, 1, stay, NULL, NULL), GAB_OK);
  made.count = gab_means_quantities(made.means, made.items);
  now = 0;
  has_solid_cells = false;
  return made;
}

static fixture make(void) { return make_of(&usual); }

static void destroy(fixture *gone)
{
  gab_means_destroy(&gone->means);
  gab_forest_destroy(&gone->forest);
}

static void sample(const fixture *it, int count)
{
  for (int i = 0; i < count; i++, now++) assert_int_equal(gab_means_sample(it->means), GAB_OK);
}

static void evaluate(const fixture *it, const char *name, size_t block, int components, double *values)
{
  const gab_quantity *found;
  double all[3 * CELLS * CELLS];
  assert_int_equal(gab_quantity_find((gab_quantity_list){it->items, it->count}, name, &found), GAB_OK);
  assert_int_equal(found->components, components);
  assert_true(found->pointwise);
  assert_int_equal(found->evaluate(found->user, it->forest, gab_forest_block(it->forest, block), all),
                   GAB_OK);
  memcpy(values, all, (size_t)components * CELLS * CELLS * sizeof *values);
}

/* Mean product of the fluctuations of two components, in two passes. */
static double product(const double at[3], int a, int b)
{
  double mean[2] = {0, 0}, sum = 0;
  for (int i = 0; i < SAMPLES; i++) {
    mean[0] += value_at(at, i, a) / SAMPLES;
    mean[1] += value_at(at, i, b) / SAMPLES;
  }
  for (int i = 0; i < SAMPLES; i++) sum += (value_at(at, i, a) - mean[0]) * (value_at(at, i, b) - mean[1]);
  return sum / SAMPLES;
}

static void assert_near(double value, double expected, double most)
{
  if (!(fabs(value - expected) <= most)) fail_msg("%.17g instead of %.17g", value, expected);
}

static void means_are_those_of_all_samples(void **state)
{
  fixture it = make();
  (void)state;
  double mean[CELLS * CELLS], rms[CELLS * CELLS], of_velocity[3 * CELLS * CELLS], xx[CELLS * CELLS];
  double xy[CELLS * CELLS], yy[CELLS * CELLS], energy[CELLS * CELLS];
  const double at[3] = {0.5, 0.5, 0};
  evaluate(&it, "mean_height", 0, 1, mean);
  assert_true(isnan(mean[0])); /* before the first sample */
  assert_int_equal(gab_means_samples(it.means), 0);
  sample(&it, SAMPLES);
  assert_int_equal(gab_means_samples(it.means), SAMPLES);
  assert_int_equal(gab_means_values(it.means), (1 + 1 + 1) + (1 + 3 + 3 + 1));
  assert_true(gab_means_data(it.means).index > 0);
  evaluate(&it, "mean_height", 0, 1, mean);
  evaluate(&it, "rms_height", 0, 1, rms);
  evaluate(&it, "rms_velocity", 0, 3, of_velocity);
  evaluate(&it, "reynolds_stress_xx", 0, 1, xx);
  evaluate(&it, "reynolds_stress_xy", 0, 1, xy);
  evaluate(&it, "reynolds_stress_yy", 0, 1, yy);
  evaluate(&it, "turbulent_kinetic_energy", 0, 1, energy);
  double expected = 0;
  for (int i = 0; i < SAMPLES; i++) expected += value_at(at, i, 0) / SAMPLES;
  assert_near(mean[0], expected, 1e-15 * 1e6 * 10);
  /* a value of 1e6 has an error of 6e-11: a sum of squares would leave no digits of 1e-3 */
  assert_near(rms[0], sqrt(product(at, 0, 0)), 1e-9);
  assert_near(of_velocity[1], sqrt(product(at, 1, 1)), 1e-13);
  assert_near(of_velocity[2], sqrt(product(at, 2, 2)), 1e-13);
  assert_near(xx[0], product(at, 0, 0), 1e-11);
  assert_near(xy[0], product(at, 0, 1), 1e-9);
  assert_near(yy[0], product(at, 1, 1), 1e-13);
  assert_true(energy[0] == 0.5 * xx[0] + 0.5 * yy[0]);
  destroy(&it);
}

/* The scalar is the first component of the vector: its variance is the first product. */
static void products_are_those_of_both_fluctuations(void **state)
{
  const gab_mean_product products[] = {{.of = {quantities[0], quantities[1]}}};
  gab_means_options options = usual;
  options.products = products;
  options.product_count = 1;
  fixture it = make_of(&options);
  (void)state;
  double flux[3 * CELLS * CELLS], after[3 * CELLS * CELLS];
  const double at[3] = {0.5, 0.5, 0};
  sample(&it, SAMPLES);
  assert_int_equal(gab_means_values(it.means), (1 + 1 + 1) + (1 + 3 + 3 + 1) + (1 + 4 + 3));
  evaluate(&it, "covariance_velocity_height", 0, 3, flux);
  const double other[3] = {1.5, 0.5, 0};
  assert_near(flux[3], product(other, 0, 0), 1e-11);
  assert_near(flux[4], product(other, 0, 1), 1e-9);
  assert_near(flux[5], product(other, 0, 2), 1e-9);
  assert_true(fabs(flux[4]) > 1e-5);
  assert_near(flux[0], product(at, 0, 0), 1e-11);
  gab_means_reset(it.means);
  assert_int_equal(gab_means_samples(it.means), 0);
  evaluate(&it, "covariance_velocity_height", 0, 3, after);
  assert_true(isnan(after[3]));
  now = 0;
  sample(&it, SAMPLES);
  evaluate(&it, "covariance_velocity_height", 0, 3, after);
  assert_memory_equal(flux, after, sizeof flux);
  destroy(&it);
}

static gab_status mark(void *user, const gab_forest *forest, const gab_block *block, gab_mark *to)
{
  (void)forest, (void)block;
  *to = *(const gab_mark *)user;
  return GAB_OK;
}

static void adapt(const fixture *it, gab_mark to, size_t blocks)
{
  const gab_adapt_options options = {.max_level = 1, .mark = mark, .user = &to};
  assert_int_equal(gab_forest_adapt(it->forest, &options, NULL), GAB_OK);
  assert_int_equal(gab_forest_block_count(it->forest), blocks);
}

static void blocks_hand_means_on(void **state)
{
  fixture it = make();
  (void)state;
  double before[3 * CELLS * CELLS], after[3 * CELLS * CELLS], of_child[3 * CELLS * CELLS];
  sample(&it, 7);
  evaluate(&it, "rms_velocity", 0, 3, before);
  adapt(&it, GAB_MARK_REFINE, 4);
  evaluate(&it, "rms_velocity", 0, 3, of_child);
  for (size_t i = 0; i < 3; i++) assert_true(of_child[3 + i] == before[i]); /* cell 1 lies in cell 0 */
  adapt(&it, GAB_MARK_COARSEN, 1);
  evaluate(&it, "rms_velocity", 0, 3, after);
  assert_memory_equal(before, after, sizeof before);
  assert_int_equal(gab_means_samples(it.means), 7);
  destroy(&it);
}

/* A solid cell splits into three fluid cells and a solid one; the merge uses only cells with samples. */
static void cells_without_samples_do_not_count(void **state)
{
  fixture it = make();
  (void)state;
  double fine[CELLS * CELLS], mean[CELLS * CELLS], rms_fine[CELLS * CELLS], rms[CELLS * CELLS];
  has_solid_cells = true;
  adapt(&it, GAB_MARK_REFINE, 4);
  sample(&it, 5);
  evaluate(&it, "mean_height", 0, 1, fine);
  evaluate(&it, "rms_height", 0, 1, rms_fine);
  assert_true(isnan(fine[0]) && !isnan(fine[1]));
  adapt(&it, GAB_MARK_COARSEN, 1);
  has_solid_cells = false;
  evaluate(&it, "mean_height", 0, 1, mean);
  evaluate(&it, "rms_height", 0, 1, rms);
  assert_near(mean[0], (fine[1] + fine[CELLS] + fine[CELLS + 1]) / 3, 1e-9);
  const double squares = rms_fine[1] * rms_fine[1] + rms_fine[CELLS] * rms_fine[CELLS] +
                         rms_fine[CELLS + 1] * rms_fine[CELLS + 1];
  assert_near(rms[0], sqrt(squares / 3), 1e-12);
  assert_int_equal(gab_means_samples(it.means), 5);
  destroy(&it);
}

static void solid_children_have_no_mean(void **state)
{
  fixture it = make();
  (void)state;
  double fine[CELLS * CELLS];
  sample(&it, 3);
  adapt(&it, GAB_MARK_REFINE, 4);
  has_solid_cells = true; /* the child's cell: it has the samples of its parent */
  evaluate(&it, "mean_height", 0, 1, fine);
  assert_true(isnan(fine[0]) && !isnan(fine[1]));
  destroy(&it);
}

static void wrong_options_are_refused(void **state)
{
  gab_means *means;
  gab_quantity around = quantities[0], twice[2] = {quantities[0], quantities[0]};
  (void)state;
  around.pointwise = false;
  assert_int_equal(gab_means_create(&(gab_means_options){.dimension = 2}, &means), GAB_ERR_ARGUMENT);
  assert_int_equal(
      gab_means_create(&(gab_means_options){.quantities = &around, .quantity_count = 1, .dimension = 2},
                       &means),
      GAB_ERR_INPUT);
  assert_int_equal(
      gab_means_create(&(gab_means_options){.quantities = twice, .quantity_count = 2, .dimension = 2},
                       &means),
      GAB_ERR_INPUT);
  assert_int_equal(gab_means_create(
                       &(gab_means_options){
                           .quantities = quantities, .quantity_count = 1, .dimension = 2, .stresses = true},
                       &means),
                   GAB_ERR_ARGUMENT);
  assert_int_equal(
      gab_means_create(
          &(gab_means_options){.quantities = gab_quantity_owner(), .quantity_count = 1, .dimension = 2},
          &means),
      GAB_ERR_INPUT);
  const gab_mean_product of_vectors = {.of = {quantities[1], quantities[1]}},
                         of_itself = {.of = {quantities[0], quantities[0]}};
  gab_means_options options = usual;
  options.product_count = 1;
  options.products = &of_vectors;
  assert_int_equal(gab_means_create(&options, &means), GAB_ERR_INPUT);
  options.products = &of_itself;
  assert_int_equal(gab_means_create(&options, &means), GAB_ERR_INPUT);
  assert_null(means);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_are_those_of_all_samples),
      cmocka_unit_test(blocks_hand_means_on),
      cmocka_unit_test(products_are_those_of_both_fluctuations),
      cmocka_unit_test(cells_without_samples_do_not_count),
      cmocka_unit_test(solid_children_have_no_mean),
      cmocka_unit_test(wrong_options_are_refused),
  };
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  return failed;
}
