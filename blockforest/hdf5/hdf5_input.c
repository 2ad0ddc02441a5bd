/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/hdf5/hdf5_input.h"

#include "blockforest/hdf5/hdf5_file_impl.h"
#include "blockforest/hdf5/hdf5_lock.h"
#include "blockforest/hdf5/hdf5_open.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/fields/xdmf_impl.h"
#include "core/system/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_LENGTH = 512 };

struct gab_volume_files {
  char path[GAB_OUTPUT_PATH_CAPACITY]; /* without .s0000.h5 */
  gab_rank *ranks;                     /* with files, ascending */
  size_t rank_count, last;             /* last: where a block was found */
  int32_t cells[3];
  double lower[3], spacing; /* of the domain that they fill */
  int64_t domain[3];
  char names[NAMES_LENGTH];
};

/* ---------------------------------------------------------------------------------------- one file */

/* The blocks of a file. */
typedef struct blocks {
  int32_t format;
  uint64_t *ids;
  double *origins, *spacings;
  int32_t *levels, *rows; /* of format 1: all 0 */
  size_t count;
} blocks;

static gab_status file_name(const gab_volume_files *files, size_t index, char path[GAB_OUTPUT_PATH_CAPACITY])
{
  return gab_output_path(path, "%s.s%04" GAB_PRI_RANK ".h5", files->path, files->ranks[index]);
}

static bool read_table(hid_t file, const char *name, hid_t type, hsize_t count, void *values)
{
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  if (set < 0) return false;
  hid_t space = H5Dget_space(set);
  const bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count;
  const bool read = fits && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (space >= 0) H5Sclose(space);
  H5Dclose(set);
  return read;
}

static void release_blocks(blocks *there) { gab_free(&there->ids); }

/* Files without a format number are of format 1. */
static gab_status read_format(hid_t file, const char *path, int32_t *format)
{
  *format = 1;
  if (H5Aexists(file, "format") <= 0) return GAB_OK;
  hid_t attribute = H5Aopen(file, "format", H5P_DEFAULT),
        space = attribute < 0 ? -1 : H5Aget_space(attribute);
  const bool read = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                    H5Aread(attribute, H5T_NATIVE_INT32, format) >= 0;
  if (space >= 0) H5Sclose(space);
  if (attribute >= 0) H5Aclose(attribute);
  if (!read) GAB_FAIL(GAB_ERR_CORRUPT, "%s: its attribute format cannot be read", path);
  if (*format < 1 || *format > GAB_HDF5_FORMAT)
    GAB_FAIL(GAB_ERR_INPUT, "%s is of format %" PRId32 ", this version of Gabion reads 1 to %d", path,
             *format, GAB_HDF5_FORMAT);
  return GAB_OK;
}

static bool read_tables(hid_t file, const blocks *there)
{
  const hsize_t count = there->count;
  return read_table(file, "blocks/id", H5T_NATIVE_UINT64, count, there->ids) &&
         read_table(file, "blocks/origin", H5T_NATIVE_DOUBLE, 3 * count, there->origins) &&
         read_table(file, "blocks/spacing", H5T_NATIVE_DOUBLE, count, there->spacings) &&
         (there->format == 1 || (read_table(file, "blocks/level", H5T_NATIVE_INT32, count, there->levels) &&
                                 read_table(file, "blocks/row", H5T_NATIVE_INT32, count, there->rows)));
}

static gab_status read_blocks(hid_t file, const char *path, blocks *there)
{
  *there = (blocks){0};
  GAB_TRY(read_format(file, path, &there->format));
  hid_t set = H5Dopen2(file, "blocks/id", H5P_DEFAULT), space = set < 0 ? -1 : H5Dget_space(set);
  const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  const size_t row = sizeof(uint64_t) + 4 * sizeof(double) + 2 * sizeof(int32_t);
  if (count < 1 || (size_t)count > SIZE_MAX / row)
    GAB_FAIL(GAB_ERR_CORRUPT, "%s has no table of blocks", path);
  void *memory;
  GAB_TRY(gab_alloc((size_t)count * row, GAB_MEMORY_OTHER, &memory));
  there->ids = memory;
  there->origins = (double *)(there->ids + count);
  there->spacings = there->origins + 3 * count;
  there->levels = (int32_t *)(there->spacings + count);
  there->rows = there->levels + count;
  there->count = (size_t)count;
  if (read_tables(file, there)) return GAB_OK;
  release_blocks(there);
  GAB_FAIL(GAB_ERR_CORRUPT, "%s: the tables of its blocks cannot be read", path);
}

static bool read_cells(hid_t file, int32_t cells[3])
{
  hid_t attribute = H5Aopen(file, "cells", H5P_DEFAULT);
  if (attribute < 0) return false;
  hid_t space = H5Aget_space(attribute);
  const bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) == 3;
  const bool read = fits && H5Aread(attribute, H5T_NATIVE_INT32, cells) >= 0;
  if (space >= 0) H5Sclose(space);
  H5Aclose(attribute);
  return read && cells[0] > 0 && cells[1] > 0 && cells[2] > 0;
}

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
  (void)group, (void)info;
  char *names = user;
  const size_t used = strlen(names);
  snprintf(names + used, NAMES_LENGTH - used, "%s%s", used ? ", " : "", name);
  return 0;
}

/* ---------------------------------------------------------------------------------------- all files of a
 * step */

static int compare_ranks(const void *a, const void *b)
{
  const gab_rank x = *(const gab_rank *)a, y = *(const gab_rank *)b;
  return (x > y) - (x < y);
}

/* PREFIX.s0003.h5 */
static bool parse_rank(const char *prefix, const char *text, gab_rank *rank)
{
  const size_t length = strlen(prefix);
  if (strncmp(text, prefix, length) != 0 || strncmp(text + length, ".s", 2) != 0) return false;
  const char *digits = text + length + 2;
  char *end = NULL;
  if (!isdigit((unsigned char)digits[0])) return false;
  *rank = (gab_rank)strtol(digits, &end, 10);
  return strcmp(end, ".h5") == 0;
}

static gab_status find_files(gab_volume_files *files)
{
  char folder[GAB_OUTPUT_PATH_CAPACITY];
  const char *slash = strrchr(files->path, '/'), *prefix = slash ? slash + 1 : files->path;
  GAB_TRY(gab_output_path(folder, "%.*s", slash ? (int)(slash - files->path) : 1, slash ? files->path : "."));
  DIR *stream = opendir(slash == files->path ? "/" : folder);
  if (!stream) GAB_FAIL(GAB_ERR_INPUT, "cannot look into %s: %s", folder, strerror(errno));
  gab_status status = GAB_OK;
  gab_buffer found = {0};
  for (struct dirent *entry = readdir(stream); entry && status == GAB_OK; entry = readdir(stream)) {
    gab_rank rank;
    if (parse_rank(prefix, entry->d_name, &rank)) status = gab_put_bytes(&found, &rank, sizeof rank);
  }
  closedir(stream);
  files->rank_count = found.size / sizeof(gab_rank);
  void *memory = NULL;
  if (status == GAB_OK && files->rank_count > 0) status = gab_alloc(found.size, GAB_MEMORY_OTHER, &memory);
  if (memory) {
    files->ranks = memcpy(memory, found.data, found.size);
    qsort(files->ranks, files->rank_count, sizeof *files->ranks, compare_ranks);
  }
  gab_buffer_release(&found);
  GAB_TRY(status);
  if (files->rank_count == 0)
    GAB_FAIL(GAB_ERR_INPUT, "no files %s.s*.h5, which output.fields writes", files->path);
  return GAB_OK;
}

/* Summary of the blocks of all files. */
typedef struct survey {
  double lower[3], upper[3], spacing;
  size_t blocks;
} survey;

static gab_status survey_file(gab_volume_files *files, hid_t file, const char *path, survey *all)
{
  int32_t cells[3];
  blocks there;
  if (!read_cells(file, cells))
    GAB_FAIL(GAB_ERR_CORRUPT, "%s does not say how many cells its blocks have", path);
  if (all->blocks > 0 && memcmp(cells, files->cells, sizeof cells) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s has blocks of other sizes than the other files of that step", path);
  memcpy(files->cells, cells, sizeof cells);
  if (all->blocks == 0)
    (void)H5Literate_by_name(file, "fields", H5_INDEX_NAME, H5_ITER_INC, NULL, add_name, files->names,
                             H5P_DEFAULT);
  GAB_TRY(read_blocks(file, path, &there));
  for (size_t i = 0; i < there.count; i++, all->blocks++) {
    if (all->blocks == 0) all->spacing = there.spacings[i];
    for (int k = 0; k < 3; k++) {
      const double low = there.origins[3 * i + (size_t)k], high = low + cells[k] * there.spacings[i];
      if (all->blocks == 0 || low < all->lower[k]) all->lower[k] = low;
      if (all->blocks == 0 || high > all->upper[k]) all->upper[k] = high;
    }
    if (there.spacings[i] != all->spacing) {
      release_blocks(&there);
      GAB_FAIL(GAB_ERR_INPUT, "%s has blocks of several levels: such states cannot be read", path);
    }
  }
  release_blocks(&there);
  return GAB_OK;
}

static gab_status open_file(gab_volume_files *files, size_t index, hid_t *file,
                            char path[GAB_OUTPUT_PATH_CAPACITY])
{
  GAB_TRY(file_name(files, index, path));
  GAB_TRY(gab_file_check(path)); /* HDF5 would wait for the writer of a pipe */
  *file = gab_hdf5_open(path);
  if (*file < 0) return gab_hdf5_unreadable(path);
  return GAB_OK;
}

static gab_status survey_all(gab_volume_files *files, const gab_forest_options *forest)
{
  survey all = {.blocks = 0};
  char path[GAB_OUTPUT_PATH_CAPACITY];
  int64_t found[3];
  for (size_t i = 0; i < files->rank_count; i++) {
    hid_t file;
    GAB_TRY(open_file(files, i, &file, path));
    gab_status status = survey_file(files, file, path, &all);
    H5Fclose(file);
    GAB_TRY(status);
  }
  bool same = true;
  for (int k = 0; k < 3; k++) {
    found[k] = k < forest->grid.dimension ? llround((all.upper[k] - all.lower[k]) / all.spacing) : 1;
    files->domain[k] = (int64_t)forest->grid.roots[k] * forest->cells[k];
    same = same && found[k] == files->domain[k];
  }
  if (!same)
    GAB_FAIL(GAB_ERR_INPUT,
             "%s has %" PRId64 " x %" PRId64 " x %" PRId64 " cells, the domain %" PRId64 " x %" PRId64
             " x %" PRId64,
             files->path, found[0], found[1], found[2], files->domain[0], files->domain[1], files->domain[2]);
  const double cells = (double)all.blocks * files->cells[0] * files->cells[1] * files->cells[2];
  if (cells != (double)found[0] * (double)found[1] * (double)found[2])
    GAB_FAIL(GAB_ERR_INPUT, "%s: files of some ranks are missing: %zu blocks do not fill the domain",
             files->path, all.blocks);
  memcpy(files->lower, all.lower, sizeof files->lower);
  files->spacing = all.spacing;
  return GAB_OK;
}

static gab_status list_files(const char *path, gab_volume_files **files)
{
  GAB_TRY(GAB_NEW(files, GAB_MEMORY_OTHER));
  GAB_TRY(gab_output_path((*files)->path, "%s", path));
  const size_t length = strlen((*files)->path);
  if (length > 5 && strcmp((*files)->path + length - 5, ".xdmf") == 0) (*files)->path[length - 5] = '\0';
  return find_files(*files);
}

gab_status gab_volume_files_hash(const char *path, gab_hash64_stream *hash)
{
  char name[GAB_OUTPUT_PATH_CAPACITY];
  gab_volume_files *files;
  gab_status status = list_files(path, &files);
  for (size_t i = 0; status == GAB_OK && i < files->rank_count; i++) {
    status = file_name(files, i, name);
    if (status == GAB_OK) status = gab_file_hash(name, hash);
  }
  gab_volume_files_close(&files);
  return status;
}

gab_status gab_volume_files_open(const char *path, const gab_forest_options *forest, gab_volume_files **files)
{
  gab_volume_files *made;
  gab_status status = list_files(path, &made);
  if (status == GAB_OK) {
    gab_hdf5_lock();
    status = survey_all(made, forest);
    gab_hdf5_unlock();
  }
  if (status != GAB_OK) gab_volume_files_close(&made);
  *files = made;
  return status;
}

void gab_volume_files_close(gab_volume_files **files)
{
  if (!*files) return;
  gab_free(&(*files)->ranks);
  gab_free(files);
}

bool gab_volume_files_have(const gab_volume_files *files, const char *quantity)
{
  const size_t length = strlen(quantity);
  for (const char *at = files->names; (at = strstr(at, quantity)); at += length)
    if ((at == files->names || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0')) return true;
  return false;
}

const char *gab_volume_files_names(const gab_volume_files *files) { return files->names; }
const int32_t *gab_volume_files_cells(const gab_volume_files *files) { return files->cells; }

/* ---------------------------------------------------------------------------------------- a block */

/* One block of a dataset [block][z][y][x]. */
static bool read_row(hid_t file, const char *name, int64_t row, const int32_t cells[3], double *values)
{
  hsize_t extent[H5S_MAX_RANK];
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = set < 0 ? -1 : H5Dget_space(set);
  bool fine = space >= 0 && H5Sget_simple_extent_ndims(space) == 4 &&
              H5Sget_simple_extent_dims(space, extent, NULL) == 4 && row >= 0 && (hsize_t)row < extent[0];
  for (int k = 0; k < 3; k++) fine = fine && extent[3 - k] == (hsize_t)cells[k];
  if (fine) {
    const hsize_t start[4] = {(hsize_t)row, 0, 0, 0};
    extent[0] = 1;
    hid_t memory = H5Screate_simple(4, extent, NULL);
    fine = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
           H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory);
  }
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  return fine;
}

static gab_status read_block(const gab_volume_files *files, hid_t file, const char *path, const blocks *there,
                             size_t index, const char *const *quantities, size_t count, double *values)
{
  const size_t cells = (size_t)files->cells[0] * (size_t)files->cells[1] * (size_t)files->cells[2];
  for (size_t q = 0; q < count; q++) {
    char name[GAB_XDMF_BLOCK_NAME], set[GAB_OUTPUT_PATH_CAPACITY];
    double *to = values + q * cells;
    if (there->format == 1) gab_xdmf_block_name(there->ids[index], name);
    else gab_hdf5_level_name(there->levels[index], name);
    GAB_TRY(gab_output_path(set, "fields/%s/%s", quantities[q], name));
    if (!(there->format == 1 ? read_table(file, set, H5T_NATIVE_DOUBLE, cells, to)
                             : read_row(file, set, there->rows[index], files->cells, to)))
      GAB_FAIL(GAB_ERR_CORRUPT, "%s: the data set %s cannot be read, or has no block of %d x %d x %d cells",
               path, set, files->cells[0], files->cells[1], files->cells[2]);
  }
  return GAB_OK;
}

/* Looks for the block in one file. */
static gab_status look_into(gab_volume_files *files, size_t index, const int64_t cell[3],
                            const char *const *quantities, size_t count, gab_box *box, double *values,
                            bool *found)
{
  char path[GAB_OUTPUT_PATH_CAPACITY];
  hid_t file;
  blocks there;
  GAB_TRY(open_file(files, index, &file, path));
  gab_status status = read_blocks(file, path, &there);
  for (size_t i = 0; status == GAB_OK && i < there.count && !*found; i++) {
    *found = true;
    for (int k = 0; k < 3; k++) {
      box->lo[k] = files->domain[k] == 1
                       ? 0
                       : llround((there.origins[3 * i + (size_t)k] - files->lower[k]) / files->spacing);
      box->hi[k] = box->lo[k] + files->cells[k];
      *found = *found && cell[k] >= box->lo[k] && cell[k] < box->hi[k];
    }
    if (*found) status = read_block(files, file, path, &there, i, quantities, count, values);
  }
  release_blocks(&there);
  H5Fclose(file);
  return status;
}

gab_status gab_volume_files_read(gab_volume_files *files, const int64_t cell[3],
                                 const char *const *quantities, size_t count, gab_box *box, double *values)
{
  bool found = false;
  gab_status status = GAB_OK;
  gab_hdf5_lock();
  for (size_t turn = 0; turn < files->rank_count && !found && status == GAB_OK; turn++) {
    const size_t index = (files->last + turn) % files->rank_count;
    status = look_into(files, index, cell, quantities, count, box, values, &found);
    if (found) files->last = index;
  }
  gab_hdf5_unlock();
  GAB_TRY(status);
  if (!found)
    GAB_FAIL(GAB_ERR_CORRUPT, "%s: no block has cell (%" PRId64 ", %" PRId64 ", %" PRId64 ")", files->path,
             cell[0], cell[1], cell[2]);
  return GAB_OK;
}
