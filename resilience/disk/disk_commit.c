/* SPDX-License-Identifier: Apache-2.0 */
/* From files to a checkpoint: the aggregators report to the root, which writes the manifest. */
#include "resilience/disk/disk_impl.h"

#include "core/system/file.h"
#include "core/base/log.h"
#include "core/base/timer.h"
#include "resilience/reports/events_impl.h"
#include "resilience/recovery/fence_impl.h"
#include "resilience/disk/manifest_impl.h"

#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- reports */

static gab_status pack_report(const gab_disk_file *file, gab_buffer *out)
{
  GAB_TRY(gab_put_u32(out, (uint32_t)file->status));
  GAB_TRY(gab_put_u64(out, file->bytes));
  GAB_TRY(gab_put_u64(out, gab_disk_file_digest(file)));
  return gab_put_string(out, file->message);
}

/* Records the report of a group. */
static gab_status take_report(gab_disk *disk, int32_t group, gab_reader in)
{
  gab_disk_committer *committer = &disk->committer;
  gab_manifest_file *file = &committer->manifest.files[group];
  char message[GAB_DISK_MESSAGE];
  uint32_t status;
  GAB_TRY(gab_get_u32(&in, &status));
  GAB_TRY(gab_get_u64(&in, &file->bytes));
  GAB_TRY(gab_get_u64(&in, &file->digest));
  GAB_TRY(gab_get_string(&in, message, sizeof message));
  gab_disk_group_name(file->name, group);
  if (status != GAB_OK && committer->status == GAB_OK) {
    committer->status = GAB_ERR_IO;
    memcpy(committer->message, message, sizeof message);
  }
  return GAB_OK;
}

gab_status gab_disk_report(gab_disk *disk)
{
  gab_buffer *out = &disk->sender.out;
  const gab_disk_file *file = &disk->collector.file;
  if (file->group > 0) {
    GAB_TRY(gab_message_begin(out));
    GAB_TRY(pack_report(file, out));
    disk->sender.sending = true;
    return gab_port_send(disk->reports, gab_members_rank(&disk->members, 0), out);
  }
  gab_buffer_clear(out);
  GAB_TRY(pack_report(file, out));
  return take_report(disk, 0, gab_reader_of_buffer(out));
}

/* ---------------------------------------------------------------- in the thread */

static gab_status write_manifest(gab_disk *disk)
{
  char folder[GAB_DISK_PATH], path[GAB_DISK_PATH + 16];
  gab_buffer text = {0};
  gab_status status = gab_disk_step_folder(folder, disk->folder, disk->step);
  if (status == GAB_OK) status = gab_manifest_format(&disk->committer.manifest, &text);
  snprintf(path, sizeof path, "%s/manifest.json", folder);
  gab_fence_check(disk->fence);
  if (status == GAB_OK) status = gab_file_replace(path, text.data, text.size, GAB_FILE_SYNCED);
  gab_buffer_release(&text);
  return status;
}

static void commit(gab_work *work)
{
  gab_disk_committer *committer = (gab_disk_committer *)((char *)work - offsetof(gab_disk_committer, work));
  gab_disk *disk = committer->disk;
  char folder[GAB_DISK_PATH];
  if (committer->status == GAB_OK && write_manifest(disk) != GAB_OK) {
    committer->status = GAB_ERR_IO;
    snprintf(committer->message, sizeof committer->message, "%.500s", gab_error_message());
  }
  /* A process that died while it wrote this step has left its file, with an earlier epoch in the name. */
  if (committer->status == GAB_OK && gab_disk_step_folder(folder, disk->folder, disk->step) == GAB_OK)
    gab_disk_remove_temporaries(folder);
  gab_status cleared;
  if (committer->status == GAB_OK) cleared = gab_disk_prune(disk->folder, disk->step, disk->keep);
  else {
    cleared = gab_disk_step_folder(folder, disk->folder, disk->step);
    if (cleared == GAB_OK && access(folder, F_OK) == 0) cleared = gab_disk_remove_step(folder);
  }
  if (cleared != GAB_OK)
    snprintf(committer->warning, sizeof committer->warning, "%.500s", gab_error_message());
}

/* ---------------------------------------------------------------- root */

gab_status gab_disk_committer_begin(gab_disk *disk)
{
  gab_disk_committer *committer = &disk->committer;
  gab_manifest *manifest = &committer->manifest;
  gab_manifest_release(manifest);
  gab_manifest_init(manifest);
  committer->stage = GAB_COMMIT_REPORTS;
  committer->disk = disk;
  committer->next = 1;
  committer->receiving = false;
  committer->status = GAB_OK;
  committer->message[0] = committer->warning[0] = '\0';
  snprintf(manifest->program, sizeof manifest->program, "%s", GAB_VERSION);
  snprintf(manifest->scheme, sizeof manifest->scheme, "%.60s", disk->checkpoint->redundancy.scheme->name);
  manifest->step = disk->step;
  manifest->serial = disk->serial;
  manifest->epoch = disk->epoch;
  manifest->blocks = disk->blocks;
  manifest->group = disk->group;
  GAB_TRY(gab_members_copy(&manifest->members, &disk->members));
  GAB_TRY(gab_put_bytes(&manifest->state, disk->state.data, disk->state.size));
  GAB_TRY(gab_put_bytes(&manifest->parameters, disk->parameters.data, disk->parameters.size));
  return gab_manifest_set_files(manifest);
}

static gab_status receive_report(gab_disk *disk, bool *come)
{
  gab_disk_committer *committer = &disk->committer;
  if (!committer->receiving) {
    gab_rank from = gab_members_rank(&disk->members, committer->next * disk->group);
    GAB_TRY(gab_port_receive(disk->reports, from, &committer->report, GAB_SIZE_UNKNOWN));
    committer->receiving = true;
  }
  GAB_TRY(gab_port_progress(disk->reports, come));
  if (!*come) return GAB_OK;
  GAB_TRY(gab_port_finish(disk->reports));
  committer->receiving = false;
  return take_report(disk, committer->next++, gab_message_reader(&committer->report));
}

void gab_disk_committer_conclude(gab_disk *disk)
{
  gab_disk_committer *committer = &disk->committer;
  gab_disk_stats *stats = &disk->stats;
  const double seconds = gab_seconds() - disk->started;
  committer->stage = GAB_COMMIT_DONE;
  if (committer->warning[0]) gab_log(GAB_LOG_WARNING, "older checkpoints: %s", committer->warning);
  if (committer->status != GAB_OK) {
    stats->failed++;
    gab_log(GAB_LOG_WARNING,
            "the checkpoint of step %" GAB_PRI_STEP
            " could not be written to disk; the run continues without it: %s",
            disk->step, committer->message);
    gab_json *event = gab_event_begin(disk->events, "disk checkpoint failed");
    gab_json_int(event, "of_step", disk->step);
    gab_json_rounded(event, "seconds", seconds, 6);
    gab_json_text(event, "why", committer->message);
    gab_event_end(disk->events, &event);
    return;
  }
  stats->written++;
  stats->last_step = disk->step;
  stats->last_seconds = seconds;
  stats->last_bytes = 0;
  for (size_t i = 0; i < committer->manifest.file_count; i++)
    stats->last_bytes += committer->manifest.files[i].bytes;
  gab_json *event = gab_event_begin(disk->events, "disk checkpoint");
  gab_json_int(event, "of_step", disk->step);
  gab_json_uint(event, "bytes", stats->last_bytes);
  gab_json_uint(event, "files", committer->manifest.file_count);
  gab_json_rounded(event, "seconds", seconds, 6);
  gab_event_end(disk->events, &event);
  gab_log(GAB_LOG_DEBUG, "checkpoint of step %" GAB_PRI_STEP " is on disk: %.1f MB in %.2f s", disk->step,
          1e-6 * (double)stats->last_bytes, seconds);
}

gab_status gab_disk_committer_progress(gab_disk *disk)
{
  gab_disk_committer *committer = &disk->committer;
  if (disk->collector.stage != GAB_COLLECT_DONE || committer->stage == GAB_COMMIT_DONE) return GAB_OK;
  bool come = true;
  while (committer->stage == GAB_COMMIT_REPORTS &&
         committer->next < (int32_t)committer->manifest.file_count) {
    GAB_TRY(receive_report(disk, &come));
    if (!come) return GAB_OK;
  }
  if (committer->stage == GAB_COMMIT_REPORTS) {
    gab_world_enter(disk->world, GAB_FAULT_POINT_DISK_COMMIT);
    committer->manifest.seconds = gab_seconds() - disk->started;
    committer->manifest.written = gab_seconds_since_1970();
    committer->work.run = commit;
    committer->stage = GAB_COMMIT_MANIFEST;
    gab_worker_submit(disk->worker, &committer->work);
  }
  if (!gab_worker_is_done(disk->worker, &committer->work)) return GAB_OK;
  gab_disk_committer_conclude(disk);
  return GAB_OK;
}
