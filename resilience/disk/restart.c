/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/disk/restart.h"

#include "blockforest/output/output.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/disk/disk_impl.h"
#include "resilience/disk/restart_impl.h"
#include "resilience/disk/manifest_impl.h"

#include <string.h>
#include <unistd.h>

struct gab_restart {
  gab_world *world;
  char folder[GAB_DISK_PATH];
  gab_manifest *manifests; /* newest first */
  size_t count;
  char obstacle[GAB_DISK_MESSAGE]; /* defect of the newest unusable one */
};

/* ---------------------------------------------------------------- looking what is there */

/* Data from the root to all: the manifests of checkpoints that may be complete, as in the files. */
typedef struct finding {
  gab_buffer texts;
  bool clean;
  bool any; /* a newer one may be complete */
  char obstacle[GAB_DISK_MESSAGE];
} finding;

/* A job that died while it removed an old checkpoint, manifest first, left the rest of it. */
static bool is_removed_in_part(const finding *found, const char *path)
{
  return found->any && !gab_disk_has_manifest(path);
}

static gab_status check_one(const char *path, gab_buffer *text)
{
  gab_manifest manifest;
  gab_manifest_init(&manifest);
  gab_status status = gab_manifest_read(path, &manifest);
  if (status == GAB_OK) status = gab_manifest_check_files(&manifest, path);
  if (status == GAB_OK) status = gab_manifest_format(&manifest, text);
  gab_manifest_release(&manifest);
  return status;
}

static gab_status find_one(void *user, gab_step step, const char *path)
{
  finding *found = user;
  gab_buffer text = {0};
  if (found->clean) gab_disk_remove_temporaries(path);
  if (found->clean && is_removed_in_part(found, path)) return gab_disk_remove_step(path);
  gab_status status = check_one(path, &text);
  if (status == GAB_OK) {
    found->any = true;
    status = gab_put_u64(&found->texts, text.size);
    if (status == GAB_OK) status = gab_put_bytes(&found->texts, text.data, text.size);
  } else {
    /* A folder without a manifest is a checkpoint that was never completed. */
    if (!found->obstacle[0] && gab_disk_has_manifest(path))
      snprintf(found->obstacle, sizeof found->obstacle, "%.500s", gab_error_message());
    gab_log(GAB_LOG_WARNING, "the checkpoint of step %" GAB_PRI_STEP " cannot be used: %s", step,
            gab_error_message());
    status = GAB_OK;
  }
  gab_buffer_release(&text);
  return status;
}

/* Findings of the root: the obstacle, then the manifests. */
static gab_status look(gab_restart *restart, finding *found)
{
  gab_buffer manifests = {0};
  gab_status status = gab_disk_visit(restart->folder, find_one, found);
  if (status == GAB_OK && !found->obstacle[0])
    status = gab_disk_find_set_aside(restart->folder, found->obstacle, sizeof found->obstacle);
  manifests = found->texts;
  found->texts = (gab_buffer){0};
  if (status == GAB_OK) status = gab_put_string(&found->texts, found->obstacle);
  if (status == GAB_OK) status = gab_put_bytes(&found->texts, manifests.data, manifests.size);
  gab_buffer_release(&manifests);
  return status;
}

static gab_status add(gab_restart *restart, gab_reader text)
{
  GAB_TRY(gab_list_reserve(&restart->manifests, restart->count, sizeof *restart->manifests));
  gab_manifest *manifest = &restart->manifests[restart->count];
  gab_manifest_init(manifest);
  gab_status status =
      gab_manifest_parse("a manifest", (const char *)text.at, gab_reader_left(&text), manifest);
  if (status != GAB_OK) gab_manifest_release(manifest);
  else restart->count++;
  return status;
}

static gab_status find(gab_restart *restart, finding *found)
{
  gab_status status = GAB_OK;
  if (gab_world_is_root(restart->world)) status = look(restart, found);
  GAB_TRY(gab_world_reduce_status(restart->world, status));
  GAB_TRY(gab_world_broadcast(restart->world, gab_world_root(restart->world), &found->texts));
  gab_reader in = gab_reader_of_buffer(&found->texts), text;
  GAB_TRY(gab_get_string(&in, restart->obstacle, sizeof restart->obstacle));
  while (gab_reader_left(&in) > 0) {
    size_t length;
    GAB_TRY(gab_get_count(&in, 1, &length));
    GAB_TRY(gab_get_view(&in, length, &text));
    GAB_TRY(add(restart, text));
  }
  return GAB_OK;
}

gab_status gab_restart_find(gab_world *world, const char *folder, bool clean, gab_restart **restart)
{
  *restart = NULL;
  if (strlen(folder) > GAB_DISK_PATH - 128)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %.80s… is too long", folder);
  gab_restart *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  finding found = {.clean = clean};
  made->world = world;
  snprintf(made->folder, sizeof made->folder, "%s", folder);
  gab_status status = find(made, &found);
  gab_buffer_release(&found.texts);
  if (status != GAB_OK) gab_restart_destroy(&made);
  *restart = made;
  return status;
}

void gab_restart_destroy(gab_restart **restart)
{
  if (!*restart) return;
  for (size_t i = 0; i < (*restart)->count; i++) gab_manifest_release(&(*restart)->manifests[i]);
  gab_free(&(*restart)->manifests);
  gab_free(restart);
}

size_t gab_restart_count(const gab_restart *restart) { return restart ? restart->count : 0; }

const gab_manifest *gab_restart_manifest(const gab_restart *restart, size_t index)
{
  return &restart->manifests[index];
}

gab_status gab_restart_check_none(const gab_restart *restart)
{
  if (gab_restart_count(restart) > 0 || !restart->obstacle[0]) return GAB_OK;
  GAB_FAIL(
      GAB_ERR_IO,
      "%s holds checkpoints, and none of them can be used: %s. Nothing is started over: make the files readable, or "
      "remove that folder to begin at step 0",
      restart->folder, restart->obstacle);
}

/* ---------------------------------------------------------------- what falls to whom */

typedef struct falling {
  const gab_members *then, *now;
} falling;

int32_t gab_falls_to(int32_t index, int32_t then, int32_t now)
{
  return (int32_t)((int64_t)index * now / then);
}

int32_t gab_first_falling_to(int32_t member, int32_t then, int32_t now)
{
  return (int32_t)(((int64_t)member * then + now - 1) / now);
}

static gab_rank owner_now(void *context, gab_rank owner_then)
{
  const falling *map = context;
  int32_t index = gab_members_index(map->then, owner_then);
  if (index < 0) return GAB_NO_RANK;
  return gab_members_rank(map->now,
                          gab_falls_to(index, gab_members_count(map->then), gab_members_count(map->now)));
}

/* ---------------------------------------------------------------- reading */

typedef struct loading {
  const gab_manifest *manifest;
  falling map;
  char folder[GAB_DISK_PATH];
  gab_disk_reader *reader; /* of the group read last */
  int32_t group;
  gab_buffer *images;
  gab_rank *ranks;
  size_t count, capacity;
  gab_buffer replicated;
} loading;

static gab_status open_group(loading *load, int32_t group)
{
  char path[GAB_DISK_PATH + GAB_MANIFEST_NAME + 1];
  if (load->reader && load->group == group) return GAB_OK;
  gab_disk_close(&load->reader);
  snprintf(path, sizeof path, "%s/%s", load->folder, load->manifest->files[group].name);
  GAB_TRY(gab_disk_open(path, load->manifest, group, &load->reader));
  load->group = group;
  return gab_disk_check_digest(load->reader, load->manifest, group);
}

static gab_status read_mine(loading *load, int32_t me)
{
  const int32_t then = gab_members_count(load->map.then), now = gab_members_count(load->map.now);
  load->capacity = (size_t)then / (size_t)now + 2;
  GAB_TRY(GAB_NEW_ARRAY(&load->images, load->capacity, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&load->ranks, load->capacity, GAB_MEMORY_OTHER));
  for (int32_t i = gab_first_falling_to(me, then, now); i < then && gab_falls_to(i, then, now) == me; i++) {
    gab_buffer *image = &load->images[load->count];
    gab_buffer_init(image, GAB_MEMORY_SNAPSHOT);
    load->ranks[load->count++] = gab_members_rank(load->map.then, i);
    GAB_TRY(open_group(load, i / load->manifest->group));
    GAB_TRY(gab_disk_read_part(load->reader, load->ranks[load->count - 1], image, NULL));
  }
  return GAB_OK;
}

static gab_status read_replicated(loading *load)
{
  GAB_TRY(open_group(load, 0));
  return gab_disk_read_replicated(load->reader, &load->replicated);
}

static void release(loading *load)
{
  gab_disk_close(&load->reader);
  for (size_t i = 0; i < load->count; i++) gab_buffer_release(&load->images[i]);
  gab_free(&load->images);
  gab_free(&load->ranks);
  gab_buffer_release(&load->replicated);
}

/* Succeeds only if all ranks have read all data that they need, with matching hashes. */
static gab_status read_all(const gab_restart *restart, const gab_manifest *manifest, loading *load)
{
  gab_world *world = restart->world;
  *load = (loading){.manifest = manifest, .map = {&manifest->members, gab_world_members(world)}};
  gab_buffer_init(&load->replicated, GAB_MEMORY_SNAPSHOT);
  gab_status status = gab_disk_step_folder(load->folder, restart->folder, manifest->step);
  if (status == GAB_OK && !gab_world_is_spare(world))
    status = read_mine(load, gab_members_index(load->map.now, gab_world_rank(world)));
  if (status == GAB_OK && gab_world_is_root(world)) status = read_replicated(load);
  GAB_TRY(gab_world_reduce_status(world, status));
  return gab_world_broadcast(world, gab_world_root(world), &load->replicated);
}

/* ---------------------------------------------------------------- restoring */

static gab_status skip_checksum(gab_reader *in)
{
  uint64_t checksum;
  return gab_get_u64(in, &checksum);
}

static gab_status restore(gab_checkpoint *checkpoint, const gab_assigned_images *assigned)
{
  falling map = {assigned->then, gab_world_members(checkpoint->world)};
  gab_image_list list;
  gab_status status = gab_images_begin(&list, assigned->count);
  list.format = assigned->format;
  list.replicated = assigned->replicated;
  if (status == GAB_OK) status = skip_checksum(&list.replicated);
  for (size_t i = 0; i < assigned->count && status == GAB_OK; i++) {
    gab_image_view *view = &list.images[list.count++];
    view->rank = assigned->ranks[i];
    status = gab_image_cut(assigned->images[i], assigned->format, assigned->serial, assigned->step,
                           view->rank, &view->forest, &view->entities);
  }
  if (status == GAB_OK) status = gab_images_restore_blocks(checkpoint, &list, owner_now, &map);
  if (status == GAB_OK) status = gab_images_restore_entities(checkpoint, &list);
  gab_images_release(&list);
  if (status == GAB_OK && assigned->count == 0 && checkpoint->untouched_unknown)
    GAB_FAIL(GAB_ERR_STATE,
             "no image falls to rank %" GAB_PRI_RANK
             ", and what it had before the first step is not known: an entity "
             "per rank could not be packed on the spare that runs it (core/base/entity.h)",
             gab_world_rank(checkpoint->world));
  if (status != GAB_OK || assigned->count > 0 || checkpoint->untouched.size == 0) return status;
  /* No image is assigned to this rank: it starts from its initial state. */
  gab_reader untouched = gab_reader_of_buffer(&checkpoint->untouched);
  return gab_entities_unpack(checkpoint, GAB_ENTITY_PER_RANK, 0, &untouched, GAB_NO_RANK);
}

gab_status gab_assigned_images_restore(gab_checkpoint *checkpoint, const gab_assigned_images *assigned)
{
  GAB_TRY(gab_snapshots_forget(checkpoint, assigned->highest));
  return restore(checkpoint, assigned);
}

static gab_status restore_loaded(gab_checkpoint *checkpoint, const loading *load)
{
  gab_reader *images;
  GAB_TRY(GAB_NEW_ARRAY(&images, load->count + 1, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < load->count; i++) images[i] = gab_reader_of_buffer(&load->images[i]);
  const gab_assigned_images assigned = {.then = load->map.then,
                                        .format = load->manifest->format,
                                        .serial = load->manifest->serial,
                                        .highest = load->manifest->serial,
                                        .step = load->manifest->step,
                                        .images = images,
                                        .ranks = load->ranks,
                                        .count = load->count,
                                        .replicated = gab_reader_of_buffer(&load->replicated)};
  gab_status status = gab_assigned_images_restore(checkpoint, &assigned);
  gab_free(&images);
  return status;
}

static void fill_report(const loading *load, gab_restart_report *report)
{
  report->step = load->manifest->step;
  report->members = gab_members_count(load->map.then);
  report->images = load->count;
  for (size_t i = 0; i < load->count; i++) report->bytes += load->images[i].size;
}

/* @param[out] read  whether all have read it: a later failure is one of a single rank, which ends the run @return
 *   GAB_ERR_CORRUPT, or the error of the rank that cannot read it, on all ranks if this one cannot be used */
static gab_status load_one(const gab_restart *restart, const gab_manifest *manifest,
                           gab_checkpoint *checkpoint, gab_restart_report *report, bool *read)
{
  loading load;
  gab_status status = read_all(restart, manifest, &load);
  *read = status == GAB_OK;
  if (status == GAB_OK) status = restore_loaded(checkpoint, &load);
  if (status == GAB_OK) fill_report(&load, report);
  release(&load);
  return status;
}

gab_status gab_restart_load(const gab_restart *restart, gab_checkpoint *checkpoint,
                            gab_restart_report *report)
{
  double start = gab_seconds();
  char last[1024] = "there is none";
  gab_status beyond = GAB_OK;
  *report = (gab_restart_report){.step = -1};
  gab_world_enter(restart->world, GAB_FAULT_POINT_RECOVERY);
  for (size_t i = 0; i < restart->count; i++) {
    const gab_manifest *manifest = &restart->manifests[i];
    bool read = false;
    gab_status status = load_one(restart, manifest, checkpoint, report, &read);
    if (status == GAB_OK) {
      report->seconds = gab_seconds() - start;
      gab_world_enter(restart->world, GAB_FAULT_POINT_RECOVERY);
      return GAB_OK;
    }
    if (status == GAB_ERR_FAULT || read) return status;
    snprintf(last, sizeof last, "%s", gab_error_message());
    gab_log(GAB_LOG_WARNING, "the checkpoint of step %" GAB_PRI_STEP " cannot be used: %s", manifest->step,
            last);
    if (status != GAB_ERR_CORRUPT)
      beyond = status; /* an error of this process, not of the checkpoint, which is kept */
    else if (gab_world_is_root(restart->world)) gab_disk_set_aside(restart->folder, manifest->step);
  }
  if (beyond != GAB_OK)
    GAB_FAIL(
        beyond,
        "no checkpoint in %s can be read: %s. They stay as they are: make them readable and run the same command again",
        restart->folder, last);
  GAB_FAIL(GAB_ERR_LOST, "no checkpoint in %s is whole: %s. Remove that folder to begin at step 0",
           restart->folder, last);
}

/* ---------------------------------------------------------------- the blocks of another run */

static gab_status restore_forest(const loading *load, gab_forest *forest)
{
  gab_reader *forests;
  gab_status status = GAB_NEW_ARRAY(&forests, load->count + 1, GAB_MEMORY_OTHER);
  for (size_t i = 0; i < load->count && status == GAB_OK; i++) {
    gab_reader entities;
    status =
        gab_image_cut(gab_reader_of_buffer(&load->images[i]), load->manifest->format, load->manifest->serial,
                      load->manifest->step, load->ranks[i], &forests[i], &entities);
  }
  if (status == GAB_OK)
    status = gab_forest_restore(forest, forests, load->count, owner_now, (void *)(uintptr_t)&load->map);
  gab_free(&forests);
  return status;
}

gab_status gab_restart_load_forest(const gab_restart *restart, size_t index, gab_forest *forest,
                                   gab_restart_report *report)
{
  loading load;
  const double start = gab_seconds();
  gab_status status = read_all(restart, &restart->manifests[index], &load);
  if (status == GAB_OK) status = gab_world_reduce_status(restart->world, restore_forest(&load, forest));
  *report = (gab_restart_report){.step = -1};
  if (status == GAB_OK) fill_report(&load, report);
  report->seconds = gab_seconds() - start;
  release(&load);
  return status;
}

typedef struct sought {
  gab_step step;
  gab_hash64_stream *hash;
  bool is_found;
} sought;

static gab_status hash_one(void *user, gab_step step, const char *path)
{
  sought *it = user;
  gab_buffer text = {0};
  if (it->is_found || (it->step >= 0 && step != it->step)) return GAB_OK;
  if (check_one(path, &text) == GAB_OK) {
    gab_hash64_add(it->hash, text.data, text.size);
    it->is_found = true;
  }
  gab_buffer_release(&text);
  return GAB_OK;
}

gab_status gab_restart_hash(const char *folder, gab_step step, gab_hash64_stream *hash)
{
  sought it = {.step = step, .hash = hash};
  if (access(folder, F_OK) != 0) return GAB_OK;
  return gab_disk_visit(folder, hash_one, &it);
}

/* ---------------------------------------------------------------- starting anew */

static gab_status remove_one(void *user, gab_step step, const char *path)
{
  (void)user, (void)step;
  return gab_disk_remove_step(path);
}

gab_status gab_restart_remove_all(const char *folder)
{
  GAB_TRY(gab_disk_visit(folder, remove_one, NULL));
  return gab_disk_remove_set_aside(folder);
}
