/* SPDX-License-Identifier: Apache-2.0 */
/* Time means. A field has for each quantity, component after component: number of samples, means, products of
 * deviations. */
#include "blockforest/output/means_impl.h"

#include "core/memory/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- the list */

static void add_view(gab_means *made, const means_group *of, means_shown what, int product,
                     const char *prefix, const char *name)
{
  means_view *one = &made->views[made->view_count++];
  *one = (means_view){.means = made, .of = of, .what = what, .product = product};
  snprintf(one->name, sizeof one->name, "%s%s", prefix, name);
}

static void add_pair(means_group *to, int a, int b)
{
  to->pair[to->products][0] = a;
  to->pair[to->products++][1] = b;
}

static void add_products(gab_means *made, means_group *one, bool rms, bool stresses)
{
  for (int a = 0; a < one->of.components && (rms || stresses); a++)
    if (rms || a < made->dimension) add_pair(one, a, a);
  for (int a = 0; stresses && a < made->dimension; a++)
    for (int b = a + 1; b < made->dimension; b++) add_pair(one, a, b);
  if (rms) add_view(made, one, SHOWN_RMS, 0, "rms_", one->of.name);
  for (int p = 0; stresses && p < one->products; p++) {
    const char axes[3] = {"xyz"[one->pair[p][0]], "xyz"[one->pair[p][1]], '\0'};
    if (one->pair[p][0] < made->dimension) add_view(made, one, SHOWN_PRODUCT, p, "reynolds_stress_", axes);
  }
  if (stresses) add_view(made, one, SHOWN_ENERGY, 0, "turbulent_kinetic_energy", "");
}

static gab_status check_new(const gab_means *made, const char *name)
{
  for (size_t i = 0; i < made->group_count; i++)
    if (strcmp(made->groups[i].of.name, name) == 0)
      GAB_FAIL(GAB_ERR_INPUT, "quantity '%s' is there twice", name);
  return GAB_OK;
}

static gab_status check_pointwise(const gab_quantity *one)
{
  if (one->evaluate == gab_quantity_owner()->evaluate)
    GAB_FAIL(GAB_ERR_INPUT, "quantity '%s' differs with the number of processes and has no mean", one->name);
  if (!one->pointwise)
    GAB_FAIL(GAB_ERR_INPUT, "quantity '%s' depends on neighbouring cells: only pointwise ones have means",
             one->name);
  return GAB_OK;
}

static gab_status check_quantity(const gab_means *made, const gab_quantity *one)
{
  GAB_TRY(check_new(made, one->name));
  GAB_TRY(check_pointwise(one));
  if (strlen(one->name) > MEANS_NAME_CAPACITY - 20)
    GAB_FAIL(GAB_ERR_INPUT, "the name '%s' is too long for means: %d letters at most", one->name,
             MEANS_NAME_CAPACITY - 20);
  return GAB_OK;
}

/* Both quantities, cell by cell. */
static gab_status evaluate_joint(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const means_joint *one = user;
  const int32_t *cells = one->means->field.shape.cells;
  const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  const int all = one->of[0].components + 1;
  int first = 0;
  for (int i = 0; i < 2; i++) {
    const int components = one->of[i].components;
    const double *part = one->means->part;
    GAB_TRY(one->of[i].evaluate(one->of[i].user, forest, block, one->means->part));
    for (size_t cell = 0; cell < count; cell++)
      for (int c = 0; c < components; c++) values[cell * (size_t)all + (size_t)(first + c)] = *part++;
    first += components;
  }
  return GAB_OK;
}

static gab_status add_joint(gab_means *made, const gab_mean_product *product, int *components)
{
  const bool is_second_vector = product->of[1].components == 3;
  means_joint *joint = &made->joints[made->joint_count++];
  means_group *one = &made->groups[made->group_count];
  *joint =
      (means_joint){.means = made, .of = {product->of[is_second_vector], product->of[!is_second_vector]}};
  const gab_quantity *of = joint->of;
  for (int i = 0; i < 2; i++) GAB_TRY(check_pointwise(&of[i]));
  if (of[1].components == 3)
    GAB_FAIL(GAB_ERR_INPUT,
             "'%s' and '%s' are vectors: a product is that of a vector and a scalar, or of two scalars",
             of[0].name, of[1].name);
  if (strcmp(of[0].name, of[1].name) == 0)
    GAB_FAIL(GAB_ERR_INPUT, "the product of '%s' with itself is the square of its rms value", of[0].name);
  if (strlen(of[0].name) + strlen(of[1].name) > MEANS_NAME_CAPACITY - 20)
    GAB_FAIL(GAB_ERR_INPUT, "the names '%s' and '%s' are too long for a product: %d letters at most",
             of[0].name, of[1].name, MEANS_NAME_CAPACITY - 20);
  char name[2 * MEANS_NAME_CAPACITY]; /* not joint->name: compilers warn of overlaps within one structure */
  snprintf(name, sizeof name, "%s_%s", of[0].name, of[1].name);
  memcpy(joint->name, name, strlen(name) + 1);
  const char *units[2] = {of[0].unit ? of[0].unit : "", of[1].unit ? of[1].unit : ""};
  snprintf(joint->unit, sizeof joint->unit, "%s%s%s", units[1], *units[0] && *units[1] ? " " : "", units[0]);
  const gab_quantity both = {.name = joint->name,
                             .unit = *joint->unit ? joint->unit : NULL,
                             .components = of[0].components + 1,
                             .pointwise = true,
                             .evaluate = evaluate_joint,
                             .user = joint};
  GAB_TRY(check_new(made, name));
  *one = (means_group){.of = both, .first = *components};
  made->group_count++;
  for (int c = 0; c < of[0].components; c++) add_pair(one, c, of[0].components);
  add_view(made, one, SHOWN_COVARIANCE, 0, "covariance_", name);
  *components += 1 + both.components + one->products;
  return GAB_OK;
}

static gab_status fill(const gab_means_options *options, gab_means *made)
{
  bool stresses = options->stresses;
  int components = 0;
  for (size_t i = 0; i < options->quantity_count; i++) {
    means_group *one = &made->groups[made->group_count];
    GAB_TRY(check_quantity(made, &options->quantities[i]));
    *one = (means_group){.of = options->quantities[i], .first = components};
    made->group_count++;
    const bool is_vector = one->of.components == 3;
    add_view(made, one, SHOWN_MEAN, 0, "mean_", one->of.name);
    add_products(made, one, options->rms, stresses && is_vector);
    if (is_vector) stresses = false;
    components += 1 + one->of.components + one->products;
  }
  for (size_t i = 0; i < options->product_count; i++)
    GAB_TRY(add_joint(made, &options->products[i], &components));
  made->field.shape.components = components;
  if (stresses) GAB_FAIL(GAB_ERR_ARGUMENT, "stresses need a vector among the quantities of the means");
  return GAB_OK;
}

gab_status gab_means_create(const gab_means_options *options, gab_means **means)
{
  *means = NULL;
  if (options->quantity_count < 1 || options->quantity_count > GAB_MOST_MEANS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "means of %zu quantities: expected 1 to %d", options->quantity_count,
             (int)GAB_MOST_MEANS);
  if (options->product_count > GAB_MOST_MEAN_PRODUCTS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "means of %zu products: at most %d", options->product_count,
             (int)GAB_MOST_MEAN_PRODUCTS);
  GAB_TRY(GAB_NEW(means, GAB_MEMORY_OTHER));
  **means = (gab_means){.dimension = options->dimension};
  const gab_status status = fill(options, *means);
  if (status != GAB_OK) gab_means_destroy(means);
  return status;
}

void gab_means_destroy(gab_means **means)
{
  if (!*means) return;
  gab_free(&(*means)->values);
  gab_free(&(*means)->part);
  gab_free(means);
}

int gab_means_values(const gab_means *means) { return means->field.shape.components; }

gab_data_id gab_means_data(const gab_means *means) { return means->data; }

/* ---------------------------------------------------------------- levels */

/* Averages in pairs, so that equal values give exactly that value. */
static double mean_of(const double *values, int count)
{
  double sum[8];
  for (int i = 0; i < count; i++) sum[i] = values[i];
  for (int pairs = count / 2; pairs > 0; pairs /= 2)
    for (int i = 0; i < pairs; i++) sum[i] = sum[2 * i] + sum[2 * i + 1];
  return sum[0] / count;
}

typedef struct fine_cells {
  const gab_field *field;
  int32_t at[3];
  int count; /* 4 or 8 */
} fine_cells;

static double fine_value(const fine_cells *from, int part, int component)
{
  return gab_field_get(from->field, from->at[0] + (part & 1), from->at[1] + (part >> 1 & 1),
                       from->at[2] + (part >> 2 & 1), component);
}

/* A coarse cell gets means and products weighted by samples, and the mean number of samples over the fine cells with
 * samples. */
static void merge_group(const means_group *one, const fine_cells *from, gab_field *to, const int32_t at[3])
{
  const int means = one->of.components, all = 1 + means + one->products;
  double samples[8] = {0}, total = 0, with = 0;
  bool are_equal = true;
  for (int part = 0; part < from->count; part++) {
    samples[part] = fine_value(from, part, one->first);
    total += samples[part];
    with += samples[part] > 0;
    are_equal &= samples[part] == samples[0];
  }
  const double count = with > 0 ? total / with : 0;
  gab_field_set(to, at[0], at[1], at[2], one->first, are_equal ? samples[0] : count);
  for (int c = 1; c < all; c++) {
    double values[8], sum = 0;
    for (int part = 0; part < from->count; part++) {
      values[part] = fine_value(from, part, one->first + c);
      sum += c <= means ? samples[part] * values[part] : values[part];
    }
    const double weighed = with > 0 ? (c <= means ? sum / total : sum / total * count) : 0;
    gab_field_set(to, at[0], at[1], at[2], one->first + c,
                  are_equal ? mean_of(values, from->count) : weighed);
  }
}

static void merge_child(const gab_means *it, const gab_field *child, gab_field *parent, int which,
                        int dimension)
{
  int32_t half[3] = {1, 1, 1}, cell[3], coarse[3];
  fine_cells from = {.field = child, .count = 1 << dimension};
  for (int axis = 0; axis < dimension; axis++) half[axis] = child->shape.cells[axis] / 2;
  for (cell[2] = 0; cell[2] < half[2]; cell[2]++)
    for (cell[1] = 0; cell[1] < half[1]; cell[1]++)
      for (cell[0] = 0; cell[0] < half[0]; cell[0]++) {
        for (int axis = 0; axis < 3; axis++) {
          coarse[axis] = cell[axis] + (which >> axis & 1) * half[axis];
          from.at[axis] = axis < dimension ? 2 * cell[axis] : 0;
        }
        for (size_t g = 0; g < it->group_count; g++) merge_group(&it->groups[g], &from, parent, coarse);
      }
}

static gab_status merge(void *user, const gab_forest *forest, const gab_block *const *children,
                        const void *const *children_data, const gab_block *parent, void *parent_data)
{
  const gab_topology *topology = gab_forest_topology(forest);
  (void)children, (void)parent;
  for (int c = 0; c < gab_topology_child_count(topology); c++)
    if (children_data[c]) merge_child(user, children_data[c], parent_data, c, topology->grid.dimension);
  return GAB_OK;
}

gab_status gab_means_attach(gab_means *means, gab_forest *forest)
{
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  for (int axis = 0; axis < 3; axis++) means->field.shape.cells[axis] = cells[axis];
  means->forest = forest;
  gab_block_data_kind kind = gab_block_field_data(&means->field, "means");
  kind.merge = merge;
  GAB_TRY(gab_forest_add_data(forest, &kind, &means->data));
  const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  GAB_TRY(GAB_NEW_ARRAY(&means->part, 3 * count, GAB_MEMORY_OTHER));
  return GAB_NEW_ARRAY(&means->values, MEANS_MOST_COMPONENTS * count, GAB_MEMORY_OTHER);
}

/* ---------------------------------------------------------------- samples */

enum { CHUNK = 64 };

/* Adjacent cells along x: their numbers of samples, the weight of this sample, and deviations from the means. */
typedef struct chunk {
  double weight[CHUNK], deviation[MEANS_MOST_COMPONENTS][CHUNK];
} chunk;

static void count_samples(const means_group *one, const double *values, int32_t cells, double *samples,
                          chunk *to)
{
  const int components = one->of.components;
  for (int32_t x = 0; x < cells; x++) {
    bool has_value = true;
    for (int c = 0; c < components; c++) has_value &= !isnan(values[x * components + c]);
    samples[x] += has_value;
    to->weight[x] = has_value ? 1 / samples[x] : 0;
  }
}

/* @param[in,out] samples  of the first cell; means and products follow `apart` */
static void sample_chunk(const means_group *one, const double *values, int32_t cells, double *samples,
                         ptrdiff_t apart)
{
  chunk of;
  const int components = one->of.components;
  count_samples(one, values, cells, samples, &of);
  for (int c = 0; c < components; c++) {
    double *restrict mean = samples + (1 + c) * apart, *restrict deviation = of.deviation[c];
    for (int32_t x = 0; x < cells; x++) {
      const double difference = values[x * components + c] - mean[x];
      deviation[x] = of.weight[x] > 0 ? difference : 0;
      mean[x] += deviation[x] * of.weight[x];
    }
  }
  for (int p = 0; p < one->products; p++) {
    const double *a = of.deviation[one->pair[p][0]], *b = of.deviation[one->pair[p][1]];
    double *restrict product = samples + (1 + components + p) * apart;
    for (int32_t x = 0; x < cells; x++) product[x] += (1 - of.weight[x]) * (a[x] * b[x]);
  }
}

static void sample_block(const means_group *one, const double *values, gab_field *field)
{
  const int32_t *cells = field->shape.cells;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x += CHUNK) {
        const int32_t count = cells[0] - x < CHUNK ? cells[0] - x : CHUNK;
        double *samples = (double *)field->data + gab_field_index(&field->map, x, y, z, one->first);
        sample_chunk(one, values, count, samples, field->map.component_stride);
        values += (ptrdiff_t)count * one->of.components;
      }
}

gab_status gab_means_sample(gab_means *means)
{
  for (size_t b = 0; b < gab_forest_block_count(means->forest); b++) {
    const gab_block *block = gab_forest_block(means->forest, b);
    gab_field *field = gab_block_data(block, means->data);
    for (size_t g = 0; g < means->group_count; g++) {
      const gab_quantity *of = &means->groups[g].of;
      GAB_TRY(of->evaluate(of->user, means->forest, block, means->values));
      sample_block(&means->groups[g], means->values, field);
    }
  }
  return GAB_OK;
}

void gab_means_reset(gab_means *means)
{
  for (size_t b = 0; b < gab_forest_block_count(means->forest); b++) {
    gab_field *field = gab_block_data(gab_forest_block(means->forest, b), means->data);
    const int32_t *cells = field->shape.cells;
    for (int c = 0; c < field->shape.components; c++)
      for (int32_t z = 0; z < cells[2]; z++)
        for (int32_t y = 0; y < cells[1]; y++)
          for (int32_t x = 0; x < cells[0]; x++) gab_field_set(field, x, y, z, c, 0);
  }
}

gab_step gab_means_samples(const gab_means *means)
{
  double most = 0;
  for (size_t b = 0; b < gab_forest_block_count(means->forest); b++) {
    const gab_field *field = gab_block_data(gab_forest_block(means->forest, b), means->data);
    const int32_t *cells = field->shape.cells;
    for (size_t g = 0; g < means->group_count; g++)
      for (int32_t z = 0; z < cells[2]; z++)
        for (int32_t y = 0; y < cells[1]; y++)
          for (int32_t x = 0; x < cells[0]; x++)
            most = fmax(most, gab_field_get(field, x, y, z, means->groups[g].first));
  }
  return (gab_step)most;
}

/* ---------------------------------------------------------------- quantities */

int gab_means_components(const means_view *one)
{
  if (one->what == SHOWN_COVARIANCE) return one->of->products;
  return one->what == SHOWN_MEAN || one->what == SHOWN_RMS ? one->of->of.components : 1;
}

void gab_means_show(const means_view *one, const double *cell, ptrdiff_t apart, double *to)
{
  const int components = one->of->of.components;
  const double samples = *cell, *products = cell + (1 + components) * apart;
  switch (one->what) {
  case SHOWN_MEAN:
    for (int c = 0; c < components; c++) to[c] = cell[(1 + c) * apart];
    return;
  case SHOWN_RMS: /* the squares come first */
    for (int c = 0; c < components; c++) to[c] = sqrt(products[c * apart] / samples);
    return;
  case SHOWN_COVARIANCE:
    for (int p = 0; p < one->of->products; p++) to[p] = products[p * apart] / samples;
    return;
  case SHOWN_PRODUCT:
    *to = products[one->product * apart] / samples;
    return;
  case SHOWN_ENERGY:
    *to = 0;
    for (int axis = 0; axis < one->means->dimension; axis++) *to += 0.5 * (products[axis * apart] / samples);
    return;
  }
}

/* Solid cells of a block whose parent had fluid there have samples, but no value. */
static gab_status evaluate(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const means_view *one = user;
  const gab_quantity *of = &one->of->of;
  const gab_field *field = gab_block_data(block, one->means->data);
  const int32_t *cells = field->shape.cells;
  const int components = gab_means_components(one);
  const double *now = one->means->values;
  GAB_TRY(of->evaluate(of->user, forest, block, one->means->values));
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++, now += of->components, values += components) {
        const double *cell =
            (const double *)field->data + gab_field_index(&field->map, x, y, z, one->of->first);
        for (int c = 0; c < components; c++) values[c] = NAN;
        if (*cell > 0 && !isnan(*now)) gab_means_show(one, cell, field->map.component_stride, values);
      }
  return GAB_OK;
}

size_t gab_means_quantities(gab_means *means, gab_quantity *items)
{
  static const char *const docs[] = {"time mean", "root mean square of the fluctuation",
                                     "mean product of two fluctuations", "half of the trace of the stresses",
                                     "mean product of the fluctuations of two quantities"};
  for (size_t i = 0; i < means->view_count; i++) {
    means_view *one = &means->views[i];
    items[i] = (gab_quantity){.name = one->name,
                              .doc = docs[one->what],
                              .components = gab_means_components(one),
                              .pointwise = true,
                              .evaluate = evaluate,
                              .user = one};
    const char *unit = one->of->of.unit;
    if (one->what == SHOWN_MEAN || one->what == SHOWN_RMS || one->what == SHOWN_COVARIANCE)
      items[i].unit = unit;
    else if (unit && strcmp(unit, "m/s") == 0) items[i].unit = "m^2/s^2";
    items[i].diverging = one->what == SHOWN_MEAN ? one->of->of.diverging
                         : one->what == SHOWN_PRODUCT
                             ? one->of->pair[one->product][0] != one->of->pair[one->product][1]
                             : one->what == SHOWN_COVARIANCE;
  }
  return means->view_count;
}
