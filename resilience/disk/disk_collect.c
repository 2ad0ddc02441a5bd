/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the images of a group for its file. Members are served in turn: hello, chunks, trailer. At most two
 * chunks are in memory: one is received while the thread writes the other. After a disk error all data is still
 * received and dropped, so no other process has to know. */
#include "resilience/disk/disk_impl.h"

#include <string.h>

/* ---------------------------------------------------------------- in the thread */

static void put_own(gab_disk *disk)
{
  gab_disk_file *file = &disk->collector.file;
  gab_disk_part *part = &file->parts[0];
  for (size_t done = 0; done < disk->image_bytes && !disk->stop; done += GAB_DISK_CHUNK) {
    size_t left = disk->image_bytes - done;
    gab_disk_file_write(file, part->image_at + done, disk->image + done,
                        left < GAB_DISK_CHUNK ? left : GAB_DISK_CHUNK);
  }
  gab_disk_file_write(file, part->table_at, disk->table.data, disk->table.size);
  gab_disk_file_write(file, file->replicated_at, disk->replicated.data, (size_t)file->replicated_bytes);
  part->hashes = disk->hashes;
  file->replicated_hash = disk->replicated_hash;
}

static void give_up(gab_disk_file *file)
{
  if (file->status != GAB_OK) return;
  file->status = GAB_ERR_FAULT;
  snprintf(file->message, sizeof file->message, "given up");
}

static void refuse_changed(gab_disk_file *file)
{
  for (size_t i = 0; i < file->part_count && file->status == GAB_OK; i++) {
    if (!file->parts[i].hashes.changed) continue;
    file->status = GAB_ERR_CORRUPT;
    snprintf(file->message, sizeof file->message,
             "the image of rank %" GAB_PRI_RANK
             ", or what is equal on all, has changed in memory: its hash does not match",
             file->parts[i].rank);
  }
}

static void operate(gab_work *work)
{
  const gab_disk_operation *operation = (gab_disk_operation *)work;
  gab_disk *disk = operation->disk;
  gab_disk_file *file = &disk->collector.file;
  if (disk->stop) give_up(file);
  switch (operation->task) {
  case GAB_DISK_CREATE:
    if (!disk->stop) gab_disk_file_create(file);
    break;
  case GAB_DISK_PUT:
    gab_disk_file_write(file, operation->at, operation->bytes, operation->count);
    break;
  case GAB_DISK_PUT_OWN:
    put_own(disk);
    break;
  case GAB_DISK_FINISH:
    refuse_changed(file);
    gab_disk_file_finish(file);
  }
}

static void submit(gab_disk *disk, gab_disk_operation *operation, gab_disk_task task)
{
  operation->work.run = operate;
  operation->disk = disk;
  operation->task = task;
  gab_worker_submit(disk->worker, &operation->work);
}

static void submit_bytes(gab_disk *disk, gab_disk_operation *operation, uint64_t at, const gab_reader *bytes)
{
  operation->at = at;
  operation->bytes = bytes->at;
  operation->count = gab_reader_left(bytes);
  submit(disk, operation, GAB_DISK_PUT);
}

/* ---------------------------------------------------------------- begin */

static gab_status name_file(gab_disk *disk, int32_t group)
{
  gab_disk_file *file = &disk->collector.file;
  char name[GAB_MANIFEST_NAME];
  gab_disk_group_name(name, group);
  GAB_TRY(gab_disk_step_folder(file->folder, disk->folder, disk->step));
  int length = snprintf(file->path, sizeof file->path, "%.4000s/%s", file->folder, name);
  /* The name contains the epoch, since an abandoned file may be removed late. */
  snprintf(file->temporary, sizeof file->temporary, "%.4000s.e%" GAB_PRI_EPOCH ".tmp", file->path,
           disk->epoch);
  if (length > GAB_DISK_PATH - 64)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %.80s… is too long", disk->folder);
  return GAB_OK;
}

gab_status gab_disk_collector_begin(gab_disk *disk)
{
  gab_disk_collector *collector = &disk->collector;
  gab_disk_file *file = &collector->file;
  const int32_t first = disk->index, members = gab_members_count(&disk->members);
  const int32_t count = members - first < disk->group ? members - first : disk->group;
  gab_disk_part *parts;
  gab_free(&file->parts);
  GAB_TRY(GAB_NEW_ARRAY(&parts, (size_t)count, GAB_MEMORY_OTHER));
  *file = (gab_disk_file){.step = disk->step,
                          .group = first / disk->group,
                          .parts = parts,
                          .part_count = (size_t)count,
                          .replicated_bytes = first == 0 ? disk->replicated.size : 0,
                          .descriptor = -1};
  for (int32_t i = 0; i < count; i++) {
    file->parts[i].index = first + i;
    file->parts[i].rank = gab_members_rank(&disk->members, first + i);
  }
  file->parts[0].bytes = disk->image_bytes;
  file->parts[0].blocks = disk->table.size / (GAB_DISK_COLUMNS * 8);
  collector->stage = GAB_COLLECT_HELLO;
  collector->part = 1;
  collector->receiving = false;
  collector->turn = 0;
  return name_file(disk, file->group);
}

/* ---------------------------------------------------------------- what comes in */

/* Whether a message of the present part has arrived in in[turn]; posts the receive if necessary. */
static gab_status receive(gab_disk *disk, bool *come)
{
  gab_disk_collector *collector = &disk->collector;
  *come = false;
  if (!collector->receiving) {
    if (!gab_worker_is_done(disk->worker, &collector->writing[collector->turn].work)) return GAB_OK;
    GAB_TRY(gab_port_receive(disk->port, collector->file.parts[collector->part].rank,
                             &collector->in[collector->turn], GAB_SIZE_UNKNOWN));
    collector->receiving = true;
  }
  GAB_TRY(gab_port_progress(disk->port, come));
  if (!*come) return GAB_OK;
  GAB_TRY(gab_port_finish(disk->port));
  collector->receiving = false;
  return GAB_OK;
}

static gab_status take_hello(gab_disk *disk, bool *waiting)
{
  gab_disk_collector *collector = &disk->collector;
  bool come;
  if (collector->part == collector->file.part_count) {
    collector->stage = GAB_COLLECT_CREATE;
    submit(disk, &collector->operation, GAB_DISK_CREATE);
    return GAB_OK;
  }
  GAB_TRY(receive(disk, &come));
  *waiting = !come;
  if (!come) return GAB_OK;
  gab_disk_part *part = &collector->file.parts[collector->part++];
  gab_reader in = gab_message_reader(&collector->in[collector->turn]);
  GAB_TRY(gab_get_u64(&in, &part->bytes));
  return gab_get_u64(&in, &part->blocks);
}

static gab_status take_chunk(gab_disk *disk, const gab_disk_part *part, gab_reader in)
{
  gab_disk_collector *collector = &disk->collector;
  size_t count = gab_reader_left(&in);
  if (count == 0 || count > part->bytes - collector->got)
    GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " sends other images than it announced", part->rank);
  submit_bytes(disk, &collector->writing[collector->turn], part->image_at + collector->got, &in);
  collector->got += count;
  return GAB_OK;
}

static gab_status take_trailer(gab_disk *disk, gab_disk_part *part, gab_reader in)
{
  gab_disk_collector *collector = &disk->collector;
  GAB_TRY(gab_get_u64(&in, &part->hashes.image));
  GAB_TRY(gab_get_u64(&in, &part->hashes.table));
  uint8_t changed;
  GAB_TRY(gab_get_u8(&in, &changed));
  part->hashes.changed = changed != 0;
  if (gab_reader_left(&in) != part->blocks * GAB_DISK_COLUMNS * 8)
    GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " sends another table than it announced", part->rank);
  submit_bytes(disk, &collector->writing[collector->turn], part->table_at, &in);
  collector->part++;
  collector->got = 0;
  return GAB_OK;
}

static gab_status take_data(gab_disk *disk, bool *waiting)
{
  gab_disk_collector *collector = &disk->collector;
  bool come;
  if (collector->part == collector->file.part_count) {
    collector->stage = GAB_COLLECT_FINISH;
    submit(disk, &collector->operation, GAB_DISK_FINISH);
    return GAB_OK;
  }
  GAB_TRY(receive(disk, &come));
  *waiting = !come;
  if (!come) return GAB_OK;
  gab_disk_part *part = &collector->file.parts[collector->part];
  gab_reader in = gab_message_reader(&collector->in[collector->turn]);
  GAB_TRY(collector->got < part->bytes ? take_chunk(disk, part, in) : take_trailer(disk, part, in));
  collector->turn = !collector->turn;
  gab_world_enter(disk->world, GAB_FAULT_POINT_DISK_WRITE);
  return GAB_OK;
}

/* ---------------------------------------------------------------- all of it */

static gab_status advance(gab_disk *disk, bool *waiting)
{
  gab_disk_collector *collector = &disk->collector;
  if (collector->stage == GAB_COLLECT_HELLO) return take_hello(disk, waiting);
  if (collector->stage == GAB_COLLECT_CREATE) {
    *waiting = !gab_worker_is_done(disk->worker, &collector->operation.work);
    if (*waiting) return GAB_OK;
    submit(disk, &collector->operation, GAB_DISK_PUT_OWN);
    collector->stage = GAB_COLLECT_DATA;
    collector->part = 1;
    collector->got = 0;
    gab_world_enter(disk->world, GAB_FAULT_POINT_DISK_WRITE);
    return GAB_OK;
  }
  /* There is one operation at a time: the own image must be in the file before the file is finished. */
  *waiting = !gab_worker_is_done(disk->worker, &collector->operation.work) &&
             (collector->stage == GAB_COLLECT_FINISH || collector->part == collector->file.part_count);
  if (*waiting) return GAB_OK;
  if (collector->stage == GAB_COLLECT_DATA) return take_data(disk, waiting);
  collector->stage = GAB_COLLECT_DONE;
  gab_world_enter(disk->world, GAB_FAULT_POINT_DISK_COMMIT);
  return gab_disk_report(disk);
}

gab_status gab_disk_collector_progress(gab_disk *disk)
{
  bool waiting = false;
  while (!waiting && disk->collector.stage != GAB_COLLECT_DONE) GAB_TRY(advance(disk, &waiting));
  return GAB_OK;
}
