/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the file of a group, with all its hashes verified. */
#include "resilience/disk/disk_impl.h"

#include "blockforest/hdf5/hdf5_lock.h"
#include "blockforest/hdf5/hdf5_open.h"
#include "resilience/disk/disk_names_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct gab_disk_reader {
  char path[GAB_DISK_PATH];
  const gab_disk_names *names; /* of the format of the checkpoint */
  hid_t file;
};

static gab_status broken(const gab_disk_reader *reader, const char *what)
{
  GAB_FAIL(GAB_ERR_CORRUPT, "%s: %s", reader->path, what);
}

/* ---------------------------------------------------------------- opening */

static gab_status attribute_is(const gab_disk_reader *reader, const char *name, int64_t expected)
{
  int64_t value = 0;
  gab_status status = GAB_OK;
  hid_t attribute = H5Aopen(reader->file, name, H5P_DEFAULT);
  if (attribute < 0 || H5Aread(attribute, H5T_NATIVE_INT64, &value) < 0)
    status = gab_hdf5_failure(reader->path);
  else if (value != expected)
    status = broken(reader, "is not a file of this checkpoint: format, step or group differ");
  if (attribute >= 0) H5Aclose(attribute);
  return status;
}

/* A file that is missing or not a regular file is broken; one that cannot be opened now is not. HDF5 would wait for the
 * writer of a pipe. */
static gab_status try_to_open(const gab_disk_reader *reader)
{
  struct stat info;
  if (stat(reader->path, &info) == 0 && !S_ISREG(info.st_mode)) return broken(reader, "is not a file");
  const int file = open(reader->path, O_RDONLY | O_CLOEXEC), why = errno;
  if (file >= 0) close(file);
  if (file >= 0) return GAB_OK;
  if (why == ENOENT || why == ENOTDIR) return broken(reader, strerror(why));
  GAB_FAIL(GAB_ERR_IO, "%s: %s", reader->path, strerror(why));
}

static gab_status open_file(gab_disk_reader *reader, const gab_manifest *manifest, int32_t group)
{
  GAB_TRY(try_to_open(reader));
  reader->file = gab_hdf5_open(reader->path);
  if (reader->file < 0) return gab_hdf5_failure(reader->path);
  GAB_TRY(attribute_is(reader, reader->names->format, manifest->format));
  GAB_TRY(attribute_is(reader, "step", manifest->step));
  return attribute_is(reader, "group", group);
}

gab_status gab_disk_open(const char *path, const gab_manifest *manifest, int32_t group,
                         gab_disk_reader **reader)
{
  *reader = NULL;
  gab_disk_reader *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->file = -1;
  made->names = gab_disk_names_of(manifest->format);
  snprintf(made->path, sizeof made->path, "%s", path);
  gab_hdf5_lock();
  gab_status status = open_file(made, manifest, group);
  gab_hdf5_unlock();
  *reader = made;
  if (status != GAB_OK) gab_disk_close(reader);
  return status;
}

void gab_disk_close(gab_disk_reader **reader)
{
  if (!*reader) return;
  gab_hdf5_lock();
  if ((*reader)->file >= 0) H5Fclose((*reader)->file);
  gab_hdf5_unlock();
  gab_free(reader);
}

/* ---------------------------------------------------------------- datasets */

static gab_status dataset_bytes(hid_t data, const char *subject, hid_t type, size_t *bytes)
{
  hid_t space = H5Dget_space(data);
  hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  if (space >= 0) H5Sclose(space);
  if (count < 0 || (uint64_t)count > SIZE_MAX / 16)
    GAB_FAIL(GAB_ERR_CORRUPT, "%s: has no size that can be", subject);
  *bytes = (size_t)count * H5Tget_size(type);
  return GAB_OK;
}

static gab_status read_open(hid_t data, const char *subject, hid_t type, gab_buffer *content)
{
  size_t bytes = 0;
  void *place;
  GAB_TRY(dataset_bytes(data, subject, type, &bytes));
  gab_buffer_clear(content);
  GAB_TRY(gab_buffer_extend(content, bytes, &place));
  if (bytes == 0 || H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, place) >= 0) return GAB_OK;
  return gab_hdf5_failure(subject);
}

/* Types are little-endian in memory too: the bytes as in the file. */
static gab_status read_dataset(gab_disk_reader *reader, const char *name, hid_t type, gab_buffer *content)
{
  char subject[GAB_DISK_PATH + 80];
  snprintf(subject, sizeof subject, "%s: /%s", reader->path, name);
  gab_hdf5_lock();
  hid_t data = H5Dopen2(reader->file, name, H5P_DEFAULT);
  gab_status status = data >= 0 ? read_open(data, subject, type, content) : gab_hdf5_failure(subject);
  if (data >= 0) H5Dclose(data);
  gab_hdf5_unlock();
  return status;
}

static gab_status read_hashes(gab_disk_reader *reader, const char *name, uint64_t *hashes, size_t count)
{
  gab_buffer bytes = {0};
  gab_status status = read_dataset(reader, name, H5T_STD_U64LE, &bytes);
  gab_reader in = gab_reader_of_buffer(&bytes);
  for (size_t i = 0; i < count && status == GAB_OK; i++) status = gab_get_u64(&in, &hashes[i]);
  gab_buffer_release(&bytes);
  return status;
}

static gab_status check(const gab_disk_reader *reader, const char *name, const gab_buffer *content,
                        uint64_t expected)
{
  uint64_t found = gab_disk_hash(content->data, content->size, NULL);
  if (found == expected) return GAB_OK;
  GAB_FAIL(GAB_ERR_CORRUPT, "%s: /%s has changed on the disk: its hash is %016" PRIx64 ", it was %016" PRIx64,
           reader->path, name, found, expected);
}

/* "ranks/000003/image" */
static void name_dataset(const gab_disk_reader *reader, gab_rank rank, const char *dataset, char name[64])
{
  snprintf(name, 64, "%s/%06" GAB_PRI_RANK "/%s", reader->names->ranks, rank, dataset);
}

gab_status gab_disk_read_part(gab_disk_reader *reader, gab_rank rank, gab_buffer *image, gab_buffer *table)
{
  char name[64];
  uint64_t hashes[2] = {0, 0};
  name_dataset(reader, rank, "hashes", name);
  GAB_TRY(read_hashes(reader, name, hashes, 2));
  name_dataset(reader, rank, "image", name);
  GAB_TRY(read_dataset(reader, name, H5T_STD_U8LE, image));
  GAB_TRY(check(reader, name, image, hashes[0]));
  if (!table) return GAB_OK;
  name_dataset(reader, rank, "blocks", name);
  GAB_TRY(read_dataset(reader, name, H5T_STD_U64LE, table));
  return check(reader, name, table, hashes[1]);
}

gab_status gab_disk_read_replicated(gab_disk_reader *reader, gab_buffer *replicated)
{
  uint64_t hash = 0;
  GAB_TRY(read_hashes(reader, "replicated_hash", &hash, 1));
  GAB_TRY(read_dataset(reader, "replicated", H5T_STD_U8LE, replicated));
  return check(reader, "replicated", replicated, hash);
}

gab_status gab_disk_check_digest(gab_disk_reader *reader, const gab_manifest *manifest, int32_t group)
{
  const int32_t members = gab_members_count(&manifest->members), first = group * manifest->group;
  const int32_t count = members - first < manifest->group ? members - first : manifest->group;
  uint64_t sum = gab_disk_digest_begin((size_t)count), hashes[2];
  for (int32_t i = 0; i < count; i++) {
    char name[64];
    name_dataset(reader, gab_members_rank(&manifest->members, first + i), "hashes", name);
    GAB_TRY(read_hashes(reader, name, hashes, 2));
    sum = gab_disk_digest_add(gab_disk_digest_add(sum, hashes[0]), hashes[1]);
  }
  if (group == 0) {
    GAB_TRY(read_hashes(reader, "replicated_hash", hashes, 1));
    sum = gab_disk_digest_add(sum, hashes[0]);
  }
  if (sum == manifest->files[group].digest) return GAB_OK;
  return broken(
      reader, "its hashes are not those of the manifest: one of the two has changed or is of another write");
}
