/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/probes.h"
#include "blockforest/output/output_files_impl.h"
#include "core/messages/collective.h"

#include <math.h>
#include <string.h>

/* One value for all ranks: at most one rank has it. */
typedef struct sample {
  double value;
  uint64_t is_set;
} sample;

struct gab_probes {
  gab_forest *forest;
  gab_series *series;
  gab_quantity *quantities;
  size_t quantity_count;
  double (*points)[3];
  size_t point_count;
  size_t per_point; /* values */
  double *scratch;  /* one block of the widest quantity */
  sample *samples;  /* one row */
  double *row;
};

static void combine_samples(void *into, const void *from, size_t count)
{
  sample *a = into;
  const sample *b = from;
  for (size_t i = 0; i < count; i++) {
    if (!a[i].is_set && b[i].is_set) a[i] = b[i];
  }
}

static gab_status check_points(const gab_forest *forest, const gab_probes_options *options)
{
  const gab_forest_options *domain = gab_forest_get_options(forest);
  for (size_t i = 0; i < options->point_count; i++) {
    for (int d = 0; d < domain->grid.dimension; d++) {
      double lower = domain->origin[d];
      double upper = lower + (double)((int64_t)domain->grid.roots[d] * domain->cells[d]) * domain->dx;
      double at = options->points[i][d];
      if (!(at >= lower && at <= upper)) {
        GAB_FAIL(GAB_ERR_INPUT, "probe %zu: %c = %g is outside the domain, which is [%g, %g]", i, "xyz"[d],
                 at, lower, upper);
      }
    }
  }
  return GAB_OK;
}

static gab_status column_names(const gab_probes *probes, const gab_probes_options *options, gab_buffer *names)
{
  for (size_t i = 0; i < probes->point_count; i++) {
    char numbered[32];
    snprintf(numbered, sizeof numbered, "p%zu", i);
    const char *point = options->names ? options->names[i] : numbered;
    for (size_t q = 0; q < probes->quantity_count; q++) {
      const gab_quantity *quantity = &probes->quantities[q];
      for (int c = 0; c < quantity->components; c++) {
        const char *suffix = quantity->components == 1 ? "" : c == 0 ? ".x" : c == 1 ? ".y" : ".z";
        GAB_TRY(gab_put_text(names, "%s.%s%s", point, quantity->name, suffix));
        GAB_TRY(gab_put_u8(names, 0));
      }
    }
  }
  return GAB_OK;
}

static size_t value_count(const gab_probes *probes) { return probes->point_count * probes->per_point; }

static gab_status make_series(gab_probes *probes, const gab_probes_options *options)
{
  size_t count = value_count(probes);
  gab_buffer names = {0};
  const char **columns = NULL;
  gab_status status = GAB_NEW_ARRAY(&columns, count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = column_names(probes, options, &names);
  if (status == GAB_OK) {
    const char *at = (const char *)names.data;
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1) columns[i] = at;
    status =
        gab_series_create(gab_forest_world(probes->forest), options->path, columns, count, &probes->series);
  }
  gab_free(&columns);
  gab_buffer_release(&names);
  return status;
}

static gab_status fill_in(gab_probes *probes, const gab_probes_options *options)
{
  GAB_TRY(GAB_NEW_ARRAY(&probes->quantities, options->quantity_count, GAB_MEMORY_OTHER));
  size_t widest = 0;
  for (size_t i = 0; i < options->quantity_count; i++) {
    GAB_TRY(gab_quantity_check(&options->quantities[i]));
    probes->quantities[i] = options->quantities[i];
    probes->per_point += (size_t)options->quantities[i].components;
    size_t values = gab_quantity_block_values(probes->forest, &options->quantities[i]);
    if (values > widest) widest = values;
  }
  probes->quantity_count = options->quantity_count;
  GAB_TRY(check_points(probes->forest, options));
  GAB_TRY(GAB_NEW_ARRAY(&probes->points, options->point_count, GAB_MEMORY_OTHER));
  memcpy(probes->points, options->points, options->point_count * sizeof *probes->points);
  probes->point_count = options->point_count;
  GAB_TRY(GAB_NEW_ARRAY(&probes->scratch, widest, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&probes->samples, value_count(probes), GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&probes->row, value_count(probes), GAB_MEMORY_OTHER));
  return make_series(probes, options);
}

gab_status gab_probes_create(gab_forest *forest, const gab_probes_options *options, gab_probes **probes)
{
  *probes = NULL;
  if (!options->path || options->point_count == 0 || options->quantity_count == 0) {
    GAB_FAIL(GAB_ERR_ARGUMENT, "probes need a path, points and quantities");
  }
  gab_probes *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  gab_status status = fill_in(made, options);
  if (status != GAB_OK) {
    gab_probes_destroy(&made);
    return status;
  }
  *probes = made;
  return GAB_OK;
}

void gab_probes_destroy(gab_probes **probes)
{
  gab_probes *old = *probes;
  *probes = NULL;
  if (!old) return;
  gab_series_destroy(&old->series);
  gab_free(&old->quantities);
  gab_free(&old->points);
  gab_free(&old->scratch);
  gab_free(&old->samples);
  gab_free(&old->row);
  gab_free(&old);
}

gab_series *gab_probes_series(gab_probes *probes) { return probes->series; }

/* The cell of a block that contains a point, as an index in a quantity's array; -1 if it lies elsewhere. A
 * point on the upper face of the domain belongs to the last cell. */
static int64_t cell_of_point(const gab_forest *forest, const gab_block *block, const double point[3])
{
  const gab_forest_options *domain = gab_forest_get_options(forest);
  gab_box box = gab_block_cells(forest, block);
  int level = gab_block_level(forest, block);
  double width = gab_forest_dx(forest, level);
  int64_t local[3] = {0, 0, 0};
  for (int d = 0; d < domain->grid.dimension; d++) {
    int64_t all = ((int64_t)domain->grid.roots[d] * domain->cells[d]) << level;
    int64_t cell = (int64_t)floor((point[d] - domain->origin[d]) / width);
    if (cell >= all) cell = all - 1;
    if (cell < box.lo[d] || cell >= box.hi[d]) return -1;
    local[d] = cell - box.lo[d];
  }
  return (local[2] * domain->cells[1] + local[1]) * domain->cells[0] + local[0];
}

static gab_status sample_block(gab_probes *probes, const gab_block *block, sample *samples)
{
  size_t offset = 0;
  for (size_t q = 0; q < probes->quantity_count; q++) {
    const gab_quantity *quantity = &probes->quantities[q];
    bool evaluated = false; /* only if some point needs it */
    for (size_t p = 0; p < probes->point_count; p++) {
      int64_t cell = cell_of_point(probes->forest, block, probes->points[p]);
      if (cell < 0) continue;
      if (!evaluated) GAB_TRY(quantity->evaluate(quantity->user, probes->forest, block, probes->scratch));
      evaluated = true;
      for (int c = 0; c < quantity->components; c++) {
        sample *at = &samples[p * probes->per_point + offset + (size_t)c];
        at->value = probes->scratch[cell * quantity->components + c];
        at->is_set = 1;
      }
    }
    offset += (size_t)quantity->components;
  }
  return GAB_OK;
}

gab_status gab_probes_sample(gab_probes *probes, double *values)
{
  gab_world *world = gab_forest_world(probes->forest);
  size_t count = value_count(probes);
  gab_status status = GAB_OK;
  memset(probes->samples, 0, count * sizeof(sample));
  for (size_t b = 0; b < gab_forest_block_count(probes->forest) && status == GAB_OK; b++) {
    status = sample_block(probes, gab_forest_block(probes->forest, b), probes->samples);
  }
  GAB_TRY(gab_world_reduce_status(world, status));
  GAB_TRY(gab_world_reduce(world, probes->samples, count, sizeof(sample), combine_samples));
  for (size_t i = 0; i < count; i++) values[i] = probes->samples[i].is_set ? probes->samples[i].value : NAN;
  return GAB_OK;
}

gab_status gab_probes_write(gab_probes *probes, gab_step step, double time)
{
  GAB_TRY(gab_probes_sample(probes, probes->row));
  gab_status status = gab_series_append(probes->series, step, time, probes->row);
  return gab_world_reduce_status(gab_forest_world(probes->forest), status);
}
