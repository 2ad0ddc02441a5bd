/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles slabs into one field: local, after a run or during it. */
#include "blockforest/hdf5/hdf5_image_impl.h"
#include "blockforest/hdf5/hdf5_open.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/fields/slab_writer.h"
#include "blockforest/output/fields/xdmf_impl.h"
#include "core/system/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { NAME_CAPACITY = 256, MOST_FIELDS = 32 };

/* Data from the head of a file. */
typedef struct found_part {
  char name[NAME_CAPACITY];
  int64_t first[3];
  int32_t cells[3], axis;
  double spacing, origin[3];
} found_part;

typedef struct field {
  char name[NAME_CAPACITY];
  int components;
} field;

typedef struct assembly {
  const char *folder;
  gab_buffer parts; /* of found_part, ascending */
  size_t count;
  field fields[MOST_FIELDS];
  size_t field_count;
  bool doubles;
  int64_t first[3], cells[3];
  double origin[3];
} assembly;

static const found_part *part_at(const assembly *all, size_t index)
{
  return (const found_part *)all->parts.data + index;
}

/* ---------------------------------------------------------------------------------------- reading heads */

static bool read_attribute(hid_t file, const char *name, hid_t type, void *values)
{
  hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  const bool fine = attribute >= 0 && H5Aread(attribute, type, values) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  return fine;
}

static gab_status open_part(const assembly *all, const char *name, hid_t *file)
{
  char path[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(path, "%s/%s", all->folder, name));
  GAB_TRY(gab_file_check(path)); /* HDF5 would wait for the writer of a pipe */
  *file = gab_hdf5_open(path);
  if (*file < 0) return gab_hdf5_unreadable(path);
  return GAB_OK;
}

static gab_status add_part(assembly *all, const char *name)
{
  found_part part = {.axis = 0};
  hid_t file;
  if (strlen(name) >= sizeof part.name) GAB_FAIL(GAB_ERR_INPUT, "%s/%s is not a part", all->folder, name);
  snprintf(part.name, sizeof part.name, "%s", name);
  GAB_TRY(open_part(all, name, &file));
  const bool fine = read_attribute(file, "first", H5T_NATIVE_INT64, part.first) &&
                    read_attribute(file, "cells", H5T_NATIVE_INT32, part.cells) &&
                    read_attribute(file, "axis", H5T_NATIVE_INT32, &part.axis) &&
                    read_attribute(file, "spacing", H5T_NATIVE_DOUBLE, &part.spacing) &&
                    read_attribute(file, "origin", H5T_NATIVE_DOUBLE, part.origin);
  H5Fclose(file);
  if (!fine || part.axis < 1 || part.axis > 2 || part.cells[0] < 1 || part.cells[1] < 1 || part.cells[2] < 1)
    GAB_FAIL(GAB_ERR_INPUT, "%s/%s does not say where its cells are", all->folder, name);
  all->count++;
  return gab_put_bytes(&all->parts, &part, sizeof part);
}

static int compare_parts(const void *a, const void *b)
{
  const found_part *x = a, *y = b;
  const int64_t before = x->first[x->axis], after = y->first[y->axis];
  return before != after ? (before > after) - (before < after) : strcmp(x->name, y->name);
}

static gab_status find_parts(assembly *all)
{
  DIR *folder = opendir(all->folder);
  if (!folder) GAB_FAIL(GAB_ERR_INPUT, "cannot look into %s: %s", all->folder, strerror(errno));
  gab_status status = GAB_OK;
  for (struct dirent *entry = readdir(folder); entry && status == GAB_OK; entry = readdir(folder)) {
    const size_t length = strlen(entry->d_name);
    if (length > 3 && strcmp(entry->d_name + length - 3, ".h5") == 0) status = add_part(all, entry->d_name);
  }
  closedir(folder);
  GAB_TRY(status);
  if (all->count == 0) GAB_FAIL(GAB_ERR_INPUT, "there are no parts in %s", all->folder);
  qsort(all->parts.data, all->count, sizeof(found_part), compare_parts);
  return GAB_OK;
}

static herr_t note_field(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
  (void)group, (void)info;
  assembly *all = user;
  if (all->field_count == MOST_FIELDS || strlen(name) >= NAME_CAPACITY) return -1;
  snprintf(all->fields[all->field_count++].name, NAME_CAPACITY, "%s", name);
  return 0;
}

/* Fields of the parts, from the first part; the fields of the others are compared when they are read. */
static gab_status find_fields(assembly *all)
{
  hid_t file;
  GAB_TRY(open_part(all, part_at(all, 0)->name, &file));
  hid_t group = H5Gopen2(file, "fields", H5P_DEFAULT);
  bool fine = group >= 0 && H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, note_field, all) >= 0;
  for (size_t i = 0; i < all->field_count && fine; i++) {
    char path[NAME_CAPACITY + 8];
    snprintf(path, sizeof path, "%s/part", all->fields[i].name);
    hid_t data = H5Dopen2(group, path, H5P_DEFAULT);
    hid_t space = data < 0 ? data : H5Dget_space(data), type = data < 0 ? data : H5Dget_type(data);
    fine = space >= 0 && type >= 0;
    all->fields[i].components = fine && H5Sget_simple_extent_ndims(space) == 4 ? 3 : 1;
    all->doubles = fine && H5Tget_size(type) == sizeof(double);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    if (data >= 0) H5Dclose(data);
  }
  if (group >= 0) H5Gclose(group);
  H5Fclose(file);
  if (!fine || all->field_count == 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s/%s has no fields that can be read", all->folder, part_at(all, 0)->name);
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- do they fit? */

static void find_extent(assembly *all)
{
  int64_t last[3];
  for (size_t i = 0; i < all->count; i++) {
    const found_part *part = part_at(all, i);
    for (int d = 0; d < 3; d++) {
      const int64_t end = part->first[d] + part->cells[d];
      if (i == 0 || part->first[d] < all->first[d]) {
        all->first[d] = part->first[d];
        all->origin[d] = part->origin[d];
      }
      if (i == 0 || end > last[d]) last[d] = end;
    }
  }
  for (int d = 0; d < 3; d++) all->cells[d] = last[d] - all->first[d];
}

static bool overlap(const found_part *a, const found_part *b)
{
  for (int d = 0; d < 3; d++)
    if (a->first[d] + a->cells[d] <= b->first[d] || b->first[d] + b->cells[d] <= a->first[d]) return false;
  return true;
}

/* Sorted by rows, a part can only overlap with those before its own end. */
static gab_status check_overlap(const assembly *all, size_t index)
{
  const found_part *part = part_at(all, index);
  for (size_t k = index + 1; k < all->count; k++) {
    const found_part *other = part_at(all, k);
    if (other->first[part->axis] >= part->first[part->axis] + part->cells[part->axis]) break;
    if (overlap(part, other))
      GAB_FAIL(GAB_ERR_INPUT, "%s: %s and %s have cells in common", all->folder, part->name, other->name);
  }
  return GAB_OK;
}

static gab_status check_fit(const assembly *all)
{
  const found_part *start = part_at(all, 0);
  int64_t cells = 0, there = start->first[start->axis];
  for (size_t i = 0; i < all->count; i++) {
    const found_part *part = part_at(all, i);
    if (part->axis != start->axis || part->spacing != start->spacing)
      GAB_FAIL(GAB_ERR_INPUT, "%s: %s and %s are parts of different things", all->folder, start->name,
               part->name);
    GAB_TRY(check_overlap(all, i));
    if (part->first[part->axis] > there)
      GAB_FAIL(GAB_ERR_INPUT, "%s: the rows from %" PRId64 " to %" PRId64 " are missing", all->folder, there,
               part->first[part->axis] - 1);
    if (part->first[part->axis] + part->cells[part->axis] > there)
      there = part->first[part->axis] + part->cells[part->axis];
    cells += (int64_t)part->cells[0] * part->cells[1] * part->cells[2];
  }
  const int64_t wanted = all->cells[0] * all->cells[1] * all->cells[2];
  if (cells != wanted)
    GAB_FAIL(GAB_ERR_INPUT,
             "%s: the parts have %" PRId64 " cells of %" PRId64 " x %" PRId64 " x %" PRId64 ": %" PRId64
             " are missing",
             all->folder, cells, all->cells[0], all->cells[1], all->cells[2], wanted - cells);
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- one file */

static gab_status check_free_space(const assembly *all, const char *path)
{
  struct statvfs disk;
  char folder[GAB_OUTPUT_PATH_CAPACITY];
  double wanted = 1 << 20;
  for (size_t i = 0; i < all->field_count; i++)
    wanted += (double)all->cells[0] * (double)all->cells[1] * (double)all->cells[2] *
              all->fields[i].components * (all->doubles ? 8 : 4);
  GAB_TRY(gab_output_path(folder, "%s", path));
  char *slash = strrchr(folder, '/');
  if (slash) *slash = '\0';
  if (statvfs(slash ? folder : ".", &disk) == 0 && (double)disk.f_bavail * (double)disk.f_frsize < wanted)
    GAB_FAIL(GAB_ERR_IO, "%s would have %.3g GB, more than there is space for", path, wanted * 1e-9);
  return GAB_OK;
}

/* Copies the field of one part to its place in the whole. */
static bool copy_part(const assembly *all, const found_part *part, const field *field, hid_t from, hid_t to,
                      void *values)
{
  char path[NAME_CAPACITY + 16];
  hsize_t start[4] = {0, 0, 0, 0}, extent[4] = {0, 0, 0, 3};
  const int rank = field->components == 3 ? 4 : 3;
  for (int d = 0; d < 3; d++) {
    start[2 - d] = (hsize_t)(part->first[d] - all->first[d]);
    extent[2 - d] = (hsize_t)part->cells[d];
  }
  hid_t type = all->doubles ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
  snprintf(path, sizeof path, "fields/%s/part", field->name);
  hid_t data = H5Dopen2(from, path, H5P_DEFAULT), own = data < 0 ? data : H5Dget_space(data);
  hsize_t found[4] = {0, 0, 0, 3};
  bool fine = own >= 0 && H5Sget_simple_extent_ndims(own) == rank &&
              H5Sget_simple_extent_dims(own, found, NULL) == rank &&
              memcmp(found, extent, (size_t)rank * sizeof(hsize_t)) == 0 &&
              H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  hid_t memory = H5Screate_simple(rank, extent, NULL), whole = H5Dget_space(to);
  fine = fine && H5Sselect_hyperslab(whole, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
         H5Dwrite(to, type, memory, whole, H5P_DEFAULT, values) >= 0;
  H5Sclose(whole);
  H5Sclose(memory);
  if (own >= 0) H5Sclose(own);
  if (data >= 0) H5Dclose(data);
  return fine;
}

static gab_status copy_parts(const assembly *all, const hid_t *wholes)
{
  for (size_t i = 0; i < all->count; i++) {
    const found_part *part = part_at(all, i);
    hid_t file;
    double *values = NULL;
    bool fine = true;
    const size_t cells = (size_t)part->cells[0] * (size_t)part->cells[1] * (size_t)part->cells[2];
    GAB_TRY(GAB_NEW_ARRAY(&values, cells * 3, GAB_MEMORY_OTHER));
    gab_status status = open_part(all, part->name, &file);
    for (size_t k = 0; k < all->field_count && status == GAB_OK && fine; k++)
      fine = copy_part(all, part, &all->fields[k], file, wholes[k], values);
    if (status == GAB_OK) H5Fclose(file);
    gab_free(&values);
    GAB_TRY(status);
    if (!fine)
      GAB_FAIL(GAB_ERR_IO, "%s/%s does not have the fields of %s, or they cannot be copied", all->folder,
               part->name, part_at(all, 0)->name);
  }
  return GAB_OK;
}

static hid_t make_whole(const assembly *all, gab_hdf5_image *file, const field *field)
{
  char name[NAME_CAPACITY + 8];
  hsize_t extent[4] = {0, 0, 0, 3};
  for (int d = 0; d < 3; d++) extent[2 - d] = (hsize_t)all->cells[d];
  snprintf(name, sizeof name, "fields/%s", field->name);
  hid_t group = gab_hdf5_make_group(file, name);
  if (group < 0) return group;
  const int rank = field->components == 3 ? 4 : 3;
  hid_t layout = gab_hdf5_layout(rank, extent, all->doubles ? sizeof(double) : sizeof(float), 0),
        space = H5Screate_simple(rank, extent, NULL);
  hid_t whole = H5Dcreate2(group, "whole", all->doubles ? H5T_IEEE_F64LE : H5T_IEEE_F32LE, space, H5P_DEFAULT,
                           layout, H5P_DEFAULT);
  gab_hdf5_check(file, whole);
  H5Sclose(space);
  H5Pclose(layout);
  H5Gclose(group);
  return whole;
}

static gab_status fill_file(const assembly *all, gab_hdf5_image *file, const char *path)
{
  hid_t wholes[MOST_FIELDS];
  const found_part *start = part_at(all, 0);
  int32_t cells[3];
  for (int d = 0; d < 3; d++) cells[d] = (int32_t)all->cells[d];
  gab_hdf5_put_text(file, file->file, "writer", "gabion " GAB_VERSION);
  gab_hdf5_put_attribute(file, file->file, "first", H5T_NATIVE_INT64, 3, all->first);
  gab_hdf5_put_attribute(file, file->file, "cells", H5T_NATIVE_INT32, 3, cells);
  gab_hdf5_put_attribute(file, file->file, "axis", H5T_NATIVE_INT32, 1, &start->axis);
  gab_hdf5_put_attribute(file, file->file, "spacing", H5T_NATIVE_DOUBLE, 1, &start->spacing);
  gab_hdf5_put_attribute(file, file->file, "origin", H5T_NATIVE_DOUBLE, 3, all->origin);
  hid_t fields = gab_hdf5_make_group(file, "fields");
  for (size_t k = 0; k < all->field_count; k++) wholes[k] = make_whole(all, file, &all->fields[k]);
  gab_status status = gab_hdf5_image_status(file, path);
  if (status == GAB_OK) status = copy_parts(all, wholes);
  for (size_t k = 0; k < all->field_count; k++)
    if (wholes[k] >= 0) gab_hdf5_check(file, H5Dclose(wholes[k]));
  if (fields >= 0) H5Gclose(fields);
  return status;
}

static gab_status write_file(const assembly *all, const char *path)
{
  char temporary[GAB_OUTPUT_PATH_CAPACITY];
  gab_hdf5_image file = {.file = H5I_INVALID_HID};
  GAB_TRY(check_free_space(all, path));
  GAB_TRY(gab_output_path(temporary, "%s" GAB_OUTPUT_TEMPORARY, path));
  /* Left by an earlier run, or a link planted by another user, which must not be followed. */
  (void)unlink(temporary);
  file.file = gab_hdf5_create(temporary);
  if (!gab_hdf5_check(&file, file.file)) return gab_hdf5_image_status(&file, path);
  gab_status status = fill_file(all, &file, path);
  gab_hdf5_check(&file, H5Fclose(file.file));
  if (status == GAB_OK) status = gab_hdf5_image_status(&file, path);
  if (status == GAB_OK && rename(temporary, path) == 0) return GAB_OK;
  const int why = errno;
  (void)unlink(temporary);
  GAB_TRY(status);
  GAB_FAIL(GAB_ERR_IO, "cannot write %s: %s", path, strerror(why));
}

/* ---------------------------------------------------------------------------------------- description */

static gab_status put_box(const assembly *all, gab_buffer *text, const char *file, const char *dataset,
                          const char *name, const int64_t cells[3], const double origin[3])
{
  gab_quantity quantities[MOST_FIELDS];
  gab_xdmf_block about = {.name = name, .dataset = dataset};
  for (int d = 0; d < 3; d++) {
    about.cells[d] = cells[d];
    about.origin[d] = origin[d];
    about.spacing[d] = part_at(all, 0)->spacing;
  }
  for (size_t k = 0; k < all->field_count; k++)
    quantities[k] = (gab_quantity){.name = all->fields[k].name, .components = all->fields[k].components};
  return gab_xdmf_put_block(text, file, &about, quantities, all->field_count,
                            all->doubles ? GAB_OUTPUT_DOUBLE : GAB_OUTPUT_FLOAT);
}

/* Paths in the description are relative to it. */
static gab_status put_linked(const assembly *all, gab_buffer *text)
{
  const char *slash = strrchr(all->folder, '/');
  for (size_t i = 0; i < all->count; i++) {
    const found_part *part = part_at(all, i);
    char file[GAB_OUTPUT_PATH_CAPACITY];
    const int64_t cells[3] = {part->cells[0], part->cells[1], part->cells[2]};
    GAB_TRY(gab_output_path(file, "%s/%s", slash ? slash + 1 : all->folder, part->name));
    GAB_TRY(put_box(all, text, file, "part", part->name, cells, part->origin));
  }
  return GAB_OK;
}

static gab_status write_description(const assembly *all, const char *path, const char *data, bool linked)
{
  gab_buffer text = {0};
  const char *slash = strrchr(data, '/');
  gab_status status = gab_xdmf_put_step_head(&text, "solid", 0);
  if (status == GAB_OK)
    status = linked
                 ? put_linked(all, &text)
                 : put_box(all, &text, slash ? slash + 1 : data, "whole", "solid", all->cells, all->origin);
  if (status == GAB_OK) status = gab_xdmf_put_step_tail(&text);
  if (status == GAB_OK) status = gab_output_file_save(path, text.data, text.size);
  gab_buffer_release(&text);
  return status;
}

static gab_status assemble(assembly *all, const char *path, bool linked)
{
  char data[GAB_OUTPUT_PATH_CAPACITY], description[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(data, "%s.h5", path));
  GAB_TRY(gab_output_path(description, "%s.xdmf", path));
  GAB_TRY(find_parts(all));
  GAB_TRY(find_fields(all));
  find_extent(all);
  GAB_TRY(check_fit(all));
  if (!linked) GAB_TRY(write_file(all, data));
  return write_description(all, description, data, linked);
}

gab_status gab_slabs_assemble(const char *folder, const char *path, bool linked, gab_slabs_assembled *whole)
{
  assembly all = {.folder = folder};
  gab_hdf5_lock();
  gab_status status = assemble(&all, path, linked);
  gab_hdf5_unlock();
  *whole = (gab_slabs_assembled){.parts = all.count};
  memcpy(whole->first, all.first, sizeof whole->first);
  memcpy(whole->cells, all.cells, sizeof whole->cells);
  gab_buffer_release(&all.parts);
  return status;
}
