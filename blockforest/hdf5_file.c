#include "blockforest/hdf5_file_impl.h"
#include "blockforest/hdf5_image_impl.h"
#include "blockforest/output_impl.h"
#include "blockforest/xdmf_impl.h"

/* ---------------------------------------------------------------------------------------- blocks */

/* Which blocks the file holds: one row per block in each table. */
static gab_status put_blocks(gab_hdf5_image *file, const gab_forest *forest)
{
  size_t count = gab_forest_block_count(forest);
  void *memory = NULL;
  GAB_TRY(gab_alloc(count * (sizeof(uint64_t) + 2 * sizeof(int32_t) + 4 * sizeof(double)), GAB_MEMORY_OTHER,
                    &memory));
  uint64_t *ids = memory;
  double *origins = (double *)(ids + count), *spacings = origins + 3 * count;
  int32_t *owners = (int32_t *)(spacings + count), *levels = owners + count;
  for (size_t i = 0; i < count; i++) {
    const gab_block *block = gab_forest_block(forest, i);
    ids[i] = gab_block_get_id(block);
    owners[i] = gab_world_slot(gab_forest_world(forest));
    levels[i] = gab_block_level(forest, block);
    gab_output_block_origin(forest, block, &origins[3 * i], &spacings[i]);
  }
  hid_t group = gab_hdf5_make_group(file, "blocks");
  hsize_t extent[2] = {count, 3};
  gab_hdf5_put_table(file, group, "id", H5T_NATIVE_UINT64, 1, extent, ids);
  gab_hdf5_put_table(file, group, "owner", H5T_NATIVE_INT32, 1, extent, owners);
  gab_hdf5_put_table(file, group, "level", H5T_NATIVE_INT32, 1, extent, levels);
  gab_hdf5_put_table(file, group, "origin", H5T_NATIVE_DOUBLE, 2, extent, origins);
  gab_hdf5_put_table(file, group, "spacing", H5T_NATIVE_DOUBLE, 1, extent, spacings);
  if (group >= 0) gab_hdf5_check(file, H5Gclose(group));
  gab_free(&memory);
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- fields */

static gab_status put_field_block(gab_hdf5_image *file, const gab_hdf5_content *content,
                                  const gab_quantity *quantity, hid_t group, const gab_block *block)
{
  char name[GAB_XDMF_BLOCK_NAME];
  const int32_t *cells = gab_forest_get_options(content->forest)->cells;
  const hsize_t extent[4] = {(hsize_t)cells[2], (hsize_t)cells[1], (hsize_t)cells[0], 3};
  GAB_TRY(quantity->evaluate(quantity->user, content->forest, block, content->values));
  gab_xdmf_block_name(gab_block_get_id(block), name);
  gab_hdf5_put_field(file, group, name, quantity->components == 3 ? 4 : 3, extent, content->compression,
                     content->values, content->narrow);
  return GAB_OK;
}

static gab_status put_field(gab_hdf5_image *file, const gab_hdf5_content *content,
                            const gab_quantity *quantity)
{
  char name[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(name, "fields/%s", quantity->name));
  hid_t group = gab_hdf5_make_group(file, name);
  gab_status status = GAB_OK;
  if (group < 0) return GAB_OK; /* noted */
  gab_hdf5_put_text(file, group, "unit", quantity->unit ? quantity->unit : "");
  for (size_t i = 0; i < gab_forest_block_count(content->forest) && status == GAB_OK && !file->failed; i++) {
    status = put_field_block(file, content, quantity, group, gab_forest_block(content->forest, i));
  }
  gab_hdf5_check(file, H5Gclose(group));
  return status;
}

static gab_status put_content(gab_hdf5_image *file, const gab_hdf5_content *content)
{
  int64_t step = content->step;
  const int32_t *cells = gab_forest_get_options(content->forest)->cells;
  gab_hdf5_put_text(file, file->file, "writer", "gabion " GAB_VERSION);
  gab_hdf5_put_attribute(file, file->file, "step", H5T_NATIVE_INT64, 1, &step);
  gab_hdf5_put_attribute(file, file->file, "time", H5T_NATIVE_DOUBLE, 1, &content->time);
  gab_hdf5_put_attribute(file, file->file, "cells", H5T_NATIVE_INT32, 3, cells);
  GAB_TRY(put_blocks(file, content->forest));
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
  gab_hdf5_image_open(&file, path,
                      expected_bytes(content) / (content->compression ? 8 : 1) + ((size_t)1 << 20));
  gab_status status = file.failed ? GAB_OK : put_content(&file, content);
  if (status == GAB_OK) status = gab_hdf5_image_save(&file, path);
  gab_hdf5_image_close(&file);
  gab_hdf5_unlock();
  return status;
}

bool gab_hdf5_can_compress(void) { return H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0; }
