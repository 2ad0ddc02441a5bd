#include "resilience/checkpoint_impl.h"

#include "core/collective.h"
#include "core/log.h"

#include <stdio.h>

/* Two snapshots are one apart, so the smaller of the newest complete ones is held by everybody. */
static gab_status find_common(gab_checkpoint *checkpoint, gab_snapshot **common)
{
  uint64_t newest = 0;
  for (int i = 0; i < 2; i++) {
    const gab_snapshot *snapshot = &checkpoint->snapshots[i];
    if (snapshot->complete && snapshot->serial > newest) newest = snapshot->serial;
  }
  GAB_TRY(gab_world_min_u64(checkpoint->world, &newest, 1));
  if (newest == 0) GAB_FAIL(GAB_ERR_LOST, "a process died before the first checkpoint was complete");
  for (int i = 0; i < 2; i++) {
    gab_snapshot *snapshot = &checkpoint->snapshots[i];
    if (snapshot->serial != newest || !snapshot->complete) continue;
    checkpoint->valid = i;
    checkpoint->snapshots[!i].complete = false; /* newer, but not everywhere: nobody may count on it */
    *common = snapshot;
    return GAB_OK;
  }
  GAB_FAIL(GAB_ERR_STATE, "snapshot %" PRIu64 " is held by others but not here", newest);
}

typedef struct owner_map {
  const gab_checkpoint *checkpoint;
  const gab_snapshot *snapshot;
} owner_map;

static gab_slot owner_now(void *context, gab_slot then)
{
  const owner_map *map = context;
  return gab_scheme_restorer(map->checkpoint->scheme, map->checkpoint->copies, &map->snapshot->members,
                             gab_world_members(map->checkpoint->world), then);
}

/* Reads the head of an image and cuts it into forest and entities. */
static gab_status open_image(const gab_buffer *message, const gab_snapshot *snapshot, gab_slot slot,
                             gab_reader *forest, gab_reader *entities)
{
  gab_reader in = gab_message_reader(message);
  uint32_t magic, version;
  int32_t from;
  uint64_t serial, bytes;
  int64_t step;
  GAB_TRY(gab_get_u32(&in, &magic));
  GAB_TRY(gab_get_u32(&in, &version));
  GAB_TRY(gab_get_i32(&in, &from));
  GAB_TRY(gab_get_u64(&in, &serial));
  GAB_TRY(gab_get_i64(&in, &step));
  GAB_TRY(gab_get_u64(&in, &bytes));
  if (magic != GAB_IMAGE_MAGIC || version != GAB_IMAGE_VERSION)
    GAB_FAIL(GAB_ERR_CORRUPT, "image of slot %" GAB_PRI_SLOT " is none of this version", slot);
  if (from != slot || serial != snapshot->serial || step != snapshot->step)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "image of slot %" GAB_PRI_SLOT ", snapshot %" PRIu64 " says it is of slot %" GAB_PRI_SLOT
             ", snapshot %" PRIu64,
             slot, snapshot->serial, from, serial);
  if (bytes > gab_reader_left(&in))
    GAB_FAIL(GAB_ERR_CORRUPT, "image of slot %" GAB_PRI_SLOT " is cut short", slot);
  GAB_TRY(gab_get_view(&in, (size_t)bytes, forest));
  *entities = in;
  return GAB_OK;
}

/* The images that this slot restores: its own and those of the dead that fall to it. */
typedef struct restore_list {
  gab_reader *forests, *entities;
  gab_slot *slots;
  size_t count;
} restore_list;

static void release_list(restore_list *list)
{
  gab_free(&list->forests);
  gab_free(&list->entities);
  gab_free(&list->slots);
}

static gab_status add_image(restore_list *list, const gab_buffer *image, const gab_snapshot *snapshot,
                            gab_slot slot)
{
  list->slots[list->count] = slot;
  GAB_TRY(open_image(image, snapshot, slot, &list->forests[list->count], &list->entities[list->count]));
  list->count++;
  return GAB_OK;
}

static gab_status list_images(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                              restore_list *list)
{
  owner_map map = {checkpoint, snapshot};
  gab_slot me = gab_world_slot(checkpoint->world);
  size_t room = (size_t)snapshot->copy_count + 1;
  void *forests, *entities, *slots;
  GAB_TRY(gab_alloc(room * sizeof *list->forests, GAB_MEMORY_OTHER, &forests));
  list->forests = forests;
  GAB_TRY(gab_alloc(room * sizeof *list->entities, GAB_MEMORY_OTHER, &entities));
  list->entities = entities;
  GAB_TRY(gab_alloc(room * sizeof *list->slots, GAB_MEMORY_OTHER, &slots));
  list->slots = slots;
  GAB_TRY(add_image(list, &snapshot->own, snapshot, me));
  for (int i = 0; i < snapshot->copy_count; i++) {
    const gab_copy *copy = &snapshot->copies[i];
    if (copy->slot == me || owner_now(&map, copy->slot) != me) continue;
    GAB_TRY(add_image(list, &copy->image, snapshot, copy->slot));
  }
  return GAB_OK;
}

static gab_status restore_from(gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                               const restore_list *list, gab_restore_report *report)
{
  owner_map map = {checkpoint, snapshot};
  GAB_TRY(gab_forest_restore(checkpoint->forest, list->forests, list->count, owner_now, &map));
  gab_reader replicated = gab_reader_of_buffer(&snapshot->replicated);
  GAB_TRY(gab_entities_unpack(checkpoint, GAB_ENTITY_REPLICATED, &replicated, GAB_NO_SLOT));
  for (size_t i = 0; i < list->count; i++) {
    gab_reader entities = list->entities[i];
    GAB_TRY(gab_entities_unpack(checkpoint, GAB_ENTITY_PER_SLOT, &entities,
                                i == 0 ? GAB_NO_SLOT : list->slots[i]));
  }
  report->adopted = gab_forest_block_count(checkpoint->forest) - snapshot->own_blocks;
  return GAB_OK;
}

/* ------------------------------------------------------------------ lost for good: say what */

enum { MOST_NAMED = 12 };

/* Ids of missing blocks, as far as living neighbours know them; the first few of them. */
typedef struct missing_blocks {
  gab_block_id ids[MOST_NAMED];
  int count;
  bool more;
} missing_blocks;

static void note_missing(missing_blocks *missing, gab_block_id id)
{
  int at = 0;
  while (at < missing->count && missing->ids[at] < id) at++;
  if (at < missing->count && missing->ids[at] == id) return;
  if (missing->count == MOST_NAMED) missing->more = true;
  if (at == MOST_NAMED) return;
  int last = missing->count < MOST_NAMED ? missing->count++ : MOST_NAMED - 1;
  for (; last > at; last--) missing->ids[last] = missing->ids[last - 1];
  missing->ids[at] = id;
}

static gab_status visit_missing(void *user, gab_slot from, gab_reader bytes)
{
  (void)from;
  missing_blocks *missing = user;
  gab_block_id id;
  while (gab_reader_left(&bytes) > 0) {
    GAB_TRY(gab_get_u64(&bytes, &id));
    note_missing(missing, id);
  }
  return GAB_OK;
}

/* After a partial restore the tables name the owner of a lost block as nobody. */
static gab_status gather_missing(gab_checkpoint *checkpoint, missing_blocks *all)
{
  missing_blocks here = {.count = 0};
  for (size_t i = 0; i < gab_forest_block_count(checkpoint->forest); i++) {
    const gab_block *block = gab_forest_block(checkpoint->forest, i);
    for (size_t k = 0; k < gab_block_neighbour_count(block); k++) {
      const gab_neighbour *neighbour = &gab_block_neighbours(block)[k];
      if (neighbour->owner == GAB_NO_SLOT) note_missing(&here, neighbour->id);
    }
  }
  gab_buffer mine;
  gab_buffer_init(&mine, GAB_MEMORY_OTHER);
  gab_status status = GAB_OK;
  for (int i = 0; i < here.count && status == GAB_OK; i++) status = gab_put_u64(&mine, here.ids[i]);
  all->more = here.more;
  if (status == GAB_OK) status = gab_world_gather(checkpoint->world, &mine, visit_missing, all);
  gab_buffer_release(&mine);
  return status;
}

static void describe_slots(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot, char *text,
                           size_t room)
{
  owner_map map = {checkpoint, snapshot};
  const gab_members *now = gab_world_members(checkpoint->world);
  size_t used = 0;
  int named = 0;
  text[0] = '\0';
  for (int32_t i = 0; i < now->gone_count; i++) {
    gab_slot slot = now->gone[i];
    if (!gab_members_has(&snapshot->members, slot) || owner_now(&map, slot) != GAB_NO_SLOT) continue;
    if (named++ == MOST_NAMED) {
      snprintf(text + used, room - used, ", …");
      return;
    }
    used += (size_t)snprintf(text + used, room - used, "%s%" GAB_PRI_SLOT, named > 1 ? ", " : "", slot);
  }
}

static void describe_blocks(const missing_blocks *missing, char *text, size_t room)
{
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < missing->count; i++)
    used += (size_t)snprintf(text + used, room - used, "%s" GAB_PRI_BLOCK, i ? ", " : "", missing->ids[i]);
  if (missing->more) snprintf(text + used, room - used, ", …");
}

/* Every member gets the same sentence as the present error message. */
static gab_status say_what_is_lost(gab_checkpoint *checkpoint, const gab_snapshot *snapshot)
{
  missing_blocks missing = {.count = 0};
  uint64_t here = gab_forest_block_count(checkpoint->forest);
  GAB_TRY(gather_missing(checkpoint, &missing));
  GAB_TRY(gab_world_sum_u64(checkpoint->world, &here, 1));
  gab_buffer text;
  gab_buffer_init(&text, GAB_MEMORY_OTHER);
  gab_status status = GAB_OK;
  if (gab_world_is_root(checkpoint->world)) {
    char slots[256], blocks[MOST_NAMED * 20 + 8], sentence[768];
    describe_slots(checkpoint, snapshot, slots, sizeof slots);
    describe_blocks(&missing, blocks, sizeof blocks);
    snprintf(sentence, sizeof sentence,
             "slots %s died and so did all holders of their images (scheme %s, copies: %d): %" PRIu64
             " of %" PRIu64 " blocks are lost, beside the living ones: %s",
             slots, checkpoint->scheme->name, checkpoint->copies, snapshot->blocks - here, snapshot->blocks,
             blocks);
    status = gab_put_string(&text, sentence);
  }
  if (status == GAB_OK)
    status = gab_world_broadcast(checkpoint->world, gab_world_root(checkpoint->world), &text);
  char sentence[768];
  gab_reader in = gab_reader_of_buffer(&text);
  if (status == GAB_OK) status = gab_get_string(&in, sentence, sizeof sentence);
  gab_buffer_release(&text);
  GAB_TRY(status);
  GAB_FAIL(GAB_ERR_LOST, "%s", sentence);
}

static bool anything_lost(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot, int32_t *lost_slots)
{
  owner_map map = {checkpoint, snapshot};
  const gab_members *now = gab_world_members(checkpoint->world);
  bool lost = false;
  *lost_slots = 0;
  for (int32_t i = 0; i < now->gone_count; i++) {
    if (!gab_members_has(&snapshot->members, now->gone[i])) continue;
    ++*lost_slots;
    if (owner_now(&map, now->gone[i]) == GAB_NO_SLOT) lost = true;
  }
  return lost;
}

gab_status gab_checkpoint_restore(gab_checkpoint *checkpoint, gab_restore_report *report)
{
  *report = (gab_restore_report){.step = -1};
  gab_world *world = checkpoint->world;
  gab_world_enter(world, GAB_PHASE_RECOVERY);
  double start = gab_seconds();
  gab_snapshot *snapshot = NULL;
  GAB_TRY(find_common(checkpoint, &snapshot));
  double agreed = gab_seconds();
  bool lost = anything_lost(checkpoint, snapshot, &report->lost_slots);

  restore_list list = {0};
  gab_status status = list_images(checkpoint, snapshot, &list);
  if (status == GAB_OK) status = restore_from(checkpoint, snapshot, &list, report);
  release_list(&list);
  GAB_TRY(status);
  if (lost) return say_what_is_lost(checkpoint, snapshot);

  report->step = snapshot->step;
  report->agree_seconds = agreed - start;
  report->seconds = gab_seconds() - agreed;
  checkpoint->stats.last_step = snapshot->step;
  gab_world_enter(world, GAB_PHASE_RECOVERY);
  return GAB_OK;
}
