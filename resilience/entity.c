#include "resilience/checkpoint_impl.h"

#include <string.h>

gab_status gab_checkpoint_add_entity(gab_checkpoint *checkpoint, const gab_entity *entity)
{
  if (!entity->name || !entity->pack || !entity->unpack)
    GAB_FAIL(GAB_ERR_ARGUMENT, "entity '%s' needs a name, pack and unpack", entity->name ? entity->name : "");
  if (strlen(entity->name) >= GAB_ENTITY_NAME)
    GAB_FAIL(GAB_ERR_ARGUMENT, "the name of entity '%s' is longer than %d characters", entity->name,
             GAB_ENTITY_NAME - 1);
  for (int i = 0; i < checkpoint->entity_count; i++)
    if (strcmp(checkpoint->entities[i].name, entity->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already an entity '%s'", entity->name);
  if (checkpoint->entity_count == GAB_MOST_ENTITIES)
    GAB_FAIL(GAB_ERR_ARGUMENT, "no room for entity '%s': there are %d already", entity->name,
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
    GAB_TRY(entity->pack(entity->user, out));
    uint64_t length = out->size - length_at - sizeof(uint64_t);
    size_t end = out->size;
    out->size = length_at; /* go back for the length, now that it is known */
    GAB_TRY(gab_put_u64(out, length));
    out->size = end;
  }
  return GAB_OK;
}

static gab_status unpack_one(const gab_entity *entity, gab_reader *in, gab_slot adopting)
{
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
  if (adopting != GAB_NO_SLOT) return entity->adopt ? entity->adopt(entity->user, adopting, &view) : GAB_OK;
  GAB_TRY(entity->unpack(entity->user, &view));
  return gab_reader_expect_end(&view);
}

gab_status gab_entities_unpack(const gab_checkpoint *checkpoint, gab_entity_kind kind, gab_reader *in,
                               gab_slot adopting)
{
  for (int i = 0; i < checkpoint->entity_count; i++) {
    const gab_entity *entity = &checkpoint->entities[i].table;
    if (entity->kind == kind) GAB_TRY(unpack_one(entity, in, adopting));
  }
  return gab_reader_expect_end(in);
}
