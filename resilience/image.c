/* The image of a slot: what a snapshot keeps of it, as bytes. Hash and head, the forest's image, the entities
 * per slot; the replicated entities lie beside it. */
#include "resilience/checkpoint_impl.h"
#include "resilience/disk_impl.h"
#include "resilience/redundancy_impl.h"

#define IMAGE_MAGIC   UINT32_C(0x47414249)
#define IMAGE_VERSION UINT32_C(2)

enum { IMAGE_HEAD_ROOM = GAB_ENVELOPE_BYTES + 64 }; /* envelope, hash and head */

/* The entities first, so that the image, which fills memory for hours, gets no more of it than it needs. */
static gab_status pack_own(const gab_checkpoint *checkpoint, gab_snapshot *next, const gab_buffer *entities)
{
  size_t forest_bytes = gab_forest_packed_size(checkpoint->forest);
  gab_buffer *own = &next->own;
  GAB_TRY(gab_buffer_fit(own, forest_bytes + entities->size + IMAGE_HEAD_ROOM));
  GAB_TRY(gab_message_begin(own));
  size_t sealed_at = own->size;
  GAB_TRY(gab_seal_begin(own));
  GAB_TRY(gab_put_u32(own, IMAGE_MAGIC));
  GAB_TRY(gab_put_u32(own, IMAGE_VERSION));
  GAB_TRY(gab_put_i32(own, gab_world_slot(checkpoint->world)));
  GAB_TRY(gab_put_u64(own, next->serial));
  GAB_TRY(gab_put_i64(own, next->step));
  GAB_TRY(gab_put_u64(own, forest_bytes));
  GAB_TRY(gab_forest_pack(checkpoint->forest, own));
  GAB_TRY(gab_put_bytes(own, entities->data, entities->size));
  gab_seal_end(own, sealed_at);
  return GAB_OK;
}

gab_status gab_image_pack(const gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_buffer entities;
  gab_buffer_init(&entities, GAB_MEMORY_OTHER);
  gab_status status = gab_entities_pack(checkpoint, GAB_ENTITY_PER_SLOT, &entities);
  if (status == GAB_OK) status = pack_own(checkpoint, next, &entities);
  gab_buffer_release(&entities);
  GAB_TRY(status);
  gab_buffer_clear(&next->replicated);
  GAB_TRY(gab_seal_begin(&next->replicated));
  GAB_TRY(gab_entities_pack(checkpoint, GAB_ENTITY_REPLICATED, &next->replicated));
  gab_seal_end(&next->replicated, 0);
  return GAB_OK;
}

/* The head and what stands behind it. */
static gab_status cut(gab_reader *in, uint64_t wanted_serial, gab_step wanted_step, gab_slot slot,
                      gab_reader *forest, gab_reader *entities)
{
  uint32_t magic, version;
  int32_t from;
  uint64_t serial, bytes;
  int64_t step;
  GAB_TRY(gab_get_u32(in, &magic));
  GAB_TRY(gab_get_u32(in, &version));
  GAB_TRY(gab_get_i32(in, &from));
  GAB_TRY(gab_get_u64(in, &serial));
  GAB_TRY(gab_get_i64(in, &step));
  GAB_TRY(gab_get_u64(in, &bytes));
  if (magic != IMAGE_MAGIC || version != IMAGE_VERSION)
    GAB_FAIL(GAB_ERR_CORRUPT, "image of slot %" GAB_PRI_SLOT " is none of this version", slot);
  if (slot != GAB_NO_SLOT && (from != slot || serial != wanted_serial || step != wanted_step))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "image of slot %" GAB_PRI_SLOT ", snapshot %" PRIu64 " says it is of slot %" GAB_PRI_SLOT
             ", snapshot %" PRIu64,
             slot, wanted_serial, from, serial);
  if (bytes > gab_reader_left(in))
    GAB_FAIL(GAB_ERR_CORRUPT, "image of slot %" GAB_PRI_SLOT " is cut short", slot);
  GAB_TRY(gab_get_view(in, (size_t)bytes, forest));
  *entities = *in;
  return GAB_OK;
}

gab_status gab_image_open(const gab_buffer *message, const gab_snapshot *snapshot, gab_slot slot,
                          gab_slot holder, gab_reader *forest, gab_reader *entities)
{
  gab_reader in = gab_message_reader(message);
  if (!gab_seal_is_whole(&in))
    GAB_FAIL(GAB_ERR_CORRUPT,
             "the image of slot %" GAB_PRI_SLOT " (snapshot of step %" GAB_PRI_STEP
             ") that slot %" GAB_PRI_SLOT " holds has changed in memory: its hash does not match",
             slot, snapshot->step, holder);
  return cut(&in, snapshot->serial, snapshot->step, slot, forest, entities);
}

gab_status gab_image_cut(gab_reader image, uint64_t serial, gab_step step, gab_slot slot, gab_reader *forest,
                         gab_reader *entities)
{
  uint64_t seal;
  GAB_TRY(gab_get_u64(&image, &seal));
  return cut(&image, serial, step, slot, forest, entities);
}
