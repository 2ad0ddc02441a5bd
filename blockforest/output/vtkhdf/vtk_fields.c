/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/vtkhdf/vtk_fields.h"
#include "blockforest/output/fields/step_files_impl.h"
#include "blockforest/output/vtkhdf/dual_mesh_impl.h"
#include "blockforest/output/vtkhdf/vtk_file_impl.h"
#include "blockforest/output/vtkhdf/vtk_mesh_impl.h"
#include "blockforest/output/vtkhdf/vtk_series_impl.h"
#include "core/messages/collective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gab_vtk_fields {
  gab_forest *forest;
  gab_vtk_fields_options options;
  size_t widest; /* most numbers of a quantity on a block */
  gab_vtk_series series;
};

/* ---------------------------------------------------------------------------------------- creation */

gab_status gab_vtk_fields_create(gab_forest *forest, const gab_vtk_fields_options *options,
                                 gab_vtk_fields **fields)
{
  gab_vtk_fields *made;
  *fields = NULL;
  if (options->quantity_count == 0 || options->quantity_count > GAB_VTK_MOST_ARRAYS)
    GAB_FAIL(GAB_ERR_INPUT, "%zu quantities: VTKHDF files take 1 to %d", options->quantity_count,
             (int)GAB_VTK_MOST_ARRAYS);
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  made->options = *options;
  for (size_t q = 0; q < options->quantity_count; q++) {
    const size_t values = gab_quantity_block_values(forest, &options->quantities[q]);
    if (values > made->widest) made->widest = values;
  }
  *fields = made;
  return GAB_OK;
}

void gab_vtk_fields_destroy(gab_vtk_fields **fields)
{
  if (!*fields) return;
  gab_vtk_series_release(&(*fields)->series);
  gab_free(fields);
}

void gab_vtk_fields_rewind(gab_vtk_fields *fields) { fields->series.files.is_known = false; }

/* ---------------------------------------------------------------------------------------- the state */

/* The state of a step, and its form in the file. */
typedef struct state {
  gab_vtk_fields *of;
  gab_step step;
  double time;
  uint64_t *missing; /* [local block][word], a bit for each cell */
  size_t row_words;
  bool is_image;
  int level; /* of the image */
  const gab_dual_mesh *mesh;
  char mesh_name[GAB_VTK_MESH_NAME]; /* of its file */
  double *values;                    /* capacity for one block of the widest quantity */
  float *narrow;                     /* the same in single precision; NULL in double precision */
} state;

/* These have a value in every cell. */
static bool is_of_block(const gab_quantity *quantity)
{
  return quantity->evaluate == gab_quantity_owner()->evaluate ||
         quantity->evaluate == gab_quantity_level()->evaluate;
}

static gab_status find_missing(const state *it, const gab_block *block, uint64_t *row)
{
  const gab_vtk_fields_options *options = &it->of->options;
  const int32_t *c = gab_forest_get_options(it->of->forest)->cells;
  const size_t cells = (size_t)c[0] * (size_t)c[1] * (size_t)c[2];
  bool is_known = false;
  for (size_t q = 0; q < options->quantity_count; q++) {
    const gab_quantity *quantity = &options->quantities[q];
    const size_t n = (size_t)quantity->components;
    if (is_of_block(quantity)) continue;
    GAB_TRY(quantity->evaluate(quantity->user, it->of->forest, block, it->values));
    for (size_t i = 0; i < cells; i++) {
      const uint64_t bit = UINT64_C(1) << (i % 64);
      if (!isnan(it->values[i * n])) row[i / 64] &= ~bit;
      else if (!is_known) row[i / 64] |= bit;
    }
    is_known = true;
  }
  return GAB_OK;
}

static gab_status find_all_missing(state *it)
{
  const size_t blocks = gab_forest_block_count(it->of->forest);
  it->row_words = gab_dual_row_words(it->of->forest);
  GAB_TRY(GAB_NEW_ARRAY(&it->values, it->of->widest, GAB_MEMORY_OTHER));
  if (it->of->options.precision == GAB_OUTPUT_FLOAT)
    GAB_TRY(GAB_NEW_ARRAY(&it->narrow, it->of->widest, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&it->missing, blocks * it->row_words, GAB_MEMORY_OTHER));
  memset(it->missing, 0, blocks * it->row_words * sizeof *it->missing);
  for (size_t b = 0; b < blocks; b++)
    GAB_TRY(find_missing(it, gab_forest_block(it->of->forest, b), it->missing + b * it->row_words));
  return GAB_OK;
}

/* Whether the file is an image: one level without gaps. Collective. */
static gab_status choose_form(state *it)
{
  enum { DEEPEST = 63 };
  const gab_forest *forest = it->of->forest;
  const gab_root_grid *grid = &gab_forest_get_options(forest)->grid;
  uint64_t extremes[3] = {0, 0, 0}; /* finest level, DEEPEST - coarsest level, 1 if a cell is missing */
  uint64_t blocks = gab_forest_block_count(forest);
  for (size_t b = 0; b < blocks; b++) {
    const uint64_t level = (uint64_t)gab_block_level(forest, gab_forest_block(forest, b));
    if (level > extremes[0]) extremes[0] = level;
    if (DEEPEST - level > extremes[1]) extremes[1] = DEEPEST - level;
  }
  for (size_t w = 0; w < blocks * it->row_words; w++) extremes[2] |= it->missing[w] != 0;
  GAB_TRY(gab_world_max_u64(gab_forest_world(forest), extremes, 3));
  GAB_TRY(gab_world_sum_u64(gab_forest_world(forest), &blocks, 1));
  const uint64_t all = (uint64_t)grid->roots[0] * (uint64_t)grid->roots[1] * (uint64_t)grid->roots[2]
                       << (grid->dimension * (int)extremes[0]);
  it->level = (int)extremes[0];
  it->is_image = !it->of->options.has_levels && extremes[0] + extremes[1] == DEEPEST && extremes[2] == 0 &&
                 blocks == all;
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- the head */

static const int32_t version[2] = {1, 0}; /* of VTKHDF */

/* Exactly the letters: ParaView 5.11 takes a terminator for one of them. */
static void put_type(gab_hdf5_image *image, hid_t group, const char *name)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(name));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  gab_hdf5_put_attribute(image, group, "Type", type, 1, name);
  H5Tclose(type);
}

/* Centre of the first cell, and distances of centres. In 2D all levels lie in one plane. */
static void describe_image(const state *it, gab_hdf5_image *image, hid_t group)
{
  static const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const gab_forest_options *domain = gab_forest_get_options(it->of->forest);
  double origin[3], spacing[3];
  int32_t extent[6];
  for (int axis = 0; axis < 3; axis++) {
    const bool is_flat = axis >= domain->grid.dimension;
    spacing[axis] = gab_forest_dx(it->of->forest, is_flat ? 0 : it->level);
    origin[axis] = domain->origin[axis] + 0.5 * spacing[axis];
    extent[2 * axis] = 0;
    extent[2 * axis + 1] = is_flat ? 0 : (domain->grid.roots[axis] << it->level) * domain->cells[axis] - 1;
  }
  put_type(image, group, "ImageData");
  gab_hdf5_put_attribute(image, group, "WholeExtent", H5T_NATIVE_INT32, 6, extent);
  gab_hdf5_put_attribute(image, group, "Origin", H5T_NATIVE_DOUBLE, 3, origin);
  gab_hdf5_put_attribute(image, group, "Spacing", H5T_NATIVE_DOUBLE, 3, spacing);
  gab_hdf5_put_attribute(image, group, "Direction", H5T_NATIVE_DOUBLE, 9, direction);
}

static void describe(void *user, gab_hdf5_image *image)
{
  const state *it = user;
  const int64_t step = it->step;
  gab_hdf5_put_text(image, image->file, "writer", "gabion " GAB_VERSION);
  gab_hdf5_put_attribute(image, image->file, "step", H5T_NATIVE_INT64, 1, &step);
  gab_hdf5_put_attribute(image, image->file, "time", H5T_NATIVE_DOUBLE, 1, &it->time);
  const hid_t group = gab_hdf5_make_group(image, "VTKHDF");
  if (group < 0) return;
  gab_hdf5_put_attribute(image, group, "Version", H5T_NATIVE_INT32, 2, version);
  if (it->is_image) {
    describe_image(it, image, group);
  } else {
    put_type(image, group, "UnstructuredGrid");
    gab_vtk_mesh_link(image, group, it->mesh_name);
  }
  gab_hdf5_check(image, H5Gclose(group));
  const hid_t data = gab_hdf5_make_group(image, "VTKHDF/PointData");
  if (data >= 0) gab_hdf5_check(image, H5Gclose(data));
}

/* A quantity in the file: [z][y][x] of an image, in chunks of a block, or [point]; of a vector with the component last. */
static gab_status shape_array(const state *it, const gab_quantity *quantity, gab_vtk_array *array)
{
  const gab_forest_options *domain = gab_forest_get_options(it->of->forest);
  *array = (gab_vtk_array){.unit = quantity->unit ? quantity->unit : "",
                           .type = it->narrow ? GAB_VTK_F32 : GAB_VTK_F64};
  const int length = snprintf(array->path, sizeof array->path, "VTKHDF/PointData/%s", quantity->name);
  if (length >= (int)sizeof array->path) GAB_FAIL(GAB_ERR_INPUT, "the name %s is too long", quantity->name);
  if (it->is_image) {
    for (int axis = 2; axis >= 0; axis--) {
      const int blocks = axis < domain->grid.dimension ? domain->grid.roots[axis] << it->level : 1;
      array->chunk[array->axes] = (hsize_t)domain->cells[axis];
      array->extent[array->axes++] = (hsize_t)blocks * (hsize_t)domain->cells[axis];
    }
  } else {
    array->extent[array->axes++] = it->mesh->points;
  }
  if (quantity->components > 1) {
    if (it->is_image) array->chunk[array->axes] = (hsize_t)quantity->components;
    array->extent[array->axes++] = (hsize_t)quantity->components;
  }
  return GAB_OK;
}

static gab_status shape_arrays(const state *it, gab_vtk_array **arrays)
{
  const gab_vtk_fields_options *options = &it->of->options;
  GAB_TRY(GAB_NEW_ARRAY(arrays, options->quantity_count, GAB_MEMORY_OTHER));
  for (size_t q = 0; q < options->quantity_count; q++)
    GAB_TRY(shape_array(it, &options->quantities[q], &(*arrays)[q]));
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- values */

/* Position of a block in the arrays, in blocks. */
static uint64_t number_of(const state *it, const gab_block *block)
{
  if (!it->is_image) return gab_dual_mesh_number(it->mesh, block);
  const gab_root_grid *grid = &gab_forest_get_options(it->of->forest)->grid;
  const gab_block_place place = gab_block_id_place(grid, gab_block_get_id(block));
  uint64_t number = 0;
  for (int axis = 2; axis >= 0; axis--) {
    const int level = axis < grid->dimension ? it->level : 0;
    number = number * ((uint64_t)grid->roots[axis] << level) + (uint64_t)place.at[axis];
  }
  return number;
}

static gab_status put_values(const state *it, gab_vtk_file *file)
{
  const gab_vtk_fields_options *options = &it->of->options;
  const gab_forest *forest = it->of->forest;
  for (size_t q = 0; q < options->quantity_count; q++) {
    const gab_quantity *quantity = &options->quantities[q];
    const size_t count = gab_quantity_block_values(forest, quantity);
    const size_t bytes = count * (it->narrow ? sizeof(float) : sizeof(double));
    for (size_t b = 0; b < gab_forest_block_count(forest) && !file->error; b++) {
      const gab_block *block = gab_forest_block(forest, b);
      GAB_TRY(quantity->evaluate(quantity->user, forest, block, it->values));
      for (size_t i = 0; it->narrow && i < count; i++) it->narrow[i] = (float)it->values[i];
      gab_vtk_file_put(file, q, number_of(it, block) * bytes,
                       it->narrow ? (const void *)it->narrow : it->values, bytes);
    }
  }
  return GAB_OK;
}

static gab_status write_values(state *it, const char *path)
{
  gab_world *world = gab_forest_world(it->of->forest);
  gab_vtk_array *arrays = NULL;
  gab_vtk_file file;
  gab_status status = gab_world_reduce_status(world, shape_arrays(it, &arrays));
  const gab_vtk_head head = {
      .describe = describe, .user = it, .arrays = arrays, .array_count = it->of->options.quantity_count};
  if (status == GAB_OK) status = gab_vtk_file_open(&file, world, path, &head);
  if (status == GAB_OK) status = gab_vtk_file_commit(&file, put_values(it, &file));
  gab_free(&arrays);
  return status;
}

/* ---------------------------------------------------------------------------------------- one step */

static gab_status write_unstructured(state *it, const char *path)
{
  const gab_vtk_fields_options *options = &it->of->options;
  gab_dual_mesh mesh;
  GAB_TRY(gab_dual_mesh_create(it->of->forest, it->missing, &mesh));
  it->mesh = &mesh;
  gab_status status = gab_vtk_mesh_write(&mesh, it->missing, options->precision, options->folder,
                                         options->name, it->mesh_name);
  if (status == GAB_OK) status = write_values(it, path);
  gab_dual_mesh_release(&mesh);
  return status;
}

static gab_status write_state(state *it, const char *path)
{
  gab_world *world = gab_forest_world(it->of->forest);
  GAB_TRY(gab_world_reduce_status(world, find_all_missing(it)));
  GAB_TRY(choose_form(it));
  GAB_TRY(it->is_image ? write_values(it, path) : write_unstructured(it, path));
  gab_status status = GAB_OK;
  if (gab_world_is_root(world))
    status = gab_vtk_series_write(&it->of->series, world, it->of->options.folder, it->of->options.name,
                                  it->step, it->time);
  return gab_world_reduce_status(world, status);
}

gab_status gab_vtk_fields_write(gab_vtk_fields *fields, gab_step step, double time)
{
  gab_world *world = gab_forest_world(fields->forest);
  char path[GAB_OUTPUT_PATH_CAPACITY];
  state it = {.of = fields, .step = step, .time = time};
  GAB_TRY(gab_world_check(world));
  GAB_TRY(gab_output_path(path, "%s/%s_%010" GAB_PRI_STEP ".vtkhdf", fields->options.folder,
                          fields->options.name, step));
  const gab_status status = write_state(&it, path);
  gab_free(&it.missing);
  gab_free(&it.values);
  gab_free(&it.narrow);
  if (status != GAB_OK && status != GAB_ERR_FAULT) { /* a step is complete or absent */
    gab_vtk_fields_rewind(fields);
    if (gab_world_is_root(world)) (void)unlink(path);
  }
  return status;
}
