/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/disk/disk_impl.h"

#include "blockforest/migration/reconstruct.h"
#include "core/base/checkpoint_format.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/events_impl.h"
#include "resilience/schemes/placement_impl.h"

#include <stdio.h>
#include <string.h>

typedef struct owner_map {
  const gab_checkpoint *checkpoint;
  const gab_snapshot *snapshot;
  bool approximates; /* blocks without any image go to the holders of their metadata images */
  bool
      only_counts; /* the run cannot resume from it: nothing is sent, and blocks of a replacement count for the restorer */
} owner_map;

static gab_rank owner_now(void *context, gab_rank then)
{
  const owner_map *map = context;
  if (map->approximates) return gab_metadata_images_restorer(map->checkpoint, map->snapshot, then);
  if (gab_replacement_was_handed(map->snapshot, then)) return then;
  const gab_rank restorer =
      gab_placement_restorer(&map->snapshot->placement, &map->snapshot->survivors, then);
  const bool is_back = gab_members_has(gab_world_members(map->checkpoint->world), then);
  return restorer != GAB_NO_RANK && is_back && !map->only_counts
             ? then
             : restorer; /* a replacement: gets its part from the restorer */
}

static bool is_restorable(const gab_snapshot *snapshot)
{
  const gab_members *now = &snapshot->survivors;
  if (snapshot->handed_count == 0) return gab_placement_survives(&snapshot->placement, now);
  for (int32_t i = 0; i < now->gone_count; i++)
    if (gab_members_has(&snapshot->placement.members, now->gone[i]) &&
        gab_placement_restorer(&snapshot->placement, now, now->gone[i]) == GAB_NO_RANK &&
        !gab_replacement_was_handed(snapshot, now->gone[i]))
      return false;
  return true;
}

/* The complete local snapshot with that serial number, or NULL. */
static gab_snapshot *find_serial(gab_checkpoint *checkpoint, uint64_t serial)
{
  for (int i = 0; i < 2; i++)
    if ((checkpoint->snapshots[i].complete || checkpoint->snapshots[i].told) &&
        checkpoint->snapshots[i].serial == serial)
      return &checkpoint->snapshots[i];
  return NULL;
}

static gab_snapshot *newest_here(gab_checkpoint *checkpoint)
{
  gab_snapshot *newest = NULL;
  for (int i = 0; i < 2; i++) {
    gab_snapshot *snapshot = &checkpoint->snapshots[i];
    gab_condition_forget(snapshot);
    if (snapshot->complete && (!newest || snapshot->serial > newest->serial)) newest = snapshot;
  }
  return newest;
}

/* Snapshots of all ranks, by one reduction. */
typedef struct common_ground {
  uint64_t newest, oldest; /* serials held by all */
  uint64_t latest;         /* newest serial of any rank */
  bool good;               /* the required parts of the newest snapshots of all ranks are intact */
  double seconds;          /* time of the verification on this rank */
} common_ground;

static gab_status find_ground(gab_checkpoint *checkpoint, common_ground *ground)
{
  gab_snapshot *newest = newest_here(checkpoint);
  uint64_t oldest = newest ? newest->serial : 0;
  const uint64_t newest_serial = newest ? newest->serial : checkpoint->since;
  for (int i = 0; i < 2; i++) GAB_TRY(gab_snapshot_find_survivors(checkpoint, &checkpoint->snapshots[i]));
  for (int i = 0; i < 2; i++)
    if (checkpoint->snapshots[i].complete && checkpoint->snapshots[i].serial < oldest)
      oldest = checkpoint->snapshots[i].serial;
  double start = gab_seconds();
  bool good = newest ? gab_condition_is_good(checkpoint, newest) : checkpoint->since > 0;
  ground->seconds = gab_seconds() - start;
  if (checkpoint->since > 0) oldest = 0; /* with help it can restore any snapshot */
  /* All are minimised; values to be maximised are negated. */
  uint64_t bounds[4] = {newest_serial, UINT64_MAX - oldest, UINT64_MAX - (newest ? newest->serial : 0), good};
  GAB_TRY(gab_world_min_u64(checkpoint->world, bounds, 4));
  ground->newest = bounds[0];
  ground->oldest = UINT64_MAX - bounds[1];
  ground->latest = UINT64_MAX - bounds[2];
  ground->good = bounds[3] != 0;
  /* Only replacement processes are left: snapshots before the newest cannot be restored. */
  if (ground->oldest == 0) ground->oldest = ground->newest;
  /* Some ranks were interrupted while they overwrote a snapshot, or are ahead of others. */
  const bool common = ground->newest > 0 && ground->newest >= ground->oldest;
  if (checkpoint->single && checkpoint->stats.taken > 0 && !common) return gab_single_snapshot_torn();
  if (ground->newest == 0) GAB_FAIL(GAB_ERR_LOST, "a process died before the first checkpoint was complete");
  return GAB_OK;
}

/* Replaces changed images. Without communication in the usual case: copies without changes, as verified before the
 * reduction. */
static gab_status make_good(gab_checkpoint *checkpoint, const common_ground *ground, gab_snapshot *snapshot,
                            gab_rescued *rescued)
{
  uint64_t good = ground->good;
  if (snapshot->serial != ground->latest || ground->latest != ground->newest) {
    good = gab_condition_is_good(checkpoint, snapshot);
    GAB_TRY(gab_world_min_u64(checkpoint->world, &good, 1));
  }
  return gab_redundancy_repair(checkpoint, snapshot, good != 0, rescued);
}

/* Each rank holds one complete snapshot or two successive ones, so the common ones are between the maximum of the
 * oldest and the minimum of the newest serials. All ranks choose the newest restorable one, since they know the same
 * members and changed images. If none can be restored, the newest one determines the loss. */
static gab_status find_common(gab_checkpoint *checkpoint, common_ground *ground, gab_rescued *rescued,
                              gab_snapshot **common, bool *restorable)
{
  gab_status spoiled = GAB_OK;
  GAB_TRY(find_ground(checkpoint, ground));
  *common = NULL;
  *restorable = false;
  for (uint64_t serial = ground->newest; serial >= ground->oldest && !*restorable; serial--) {
    gab_snapshot *snapshot = find_serial(checkpoint, serial);
    if (!snapshot) GAB_FAIL(GAB_ERR_STATE, "snapshot %" PRIu64 " is held by others but not here", serial);
    if (!*common) *common = snapshot;
    if (!is_restorable(snapshot)) continue;
    gab_status status = make_good(checkpoint, ground, snapshot, rescued);
    if (status != GAB_OK && status != GAB_ERR_LOST) return status;
    *restorable = status == GAB_OK;
    if (*restorable) *common = snapshot;
    else spoiled = status;
  }
  if (!*common)
    GAB_FAIL(GAB_ERR_STATE, "no snapshot is held by all: %" PRIu64 " is too old or too new", ground->newest);
  return *restorable ? GAB_OK : spoiled;
}

/* Newer snapshots are incomplete or unusable, so they are dropped. */
static void make_valid(gab_checkpoint *checkpoint, const gab_snapshot *snapshot)
{
  checkpoint->valid = snapshot == &checkpoint->snapshots[1];
  checkpoint->snapshots[!checkpoint->valid].complete = checkpoint->snapshots[!checkpoint->valid].told = false;
}

gab_status gab_images_begin(gab_image_list *list, size_t capacity)
{
  *list = (gab_image_list){.format = GAB_CHECKPOINT_FORMAT};
  GAB_TRY(GAB_NEW_ARRAY(&list->images, capacity, GAB_MEMORY_OTHER));
  return GAB_OK;
}

void gab_images_release(gab_image_list *list)
{
  gab_free(&list->images);
  gab_free(&list->metadata_images);
}

gab_status gab_images_restore_entities(gab_checkpoint *checkpoint, const gab_image_list *list)
{
  gab_reader replicated = list->replicated;
  gab_members then;
  gab_members_init(&then, 0);
  gab_status status = gab_replicated_cut(&replicated, list->format, &then);
  gab_members_release(&then);
  GAB_TRY(status);
  if (checkpoint->before_entities) GAB_TRY(checkpoint->before_entities(checkpoint->before_entities_user));
  GAB_TRY(gab_entities_unpack(checkpoint, GAB_ENTITY_REPLICATED, list->serial, &replicated, GAB_NO_RANK));
  for (size_t i = 0; i < list->count; i++) {
    gab_reader entities = list->images[i].entities;
    GAB_TRY(gab_entities_unpack(checkpoint, GAB_ENTITY_PER_RANK, list->serial, &entities,
                                i == 0 ? GAB_NO_RANK : list->images[i].rank));
  }
  return GAB_OK;
}

gab_status gab_images_restore_blocks(const gab_checkpoint *checkpoint, const gab_image_list *list,
                                     gab_owner_map map, void *context)
{
  gab_reader *forests;
  GAB_TRY(GAB_NEW_ARRAY(&forests, list->count + 1, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < list->count; i++) forests[i] = list->images[i].forest;
  const gab_forest_parts parts = {.images = forests,
                                  .image_count = list->count,
                                  .metadata_images = list->metadata_images,
                                  .metadata_count = list->metadata_count};
  gab_status status = gab_forest_restore_parts(checkpoint->forest, &parts, map, context);
  gab_free(&forests);
  return status;
}

/* The image was verified before. */
static gab_status add_image(gab_image_list *list, const gab_buffer *image, const gab_snapshot *snapshot,
                            gab_rank rank)
{
  gab_image_view *view = &list->images[list->count];
  view->rank = rank;
  GAB_TRY(gab_image_cut(gab_message_reader(image), list->format, snapshot->serial, snapshot->step, rank,
                        &view->forest, &view->entities));
  list->count++;
  return GAB_OK;
}

/* Lists the images that this rank restores: its own, those of dead ranks that it adopts, and replicated entities.
 * All are parsed before any data changes. */
static gab_status list_images(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot, bool whole,
                              bool approximates, const gab_rescued *rescued, gab_image_list *list)
{
  owner_map map = {checkpoint, snapshot, false, !whole && !approximates};
  gab_rank me = gab_world_rank(checkpoint->world);
  uint64_t checksum;
  GAB_TRY(gab_images_begin(list, (size_t)snapshot->copy_count + (size_t)rescued->count + 1));
  if (snapshot->told && snapshot->own.size == 0) return GAB_OK; /* no sender was left */
  list->replicated = gab_reader_of_buffer(&snapshot->replicated);
  GAB_TRY(gab_get_u64(&list->replicated, &checksum));
  GAB_TRY(add_image(list, &snapshot->own, snapshot, me));
  for (int i = 0; i < snapshot->copy_count; i++) {
    const gab_copy *copy = &snapshot->copies[i];
    if (copy->rank == me || owner_now(&map, copy->rank) != me)
      continue; /* alive, or adopted by another rank */
    if (gab_image_is_compressed(&copy->image, NULL))
      continue; /* its expanded form is in the list of rescued images */
    GAB_TRY(add_image(list, &copy->image, snapshot, copy->rank));
  }
  for (int i = 0; i < rescued->count; i++)
    if (owner_now(&map, rescued->images[i].rank) == me)
      GAB_TRY(add_image(list, &rescued->images[i].image, snapshot, rescued->images[i].rank));
  return approximates ? gab_metadata_images_list(checkpoint, snapshot, list) : GAB_OK;
}

/* ------------------------------------------------------------------ report of lost data */

enum { MOST_NAMED = 12 };

/* The first ids of missing blocks, as known to live neighbours. */
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

static gab_status visit_missing(void *user, gab_rank from, gab_reader bytes)
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

/* After a partial restore the tables have GAB_NO_RANK as the owner of a lost block. */
static gab_status gather_missing(gab_checkpoint *checkpoint, missing_blocks *all)
{
  missing_blocks here = {.count = 0};
  for (size_t i = 0; i < gab_forest_block_count(checkpoint->forest); i++) {
    const gab_block *block = gab_forest_block(checkpoint->forest, i);
    for (size_t k = 0; k < gab_block_neighbour_count(block); k++) {
      const gab_neighbour *neighbour = &gab_block_neighbours(block)[k];
      if (neighbour->owner == GAB_NO_RANK) note_missing(&here, neighbour->id);
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

/* "rank 3" or "ranks 3, 7" */
static void describe_ranks(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot, char *text,
                           size_t capacity)
{
  owner_map map = {checkpoint, snapshot, false, false};
  const gab_members *now = &snapshot->survivors;
  char *list = text + snprintf(text, capacity, "ranks ");
  size_t used = (size_t)(list - text);
  int named = 0;
  for (int32_t i = 0; i < now->gone_count; i++) {
    gab_rank rank = now->gone[i];
    if (!gab_members_has(&snapshot->members, rank) || owner_now(&map, rank) != GAB_NO_RANK) continue;
    if (named++ == MOST_NAMED) {
      snprintf(text + used, capacity - used, ", …");
      return;
    }
    used += (size_t)snprintf(text + used, capacity - used, "%s%" GAB_PRI_RANK, named > 1 ? ", " : "", rank);
  }
  if (named == 1) memmove(list - 2, list - 1, strlen(list - 1) + 1);
}

static void describe_blocks(const missing_blocks *missing, char *text, size_t capacity)
{
  size_t used = 0;
  snprintf(text, capacity, "none");
  for (int i = 0; i < missing->count; i++)
    used +=
        (size_t)snprintf(text + used, capacity - used, "%s" GAB_PRI_BLOCK, i ? ", " : "", missing->ids[i]);
  if (missing->more) snprintf(text + used, capacity - used, ", …");
}

/* Sets the same error message on all members. */
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
    char ranks[256], scheme[256], blocks[MOST_NAMED * 20 + 8], sentence[1024];
    describe_ranks(checkpoint, snapshot, ranks, sizeof ranks);
    describe_blocks(&missing, blocks, sizeof blocks);
    snprintf(sentence, sizeof sentence,
             "%s died and so did all holders of their images (%s): %" PRIu64 " of %" PRIu64
             " blocks are lost, of which the living know as neighbours: %s",
             ranks, gab_placement_describe(&snapshot->placement, scheme, sizeof scheme),
             snapshot->blocks - here, snapshot->blocks, blocks);
    status = gab_put_string(&text, sentence);
  }
  if (status == GAB_OK)
    status = gab_world_broadcast(checkpoint->world, gab_world_root(checkpoint->world), &text);
  char sentence[1024];
  gab_reader in = gab_reader_of_buffer(&text);
  if (status == GAB_OK) status = gab_get_string(&in, sentence, sizeof sentence);
  gab_buffer_release(&text);
  GAB_TRY(status);
  GAB_FAIL(GAB_ERR_LOST, "%s", sentence);
}

static int32_t count_lost(const gab_snapshot *snapshot)
{
  const gab_members *now = &snapshot->survivors;
  int32_t lost = 0;
  for (int32_t i = 0; i < now->gone_count; i++) lost += gab_members_has(&snapshot->members, now->gone[i]);
  return lost;
}

static gab_status restore_common(gab_checkpoint *checkpoint, const gab_snapshot *snapshot, bool whole,
                                 bool approximates, const gab_rescued *rescued)
{
  owner_map map = {checkpoint, snapshot, approximates, !whole && !approximates};
  gab_image_list list = {0};
  gab_status status = list_images(checkpoint, snapshot, whole, approximates, rescued, &list);
  list.serial = snapshot->serial;
  if (status == GAB_OK) status = gab_images_restore_blocks(checkpoint, &list, owner_now, &map);
  if (status == GAB_OK && (whole || approximates)) status = gab_images_restore_entities(checkpoint, &list);
  gab_images_release(&list);
  return status;
}

/* ------------------------------------------------------------------ blocks without any image */

/* Finds the newest common snapshot for which at least metadata images of all ranks exist. *approximates stays false
 * if there is none. Collective if one exists. */
static gab_status find_approximate(gab_checkpoint *checkpoint, const common_ground *ground,
                                   gab_rescued *rescued, gab_snapshot **common, bool *approximates)
{
  for (uint64_t serial = ground->newest; serial >= ground->oldest && !*approximates; serial--) {
    gab_snapshot *snapshot = find_serial(checkpoint, serial);
    if (!snapshot || !gab_metadata_images_suffice(checkpoint, snapshot)) continue;
    uint64_t good = gab_metadata_images_are_whole(checkpoint, snapshot);
    if (!good) gab_log_all(GAB_LOG_WARNING, "%s", gab_error_message());
    GAB_TRY(gab_world_min_u64(checkpoint->world, &good, 1));
    if (!good) continue;
    *common = snapshot;
    *approximates = true;
    GAB_TRY(make_good(checkpoint, ground, snapshot, rescued));
  }
  return GAB_OK;
}

/* Names of the adoptable entities of lost ranks. */
static void describe_dropped(const gab_checkpoint *checkpoint, char *text, size_t capacity)
{
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < checkpoint->entity_count; i++) {
    const gab_entity *entity = &checkpoint->entities[i].table;
    if (entity->kind != GAB_ENTITY_PER_RANK || !entity->adopt || used + GAB_ENTITY_NAME + 4 > capacity)
      continue;
    used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? ", " : "", entity->name);
  }
}

static void report_approximated(gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                                const gab_reconstruction *made)
{
  char ranks[256], dropped[256], blind[96] = "";
  describe_ranks(checkpoint, snapshot, ranks, sizeof ranks);
  describe_dropped(checkpoint, dropped, sizeof dropped);
  if (made->blind)
    snprintf(blind, sizeof blind, ", %" PRIu64 " of them with nothing known around them", made->blind);
  gab_log(GAB_LOG_WARNING,
          "%s died together with all holders of their images: %" PRIu64 " of %" PRIu64
          " blocks are lost and were approximated from their neighbours, in %d round%s%s%s%s: "
          "from step %" GAB_PRI_STEP " on the result is an APPROXIMATION",
          ranks, made->blocks, snapshot->blocks, made->rounds, made->rounds == 1 ? "" : "s", blind,
          dropped[0] ? "; records of these ranks are dropped: " : "", dropped, snapshot->step);
  if (!gab_world_is_root(checkpoint->world)) return;
  gab_json *event = gab_event_begin(checkpoint->events, "reconstruction");
  gab_json_text(event, "of", ranks);
  gab_json_uint(event, "blocks", made->blocks);
  gab_json_uint(event, "all_blocks", snapshot->blocks);
  gab_json_uint(event, "blind", made->blind);
  gab_json_int(event, "rounds", made->rounds);
  gab_json_int(event, "of_step", snapshot->step);
  gab_json_text(event, "dropped", dropped);
  gab_event_end(checkpoint->events, &event);
}

static gab_status approximate(gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                              gab_restore_report *report)
{
  gab_reconstruction made;
  GAB_TRY(gab_forest_reconstruct(checkpoint->forest, &made));
  report->approximated = made.blocks;
  report_approximated(checkpoint, snapshot, &made);
  return GAB_OK;
}

/* ------------------------------------------------------------------ all of it */

static gab_status go_back(gab_checkpoint *checkpoint, bool may_approximate, gab_restore_report *report)
{
  *report = (gab_restore_report){.step = -1};
  gab_world *world = checkpoint->world;
  gab_world_enter(world, GAB_FAULT_POINT_RECOVERY);
  double start = gab_seconds();
  gab_snapshot *snapshot = NULL;
  gab_rescued rescued = {0};
  bool whole = false, approximates = false;
  common_ground ground = {0};
  if (gab_replacements_possible(checkpoint)) GAB_TRY(gab_replacements_brief(checkpoint));
  gab_status status = find_common(checkpoint, &ground, &rescued, &snapshot, &whole);
  if (status == GAB_OK && !whole && may_approximate)
    status = find_approximate(checkpoint, &ground, &rescued, &snapshot, &approximates);
  double agreed = gab_seconds();
  /* The rest is restored in spite of the loss, so that lost blocks can be named. */
  if (status == GAB_OK && !whole && !approximates)
    status = gab_redundancy_expand(checkpoint, snapshot, &rescued);
  if (status == GAB_OK && whole && gab_replacements_possible(checkpoint))
    status = gab_replacements_serve(checkpoint, snapshot, &rescued);
  if (status == GAB_OK) status = restore_common(checkpoint, snapshot, whole, approximates, &rescued);
  if (status == GAB_ERR_CORRUPT && !whole &&
      !approximates) /* only for the report: without blocks of the lost rank */
    status = gab_forest_restore(checkpoint->forest, NULL, 0, NULL, NULL);
  gab_rescued_release(&rescued);
  GAB_TRY(status);
  if (!whole && !approximates) return say_what_is_lost(checkpoint, snapshot);
  if (approximates) GAB_TRY(approximate(checkpoint, snapshot, report));

  if (snapshot->told) gab_replacement_settle(checkpoint, snapshot);
  make_valid(checkpoint, snapshot);
  report->step = snapshot->step;
  report->lost_ranks = count_lost(snapshot);
  report->adopted = gab_forest_block_count(checkpoint->forest) - snapshot->own_blocks;
  report->agree_seconds = agreed - start - ground.seconds;
  report->seconds = gab_seconds() - agreed + ground.seconds;
  report->verify_seconds = ground.seconds;
  checkpoint->stats.last_step = snapshot->step;
  gab_world_enter(world, GAB_FAULT_POINT_RECOVERY);
  return GAB_OK;
}

gab_status gab_checkpoint_restore(gab_checkpoint *checkpoint, gab_restore_report *report)
{
  const gab_status status = go_back(checkpoint, false, report);
  checkpoint->donor = GAB_NO_RANK;
  return status;
}

gab_status gab_checkpoint_reconstruct(gab_checkpoint *checkpoint, gab_restore_report *report)
{
  const gab_status status = go_back(checkpoint, true, report);
  checkpoint->donor = GAB_NO_RANK;
  return status;
}
