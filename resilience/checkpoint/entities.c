/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/checkpoint/checkpoint_impl.h"

#include <string.h>

static bool owns_buffers(const gab_entity *entity) { return entity->create != NULL; }
static bool is_packed(const gab_entity *entity) { return entity->pack != NULL; }

static gab_status check_callbacks(const gab_entity *entity)
{
  const char *name = entity->name ? entity->name : "";
  const int own = (entity->create != NULL) + (entity->restore != NULL) + (entity->swap != NULL);
  const int packed = (entity->pack != NULL) + (entity->unpack != NULL);
  if (!entity->name) GAB_FAIL(GAB_ERR_ARGUMENT, "an entity needs a name");
  if (own != 0 && own != 3)
    GAB_FAIL(GAB_ERR_ARGUMENT, "entity '%s': whoever owns its buffers needs create, restore and swap", name);
  if (packed == 1 || own + packed == 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "entity '%s' needs pack and unpack, or create, restore and swap", name);
  return GAB_OK;
}

gab_status gab_checkpoint_add_entity(gab_checkpoint *checkpoint, const gab_entity *entity)
{
  GAB_TRY(check_callbacks(entity));
  if (strlen(entity->name) >= GAB_ENTITY_NAME)
    GAB_FAIL(GAB_ERR_ARGUMENT, "the name of entity '%s' is longer than %d characters", entity->name,
             GAB_ENTITY_NAME - 1);
  for (int i = 0; i < checkpoint->entity_count; i++)
    if (strcmp(checkpoint->entities[i].name, entity->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already an entity '%s'", entity->name);
  if (checkpoint->entity_count == GAB_MOST_ENTITIES)
    GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add entity '%s': there are %d already", entity->name,
             GAB_MOST_ENTITIES);
  gab_registered_entity *entry = &checkpoint->entities[checkpoint->entity_count++];
  strcpy(entry->name, entity->name);
  entry->table = *entity;
  entry->table.name = entry->name;
  return GAB_OK;
}

gab_status gab_entities_pack(const gab_checkpoint *checkpoint, gab_entity_kind kind, gab_buffer *out)
{
  for (int i = 0; i < checkpoint->entity_count; i++) {
    const gab_entity *entity = &checkpoint->entities[i].table;
    if (entity->kind != kind) continue;
    GAB_TRY(gab_put_string(out, entity->name));
    size_t length_at = out->size;
    GAB_TRY(gab_put_u64(out, 0));
    if (is_packed(entity)) GAB_TRY(entity->pack(entity->user, out));
    uint64_t length = out->size - length_at - sizeof(uint64_t);
    size_t end = out->size;
    out->size = length_at; /* rewind to write the length, which is known now */
    GAB_TRY(gab_put_u64(out, length));
    out->size = end;
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- entities that own their buffers */

gab_status gab_entities_create(gab_checkpoint *checkpoint, uint64_t serial)
{
  for (int i = 0; i < checkpoint->entity_count; i++) {
    gab_registered_entity *entry = &checkpoint->entities[i];
    if (!owns_buffers(&entry->table)) continue;
    entry->written = 0;
    GAB_TRY(entry->table.create(entry->table.user));
    entry->written = serial;
  }
  return GAB_OK;
}

static void swap(gab_registered_entity *entry)
{
  const uint64_t valid = entry->valid;
  entry->table.swap(entry->table.user);
  entry->valid = entry->written;
  entry->written = valid;
}

void gab_entities_swap(gab_checkpoint *checkpoint)
{
  for (int i = 0; i < checkpoint->entity_count; i++)
    if (owns_buffers(&checkpoint->entities[i].table)) swap(&checkpoint->entities[i]);
}

gab_status gab_entities_check_packed(const gab_checkpoint *checkpoint, const char *what)
{
  for (int i = 0; i < checkpoint->entity_count; i++)
    if (!is_packed(&checkpoint->entities[i].table))
      GAB_FAIL(GAB_ERR_ARGUMENT, "entity '%s' owns its buffers and has no pack and unpack, which %s need",
               checkpoint->entities[i].name, what);
  return GAB_OK;
}

/* Restores from its own buffer of that snapshot. */
static gab_status restore_own(gab_registered_entity *entry, uint64_t serial)
{
  if (entry->valid != serial) swap(entry);
  return entry->table.restore(entry->table.user);
}

/* ---------------------------------------------------------------- unpacking */

static gab_status restore_one(gab_registered_entity *entry, uint64_t serial, gab_reader *packed)
{
  const gab_entity *entity = &entry->table;
  if (serial && (entry->valid == serial || entry->written == serial)) return restore_own(entry, serial);
  entry->valid = entry->written = 0;
  if (!is_packed(entity))
    GAB_FAIL(GAB_ERR_LOST,
             "entity '%s' owns its buffers, and this process has none of the snapshot to go back to",
             entity->name);
  GAB_TRY(entity->unpack(entity->user, packed));
  return gab_reader_expect_end(packed);
}

static gab_status adopt_one(const gab_entity *entity, gab_rank dead, gab_reader *packed)
{
  return entity->adopt && is_packed(entity) ? entity->adopt(entity->user, dead, packed) : GAB_OK;
}

static gab_status unpack_one(gab_registered_entity *entry, uint64_t serial, gab_reader *in, gab_rank adopting)
{
  const gab_entity *entity = &entry->table;
  char name[GAB_ENTITY_NAME];
  uint64_t length;
  gab_reader view;
  GAB_TRY(gab_get_string(in, name, sizeof name));
  if (strcmp(name, entity->name) != 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "image holds entity '%s' where '%s' is due", name, entity->name);
  GAB_TRY(gab_get_u64(in, &length));
  if (length > gab_reader_left(in))
    GAB_FAIL(GAB_ERR_CORRUPT, "entity '%s' claims %" PRIu64 " bytes, %zu are left", name, length,
             gab_reader_left(in));
  GAB_TRY(gab_get_view(in, (size_t)length, &view));
  return adopting != GAB_NO_RANK ? adopt_one(entity, adopting, &view) : restore_one(entry, serial, &view);
}

gab_status gab_entities_unpack(gab_checkpoint *checkpoint, gab_entity_kind kind, uint64_t serial,
                               gab_reader *in, gab_rank adopting)
{
  for (int i = 0; i < checkpoint->entity_count; i++) {
    gab_registered_entity *entry = &checkpoint->entities[i];
    if (entry->table.kind == kind) GAB_TRY(unpack_one(entry, serial, in, adopting));
  }
  return gab_reader_expect_end(in);
}
