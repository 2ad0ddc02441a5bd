/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata images: ids, tables and owners of the blocks of each rank, stored on more ranks than images. They change
 * only with the forest, so snapshots of the same forest share a set, and most snapshots send none. */
#include "resilience/checkpoint/checkpoint_impl.h"

#include "core/base/log.h"
#include "resilience/schemes/placement_impl.h"

enum { MORE_LOSSES = 3 }; /* further losses, of any ranks, that metadata images tolerate */

void gab_metadata_images_init(gab_metadata_images *metadata_images)
{
  *metadata_images = (gab_metadata_images){.made = false};
  gab_placement_init(&metadata_images->placement);
}

void gab_metadata_images_release(gab_metadata_images *metadata_images)
{
  for (int i = 0; i < metadata_images->capacity; i++) gab_buffer_release(&metadata_images->copies[i].image);
  gab_free(&metadata_images->copies);
  gab_placement_release(&metadata_images->placement);
}

size_t gab_metadata_images_bytes(const gab_metadata_images *metadata_images)
{
  size_t bytes = 0;
  for (int i = 0; i < metadata_images->count; i++)
    bytes += gab_message_bytes(&metadata_images->copies[i].image);
  return bytes;
}

void gab_checkpoint_keep_metadata_images(gab_checkpoint *checkpoint)
{
  checkpoint->keeps_metadata_images = true;
}

/* ---------------------------------------------------------------- who keeps what */

/* Evenly spaced on the ring, independent of the scheme of the images, and so in other failure domains if there are
 * any. */
static gab_redundancy redundancy_of(const gab_redundancy *images)
{
  gab_redundancy made = {
      .scheme = &gab_scheme_pairwise, .separate = images->separate, .within = GAB_DOMAIN_NONE};
  if (images->scheme->kind == GAB_SCHEME_GROUPS)
    made.copies = images->scheme->parities(images->losses ? images->losses : 2);
  else if (images->scheme->most_copies(GAB_MOST_COPIES) > 0)
    made.copies = images->copies ? images->copies : 1;
  made.copies += MORE_LOSSES;
  if (made.copies > GAB_MOST_COPIES) made.copies = GAB_MOST_COPIES;
  return made;
}

static gab_status add_kept(void *user, gab_rank rank, int number)
{
  gab_metadata_images *set = user;
  if (set->count == set->capacity) {
    const int capacity = set->capacity + 4;
    GAB_TRY(GAB_RESIZE_ARRAY(&set->copies, (size_t)capacity, GAB_MEMORY_OTHER));
    for (int i = set->capacity; i < capacity; i++)
      gab_buffer_init(&set->copies[i].image, GAB_MEMORY_SNAPSHOT);
    set->capacity = capacity;
  }
  gab_copy *copy = &set->copies[set->count++];
  copy->rank = rank;
  copy->number = number;
  return GAB_OK;
}

static gab_status plan(const gab_checkpoint *checkpoint, const gab_snapshot *next, gab_metadata_images *set)
{
  const gab_redundancy redundancy = redundancy_of(&checkpoint->redundancy);
  set->made = false;
  set->count = 0;
  GAB_TRY(gab_placement_make(&set->placement, &redundancy, &next->members, checkpoint->domains));
  GAB_TRY(gab_placement_each_kept(&set->placement, gab_world_rank(checkpoint->world), add_kept, set));
  for (int i = set->count; i < set->capacity; i++) gab_buffer_release(&set->copies[i].image);
  return GAB_OK;
}

/* ---------------------------------------------------------------- sending them round */

static gab_status pack(const gab_checkpoint *checkpoint, gab_buffer *message)
{
  GAB_TRY(gab_message_begin(message));
  const size_t at = message->size;
  GAB_TRY(gab_checksum_begin(message));
  GAB_TRY(gab_put_i32(message, gab_world_rank(checkpoint->world)));
  GAB_TRY(gab_forest_pack_metadata(checkpoint->forest, message));
  gab_checksum_end(message, at, NULL);
  return GAB_OK;
}

static gab_status list_moves(const gab_checkpoint *checkpoint, gab_metadata_images *set, int k,
                             gab_buffer *message, gab_image_moves *moves)
{
  const gab_rank holder = gab_placement_holder(&set->placement, gab_world_rank(checkpoint->world), k);
  for (int i = 0; i < set->count; i++)
    if (set->copies[i].number == k)
      GAB_TRY(gab_image_moves_receive(moves, set->copies[i].rank, &set->copies[i].image, NULL));
  return holder == GAB_NO_RANK ? GAB_OK : gab_image_moves_send(moves, holder, message, GAB_IMAGE_SENT);
}

/* A set of moves for each number of a copy, since an envelope names one receiver. */
static gab_status send_copies(const gab_checkpoint *checkpoint, gab_metadata_images *set, gab_buffer *message)
{
  gab_image_moves moves = {.port = checkpoint->port};
  gab_status status = GAB_OK;
  for (int k = 0; k < gab_placement_copies(&set->placement) && status == GAB_OK; k++)
    status = gab_image_moves_run(&moves, list_moves(checkpoint, set, k, message, &moves));
  gab_image_moves_release(&moves);
  return status;
}

gab_status gab_metadata_images_spread(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  const int valid = checkpoint->snapshots[checkpoint->valid].metadata_images;
  const uint64_t revision = gab_forest_revision(checkpoint->forest);
  const gab_metadata_images *of_valid = &checkpoint->metadata_images[valid];
  next->metadata_images = valid;
  if (!checkpoint->keeps_metadata_images || (of_valid->made && of_valid->revision == revision)) return GAB_OK;
  next->metadata_images = !valid;
  gab_metadata_images *set = &checkpoint->metadata_images[!valid];
  gab_buffer message;
  gab_buffer_init(&message, GAB_MEMORY_MESSAGE);
  gab_status status = plan(checkpoint, next, set);
  if (status == GAB_OK) status = pack(checkpoint, &message);
  if (status == GAB_OK) status = send_copies(checkpoint, set, &message);
  gab_buffer_release(&message);
  GAB_TRY(status);
  set->revision = revision;
  set->made = true;
  return GAB_OK;
}

/* ---------------------------------------------------------------- after deaths */

gab_rank gab_metadata_images_restorer(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                                      gab_rank then)
{
  const gab_members *now = gab_world_members(checkpoint->world);
  const gab_metadata_images *set = &checkpoint->metadata_images[snapshot->metadata_images];
  const gab_rank restorer = gab_placement_restorer(&snapshot->placement, now, then);
  if (restorer != GAB_NO_RANK || !checkpoint->keeps_metadata_images || !set->made) return restorer;
  return gab_placement_restorer(&set->placement, now, then);
}

bool gab_metadata_images_suffice(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot)
{
  const gab_members *now = gab_world_members(checkpoint->world);
  for (int32_t i = 0; i < now->gone_count; i++)
    if (gab_members_has(&snapshot->members, now->gone[i]) &&
        gab_metadata_images_restorer(checkpoint, snapshot, now->gone[i]) == GAB_NO_RANK)
      return false;
  return true;
}

static gab_status open_one(const gab_copy *copy, const gab_snapshot *snapshot, gab_reader *in)
{
  int32_t rank;
  *in = gab_message_reader(&copy->image);
  if (!gab_checksum_matches(in))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "the metadata image of rank %" GAB_PRI_RANK " (snapshot of step %" GAB_PRI_STEP
             ") has changed in memory: its hash does not match",
             copy->rank, snapshot->step);
  GAB_TRY(gab_get_i32(in, &rank));
  if (rank != copy->rank)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "the metadata image of rank %" GAB_PRI_RANK " says it is of rank %" GAB_PRI_RANK, copy->rank,
             rank);
  return GAB_OK;
}

/* Returns the next copy from *at on that this rank adopts; NULL after the last. */
static const gab_copy *next_mine(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot, int *at)
{
  const gab_members *now = gab_world_members(checkpoint->world);
  const gab_metadata_images *set = &checkpoint->metadata_images[snapshot->metadata_images];
  while (*at < set->count) {
    const gab_copy *copy = &set->copies[(*at)++];
    if (!gab_members_has(now, copy->rank) &&
        gab_placement_restorer(&snapshot->placement, now, copy->rank) == GAB_NO_RANK &&
        gab_metadata_images_restorer(checkpoint, snapshot, copy->rank) == gab_world_rank(checkpoint->world))
      return copy;
  }
  return NULL;
}

bool gab_metadata_images_are_whole(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot)
{
  int at = 0;
  gab_reader in;
  for (const gab_copy *copy; (copy = next_mine(checkpoint, snapshot, &at)) != NULL;)
    if (open_one(copy, snapshot, &in) != GAB_OK) return false;
  return true;
}

gab_status gab_metadata_images_list(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                                    gab_image_list *list)
{
  int at = 0;
  const size_t most = (size_t)checkpoint->metadata_images[snapshot->metadata_images].count;
  GAB_TRY(GAB_NEW_ARRAY(&list->metadata_images, most + 1, GAB_MEMORY_OTHER));
  for (const gab_copy *copy; (copy = next_mine(checkpoint, snapshot, &at)) != NULL;)
    GAB_TRY(open_one(copy, snapshot, &list->metadata_images[list->metadata_count++]));
  return GAB_OK;
}
