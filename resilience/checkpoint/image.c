/* SPDX-License-Identifier: Apache-2.0 */
/* The image of a rank: its part of a snapshot, as bytes. Hash and head, the forest's image, the entities per rank; the replicated
 * entities are stored separately. */
#include "core/base/checkpoint_format.h"
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/schemes/redundancy_impl.h"

#define IMAGE_MAGIC      UINT32_C(0x47414249)
#define REPLICATED_MAGIC UINT32_C(0x52424147)

/* In checkpoints of format 1 images had a separate version number. */
enum { NUMBER_IN_FORMAT_1 = 4 };
_Static_assert(GAB_CHECKPOINT_FORMAT_BEFORE == 1, "format 1 is read no longer: drop its number");

/* Images and replicated entities begin alike, so that bytes can be identified wherever they are found (node_restart.c):
 * checksum, magic, format, bytes of all from the checksum on, serial, epoch, step. The epoch distinguishes a snapshot from
 * one that was interrupted by a death and whose serial was reused. */
enum { COMMON_HEAD = 48, TOTAL_AT = 16 };

static gab_status begin(gab_buffer *out, uint32_t magic, const gab_checkpoint *checkpoint,
                        const gab_snapshot *snapshot)
{
  GAB_TRY(gab_checksum_begin(out));
  GAB_TRY(gab_put_u32(out, magic));
  GAB_TRY(gab_put_u32(out, GAB_CHECKPOINT_FORMAT));
  GAB_TRY(gab_put_u64(out, 0)); /* set at the end */
  GAB_TRY(gab_put_u64(out, snapshot->serial));
  GAB_TRY(gab_put_u64(out, gab_world_epoch(checkpoint->world)));
  return gab_put_i64(out, snapshot->step);
}

/* @param[in] at  its begin */
static void end(gab_buffer *out, size_t at, const gab_checksum_trail *trail)
{
  const uint64_t total = out->size - at;
  for (size_t i = 0; i < sizeof total; i++) out->data[at + TOTAL_AT + i] = (unsigned char)(total >> (8 * i));
  gab_checksum_end(out, at, trail);
}

typedef struct common_head {
  uint32_t magic, format;
  uint64_t total, serial, epoch;
  int64_t step;
} common_head;

/* Reads what follows the checksum. */
static gab_status read_head(gab_reader *in, common_head *head)
{
  GAB_TRY(gab_get_u32(in, &head->magic));
  GAB_TRY(gab_get_u32(in, &head->format));
  GAB_TRY(gab_get_u64(in, &head->total));
  GAB_TRY(gab_get_u64(in, &head->serial));
  GAB_TRY(gab_get_u64(in, &head->epoch));
  return gab_get_i64(in, &head->step);
}

static bool is_of_format(const common_head *head, int format)
{
  return head->format == (format == 1 ? (uint32_t)NUMBER_IN_FORMAT_1 : (uint32_t)format);
}

bool gab_image_recognise(gab_reader bytes, gab_image_header *header)
{
  uint64_t checksum;
  common_head head;
  int32_t rank = GAB_NO_RANK;
  gab_reader in = bytes;
  if (gab_get_u64(&in, &checksum) != GAB_OK || read_head(&in, &head) != GAB_OK ||
      head.format != GAB_CHECKPOINT_FORMAT || (head.magic != IMAGE_MAGIC && head.magic != REPLICATED_MAGIC) ||
      head.total < COMMON_HEAD || head.total > gab_reader_left(&bytes))
    return false;
  if (head.magic == IMAGE_MAGIC && gab_get_i32(&in, &rank) != GAB_OK) return false;
  *header = (gab_image_header){.rank = rank,
                               .serial = head.serial,
                               .epoch = head.epoch,
                               .step = head.step,
                               .bytes = gab_reader_of(bytes.at, head.total)};
  gab_reader all = header->bytes;
  return gab_checksum_matches(&all);
}

enum { IMAGE_HEAD_CAPACITY = GAB_ENVELOPE_BYTES + 64 }; /* envelope and head */

size_t gab_image_capacity(const gab_checkpoint *checkpoint, size_t entity_bytes)
{
  return gab_forest_packed_size(checkpoint->forest) + entity_bytes + IMAGE_HEAD_CAPACITY;
}

/* Entities are packed first, so that the image, which stays in memory for hours, allocates no more than needed. */
static gab_status pack_own(const gab_checkpoint *checkpoint, gab_snapshot *next, const gab_buffer *entities)
{
  size_t forest_bytes = gab_forest_packed_size(checkpoint->forest);
  gab_buffer *own = &next->own;
  GAB_TRY(gab_own_image_fit(checkpoint, next, forest_bytes + entities->size + IMAGE_HEAD_CAPACITY));
  GAB_TRY(gab_message_begin(own));
  size_t began_at = own->size;
  GAB_TRY(begin(own, IMAGE_MAGIC, checkpoint, next));
  GAB_TRY(gab_put_i32(own, gab_world_rank(checkpoint->world)));
  GAB_TRY(gab_put_u64(own, forest_bytes));
  gab_checksum_trail trail = {0};
  gab_status status =
      gab_checksum_trail_begin(&trail, own, began_at, forest_bytes + entities->size + IMAGE_HEAD_CAPACITY);
  if (status == GAB_OK) status = gab_forest_pack(checkpoint->forest, own);
  if (status == GAB_OK) status = gab_put_bytes(own, entities->data, entities->size);
  if (status == GAB_OK) end(own, began_at, &trail);
  gab_checksum_trail_end(&trail);
  return status;
}

gab_status gab_image_pack(const gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_buffer entities;
  gab_buffer_init(&entities, GAB_MEMORY_OTHER);
  gab_status status = gab_entities_pack(checkpoint, GAB_ENTITY_PER_RANK, &entities);
  if (status == GAB_OK) status = pack_own(checkpoint, next, &entities);
  gab_buffer_release(&entities);
  GAB_TRY(status);
  gab_buffer_clear(&next->replicated);
  GAB_TRY(begin(&next->replicated, REPLICATED_MAGIC, checkpoint, next));
  GAB_TRY(gab_members_pack(&next->members, &next->replicated));
  GAB_TRY(gab_entities_pack(checkpoint, GAB_ENTITY_REPLICATED, &next->replicated));
  end(&next->replicated, 0, NULL);
  return GAB_OK;
}

gab_status gab_replicated_cut(gab_reader *in, int format, gab_members *members)
{
  common_head head;
  GAB_TRY(read_head(in, &head));
  if (head.magic != REPLICATED_MAGIC || !is_of_format(&head, format))
    GAB_FAIL(GAB_ERR_CORRUPT, "the replicated entities are not of format %d, which they should have", format);
  return gab_members_unpack(members, in);
}

/* Reads the head and splits the rest. */
static gab_status cut(gab_reader *in, int format, uint64_t wanted_serial, gab_step wanted_step, gab_rank rank,
                      gab_reader *forest, gab_reader *entities)
{
  common_head head;
  int32_t from;
  uint64_t bytes;
  GAB_TRY(read_head(in, &head));
  GAB_TRY(gab_get_i32(in, &from));
  GAB_TRY(gab_get_u64(in, &bytes));
  if (head.magic != IMAGE_MAGIC || !is_of_format(&head, format))
    GAB_FAIL(GAB_ERR_CORRUPT, "image of rank %" GAB_PRI_RANK " is not of format %d, which it should have",
             rank, format);
  if (rank != GAB_NO_RANK && (from != rank || head.serial != wanted_serial || head.step != wanted_step))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "image of rank %" GAB_PRI_RANK ", snapshot %" PRIu64 " of step %" GAB_PRI_STEP
             ", says it is of rank %" GAB_PRI_RANK ", snapshot %" PRIu64 " of step %" GAB_PRI_STEP,
             rank, wanted_serial, wanted_step, from, head.serial, (gab_step)head.step);
  if (bytes > gab_reader_left(in))
    GAB_FAIL(GAB_ERR_CORRUPT, "image of rank %" GAB_PRI_RANK " is cut short", rank);
  GAB_TRY(gab_get_view(in, (size_t)bytes, forest));
  *entities = *in;
  return GAB_OK;
}

gab_status gab_image_open(const gab_buffer *message, const gab_snapshot *snapshot, gab_rank rank,
                          gab_rank holder, gab_reader *forest, gab_reader *entities)
{
  gab_reader in = gab_message_reader(message);
  if (!gab_checksum_matches(&in))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "the image of rank %" GAB_PRI_RANK " (snapshot of step %" GAB_PRI_STEP
             ") that rank %" GAB_PRI_RANK " holds has changed in memory: its hash does not match",
             rank, snapshot->step, holder);
  return cut(&in, GAB_CHECKPOINT_FORMAT, snapshot->serial, snapshot->step, rank, forest, entities);
}

gab_status gab_image_cut(gab_reader image, int format, uint64_t serial, gab_step step, gab_rank rank,
                         gab_reader *forest, gab_reader *entities)
{
  uint64_t checksum;
  GAB_TRY(gab_get_u64(&image, &checksum));
  return cut(&image, format, serial, step, rank, forest, entities);
}
