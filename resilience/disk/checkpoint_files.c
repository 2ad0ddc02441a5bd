/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/disk/checkpoint_files.h"

#include "core/base/hash.h"
#include "resilience/disk/disk_impl.h"

gab_status gab_checkpoint_files_visit(const char *folder,
                                      gab_status (*visit)(void *user, gab_step step, const char *path),
                                      void *user)
{
  return gab_disk_visit(folder, visit, user);
}

static gab_status open_group(const char *path, const gab_manifest *manifest, int32_t group,
                             gab_disk_reader **reader)
{
  char name[GAB_DISK_PATH];
  if (snprintf(name, sizeof name, "%s/%s", path, manifest->files[group].name) >= (int)sizeof name)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %.80s… is too long", path);
  return gab_disk_open(name, manifest, group, reader);
}

/* ---------------------------------------------------------------- verify */

/* Reports defects; all other errors are returned. */
typedef struct listener {
  void (*tell)(void *user, const char *message);
  void *user;
  int told;
} listener;

static gab_status hear(listener *to, gab_status status)
{
  if (status == GAB_OK || status == GAB_ERR_MEMORY) return status;
  to->told++;
  to->tell(to->user, gab_error_message());
  return GAB_OK;
}

/* Compares the rows of a table with the blocks in the image. */
static gab_status check_blocks(gab_rank rank, const gab_buffer *image, const gab_buffer *table)
{
  for (size_t i = 0; i < table->size / (GAB_DISK_COLUMNS * 8); i++) {
    gab_disk_row row = gab_disk_table_row(table->data, i);
    if (row.offset > image->size || row.bytes > image->size - row.offset)
      GAB_FAIL(GAB_ERR_CORRUPT, "block " GAB_PRI_BLOCK " of rank %" GAB_PRI_RANK " is outside of its image",
               row.id, rank);
    if (gab_hash64(image->data + row.offset, (size_t)row.bytes, row.id) != row.hash)
      GAB_FAIL(GAB_ERR_CORRUPT, "block " GAB_PRI_BLOCK " of rank %" GAB_PRI_RANK " does not match its hash",
               row.id, rank);
  }
  return GAB_OK;
}

static gab_status read_blocks(gab_disk_reader *reader, gab_rank rank, gab_buffer *image, gab_buffer *table)
{
  GAB_TRY(gab_disk_read_part(reader, rank, image, table));
  return check_blocks(rank, image, table);
}

static int32_t first_of(const gab_manifest *manifest, int32_t group) { return group * manifest->group; }

static int32_t end_of(const gab_manifest *manifest, int32_t group)
{
  int32_t members = gab_members_count(&manifest->members), end = (group + 1) * manifest->group;
  return end < members ? end : members;
}

static gab_status verify_open(gab_disk_reader *reader, const gab_manifest *manifest, int32_t group,
                              listener *to, uint64_t *blocks)
{
  gab_buffer image = {0}, table = {0};
  gab_status status = hear(to, gab_disk_check_digest(reader, manifest, group));
  for (int32_t i = first_of(manifest, group); i < end_of(manifest, group) && status == GAB_OK; i++) {
    status = hear(to, read_blocks(reader, gab_members_rank(&manifest->members, i), &image, &table));
    *blocks += table.size / (GAB_DISK_COLUMNS * 8);
  }
  if (status == GAB_OK && group == 0) status = hear(to, gab_disk_read_replicated(reader, &image));
  gab_buffer_release(&image);
  gab_buffer_release(&table);
  return status;
}

gab_status gab_checkpoint_files_verify(const char *path, const gab_manifest *manifest,
                                       void (*tell)(void *user, const char *message), void *user)
{
  listener to = {tell, user, 0};
  uint64_t blocks = 0;
  GAB_TRY(hear(&to, gab_manifest_check_files(manifest, path)));
  for (int32_t group = 0; group < (int32_t)manifest->file_count; group++) {
    gab_disk_reader *reader;
    gab_status status = open_group(path, manifest, group, &reader);
    if (status != GAB_OK) {
      GAB_TRY(hear(&to, status));
      continue;
    }
    status = verify_open(reader, manifest, group, &to, &blocks);
    gab_disk_close(&reader);
    GAB_TRY(status);
  }
  if (to.told == 0 && blocks != manifest->blocks)
    return hear(&to, gab_error_set(GAB_ERR_CORRUPT, __FILE__, __LINE__,
                                   "the files hold %" PRIu64 " blocks, the manifest says %" PRIu64, blocks,
                                   manifest->blocks));
  return GAB_OK;
}

/* ---------------------------------------------------------------- blocks */

static gab_status visit_part(gab_rank rank, const gab_buffer *image, const gab_buffer *table,
                             gab_status (*visit)(void *user, const gab_checkpoint_block *block), void *user)
{
  for (size_t i = 0; i < table->size / (GAB_DISK_COLUMNS * 8); i++) {
    gab_disk_row row = gab_disk_table_row(table->data, i);
    const gab_checkpoint_block block = {.id = row.id,
                                        .level = (int)row.level,
                                        .rank = rank,
                                        .record = image->data + row.offset,
                                        .bytes = (size_t)row.bytes};
    GAB_TRY(visit(user, &block));
  }
  return GAB_OK;
}

static gab_status visit_group(gab_disk_reader *reader, const gab_manifest *manifest, int32_t group,
                              gab_status (*visit)(void *user, const gab_checkpoint_block *block), void *user)
{
  gab_buffer image = {0}, table = {0};
  gab_status status = gab_disk_check_digest(reader, manifest, group);
  for (int32_t i = first_of(manifest, group); i < end_of(manifest, group) && status == GAB_OK; i++) {
    gab_rank rank = gab_members_rank(&manifest->members, i);
    status = read_blocks(reader, rank, &image, &table);
    if (status == GAB_OK) status = visit_part(rank, &image, &table, visit, user);
  }
  gab_buffer_release(&image);
  gab_buffer_release(&table);
  return status;
}

gab_status gab_checkpoint_files_blocks(const char *path, const gab_manifest *manifest,
                                       gab_status (*visit)(void *user, const gab_checkpoint_block *block),
                                       void *user)
{
  for (int32_t group = 0; group < (int32_t)manifest->file_count; group++) {
    gab_disk_reader *reader;
    GAB_TRY(open_group(path, manifest, group, &reader));
    gab_status status = visit_group(reader, manifest, group, visit, user);
    gab_disk_close(&reader);
    GAB_TRY(status);
  }
  return GAB_OK;
}

gab_status gab_checkpoint_files_replicated(const char *path, const gab_manifest *manifest, gab_buffer *bytes)
{
  gab_disk_reader *reader;
  GAB_TRY(open_group(path, manifest, 0, &reader));
  gab_status status = gab_disk_read_replicated(reader, bytes);
  gab_disk_close(&reader);
  return status;
}
