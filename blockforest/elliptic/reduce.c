/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/elliptic/reduce.h"

#include "core/messages/collective.h"
#include "field/field.h"

#include <math.h>

/* Local sums and extrema of one component, or of a product. */
typedef struct partial {
  uint64_t cells;
  gab_exact_sum sum, one, two;
  double range[2]; /* highest of -u and of u */
  bool is_nan;
} partial;

typedef void (*add_fn)(partial *to, double a, double b);

static void add_product(partial *to, double a, double b) { gab_exact_add(&to->sum, a * b); }

static void add_value(partial *to, double a, double b)
{
  (void)b;
  gab_exact_add(&to->sum, a);
}

static void add_norms(partial *to, double a, double b)
{
  (void)b;
  gab_exact_add(&to->sum, a);
  gab_exact_add(&to->one, fabs(a));
  gab_exact_add(&to->two, a * a);
  to->is_nan = to->is_nan || isnan(a);
  if (-a > to->range[0]) to->range[0] = -a;
  if (a > to->range[1]) to->range[1] = a;
}

static void clear(partial *all)
{
  *all = (partial){.range = {-INFINITY, -INFINITY}};
  gab_exact_clear(&all->sum);
  gab_exact_clear(&all->one);
  gab_exact_clear(&all->two);
}

static void merge(partial *into, const partial *from)
{
  into->cells += from->cells;
  gab_exact_merge(&into->sum, &from->sum);
  gab_exact_merge(&into->one, &from->one);
  gab_exact_merge(&into->two, &from->two);
  into->is_nan = into->is_nan || from->is_nan;
  for (int i = 0; i < 2; i++)
    if (from->range[i] > into->range[i]) into->range[i] = from->range[i];
}

static gab_status check(const gab_forest *forest, gab_block_component a)
{
  if (gab_forest_block_count(forest) == 0) return GAB_OK;
  const gab_field *field = gab_block_data(gab_forest_block(forest, 0), a.data);
  if (!field) GAB_FAIL(GAB_ERR_ARGUMENT, "a reduction of data that the forest does not have");
  if (a.component < 0 || a.component >= field->shape.components)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a reduction of component %d: the field has %d", a.component,
             field->shape.components);
  return GAB_OK;
}

static gab_status check_pair(const gab_forest *forest, gab_block_component a, gab_block_component b)
{
  GAB_TRY(check(forest, a));
  GAB_TRY(check(forest, b));
  if (gab_forest_block_count(forest) == 0) return GAB_OK;
  const gab_field *one = gab_block_data(gab_forest_block(forest, 0), a.data),
                  *two = gab_block_data(gab_forest_block(forest, 0), b.data);
  for (int axis = 0; axis < 3; axis++)
    if (one->shape.cells[axis] != two->shape.cells[axis])
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "a dot product of fields with %" PRId32 " and %" PRId32 " cells per block in %c",
               one->shape.cells[axis], two->shape.cells[axis], "xyz"[axis]);
  return GAB_OK;
}

static void add_block(const gab_block *block, gab_block_component a, gab_block_component b, add_fn add,
                      partial *to)
{
  const gab_field *left = gab_block_data(block, a.data), *right = gab_block_data(block, b.data);
  const int32_t *cells = left->shape.cells;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++)
        add(to, gab_field_get(left, x, y, z, a.component), gab_field_get(right, x, y, z, b.component));
  to->cells += (uint64_t)cells[0] * (uint64_t)cells[1] * (uint64_t)cells[2];
}

/* An error of one rank is raised, since the others wait in the reduction. */
static gab_status add_all(gab_forest *forest, gab_block_component a, gab_block_component b, add_fn add,
                          partial *all)
{
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(forest);
  clear(all);
  const gab_status status = check_pair(forest, a, b);
  if (status != GAB_OK) return gab_world_raise(gab_forest_world(forest), status);
#pragma omp parallel
  {
    partial mine;
    clear(&mine);
#pragma omp for schedule(dynamic) nowait
    for (ptrdiff_t i = 0; i < count; i++) add_block(gab_forest_block(forest, (size_t)i), a, b, add, &mine);
#pragma omp critical(gab_reduce)
    merge(all, &mine);
  }
  return GAB_OK;
}

gab_status gab_forest_dot(gab_forest *forest, gab_block_component a, gab_block_component b, double *dot)
{
  partial all;
  GAB_TRY(add_all(forest, a, b, add_product, &all));
  GAB_TRY(gab_world_sum_exact(gab_forest_world(forest), &all.sum, 1));
  *dot = gab_exact_value(&all.sum);
  return GAB_OK;
}

gab_status gab_forest_sum(gab_forest *forest, gab_block_component a, double *sum)
{
  partial all;
  GAB_TRY(add_all(forest, a, a, add_value, &all));
  GAB_TRY(gab_world_sum_exact(gab_forest_world(forest), &all.sum, 1));
  *sum = gab_exact_value(&all.sum);
  return GAB_OK;
}

static void merge_partials(void *into, const void *from, size_t count)
{
  partial *to = into;
  const partial *more = from;
  for (size_t i = 0; i < count; i++) merge(&to[i], &more[i]);
}

gab_status gab_forest_norms(gab_forest *forest, gab_block_component a, gab_norms *norms)
{
  partial all;
  GAB_TRY(add_all(forest, a, a, add_norms, &all));
  GAB_TRY(gab_world_reduce(gab_forest_world(forest), &all, 1, sizeof all, merge_partials));
  *norms = (gab_norms){.cells = all.cells};
  if (all.cells == 0) return GAB_OK;
  norms->sum = gab_exact_value(&all.sum);
  norms->one = gab_exact_value(&all.one);
  norms->two = sqrt(gab_exact_value(&all.two));
  norms->lowest = all.is_nan ? (double)NAN : -all.range[0];
  norms->highest = all.is_nan ? (double)NAN : all.range[1];
  norms->max = all.is_nan ? (double)NAN : fmax(all.range[0], all.range[1]);
  return GAB_OK;
}
