/* SPDX-License-Identifier: Apache-2.0 */
/* Writes boxes of cells, each to its own file. */
#include "blockforest/output/fields/slab_writer.h"
#include "blockforest/hdf5/hdf5_file_impl.h"
#include "blockforest/hdf5/hdf5_image_impl.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/output_retry_impl.h"
#include "core/messages/collective.h"
#include "core/system/run_file.h"
#include "field/field.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct gab_slab_writer {
  gab_forest *forest;
  char *folder;
  gab_quantity *quantities;
  size_t quantity_count;
  int compression;
  double *values, *cut; /* of a whole block; of the part in the box */
  float *narrow;        /* NULL: double precision */
};

static gab_status fill_in(gab_slab_writer *writer, const gab_slab_writer_options *options)
{
  size_t widest = 0;
  GAB_TRY(gab_output_copy_string(options->folder, &writer->folder));
  GAB_TRY(GAB_NEW_ARRAY(&writer->quantities, options->quantity_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < options->quantity_count; i++) {
    GAB_TRY(gab_quantity_check(&options->quantities[i]));
    writer->quantities[i] = options->quantities[i];
    const size_t values = gab_quantity_block_values(writer->forest, &options->quantities[i]);
    if (values > widest) widest = values;
  }
  writer->quantity_count = options->quantity_count;
  writer->compression = options->compression;
  GAB_TRY(GAB_NEW_ARRAY(&writer->values, widest, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&writer->cut, widest, GAB_MEMORY_OTHER));
  if (options->precision == GAB_OUTPUT_DOUBLE) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&writer->narrow, widest, GAB_MEMORY_OTHER));
  return GAB_OK;
}

gab_status gab_slab_writer_create(gab_forest *forest, const gab_slab_writer_options *options,
                                  gab_slab_writer **writer)
{
  *writer = NULL;
  if (!options->folder || options->quantity_count == 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "slabs need a folder and quantities");
  GAB_TRY(gab_hdf5_compression_check("slabs", options->compression));
  gab_slab_writer *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  gab_status status = fill_in(made, options);
  if (status != GAB_OK) {
    gab_slab_writer_destroy(&made);
    return status;
  }
  *writer = made;
  return GAB_OK;
}

void gab_slab_writer_destroy(gab_slab_writer **writer)
{
  gab_slab_writer *old = *writer;
  *writer = NULL;
  if (!old) return;
  gab_free(&old->folder);
  gab_free(&old->quantities);
  gab_free(&old->values);
  gab_free(&old->cut);
  gab_free(&old->narrow);
  gab_free(&old);
}

/* ---------------------------------------------------------------------------------------- writing */

/* One file. */
typedef struct part {
  const gab_block *block;
  gab_box box;      /* cells of the block */
  int64_t first[3]; /* of these cells, relative to the first position of the window */
  gab_step step;
  double time;
} part;

/* Moves the values of the box to the front. */
static void cut_out(const gab_slab_writer *writer, const part *part, int components)
{
  const int32_t *cells = gab_forest_get_options(writer->forest)->cells;
  const gab_box *box = &part->box;
  const size_t run = (size_t)(box->hi[0] - box->lo[0]) * (size_t)components;
  double *to = writer->cut;
  for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
    for (int64_t y = box->lo[1]; y < box->hi[1]; y++, to += run)
      memcpy(to, writer->values + ((z * cells[1] + y) * cells[0] + box->lo[0]) * components,
             run * sizeof(double));
}

static void put_place(const gab_slab_writer *writer, gab_hdf5_image *file, const part *part)
{
  const gab_forest_options *domain = gab_forest_get_options(writer->forest);
  int32_t axis = domain->grid.dimension - 1, cells[3];
  double origin[3];
  int64_t step = part->step;
  for (int d = 0; d < 3; d++) {
    cells[d] = (int32_t)(part->box.hi[d] - part->box.lo[d]);
    origin[d] = domain->origin[d] + (double)part->first[d] * domain->dx;
  }
  gab_hdf5_put_text(file, file->file, "writer", "gabion " GAB_VERSION);
  gab_hdf5_put_attribute(file, file->file, "first", H5T_NATIVE_INT64, 3, part->first);
  gab_hdf5_put_attribute(file, file->file, "cells", H5T_NATIVE_INT32, 3, cells);
  gab_hdf5_put_attribute(file, file->file, "axis", H5T_NATIVE_INT32, 1, &axis);
  gab_hdf5_put_attribute(file, file->file, "spacing", H5T_NATIVE_DOUBLE, 1, &domain->dx);
  gab_hdf5_put_attribute(file, file->file, "origin", H5T_NATIVE_DOUBLE, 3, origin);
  gab_hdf5_put_attribute(file, file->file, "step", H5T_NATIVE_INT64, 1, &step);
  gab_hdf5_put_attribute(file, file->file, "time", H5T_NATIVE_DOUBLE, 1, &part->time);
}

static gab_status put_content(const gab_slab_writer *writer, gab_hdf5_image *file, const part *part)
{
  hsize_t extent[4] = {0, 0, 0, 3};
  for (int d = 0; d < 3; d++) extent[2 - d] = (hsize_t)(part->box.hi[d] - part->box.lo[d]);
  put_place(writer, file, part);
  hid_t fields = gab_hdf5_make_group(file, "fields");
  for (size_t i = 0; i < writer->quantity_count && !file->failed; i++) {
    const gab_quantity *quantity = &writer->quantities[i];
    char name[GAB_OUTPUT_PATH_CAPACITY];
    GAB_TRY(gab_output_path(name, "fields/%s", quantity->name));
    GAB_TRY(quantity->evaluate(quantity->user, writer->forest, part->block, writer->values));
    cut_out(writer, part, quantity->components);
    hid_t group = gab_hdf5_make_group(file, name);
    gab_hdf5_put_text(file, group, "unit", quantity->unit ? quantity->unit : "");
    gab_hdf5_put_field(file, group, "part", quantity->components == 3 ? 4 : 3, extent, writer->compression,
                       writer->cut, writer->narrow);
    if (group >= 0) gab_hdf5_check(file, H5Gclose(group));
  }
  if (fields >= 0) gab_hdf5_check(file, H5Gclose(fields));
  return GAB_OK;
}

static gab_status part_path(const gab_slab_writer *writer, const char *name, const part *part,
                            char path[GAB_OUTPUT_PATH_CAPACITY])
{
  if (gab_forest_get_options(writer->forest)->grid.dimension == 2)
    return gab_output_path(path, "%s/%s_%010" PRId64 "-%05" PRId64 ".h5", writer->folder, name,
                           part->first[1], part->first[0]);
  return gab_output_path(path, "%s/%s_%010" PRId64 "-%05" PRId64 "-%05" PRId64 ".h5", writer->folder, name,
                         part->first[2], part->first[1], part->first[0]);
}

static gab_status write_part(const gab_slab_writer *writer, const char *name, const part *part)
{
  char path[GAB_OUTPUT_PATH_CAPACITY];
  gab_hdf5_image file;
  const size_t bytes = gab_box_count(&part->box) * writer->quantity_count * 3 * sizeof(double);
  GAB_TRY(part_path(writer, name, part, path));
  gab_hdf5_lock();
  gab_hdf5_image_open(&file, bytes + ((size_t)1 << 16));
  gab_status status = file.failed ? GAB_OK : put_content(writer, &file, part);
  if (status == GAB_OK) status = gab_hdf5_image_finish(&file, path);
  gab_hdf5_unlock();
  if (status == GAB_OK) status = gab_hdf5_image_save(&file, path);
  gab_hdf5_lock();
  gab_hdf5_image_close(&file);
  gab_hdf5_unlock();
  return status;
}

static gab_status write_own(const gab_slab_writer *writer, const char *name, int64_t lo, int64_t hi,
                            int64_t shift, part *part)
{
  const int axis = gab_forest_get_options(writer->forest)->grid.dimension - 1;
  char why[GAB_RUN_FILE_WHY];
  if (!gab_run_folder_is_safe(writer->folder, why)) GAB_FAIL(GAB_ERR_IO, "%s", why);
  while (mkdir(writer->folder, 0777) != 0 && errno != EEXIST) {
    const int error = errno;
    if (!gab_output_may_retry(writer->folder, error))
      return gab_output_refused("make the folder", writer->folder, error);
  }
  for (size_t i = 0; i < gab_forest_block_count(writer->forest); i++) {
    part->block = gab_forest_block(writer->forest, i);
    gab_box box = gab_block_cells(writer->forest, part->block);
    const gab_box whole = box;
    if (box.lo[axis] < lo) box.lo[axis] = lo;
    if (box.hi[axis] > hi) box.hi[axis] = hi;
    if (box.lo[axis] >= box.hi[axis]) continue;
    for (int d = 0; d < 3; d++) {
      part->first[d] = box.lo[d] + (d == axis ? shift : 0);
      part->box.lo[d] = box.lo[d] - whole.lo[d];
      part->box.hi[d] = box.hi[d] - whole.lo[d];
    }
    GAB_TRY(write_part(writer, name, part));
  }
  return GAB_OK;
}

gab_status gab_slab_writer_write(gab_slab_writer *writer, const char *name, int64_t lo, int64_t hi,
                                 int64_t shift, gab_step step, double time)
{
  gab_world *world = gab_forest_world(writer->forest);
  part part = {.step = step, .time = time};
  GAB_TRY(gab_world_check(world));
  return gab_world_reduce_status(world, write_own(writer, name, lo, hi, shift, &part));
}

/* ---------------------------------------------------------------------------------------- removing */

static bool is_to_go(const char *text, const char *name, int64_t row)
{
  const size_t length = strlen(name), ending = strlen(GAB_OUTPUT_TEMPORARY), all = strlen(text);
  if (strncmp(text, name, length) != 0 || text[length] != '_' || !isdigit((unsigned char)text[length + 1]))
    return false;
  if (all > ending && strcmp(text + all - ending, GAB_OUTPUT_TEMPORARY) == 0) return true;
  return strtoll(text + length + 1, NULL, 10) >= row;
}

static gab_status remove_own(const gab_slab_writer *writer, const char *name, int64_t row)
{
  if (!gab_world_is_root(gab_forest_world(writer->forest))) return GAB_OK;
  DIR *folder = opendir(writer->folder);
  if (!folder && errno == ENOENT) return GAB_OK;
  if (!folder) GAB_FAIL(GAB_ERR_IO, "cannot look into %s: %s", writer->folder, strerror(errno));
  gab_status status = GAB_OK;
  for (struct dirent *entry = readdir(folder); entry && status == GAB_OK; entry = readdir(folder))
    if (is_to_go(entry->d_name, name, row) && unlinkat(dirfd(folder), entry->d_name, 0) != 0 &&
        errno != ENOENT)
      status = gab_error_set(GAB_ERR_IO, __FILE__, __LINE__, "cannot remove %s/%s: %s", writer->folder,
                             entry->d_name, strerror(errno));
  closedir(folder);
  return status;
}

gab_status gab_slab_writer_remove(gab_slab_writer *writer, const char *name, int64_t row)
{
  gab_world *world = gab_forest_world(writer->forest);
  GAB_TRY(gab_world_check(world));
  return gab_world_reduce_status(world, remove_own(writer, name, row));
}
