/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/disk/disk_impl.h"

#include "core/messages/collective.h"
#include "core/base/log.h"

#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------- the image that is being written */

/* Called before the image is overwritten: swaps the buffer if the writer needs it. */
static void keep_image(void *user, gab_snapshot *snapshot)
{
  gab_disk *disk = user;
  if (disk->pinned != snapshot) return;
  if (disk->image) gab_buffer_swap(&snapshot->own, &disk->spare);
  disk->pinned = NULL;
}

static void let_go(gab_disk *disk)
{
  disk->pinned = NULL;
  disk->image = NULL;
  gab_buffer_release(&disk->spare);
}

static bool is_whole(const void *bytes, size_t count)
{
  gab_reader in = gab_reader_of(bytes, count);
  return gab_checksum_matches(&in);
}

/* In the thread. An image that is no longer that of the snapshot gets no hashes. */
static void hash_image(gab_work *work)
{
  gab_disk *disk = (gab_disk *)((char *)work - offsetof(gab_disk, hashing));
  disk->hashes.changed =
      !disk->stop && (!is_whole(disk->image, disk->image_bytes) ||
                      (disk->index == 0 && !is_whole(disk->replicated.data, disk->replicated.size)));
  disk->hashes.image = gab_disk_hash(disk->image, disk->image_bytes, &disk->stop);
  gab_disk_hash_table(disk->image, &disk->table, &disk->stop);
  disk->hashes.table = gab_disk_hash(disk->table.data, disk->table.size, &disk->stop);
  disk->replicated_hash = gab_disk_hash(disk->replicated.data, disk->replicated.size, &disk->stop);
}

/* ---------------------------------------------------------------- life */

static gab_status copy_text(gab_buffer *to, const char *text)
{
  gab_buffer_init(to, GAB_MEMORY_OTHER);
  return text ? gab_put_bytes(to, text, strlen(text)) : GAB_OK;
}

static gab_status build(gab_disk *disk, const gab_disk_options *options)
{
  if (strlen(options->folder) > GAB_DISK_PATH - 128)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %.80s… is too long", options->folder);
  snprintf(disk->folder, sizeof disk->folder, "%s", options->folder);
  disk->group = options->group > 0 ? options->group : GAB_DISK_GROUP;
  disk->keep = options->keep > 0 ? options->keep : GAB_DISK_KEEP;
  disk->stats.last_step = -1;
  gab_buffer_init(&disk->spare, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&disk->table, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&disk->replicated, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&disk->sender.out, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&disk->collector.in[0], GAB_MEMORY_MESSAGE);
  gab_buffer_init(&disk->collector.in[1], GAB_MEMORY_MESSAGE);
  gab_buffer_init(&disk->committer.report, GAB_MEMORY_MESSAGE);
  gab_manifest_init(&disk->committer.manifest);
  disk->collector.file.descriptor = -1;
  GAB_TRY(copy_text(&disk->state, options->state));
  GAB_TRY(copy_text(&disk->parameters, options->parameters));
  GAB_TRY(gab_port_create(disk->world, "disk", &disk->port));
  return gab_port_create(disk->world, "disk reports", &disk->reports);
}

void gab_disk_set_fence(gab_disk *disk, const gab_fence *fence) { disk->fence = fence; }

gab_status gab_disk_create(gab_checkpoint *checkpoint, gab_events *events, const gab_disk_options *options,
                           gab_disk **disk)
{
  *disk = NULL;
  gab_disk *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->checkpoint = checkpoint;
  made->world = checkpoint->world;
  made->events = events;
  gab_status status = build(made, options);
  if (status != GAB_OK) {
    gab_disk_destroy(&made);
    return status;
  }
  checkpoint->before_overwrite = keep_image;
  checkpoint->overwrite_user = made;
  *disk = made;
  return GAB_OK;
}

void gab_disk_destroy(gab_disk **disk)
{
  gab_disk *gone = *disk;
  if (!gone) return;
  gab_disk_abandon(gone);
  gab_worker_destroy(&gone->worker);
  if (gone->checkpoint->overwrite_user == gone) gone->checkpoint->before_overwrite = NULL;
  if (gone->port) gab_port_destroy(&gone->port);
  if (gone->reports) gab_port_destroy(&gone->reports);
  gab_buffer_release(&gone->state);
  gab_buffer_release(&gone->parameters);
  gab_buffer_release(&gone->spare);
  gab_buffer_release(&gone->table);
  gab_buffer_release(&gone->replicated);
  gab_buffer_release(&gone->sender.out);
  gab_buffer_release(&gone->collector.in[0]);
  gab_buffer_release(&gone->collector.in[1]);
  gab_buffer_release(&gone->committer.report);
  gab_manifest_release(&gone->committer.manifest);
  gab_members_release(&gone->members);
  gab_free(&gone->collector.file.parts);
  gab_free(disk);
}

const char *gab_disk_folder(const gab_disk *disk) { return disk->folder; }
gab_disk_stats gab_disk_get_stats(const gab_disk *disk) { return disk->stats; }
void gab_disk_went_back(gab_disk *disk, gab_step step) { disk->stats.last_step = step; }

/* ---------------------------------------------------------------- a write */

static bool is_aggregator(const gab_disk *disk) { return disk->index % disk->group == 0; }

static gab_status prepare(gab_disk *disk)
{
  gab_snapshot *snapshot = &disk->checkpoint->snapshots[disk->checkpoint->valid];
  disk->step = snapshot->step;
  disk->serial = snapshot->serial;
  disk->blocks = snapshot->blocks;
  disk->epoch = gab_world_epoch(disk->world);
  disk->started = gab_seconds();
  GAB_TRY(gab_members_copy(&disk->members, &snapshot->members));
  disk->index = gab_members_index(&disk->members, gab_world_rank(disk->world));
  disk->image = snapshot->own.data + GAB_ENVELOPE_BYTES;
  disk->image_bytes = gab_message_bytes(&snapshot->own);
  disk->pinned = snapshot;
  gab_buffer_clear(&disk->table);
  GAB_TRY(gab_disk_table(disk->checkpoint->forest, disk->image, disk->image_bytes, &disk->table));
  gab_buffer_clear(&disk->replicated);
  if (disk->index == 0)
    GAB_TRY(gab_put_bytes(&disk->replicated, snapshot->replicated.data, snapshot->replicated.size));
  if (!disk->worker) GAB_TRY(gab_worker_create(&disk->worker));
  if (disk->index == 0) GAB_TRY(gab_disk_committer_begin(disk));
  return is_aggregator(disk) ? gab_disk_collector_begin(disk) : gab_disk_sender_begin(disk);
}

static gab_status begin(gab_disk *disk, bool *begun)
{
  const gab_snapshot *snapshot = &disk->checkpoint->snapshots[disk->checkpoint->valid];
  const bool root = gab_world_is_root(disk->world), was_busy = disk->busy;
  /* a write is in progress on some rank; already complete; some rank cannot */
  uint64_t why_not[3] = {was_busy, root && disk->stats.last_step == snapshot->step, 0};
  if (!was_busy) why_not[2] = prepare(disk) != GAB_OK;
  if (why_not[2])
    gab_log_all(GAB_LOG_WARNING, "no checkpoint can be written to disk: %s", gab_error_message());
  GAB_TRY(gab_world_max_u64(disk->world, why_not, 3));
  *begun = !why_not[0] && !why_not[1] && !why_not[2];
  if (!*begun) {
    if (!was_busy) let_go(disk);
    if (why_not[0])
      gab_log(GAB_LOG_DEBUG, "step %" GAB_PRI_STEP ": the checkpoint before is still being written to disk",
              snapshot->step);
    return GAB_OK;
  }
  disk->busy = true;
  disk->stats.begun++;
  disk->hashing.run = hash_image;
  gab_worker_submit(disk->worker, &disk->hashing);
  return GAB_OK;
}

static double charge(gab_disk *disk, double since)
{
  double now = gab_seconds();
  disk->stats.blocking_seconds += now - since;
  return now;
}

gab_status gab_disk_begin(gab_disk *disk, bool *begun)
{
  bool did = false;
  double start = gab_seconds();
  gab_status status = begin(disk, &did);
  if (status != GAB_OK && !disk->busy) let_go(disk);
  if (begun) *begun = did;
  charge(disk, start);
  return status;
}

static bool own_part_is_done(gab_disk *disk)
{
  if (!gab_worker_is_done(disk->worker, &disk->hashing)) return false;
  if (is_aggregator(disk)) return disk->collector.stage == GAB_COLLECT_DONE;
  return disk->sender.stage == GAB_SEND_DONE;
}

/* The report is a message on a separate port; its buffer must not change until it was sent. */
static gab_status finish_report(gab_disk *disk, bool *gone)
{
  *gone = true;
  if (!is_aggregator(disk) || !disk->sender.sending) return GAB_OK;
  GAB_TRY(gab_port_progress(disk->reports, gone));
  if (!*gone) return GAB_OK;
  disk->sender.sending = false;
  return gab_port_finish(disk->reports);
}

static gab_status progress(gab_disk *disk)
{
  bool gone;
  GAB_TRY(is_aggregator(disk) ? gab_disk_collector_progress(disk) : gab_disk_sender_progress(disk));
  if (disk->index == 0) GAB_TRY(gab_disk_committer_progress(disk));
  if (!own_part_is_done(disk)) return GAB_OK;
  let_go(disk);
  GAB_TRY(finish_report(disk, &gone));
  if (gone && (disk->index != 0 || disk->committer.stage == GAB_COMMIT_DONE)) disk->busy = false;
  return GAB_OK;
}

gab_status gab_disk_progress(gab_disk *disk)
{
  if (!disk->busy) return GAB_OK;
  double start = gab_seconds();
  GAB_TRY(gab_world_check(disk->world));
  gab_status status = progress(disk);
  charge(disk, start);
  return status;
}

gab_status gab_disk_wait(gab_disk *disk)
{
  const struct timespec nap = {.tv_nsec = 200 * 1000};
  gab_status status = GAB_OK;
  while (disk->busy && status == GAB_OK) {
    status = gab_disk_progress(disk);
    double start = gab_seconds();
    if (disk->busy && status == GAB_OK) nanosleep(&nap, NULL);
    disk->stats.waiting_seconds += gab_seconds() - start;
  }
  return status;
}

bool gab_disk_is_busy(const gab_disk *disk) { return disk->busy; }

/* A manifest being written is completed; an incomplete file is removed. */
bool gab_disk_abandon(gab_disk *disk)
{
  if (!disk->busy) return false;
  disk->stop = true;
  gab_worker_drain(disk->worker);
  disk->stop = false;
  gab_disk_collector *collector = &disk->collector;
  if (is_aggregator(disk) && collector->stage < GAB_COLLECT_DONE) gab_disk_file_drop(&collector->file);
  if (disk->index == 0 && disk->committer.stage == GAB_COMMIT_MANIFEST) gab_disk_committer_conclude(disk);
  disk->sender.sending = false;
  disk->busy = false;
  let_go(disk);
  return true;
}
