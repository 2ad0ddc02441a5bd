#include "blockforest/hdf5_file_impl.h"
#include "blockforest/output_impl.h"
#include "blockforest/xdmf_impl.h"

#include <hdf5.h>

#include <string.h>

/* The file is made in memory (HDF5's core driver) and then written in one piece by us. Left to write by
 * itself, HDF5 cannot let go of a file whose last bytes the disk refuses: it tries again at the end of the
 * program, and crashes there. The price is the memory of one slot's output for that moment. */

#define CAUSE_CAPACITY 256

/* A file that is being made. The first failure is kept; after it nothing more is tried. */
typedef struct slot_file {
  hid_t file;
  bool failed;
  char cause[CAUSE_CAPACITY];
} slot_file;

static herr_t find_cause(unsigned n, const H5E_error2_t *error, void *cause)
{
  (void)n;
  snprintf(cause, CAUSE_CAPACITY, "%.200s", error->desc ? error->desc : "no reason given");
  return 1; /* the innermost one */
}

/* Notes a failure of the HDF5 call that has just returned. */
static void note_failure(slot_file *file)
{
  if (file->failed) return;
  file->failed = true;
  snprintf(file->cause, sizeof file->cause, "no reason given");
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_cause, file->cause);
}

static bool check(slot_file *file, int64_t returned)
{
  if (returned < 0) note_failure(file);
  return returned >= 0;
}

static void put_attribute(slot_file *file, hid_t object, const char *name, hid_t type, hsize_t count,
                          const void *values)
{
  if (file->failed) return;
  hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (check(file, attribute)) {
    check(file, H5Awrite(attribute, type, values));
    check(file, H5Aclose(attribute));
  }
  H5Sclose(space);
}

static void put_text_attribute(slot_file *file, hid_t object, const char *name, const char *text)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) + 1);
  put_attribute(file, object, name, type, 1, text);
  H5Tclose(type);
}

static void put_table(slot_file *file, hid_t group, const char *name, hid_t type, int rank,
                      const hsize_t *extent, const void *values)
{
  if (file->failed) return;
  hid_t space = H5Screate_simple(rank, extent, NULL);
  hid_t plain = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(plain, false);
  hid_t table = H5Dcreate2(group, name, type, space, H5P_DEFAULT, plain, H5P_DEFAULT);
  if (check(file, table)) {
    check(file, H5Dwrite(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    check(file, H5Dclose(table));
  }
  H5Pclose(plain);
  H5Sclose(space);
}

static hid_t make_group(slot_file *file, const char *name)
{
  if (file->failed) return H5I_INVALID_HID;
  hid_t plain = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(plain, false);
  hid_t group = H5Gcreate2(file->file, name, H5P_DEFAULT, plain, H5P_DEFAULT);
  check(file, group);
  H5Pclose(plain);
  return group;
}

/* ---------------------------------------------------------------------------------------- blocks */

/* Which blocks the file holds: one row per block in each table. */
static gab_status put_blocks(slot_file *file, const gab_forest *forest)
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
  hid_t group = make_group(file, "blocks");
  hsize_t extent[2] = {count, 3};
  put_table(file, group, "id", H5T_NATIVE_UINT64, 1, extent, ids);
  put_table(file, group, "owner", H5T_NATIVE_INT32, 1, extent, owners);
  put_table(file, group, "level", H5T_NATIVE_INT32, 1, extent, levels);
  put_table(file, group, "origin", H5T_NATIVE_DOUBLE, 2, extent, origins);
  put_table(file, group, "spacing", H5T_NATIVE_DOUBLE, 1, extent, spacings);
  if (group >= 0) check(file, H5Gclose(group));
  gab_free(&memory);
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- fields */

/* How the values of a block lie in the file: as they are, or in one compressed chunk. */
static hid_t block_layout(const gab_hdf5_content *content, int rank, const hsize_t extent[4])
{
  hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(layout, false);
  H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
  if (content->compression > 0) {
    H5Pset_chunk(layout, rank, extent);
    H5Pset_shuffle(layout);
    H5Pset_deflate(layout, (unsigned)content->compression);
  }
  return layout;
}

static gab_status put_field_block(slot_file *file, const gab_hdf5_content *content,
                                  const gab_quantity *quantity, hid_t group, const gab_block *block)
{
  char name[GAB_XDMF_BLOCK_NAME];
  const int32_t *cells = gab_forest_get_options(content->forest)->cells;
  int rank = quantity->components == 3 ? 4 : 3;
  hsize_t extent[4] = {(hsize_t)cells[2], (hsize_t)cells[1], (hsize_t)cells[0], 3};
  GAB_TRY(quantity->evaluate(quantity->user, content->forest, block, content->values));
  const void *values = content->values;
  if (content->narrow) {
    size_t count = gab_quantity_block_values(content->forest, quantity);
    for (size_t i = 0; i < count; i++) content->narrow[i] = (float)content->values[i];
    values = content->narrow;
  }
  hid_t layout = block_layout(content, rank, extent), space = H5Screate_simple(rank, extent, NULL);
  gab_xdmf_block_name(gab_block_get_id(block), name);
  hid_t field = H5Dcreate2(group, name, content->narrow ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, space, H5P_DEFAULT,
                           layout, H5P_DEFAULT);
  if (check(file, field)) {
    check(file, H5Dwrite(field, content->narrow ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                         H5P_DEFAULT, values));
    check(file, H5Dclose(field));
  }
  H5Sclose(space);
  H5Pclose(layout);
  return GAB_OK;
}

static gab_status put_field(slot_file *file, const gab_hdf5_content *content, const gab_quantity *quantity)
{
  char name[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(name, "fields/%s", quantity->name));
  hid_t group = make_group(file, name);
  gab_status status = GAB_OK;
  if (group < 0) return GAB_OK; /* noted */
  put_text_attribute(file, group, "unit", quantity->unit ? quantity->unit : "");
  for (size_t i = 0; i < gab_forest_block_count(content->forest) && status == GAB_OK && !file->failed; i++) {
    status = put_field_block(file, content, quantity, group, gab_forest_block(content->forest, i));
  }
  check(file, H5Gclose(group));
  return status;
}

static gab_status put_content(slot_file *file, const gab_hdf5_content *content)
{
  int64_t step = content->step;
  const int32_t *cells = gab_forest_get_options(content->forest)->cells;
  put_text_attribute(file, file->file, "writer", "gabion " GAB_VERSION);
  put_attribute(file, file->file, "step", H5T_NATIVE_INT64, 1, &step);
  put_attribute(file, file->file, "time", H5T_NATIVE_DOUBLE, 1, &content->time);
  put_attribute(file, file->file, "cells", H5T_NATIVE_INT32, 3, cells);
  GAB_TRY(put_blocks(file, content->forest));
  hid_t group = make_group(file, "fields");
  gab_status status = GAB_OK;
  for (size_t i = 0; i < content->quantity_count && status == GAB_OK; i++) {
    status = put_field(file, content, &content->quantities[i]);
  }
  if (group >= 0) check(file, H5Gclose(group));
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

static gab_status hdf5_failed(const char *path, const slot_file *file)
{
  GAB_FAIL(GAB_ERR_IO, "HDF5 cannot make %s: %s", path, file->cause);
}

static gab_status make_image(slot_file *file, const char *path, const gab_hdf5_content *content)
{
  /* One allocation for all where nothing is compressed, else a handful. */
  size_t step = expected_bytes(content) / (content->compression ? 8 : 1) + ((size_t)1 << 20);
  hid_t in_memory = H5Pcreate(H5P_FILE_ACCESS);
  check(file, H5Pset_fapl_core(in_memory, step, false));
  file->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, in_memory);
  check(file, file->file);
  H5Pclose(in_memory);
  gab_status status = file->failed ? GAB_OK : put_content(file, content);
  if (!file->failed) check(file, H5Fflush(file->file, H5F_SCOPE_GLOBAL));
  return status == GAB_OK && file->failed ? hdf5_failed(path, file) : status;
}

static gab_status save_image(slot_file *file, const char *path)
{
  void *handle = NULL;
  ssize_t size = H5Fget_file_image(file->file, NULL, 0);
  check(file, size);
  check(file, H5Fget_vfd_handle(file->file, H5P_DEFAULT, &handle)); /* of this driver: where its memory is */
  if (file->failed) return hdf5_failed(path, file);
  gab_output_file out;
  GAB_TRY(gab_output_file_open(&out, path));
  gab_output_file_write(&out, *(void **)handle, (size_t)size);
  return gab_output_file_commit(&out, GAB_OK);
}

gab_status gab_hdf5_write_blocks(const char *path, const gab_hdf5_content *content)
{
  slot_file file = {.file = H5I_INVALID_HID};
  /* HDF5 would print its errors to the terminal; they go into the status message instead. */
  H5E_auto2_t print = NULL;
  void *print_data = NULL;
  H5Eget_auto2(H5E_DEFAULT, &print, &print_data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  gab_status status = make_image(&file, path, content);
  if (status == GAB_OK) status = save_image(&file, path);
  if (file.file >= 0) (void)H5Fclose(file.file); /* frees the memory; touches no disk */
  H5Eset_auto2(H5E_DEFAULT, print, print_data);
  return status;
}

bool gab_hdf5_can_compress(void) { return H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0; }
