/* SPDX-License-Identifier: Apache-2.0 */
/* A bit that has changed on the disk is found by its hash: in the image of a rank, in what is equal on all,
 * in the hashes themselves, also where image and hash fit each other. The checkpoint before is used, exactly;
 * what is damaged is named and set aside. Hashes of single blocks, which only `verify` reads, count there. */
/* gabion-test: np=1,2,5 quick=2 timeout=60 */
#include "tests/resilience/disk/writing.h"

#include "core/base/log.h"
#include "resilience/disk/checkpoint_files.h"
#include "resilience/disk/disk_impl.h"
#include "resilience/disk/restart_impl.h"

#include <string.h>

enum { GOOD = 50 }; /* step of the intact checkpoint; the damaged ones follow */

typedef enum damage { IMAGE, REPLICATED, HASH_OF_IMAGE, IMAGE_AND_HASH, TABLE, DAMAGE_COUNT } damage;

static const char *const words[DAMAGE_COUNT] = {
    [IMAGE] = "/image has changed on the disk",
    [REPLICATED] = "/replicated has changed on the disk",
    [HASH_OF_IMAGE] = "its hashes are not those of the manifest",
    [IMAGE_AND_HASH] = "its hashes are not those of the manifest",
    [TABLE] = "/blocks has changed on the disk",
};

/* ---------------------------------------------------------------- damaging a file */

/* The file of group 0, which contains the part of rank 0: known to the root. */
static void open_file(const writing *w, gab_step step, gab_buffer *content, char path[GAB_DISK_PATH + 32])
{
  char folder[GAB_DISK_PATH];
  void *place;
  CHECK(gab_disk_step_folder(folder, w->folder, step) == GAB_OK);
  snprintf(path, GAB_DISK_PATH + 32, "%s/group_000000.h5", folder);
  FILE *file = fopen(path, "rb");
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  const size_t bytes = (size_t)ftell(file);
  CHECK(gab_buffer_extend(content, bytes, &place) == GAB_OK);
  CHECK(fseek(file, 0, SEEK_SET) == 0 && fread(place, 1, bytes, file) == bytes && fclose(file) == 0);
}

static unsigned char *find(const gab_buffer *content, const void *bytes, size_t count)
{
  unsigned char *found = memmem(content->data, content->size, bytes, count);
  CHECK(found != NULL);
  return found;
}

static void put_hash(unsigned char bytes[8], uint64_t hash)
{
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(hash >> (8 * i));
}

static void damage_image(const writing *w, damage what, gab_buffer *content)
{
  const gab_buffer *own = &w->checkpoint->snapshots[w->checkpoint->valid].own;
  const size_t bytes = gab_message_bytes(own);
  unsigned char hash[8], *image = find(content, own->data + GAB_ENVELOPE_BYTES, bytes), *its_hash;
  put_hash(hash, gab_disk_hash(image, bytes, NULL));
  its_hash = find(content, hash, sizeof hash);
  if (!image || !its_hash) return;
  if (what == HASH_OF_IMAGE) its_hash[3] ^= 0x20;
  else image[bytes - bytes / 3] ^= 0x10;
  if (what == IMAGE_AND_HASH) put_hash(its_hash, gab_disk_hash(image, bytes, NULL));
}

static void damage_table(const writing *w, gab_buffer *content)
{
  const gab_buffer *own = &w->checkpoint->snapshots[w->checkpoint->valid].own;
  gab_buffer table = {0};
  const unsigned char *image = own->data + GAB_ENVELOPE_BYTES;
  CHECK(gab_disk_table(w->app->forest, image, gab_message_bytes(own), &table) == GAB_OK);
  gab_disk_hash_table(image, &table, NULL);
  unsigned char *rows = find(content, table.data, table.size);
  if (rows) rows[table.size - 2] ^= 1; /* in the hash of the last block */
  gab_buffer_release(&table);
}

static void damage_file(const writing *w, damage what, gab_step step)
{
  char path[GAB_DISK_PATH + 32];
  gab_buffer content = {0};
  const gab_buffer *replicated = &w->checkpoint->snapshots[w->checkpoint->valid].replicated;
  open_file(w, step, &content, path);
  if (what == TABLE) damage_table(w, &content);
  else if (what != REPLICATED) damage_image(w, what, &content);
  else find(&content, replicated->data, replicated->size)[replicated->size - 1] ^= 1;
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(content.data, 1, content.size, file) == content.size && fclose(file) == 0);
  gab_buffer_release(&content);
}

/* ---------------------------------------------------------------- what comes of it */

typedef struct hearing {
  const char *word;
  int told, expected; /* messages in total, and with that word */
} hearing;

static void hear(void *user, const char *message)
{
  hearing *h = user;
  h->told++;
  h->expected += strstr(message, h->word) != NULL;
}

static void verify_names_it(const writing *w, damage what, gab_step step)
{
  char path[GAB_DISK_PATH];
  gab_manifest manifest;
  hearing h = {.word = words[what]};
  gab_manifest_init(&manifest);
  CHECK(gab_disk_step_folder(path, w->folder, step) == GAB_OK);
  CHECK(gab_manifest_read(path, &manifest) == GAB_OK);
  CHECK(gab_checkpoint_files_verify(path, &manifest, hear, &h) == GAB_OK);
  CHECK(h.expected == 1);
  gab_manifest_release(&manifest);
}

/* @param[out] newest  its step; may be NULL */
static int count_listed(const writing *w, gab_step *newest)
{
  gab_restart *restart;
  CHECK(gab_restart_find(w->app->world, w->folder, false, &restart) == GAB_OK);
  const int count = (int)gab_restart_count(restart);
  if (newest) *newest = count > 0 ? gab_restart_manifest(restart, 0)->step : -1;
  gab_restart_destroy(&restart);
  return count;
}

/* All ranks load the checkpoint before, although only those of the first group have read damaged data. */
static void the_one_before_is_loaded(writing *w, damage what, gab_step step, uint64_t good, uint64_t total)
{
  gab_restart *restart;
  gab_restart_report report;
  const int before = count_listed(w, NULL);
  w->app->total = ~total;
  CHECK(gab_restart_find(w->app->world, w->folder, false, &restart) == GAB_OK);
  CHECK(gab_restart_load(restart, w->checkpoint, &report) == GAB_OK);
  gab_restart_destroy(&restart);
  CHECK(gab_world_barrier(w->app->world) == GAB_OK);
  if (what == TABLE) { /* not part of the loaded data */
    CHECK(report.step == step && count_listed(w, NULL) == before);
    return;
  }
  CHECK(report.step == GOOD);
  CHECK(checksum_of(w) == good && w->app->total == total);
  CHECK(count_listed(w, NULL) == before - 1);
}

static void remove_what_was_set_aside(const writing *w, gab_step step)
{
  char aside[GAB_DISK_PATH], path[GAB_DISK_PATH];
  if (!is_root(w)) return;
  CHECK(gab_disk_step_folder(path, w->folder, step) == GAB_OK);
  snprintf(aside, sizeof aside, "%s/unusable_%012" GAB_PRI_STEP, w->folder, step);
  CHECK(rename(aside, path) == 0 && gab_disk_remove_step(path) == GAB_OK);
}

static void what_has_changed_on_disk_is_found(writing *w)
{
  CHECK(write_step(w, GOOD));
  const uint64_t good = checksum_of(w), total = w->app->total;
  for (gab_step step = 1; step < 3; step++) { /* snapshots that need the buffer of the one being written */
    CHECK(automaton_step(w->app, step) == GAB_OK);
    CHECK(gab_checkpoint_take(w->checkpoint, step) == GAB_OK);
  }
  CHECK(gab_disk_wait(w->disk) == GAB_OK);
  for (int what = 0; what < DAMAGE_COUNT; what++) {
    const gab_step step = GOOD + 1 + what;
    CHECK(automaton_step(w->app, step) == GAB_OK);
    CHECK(checksum_of(w) != good);
    CHECK(write_step(w, step) && gab_disk_wait(w->disk) == GAB_OK);
    CHECK(gab_world_barrier(w->app->world) == GAB_OK);
    if (is_root(w)) damage_file(w, (damage)what, step);
    if (is_root(w)) verify_names_it(w, (damage)what, step);
    CHECK(gab_world_barrier(w->app->world) == GAB_OK);
    the_one_before_is_loaded(w, (damage)what, step, good, total);
    if (what != TABLE) remove_what_was_set_aside(w, step);
    CHECK(gab_world_barrier(w->app->world) == GAB_OK);
  }
}

/* Hashes of files are computed from memory: a bit that changed there before is detected by the hash of the image. */
static void what_has_changed_before_is_not_written(writing *w)
{
  const gab_step step = GOOD + 100;
  const gab_rank last = gab_members_count(gab_world_members(w->app->world)) - 1;
  gab_step newest, after;
  const int before = count_listed(w, &newest);
  bool begun = false;
  CHECK(gab_checkpoint_take(w->checkpoint, step) == GAB_OK);
  gab_buffer *own = &w->checkpoint->snapshots[w->checkpoint->valid].own;
  if (gab_world_rank(w->app->world) == last) own->data[own->size / 2] ^= 8;
  CHECK(gab_disk_begin(w->disk, &begun) == GAB_OK && begun);
  CHECK(gab_disk_wait(w->disk) == GAB_OK);
  CHECK(gab_world_barrier(w->app->world) == GAB_OK);
  CHECK(count_listed(w, &after) == before && after == newest);
}

int main(void)
{
  gab_world *world;
  automaton app;
  writing w;
  REQUIRE_OK(gab_world_create(NULL, NULL, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR); /* the test needs the warnings */
  CHECK(automaton_create(&app, world, (const int32_t[3]){5, 2, 1}) == GAB_OK);
  begin_writing(&w, &app, "mpi_disk_hashes");
  what_has_changed_on_disk_is_found(&w);
  what_has_changed_before_is_not_written(&w);
  end_writing(&w);
  automaton_destroy(&app);
  return test_end(&world);
}
