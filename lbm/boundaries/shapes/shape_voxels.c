/* SPDX-License-Identifier: Apache-2.0 */
/* An array of numbers from files, of which a range is solid: a scan of a porous sample, say. */
#include "lbm/boundaries/body_shape_impl.h"
#include "lbm/setup/vectors_impl.h"

#include "blockforest/hdf5/hdf5_array.h"
#include "blockforest/pictures/stack.h"
#include "core/memory/memory.h"
#include "core/system/file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Voxels are looked at in bricks of 8^3, of which most are all solid or all not. */
enum { BRICK_SHIFT = 3, MOST_BRICKS = 512, MOST_PER_AXIS = GAB_MOST_PAGES };
static const double most_voxels = 0x1p36;

typedef enum brick { BRICK_EMPTY, BRICK_FULL, BRICK_MIXED, BRICK_NEW } brick;

typedef struct voxels {
  int dimension;
  int64_t size[3], bricks[3];
  double lo[3], width;
  unsigned char *solid; /* a bit for each, x fastest, rows are whole bytes */
  size_t stride;        /* bytes of a row */
  unsigned char *brick;
} voxels;

/* ------------------------------------------------------------------------------------------ keys */

static gab_status hash_voxels(const gab_config *config, const char *path, gab_hash64_stream *hash)
{
  (void)config;
  return gab_stack_is_picture(path) ? gab_stack_hash(path, hash) : gab_file_hash(path, hash);
}

static const gab_config_key voxel_keys[] = {
    {.name = "file",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_CASE,
     .content = hash_voxels,
     .doc =
         "Greyscale picture(s): PNG, or TIFF with all its pages; a_0001..0512.png is a_0001.png to a_0512.png along z. "
         "With size: raw numbers (little-endian). With dataset: an HDF5 file."},
    {.name = "dataset",
     .type = GAB_CONFIG_STRING,
     .default_text = "\"\"",
     .doc = "Data set of an HDF5 file, of two or three dimensions; x is the last one."},
    {.name = "size",
     .type = GAB_CONFIG_INT,
     .length_min = 2,
     .length_max = 3,
     .min = 1,
     .max = MOST_PER_AXIS,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Voxels along x, y, z of raw numbers; needed for these."},
    {.name = "numbers",
     .type = GAB_CONFIG_CHOICE,
     .choices = "uint8|int8|uint16|int16|uint32|int32|float32|float64",
     .default_text = "uint8",
     .doc = "Type of raw numbers."},
    {.name = "skip",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = INFINITY,
     .unit = "bytes",
     .default_text = "0",
     .doc = "Head of a raw file, which is not read."},
    {.name = "fastest",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|z",
     .default_text = "x",
     .doc = "Axis along which raw numbers follow each other."},
    {.name = "solid",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 2,
     .default_text = "[0.5, 1e300]",
     .doc =
         "Range of numbers that are solid, ends included; of pictures the grey values that are stored, 0 to 255 or 65535."},
    {.name = "lo",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .doc = "Lower corner."},
    {.name = "voxel",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m",
     .doc = "Width of a voxel."},
};

/* ------------------------------------------------------------------------------------------ filling */

typedef struct voxel_reader {
  voxels *into;
  double least, most;
} voxel_reader;

static void put(void *user, int64_t x, int64_t y, int64_t z, double value)
{
  voxel_reader *by = user;
  voxels *v = by->into;
  const bool is_solid = value >= by->least && value <= by->most;
  unsigned char *state =
      &v->brick[((z >> BRICK_SHIFT) * v->bricks[1] + (y >> BRICK_SHIFT)) * v->bricks[0] + (x >> BRICK_SHIFT)];
  const brick seen = is_solid ? BRICK_FULL : BRICK_EMPTY;
  if (*state == BRICK_NEW) *state = (unsigned char)seen;
  else if (*state != seen) *state = BRICK_MIXED;
  if (is_solid)
    v->solid[(size_t)(z * v->size[1] + y) * v->stride + (size_t)x / 8] |= (unsigned char)(1U << x % 8);
}

/* What HDF5 hands over: a row along x. */
static void put_row(void *user, int64_t y, int64_t z, const double *values)
{
  voxel_reader *by = user;
  for (int64_t x = 0; x < by->into->size[0]; x++) put(by, x, y, z, values[x]);
}

/* Bytes of a raw number, by the choice of its type. */
static const size_t bytes_of[] = {1, 1, 2, 2, 4, 4, 4, 8};

static double number_at(const unsigned char *bytes, int type)
{
  uint64_t bits = 0;
  for (size_t i = bytes_of[type]; i-- > 0;) bits = bits << 8 | bytes[i];
  switch (type) {
  case 1:
    return (int8_t)bits;
  case 3:
    return (int16_t)bits;
  case 5:
    return (int32_t)bits;
  case 6: {
    const uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return value;
  }
  case 7: {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  default:
    return (double)bits;
  }
}

/* Row by row along the fastest axis, so that a large file takes a bit for each voxel and no more. */
static gab_status read_rows(FILE *file, const char *path, int type, bool x_fastest, voxel_reader *by)
{
  const voxels *v = by->into;
  const int fast = x_fastest ? 0 : 2, slow = 2 - fast;
  unsigned char *row;
  GAB_TRY(GAB_NEW_ARRAY(&row, (size_t)v->size[fast] * bytes_of[type], GAB_MEMORY_OTHER));
  int64_t at[3];
  bool is_complete = true;
  for (at[slow] = 0; at[slow] < v->size[slow] && is_complete; at[slow]++)
    for (at[1] = 0; at[1] < v->size[1] && is_complete; at[1]++) {
      is_complete = fread(row, bytes_of[type], (size_t)v->size[fast], file) == (size_t)v->size[fast];
      for (at[fast] = 0; at[fast] < v->size[fast] && is_complete; at[fast]++)
        put(by, at[0], at[1], at[2], number_at(row + (size_t)at[fast] * bytes_of[type], type));
    }
  gab_free(&row);
  if (!is_complete) GAB_FAIL(GAB_ERR_INPUT, "%s cannot be read to its end", path);
  return GAB_OK;
}

static gab_status read_raw(const gab_config *config, const char *at, const char *path, voxel_reader *by)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  FILE *file;
  const voxels *v = by->into;
  const int type = gab_config_choice_index(config, gab_config_path(key, "%s.numbers", at));
  const bool x_fastest = gab_config_choice_index(config, gab_config_path(key, "%s.fastest", at)) == 0;
  const int64_t skip = gab_config_int(config, gab_config_path(key, "%s.skip", at));
  const int64_t bytes = v->size[0] * v->size[1] * v->size[2] * (int64_t)bytes_of[type];
  GAB_TRY(gab_file_open(path, &file));
  gab_status status = GAB_OK;
  const bool can_seek = fseeko(file, 0, SEEK_END) == 0;
  const int64_t there = can_seek ? (int64_t)ftello(file) - skip : -1;
  gab_config_path(key, "%s.size", at);
  if (there != bytes)
    status = gab_config_fail(config, key, "makes %lld bytes, but %s has %lld%s", (long long)bytes, path,
                             (long long)there, skip ? " behind its head" : "");
  else if (fseeko(file, (off_t)skip, SEEK_SET) != 0)
    status = gab_config_fail(config, key, "%s cannot be read", path);
  if (status == GAB_OK) status = read_rows(file, path, type, x_fastest, by);
  fclose(file);
  return status;
}

/* ------------------------------------------------------------------------------------------ reading */

static gab_status reserve(const gab_config *config, const char *key, voxels *v)
{
  const double all = (double)v->size[0] * (double)v->size[1] * (double)v->size[2];
  if (all > most_voxels) return gab_config_fail(config, key, "%g voxels are more than %g", all, most_voxels);
  for (int axis = 0; axis < 3; axis++) v->bricks[axis] = ((v->size[axis] - 1) >> BRICK_SHIFT) + 1;
  const size_t bricks = (size_t)(v->bricks[0] * v->bricks[1] * v->bricks[2]);
  v->stride = ((size_t)v->size[0] + 7) / 8;
  GAB_TRY(GAB_NEW_ARRAY(&v->solid, v->stride * (size_t)(v->size[1] * v->size[2]), GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&v->brick, bricks, GAB_MEMORY_OTHER));
  memset(v->brick, BRICK_NEW, bricks);
  return GAB_OK;
}

typedef enum voxel_source { FROM_RAW_NUMBERS, FROM_DATASET, FROM_PICTURES } voxel_source;

/* The size says that numbers are raw, whatever the name of the file. */
static gab_status choose_source(const gab_config *config, const char *at, const char *path,
                                voxel_source *from)
{
  static const char *const of_raw_numbers[] = {"numbers", "skip", "fastest"};
  char key[GAB_CONFIG_PATH_CAPACITY];
  const bool has_dataset = gab_config_string(config, gab_config_path(key, "%s.dataset", at))[0] != '\0';
  const bool has_size = gab_config_is_set(config, gab_config_path(key, "%s.size", at));
  if (has_dataset && has_size) return gab_config_fail(config, key, "has no effect with dataset");
  *from = has_dataset ? FROM_DATASET : has_size ? FROM_RAW_NUMBERS : FROM_PICTURES;
  if (*from == FROM_PICTURES && !gab_stack_is_picture(path))
    return gab_config_fail(config, key, "is needed for raw numbers; pictures end in .png, .tif or .tiff");
  for (int i = 0; *from != FROM_RAW_NUMBERS && i < 3; i++)
    if (gab_config_is_set(config, gab_config_path(key, "%s.%s", at, of_raw_numbers[i])))
      return gab_config_fail(config, key, "has no effect without size, which raw numbers have");
  return GAB_OK;
}

static gab_status read_size_of_stack(const char *path, voxels *v)
{
  GAB_TRY(gab_stack_size(path, v->size));
  if (v->dimension == 2 && v->size[2] > 1)
    GAB_FAIL(GAB_ERR_INPUT, "%s has %lld pages, the domain two dimensions", path, (long long)v->size[2]);
  return GAB_OK;
}

static gab_status read_size(const gab_config *config, const char *at, voxels *v, voxel_source from,
                            const char *path, const char *dataset)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  gab_config_path(key, "%s.size", at);
  for (int axis = 0; axis < 3; axis++) v->size[axis] = 1;
  if (from == FROM_DATASET) return gab_hdf5_array_size(path, dataset, v->dimension, v->size);
  if (from == FROM_PICTURES) return read_size_of_stack(path, v);
  const int64_t *size = gab_config_ints(config, key, &count);
  if ((int)count != v->dimension) return gab_config_fail(config, key, "needs %d numbers", v->dimension);
  for (size_t axis = 0; axis < count; axis++) v->size[axis] = size[axis];
  return GAB_OK;
}

static gab_status read_file(const gab_config *config, const char *at, voxels *v)
{
  char key[GAB_CONFIG_PATH_CAPACITY], path[PATH_MAX], why[1024];
  size_t count;
  const char *dataset = gab_config_string(config, gab_config_path(key, "%s.dataset", at));
  const double *range = gab_config_reals(config, gab_config_path(key, "%s.solid", at), &count);
  voxel_reader by = {.into = v, .least = range[0], .most = range[1]};
  voxel_source from = FROM_RAW_NUMBERS;
  if (!(range[0] <= range[1])) return gab_config_fail(config, key, "needs the lower end first");
  gab_config_path(key, "%s.file", at);
  GAB_TRY(gab_config_file_of(config, key, path));
  GAB_TRY(choose_source(config, at, path, &from));
  gab_status status = read_size(config, at, v, from, path, dataset);
  if (status == GAB_OK) status = reserve(config, key, v);
  if (status == GAB_OK)
    status = from == FROM_DATASET    ? gab_hdf5_array_read(path, dataset, v->dimension, v->size, put_row, &by)
             : from == FROM_PICTURES ? gab_stack_read(path, v->size, put, &by)
                                     : read_raw(config, at, path, &by);
  if (status == GAB_OK || status == GAB_ERR_MEMORY || strstr(gab_error_message(), at)) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  return gab_config_fail(config, key, "%s", why);
}

static gab_status read_voxels(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  voxels *v;
  GAB_TRY(GAB_NEW(&v, GAB_MEMORY_OTHER));
  body->data = v;
  v->dimension = dimension;
  v->width = gab_config_real(config, gab_config_path(key, "%s.voxel", path));
  GAB_TRY(gab_lbm_read_vector(config, gab_config_path(key, "%s.lo", path), dimension, v->lo));
  GAB_TRY(read_file(config, path, v));
  for (int axis = 0; axis < dimension; axis++) {
    body->lo[axis] = v->lo[axis];
    body->hi[axis] = v->lo[axis] + (double)v->size[axis] * v->width;
  }
  return GAB_OK;
}

static void release_voxels(void *data)
{
  voxels *gone = data;
  if (!gone) return;
  gab_free(&gone->solid);
  gab_free(&gone->brick);
  gab_free(&gone);
}

/* ------------------------------------------------------------------------------------------ evaluation */

/* Monotone, so that the voxels of a box of points are those between its corners. */
static double index_of(const voxels *v, int axis, double coordinate)
{
  return axis < v->dimension ? floor((coordinate - v->lo[axis]) / v->width) : 0;
}

static bool voxels_contain(const gab_body *body, const double point[3])
{
  const voxels *v = body->data;
  int64_t at[3];
  for (int axis = 0; axis < 3; axis++) {
    const double index = index_of(v, axis, point[axis]);
    if (!(index >= 0 && index < (double)v->size[axis])) return false;
    at[axis] = (int64_t)index;
  }
  return v->solid[(size_t)(at[2] * v->size[1] + at[1]) * v->stride + (size_t)at[0] / 8] >> at[0] % 8 & 1;
}

static gab_relation voxels_relation(const gab_body *body, const double lo[3], const double hi[3])
{
  const voxels *v = body->data;
  int64_t first[3], last[3], at[3];
  double count = 1;
  bool is_within = true;
  for (int axis = 0; axis < 3; axis++) {
    const double from = index_of(v, axis, lo[axis]), to = index_of(v, axis, hi[axis]);
    if (to < 0 || from >= (double)v->size[axis]) return GAB_RELATION_APART;
    is_within = is_within && from >= 0 && to < (double)v->size[axis];
    first[axis] = (int64_t)fmax(from, 0) >> BRICK_SHIFT;
    last[axis] = (int64_t)fmin(to, (double)(v->size[axis] - 1)) >> BRICK_SHIFT;
    count *= (double)(last[axis] - first[axis] + 1);
  }
  if (count > MOST_BRICKS) return GAB_RELATION_MIXED;
  bool all = is_within, none = true;
  for (at[2] = first[2]; at[2] <= last[2]; at[2]++)
    for (at[1] = first[1]; at[1] <= last[1]; at[1]++)
      for (at[0] = first[0]; at[0] <= last[0]; at[0]++) {
        const unsigned char state = v->brick[(at[2] * v->bricks[1] + at[1]) * v->bricks[0] + at[0]];
        all = all && state == BRICK_FULL;
        none = none && state == BRICK_EMPTY;
        if (!all && !none) return GAB_RELATION_MIXED;
      }
  return all ? GAB_RELATION_COVERED : GAB_RELATION_APART;
}

static void describe_voxels(const gab_body *body, double dx, char *text, size_t capacity)
{
  const voxels *v = body->data;
  uint64_t solid = 0;
  const size_t rows = (size_t)(v->size[1] * v->size[2]);
  for (size_t i = 0; i < rows * v->stride; i++) solid += (uint64_t)__builtin_popcount(v->solid[i]);
  const double all = (double)v->size[0] * (double)v->size[1] * (double)v->size[2];
  snprintf(text, capacity, "%" PRId64 " x %" PRId64 " x %" PRId64 ", each %.4g cells wide, %.4g %% solid",
           v->size[0], v->size[1], v->size[2], v->width / dx, 100 * (double)solid / all);
}

const gab_body_shape gab_shape_voxels = {
    .name = "voxels",
    .doc = "Numbers of an array in files, or pictures, of which a range is solid; always a staircase.",
    .keys = voxel_keys,
    .key_count = COUNT(voxel_keys),
    .read = read_voxels,
    .contains = voxels_contain,
    .relation = voxels_relation,
    .describe = describe_voxels,
    .release = release_voxels};
