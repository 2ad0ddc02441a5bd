/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a group. HDF5 lays it out, with all datasets contiguous and allocated at once; their data is then
 * written to its place, piece by piece. So a file of any size needs no memory, and write errors are returned to this
 * code. (HDF5 cannot close a file if the disk rejects the last bytes: it retries at the end of the program and
 * crashes.) Space for the whole file is reserved first. */
#include "resilience/disk/disk_impl.h"

#include "blockforest/hdf5/hdf5_lock.h"
#include "blockforest/hdf5/hdf5_open.h"
#include "core/world/lease.h"
#include "core/system/file.h"
#include "core/system/run_file.h"
#include "core/base/checkpoint_format.h"
#include "core/base/hash.h"
#include "resilience/disk/disk_names_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <string.h>
#include <unistd.h>

enum {
  HEAD_BYTES = 64 * 1024, /* upper bound of the layout of the file … */
  PART_BYTES = 16 * 1024, /* … and of each part */
  SYNC_BYTES = 32 << 20   /* bytes between flushes, so that no flush takes long */
};

static void fail(gab_disk_file *file, const char *what, const char *why)
{
  if (file->status != GAB_OK) return;
  file->status = GAB_ERR_IO;
  snprintf(file->message, sizeof file->message, "cannot %s %.300s: %.150s", what, file->path, why);
}

/* ---------------------------------------------------------------- layout */

/* Handles of HDF5, and whether a call has failed. */
typedef struct layout {
  hid_t file;
  bool failed;
} layout;

static void check(layout *out, int64_t returned) { out->failed = out->failed || returned < 0; }

static void put_attribute(layout *out, hid_t object, const char *name, hid_t type, const void *value)
{
  hid_t space = H5Screate(H5S_SCALAR), attribute;
  attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  check(out, attribute);
  if (attribute >= 0) {
    check(out, H5Awrite(attribute, type, value));
    H5Aclose(attribute);
  }
  H5Sclose(space);
}

static void put_text(layout *out, hid_t object, const char *name, const char *text)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  check(out, H5Tset_size(type, strlen(text) + 1));
  put_attribute(out, object, name, type, text);
  H5Tclose(type);
}

/* @return where the dataset lies in the file; 0 for an empty one */
static uint64_t put_dataset(layout *out, hid_t group, const char *name, hid_t type, int rank,
                            const hsize_t *extent)
{
  hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, extent, NULL);
  check(out, H5Pset_layout(how, H5D_CONTIGUOUS));
  check(out, H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY));
  check(out, H5Pset_fill_time(how, H5D_FILL_TIME_NEVER));
  hid_t data = H5Dcreate2(group, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  uint64_t at = 0;
  check(out, data);
  if (data >= 0) {
    haddr_t place = H5Dget_offset(data);
    if (place != HADDR_UNDEF) at = place;
    else if (extent[0] > 0) out->failed = true;
    H5Dclose(data);
  }
  H5Sclose(space);
  H5Pclose(how);
  return at;
}

static void put_part(layout *out, const gab_disk_names *names, gab_disk_part *part, hid_t ranks)
{
  char name[32];
  const hsize_t bytes[1] = {part->bytes}, rows[2] = {part->blocks, GAB_DISK_COLUMNS}, two[1] = {2};
  snprintf(name, sizeof name, "%06" GAB_PRI_RANK, part->rank);
  hid_t group = H5Gcreate2(ranks, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  check(out, group);
  if (group < 0) return;
  put_attribute(out, group, names->rank, H5T_NATIVE_INT32, &part->rank);
  put_attribute(out, group, "index", H5T_NATIVE_INT32, &part->index);
  part->image_at = put_dataset(out, group, "image", H5T_STD_U8LE, 1, bytes);
  part->table_at = put_dataset(out, group, "blocks", H5T_STD_U64LE, 2, rows);
  part->hashes_at = put_dataset(out, group, "hashes", H5T_STD_U64LE, 1, two);
  check(out, H5Gclose(group));
}

static void put_all(layout *out, gab_disk_file *file)
{
  const gab_disk_names *names = gab_disk_names_of(GAB_CHECKPOINT_FORMAT);
  const int32_t format = GAB_CHECKPOINT_FORMAT;
  const int64_t step = file->step;
  put_text(out, out->file, names->what, "gabion checkpoint");
  put_text(out, out->file, "program", "gabion " GAB_VERSION);
  put_attribute(out, out->file, names->format, H5T_NATIVE_INT32, &format);
  put_attribute(out, out->file, "step", H5T_NATIVE_INT64, &step);
  put_attribute(out, out->file, "group", H5T_NATIVE_INT32, &file->group);
  hid_t ranks = H5Gcreate2(out->file, names->ranks, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  check(out, ranks);
  for (size_t i = 0; ranks >= 0 && i < file->part_count; i++) put_part(out, names, &file->parts[i], ranks);
  if (ranks >= 0) check(out, H5Gclose(ranks));
  if (file->replicated_bytes == 0) return;
  const hsize_t bytes[1] = {file->replicated_bytes}, one[1] = {1};
  file->replicated_at = put_dataset(out, out->file, "replicated", H5T_STD_U8LE, 1, bytes);
  file->replicated_hash_at = put_dataset(out, out->file, "replicated_hash", H5T_STD_U64LE, 1, one);
}

/* Frees space after a disk error, so that HDF5 can write its last bytes. */
static bool close_layout(layout *out)
{
  void *handle;
  if (H5Fclose(out->file) >= 0) return true;
  if (H5Fget_vfd_handle(out->file, H5P_DEFAULT, &handle) >= 0) (void)!ftruncate(*(int *)handle, 0);
  H5Fclose(out->file);
  return false;
}

static void lay_out(gab_disk_file *file)
{
  gab_hdf5_lock();
  layout out = {.file = gab_hdf5_create(file->temporary)};
  check(&out, out.file);
  if (out.file < 0) {
    gab_hdf5_failure("HDF5 refuses");
    fail(file, "lay out", gab_error_message());
  } else {
    put_all(&out, file);
    if (!close_layout(&out)) out.failed = true;
  }
  gab_hdf5_unlock();
  if (out.failed) fail(file, "lay out", "HDF5 refuses");
}

/* ---------------------------------------------------------------- writing */

/* Not all file systems can reserve space; otherwise a full disk is detected on writing. */
static void reserve(gab_disk_file *file, uint64_t bytes)
{
  if (file->status != GAB_OK) return;
  int error = 0;
#ifdef __linux__
  if (fallocate(file->descriptor, 0, 0, (off_t)bytes) != 0) error = errno;
#endif
  if (error == EOPNOTSUPP || error == ENOSYS || error == EINVAL) error = 0;
  if (!error && ftruncate(file->descriptor, (off_t)bytes) != 0) error = errno;
  if (error) fail(file, "reserve space for", strerror(error));
}

static void open_file(gab_disk_file *file, int flags)
{
  if (file->status != GAB_OK) return;
  char why[GAB_RUN_FILE_WHY];
  file->descriptor = gab_run_file_open(file->temporary, flags, why);
  if (file->descriptor < 0) fail(file, "make", strerror(errno));
}

static void close_file(gab_disk_file *file)
{
  if (file->descriptor >= 0 && close(file->descriptor) != 0) fail(file, "close", strerror(errno));
  file->descriptor = -1;
}

void gab_disk_file_create(gab_disk_file *file)
{
  uint64_t bytes = HEAD_BYTES + file->replicated_bytes;
  for (size_t i = 0; i < file->part_count; i++)
    bytes += PART_BYTES + file->parts[i].bytes + file->parts[i].blocks * GAB_DISK_COLUMNS * 8;
  if (file->status == GAB_OK && gab_disk_make_folder(file->folder) != GAB_OK) {
    file->status = GAB_ERR_IO;
    snprintf(file->message, sizeof file->message, "%.500s", gab_error_message());
  }
  open_file(file, O_RDWR | O_CREAT | O_TRUNC);
  reserve(file, bytes);
  close_file(file);
  if (file->status != GAB_OK) return;
  lay_out(file);
  open_file(file, O_RDWR);
  if (file->status != GAB_OK) return;
  file->bytes = (uint64_t)lseek(file->descriptor, 0, SEEK_END);
  reserve(file, file->bytes);
}

void gab_disk_file_write(gab_disk_file *file, uint64_t at, const void *bytes, size_t count)
{
  const unsigned char *from = bytes;
  for (size_t done = 0; done < count && file->status == GAB_OK;) {
    gab_lease_check();
    errno = 0;
    ssize_t now = pwrite(file->descriptor, from + done, count - done, (off_t)(at + done));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) fail(file, "write", strerror(errno ? errno : ENOSPC));
    else done += (size_t)now;
  }
  file->unsynced += count;
  if (file->status != GAB_OK || file->unsynced < SYNC_BYTES) return;
  if (fdatasync(file->descriptor) != 0) fail(file, "flush", strerror(errno));
  file->unsynced = 0;
}

static void put_number(gab_disk_file *file, uint64_t at, uint64_t value)
{
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(value >> (8 * i));
  gab_disk_file_write(file, at, bytes, sizeof bytes);
}

static void write_hashes(gab_disk_file *file)
{
  for (size_t i = 0; i < file->part_count; i++) {
    const gab_disk_part *part = &file->parts[i];
    put_number(file, part->hashes_at, part->hashes.image);
    put_number(file, part->hashes_at + 8, part->hashes.table);
  }
  if (file->replicated_bytes > 0) put_number(file, file->replicated_hash_at, file->replicated_hash);
}

void gab_disk_file_finish(gab_disk_file *file)
{
  write_hashes(file);
  if (file->status == GAB_OK && fsync(file->descriptor) != 0) fail(file, "flush", strerror(errno));
  close_file(file);
  gab_lease_check(); /* the others may have written this file again */
  if (file->status == GAB_OK && rename(file->temporary, file->path) != 0) fail(file, "name", strerror(errno));
  if (file->status == GAB_OK && gab_folder_sync(file->folder) != GAB_OK)
    fail(file, "flush the folder of", gab_error_message());
  if (file->status != GAB_OK) unlink(file->temporary);
}

void gab_disk_file_drop(gab_disk_file *file)
{
  if (file->descriptor >= 0) close(file->descriptor);
  file->descriptor = -1;
  unlink(file->temporary);
}

uint64_t gab_disk_digest_begin(size_t parts) { return gab_hash64("", 0, parts); }

uint64_t gab_disk_digest_add(uint64_t sum, uint64_t hash)
{
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(hash >> (8 * i));
  return gab_hash64(bytes, sizeof bytes, sum);
}

uint64_t gab_disk_file_digest(const gab_disk_file *file)
{
  uint64_t sum = gab_disk_digest_begin(file->part_count);
  for (size_t i = 0; i < file->part_count; i++) {
    sum = gab_disk_digest_add(sum, file->parts[i].hashes.image);
    sum = gab_disk_digest_add(sum, file->parts[i].hashes.table);
  }
  return file->replicated_bytes > 0 ? gab_disk_digest_add(sum, file->replicated_hash) : sum;
}
