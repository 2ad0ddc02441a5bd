/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/hdf5/hdf5_file_impl.h"
#include "blockforest/hdf5/hdf5_image_impl.h"
#include "blockforest/output/output_files_impl.h"

/* ---------------------------------------------------------------------------------------- blocks */

size_t gab_hdf5_blocks_of_level(const gab_forest *forest, int level)
{
  size_t count = 0;
  for (size_t i = 0; i < gab_forest_block_count(forest); i++)
    count += gab_block_level(forest, gab_forest_block(forest, i)) == level;
  return count;
}

static int finest_level(const gab_forest *forest)
{
  int finest = 0;
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const int level = gab_block_level(forest, gab_forest_block(forest, i));
    if (level > finest) finest = level;
  }
  return finest;
}

/* The tables of the blocks, one row each. */
typedef struct tables {
  uint64_t *ids;
  double *origins, *spacings; /* origins: x, y, z */
  int32_t *owners, *levels;
  int32_t *rows; /* in the fields of its level */
} tables;

static void fill_tables(const gab_forest *forest, const tables *all)
{
  const int finest = finest_level(forest);
  const size_t count = gab_forest_block_count(forest);
  for (size_t i = 0; i < count; i++) {
    const gab_block *block = gab_forest_block(forest, i);
    all->ids[i] = gab_block_get_id(block);
    all->owners[i] = gab_world_rank(gab_forest_world(forest));
    all->levels[i] = gab_block_level(forest, block);
    gab_output_block_origin(forest, block, &all->origins[3 * i], &all->spacings[i]);
  }
  for (int level = 0; level <= finest; level++) {
    int32_t row = 0;
    for (size_t i = 0; i < count; i++)
      if (all->levels[i] == level) all->rows[i] = row++;
  }
}

/* Which blocks the file holds. */
static gab_status put_blocks(gab_hdf5_image *file, const gab_forest *forest, int compression)
{
  size_t count = gab_forest_block_count(forest);
  void *memory = NULL;
  GAB_TRY(gab_alloc(count * (sizeof(uint64_t) + 3 * sizeof(int32_t) + 4 * sizeof(double)), GAB_MEMORY_OTHER,
                    &memory));
  tables all = {.ids = memory};
  all.origins = (double *)(all.ids + count);
  all.spacings = all.origins + 3 * count;
  all.owners = (int32_t *)(all.spacings + count);
  all.levels = all.owners + count;
  all.rows = all.levels + count;
  fill_tables(forest, &all);
  hid_t group = gab_hdf5_make_group(file, "blocks");
  hsize_t extent[2] = {count, 3};
  gab_hdf5_put_table(file, group, "id", H5T_NATIVE_UINT64, 1, extent, compression, all.ids);
  gab_hdf5_put_table(file, group, "owner", H5T_NATIVE_INT32, 1, extent, compression, all.owners);
  gab_hdf5_put_table(file, group, "level", H5T_NATIVE_INT32, 1, extent, compression, all.levels);
  gab_hdf5_put_table(file, group, "row", H5T_NATIVE_INT32, 1, extent, compression, all.rows);
  gab_hdf5_put_table(file, group, "origin", H5T_NATIVE_DOUBLE, 2, extent, compression, all.origins);
  gab_hdf5_put_table(file, group, "spacing", H5T_NATIVE_DOUBLE, 1, extent, compression, all.spacings);
  if (group >= 0) gab_hdf5_check(file, H5Gclose(group));
  gab_free(&memory);
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- fields */

/* All blocks of a level, one after the other. */
static gab_status put_level(gab_hdf5_image *file, const gab_hdf5_content *content,
                            const gab_quantity *quantity, hid_t group, int level)
{
  char name[GAB_HDF5_LEVEL_NAME];
  const gab_forest *forest = content->forest;
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  const hsize_t extent[5] = {gab_hdf5_blocks_of_level(forest, level), (hsize_t)cells[2], (hsize_t)cells[1],
                             (hsize_t)cells[0], 3};
  gab_status status = GAB_OK;
  int64_t row = 0;
  if (extent[0] == 0) return GAB_OK;
  gab_hdf5_level_name(level, name);
  hid_t field = gab_hdf5_make_field(file, group, name, quantity->components == 3 ? 5 : 4, extent,
                                    content->narrow != NULL, content->compression);
  for (size_t i = 0; i < gab_forest_block_count(forest) && status == GAB_OK && !file->failed; i++) {
    const gab_block *block = gab_forest_block(forest, i);
    if (gab_block_level(forest, block) != level) continue;
    status = quantity->evaluate(quantity->user, forest, block, content->values);
    if (status == GAB_OK) gab_hdf5_fill_field(file, field, row++, content->values, content->narrow);
  }
  if (field >= 0) gab_hdf5_check(file, H5Dclose(field));
  return status;
}

static gab_status put_field(gab_hdf5_image *file, const gab_hdf5_content *content,
                            const gab_quantity *quantity)
{
  char name[GAB_OUTPUT_PATH_CAPACITY];
  const int finest = finest_level(content->forest);
  GAB_TRY(gab_output_path(name, "fields/%s", quantity->name));
  hid_t group = gab_hdf5_make_group(file, name);
  gab_status status = GAB_OK;
  if (group < 0) return GAB_OK; /* noted */
  gab_hdf5_put_text(file, group, "unit", quantity->unit ? quantity->unit : "");
  for (int level = 0; level <= finest && status == GAB_OK && !file->failed; level++)
    status = put_level(file, content, quantity, group, level);
  gab_hdf5_check(file, H5Gclose(group));
  return status;
}

static gab_status put_content(gab_hdf5_image *file, const gab_hdf5_content *content)
{
  const int64_t step = content->step;
  const int32_t format = GAB_HDF5_FORMAT;
  const int32_t *cells = gab_forest_get_options(content->forest)->cells;
  gab_hdf5_put_text(file, file->file, "writer", "gabion " GAB_VERSION);
  gab_hdf5_put_attribute(file, file->file, "format", H5T_NATIVE_INT32, 1, &format);
  gab_hdf5_put_attribute(file, file->file, "step", H5T_NATIVE_INT64, 1, &step);
  gab_hdf5_put_attribute(file, file->file, "time", H5T_NATIVE_DOUBLE, 1, &content->time);
  gab_hdf5_put_attribute(file, file->file, "cells", H5T_NATIVE_INT32, 3, cells);
  GAB_TRY(put_blocks(file, content->forest, content->compression));
  hid_t group = gab_hdf5_make_group(file, "fields");
  gab_status status = GAB_OK;
  for (size_t i = 0; i < content->quantity_count && status == GAB_OK; i++) {
    status = put_field(file, content, &content->quantities[i]);
  }
  if (group >= 0) gab_hdf5_check(file, H5Gclose(group));
  return status;
}

/* ---------------------------------------------------------------------------------------- the file */

/* Bytes of all values in the file before compression. */
static size_t expected_bytes(const gab_hdf5_content *content)
{
  size_t bytes = 0;
  for (size_t i = 0; i < content->quantity_count; i++) {
    bytes += gab_quantity_block_values(content->forest, &content->quantities[i]);
  }
  return bytes * gab_forest_block_count(content->forest) * (content->narrow ? sizeof(float) : sizeof(double));
}

gab_status gab_hdf5_write_blocks(const char *path, const gab_hdf5_content *content)
{
  gab_hdf5_image file;
  gab_hdf5_lock();
  /* One allocation for all where nothing is compressed, else a handful. */
  gab_hdf5_image_open(&file, expected_bytes(content) / (content->compression ? 8 : 1) + ((size_t)1 << 20));
  gab_status status = file.failed ? GAB_OK : put_content(&file, content);
  if (status == GAB_OK) status = gab_hdf5_image_finish(&file, path);
  gab_hdf5_unlock();
  if (status == GAB_OK) status = gab_hdf5_image_save(&file, path);
  gab_hdf5_lock();
  gab_hdf5_image_close(&file);
  gab_hdf5_unlock();
  return status;
}

void gab_hdf5_level_name(int level, char name[GAB_HDF5_LEVEL_NAME])
{
  snprintf(name, GAB_HDF5_LEVEL_NAME, "level-%d", level);
}

bool gab_hdf5_can_compress(void) { return H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0; }

gab_status gab_hdf5_compression_check(const char *what, int level)
{
  if (level < 0 || level > 9)
    GAB_FAIL(GAB_ERR_INPUT, "compression of %s is %d, only 0 (none) to 9 are possible", what, level);
  if (level > 0 && !gab_hdf5_can_compress())
    GAB_FAIL(GAB_ERR_INPUT, "compression of %s: this HDF5 was built without zlib; use compression 0", what);
  return GAB_OK;
}
