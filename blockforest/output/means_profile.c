/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of time means: averages over the layers of cells across an axis. A handful of layers at a time, in two passes:
 * the averages of the means, then the products of fluctuations and of deviations from these averages. All sums are exact,
 * so they depend neither on the order of the blocks nor on the processes. */
#include "blockforest/output/means_impl.h"

#include "core/memory/memory.h"
#include "core/messages/collective.h"

#include <math.h>
#include <stdio.h>

enum {
  LAYERS_AT_ONCE = 32,
  MOST_VALUES = 1 + MEANS_MOST_COMPONENTS + MEANS_MOST_PRODUCTS,
  MOST_SUMS = MEANS_MOST_PRODUCTS /* of a pass; the first one has 1 + MEANS_MOST_COMPONENTS */
};

typedef enum pass { PASS_MEANS, PASS_PRODUCTS } pass;

typedef struct layers {
  gab_means *means;
  int axis, level; /* of the layers: the finest one of the grid */
  int64_t first;
  size_t count;
  const means_group *of;
  pass now;
  gab_exact_sum sums[LAYERS_AT_ONCE][MOST_SUMS];
  double volume[LAYERS_AT_ONCE];              /* in cells of that level */
  double values[LAYERS_AT_ONCE][MOST_VALUES]; /* as those of a cell with one sample */
} layers;

/* ---------------------------------------------------------------- sums */

static int sums_of(const layers *it)
{
  return it->now == PASS_MEANS ? 1 + it->of->of.components : it->of->products;
}

/* A cell with samples, in a layer. */
static void add_cell(layers *to, size_t row, double weight, const double *cell, ptrdiff_t apart)
{
  const int components = to->of->of.components;
  const double *means = cell + apart, *products = means + components * apart, *layer = to->values[row] + 1;
  gab_exact_sum *sums = to->sums[row];
  if (to->now == PASS_MEANS) {
    gab_exact_add(&sums[0], weight);
    for (int c = 0; c < components; c++) gab_exact_add(&sums[1 + c], weight * means[c * apart]);
    return;
  }
  for (int p = 0; p < to->of->products; p++) {
    const int *pair = to->of->pair[p];
    const double a = means[pair[0] * apart] - layer[pair[0]], b = means[pair[1] * apart] - layer[pair[1]];
    gab_exact_add(&sums[p], weight * (products[p * apart] / *cell + a * b));
  }
}

/* A cell of a coarser level lies in several layers, and has in each the volume that lies there. */
static gab_status add_block(layers *to, const gab_block *block)
{
  const gab_forest *forest = to->means->forest;
  const gab_field *field = gab_block_data(block, to->means->data);
  const gab_quantity *of = &to->of->of;
  const int shift = to->level - gab_block_level(forest, block), axis = to->axis;
  const gab_box box = gab_block_cells(forest, block);
  const int64_t width = (int64_t)1 << shift, lower = box.lo[axis] * width - to->first;
  const double weight = ldexp(1, shift * (to->means->dimension - 1)), *now = to->means->values;
  const int32_t *cells = field->shape.cells;
  int32_t at[3];
  if (lower >= (int64_t)to->count || box.hi[axis] * width <= to->first) return GAB_OK;
  GAB_TRY(of->evaluate(of->user, forest, block, to->means->values));
  for (at[2] = 0; at[2] < cells[2]; at[2]++)
    for (at[1] = 0; at[1] < cells[1]; at[1]++)
      for (at[0] = 0; at[0] < cells[0]; at[0]++, now += of->components) {
        const double *cell =
            (const double *)field->data + gab_field_index(&field->map, at[0], at[1], at[2], to->of->first);
        if (!(*cell > 0) || isnan(*now)) continue;
        for (int64_t row = lower + at[axis] * width, end = row + width; row < end; row++)
          if (row >= 0 && row < (int64_t)to->count)
            add_cell(to, (size_t)row, weight, cell, field->map.component_stride);
      }
  return GAB_OK;
}

static gab_status sum(layers *it, pass now)
{
  const gab_forest *forest = it->means->forest;
  gab_status status = GAB_OK;
  it->now = now;
  for (size_t row = 0; row < it->count; row++)
    for (int i = 0; i < MOST_SUMS; i++) gab_exact_clear(&it->sums[row][i]);
  for (size_t b = 0; b < gab_forest_block_count(forest) && status == GAB_OK; b++)
    status = add_block(it, gab_forest_block(forest, b));
  GAB_TRY(gab_world_reduce_status(gab_forest_world(forest), status));
  return gab_world_sum_exact(gab_forest_world(forest), it->sums[0], it->count * MOST_SUMS);
}

/* The averages of a quantity over these layers; NaN in layers without a cell. */
static gab_status average(layers *it)
{
  GAB_TRY(sum(it, PASS_MEANS));
  for (size_t row = 0; row < it->count; row++) {
    it->volume[row] = gab_exact_value(&it->sums[row][0]);
    it->values[row][0] = 1;
    for (int c = 1; c < sums_of(it); c++)
      it->values[row][c] = gab_exact_value(&it->sums[row][c]) / it->volume[row];
  }
  if (it->of->products == 0) return GAB_OK;
  GAB_TRY(sum(it, PASS_PRODUCTS));
  for (size_t row = 0; row < it->count; row++)
    for (int p = 0; p < sums_of(it); p++)
      it->values[row][1 + it->of->of.components + p] = gab_exact_value(&it->sums[row][p]) / it->volume[row];
  return GAB_OK;
}

/* ---------------------------------------------------------------- table */

size_t gab_means_profile_columns(const gab_means *means, int axis,
                                 char names[GAB_MOST_PROFILE_COLUMNS][GAB_PROFILE_COLUMN_CAPACITY])
{
  size_t count = 0;
  snprintf(names[count++], GAB_PROFILE_COLUMN_CAPACITY, "%c", "xyz"[axis]);
  snprintf(names[count++], GAB_PROFILE_COLUMN_CAPACITY, "cells");
  for (size_t i = 0; i < means->view_count; i++) {
    const means_view *view = &means->views[i];
    const int components = gab_means_components(view);
    for (int c = 0; c < components; c++) {
      const char suffix[3] = {components > 1 ? '.' : '\0', "xyz"[c], '\0'};
      snprintf(names[count++], GAB_PROFILE_COLUMN_CAPACITY, "%s%s", view->name, suffix);
    }
  }
  return count;
}

static size_t columns_of(const gab_means *means)
{
  size_t count = 2;
  for (size_t i = 0; i < means->view_count; i++) count += (size_t)gab_means_components(&means->views[i]);
  return count;
}

static void fill_rows(const layers *it, size_t columns, double *rows)
{
  size_t column = 2;
  for (size_t i = 0; i < it->means->view_count; i++) {
    const means_view *view = &it->means->views[i];
    if (view->of == it->of)
      for (size_t row = 0; row < it->count; row++)
        gab_means_show(view, it->values[row], 1, &rows[row * columns + column]);
    column += (size_t)gab_means_components(view);
  }
}

static gab_status some_layers(layers *it, size_t columns, double *rows)
{
  const gab_forest *forest = it->means->forest;
  const double origin = gab_forest_get_options(forest)->origin[it->axis];
  for (size_t g = 0; g < it->means->group_count; g++) {
    it->of = &it->means->groups[g];
    GAB_TRY(average(it));
    fill_rows(it, columns, rows);
    for (size_t row = 0; row < it->count && g == 0; row++) {
      rows[row * columns] =
          origin + ((double)(it->first + (int64_t)row) + 0.5) * gab_forest_dx(forest, it->level);
      rows[row * columns + 1] = it->volume[row];
    }
  }
  return GAB_OK;
}

static gab_status find_level(const gab_forest *forest, int *level)
{
  uint64_t finest = 0;
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const uint64_t here = (uint64_t)gab_block_level(forest, gab_forest_block(forest, b));
    if (here > finest) finest = here;
  }
  GAB_TRY(gab_world_max_u64(gab_forest_world(forest), &finest, 1));
  *level = (int)finest;
  return GAB_OK;
}

gab_status gab_means_profile(gab_means *means, int axis, double **rows, size_t *count)
{
  const gab_forest_options *domain = gab_forest_get_options(means->forest);
  const size_t columns = columns_of(means);
  layers *it = NULL;
  int level = 0;
  *rows = NULL;
  GAB_TRY(find_level(means->forest, &level));
  *count = (size_t)((int64_t)domain->grid.roots[axis] * domain->cells[axis]) << level;
  gab_status status = GAB_NEW(&it, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(rows, *count * columns, GAB_MEMORY_OTHER);
  status = gab_world_reduce_status(gab_forest_world(means->forest), status);
  for (size_t done = 0; done < *count && status == GAB_OK; done += LAYERS_AT_ONCE) {
    it->means = means;
    it->axis = axis;
    it->level = level;
    it->first = (int64_t)done;
    it->count = *count - done < LAYERS_AT_ONCE ? *count - done : LAYERS_AT_ONCE;
    status = some_layers(it, columns, *rows + done * columns);
  }
  gab_free(&it);
  if (status != GAB_OK) gab_free(rows);
  return status;
}
