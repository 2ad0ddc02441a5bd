/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of images, and images within a node: own images in shared memory, offers, copying and mapping. The moves:
 * image_moves.c. */
#include "resilience/checkpoint/checkpoint_impl.h"

#include "core/memory/memory_impl.h"
#include "core/memory/nontemporal_impl.h"
#include "resilience/schemes/domains_impl.h"

#define OFFER_MAGIC   UINT32_C(0x4f424147)
#define OFFER_VERSION UINT32_C(1)

/* An image begins with a hash, an offer with zeros, then a magic number. */
_Static_assert(GAB_OFFER_BYTES == 8 + 4 + 4 + 8 + 1 + sizeof(gab_shared_key),
               "what is packed fills an offer");

static const char *const names[GAB_WITHIN_NODE_COUNT] = {"copy", "share", "send"};

const char *gab_within_node_name(gab_within_node way)
{
  return way < GAB_WITHIN_NODE_COUNT ? names[way] : "?";
}

gab_status gab_checkpoint_set_within_node(gab_checkpoint *checkpoint, gab_within_node way)
{
  if ((unsigned)way >= GAB_WITHIN_NODE_COUNT)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%d is not a transfer mode within a node", (int)way);
  checkpoint->within_node = way;
  return GAB_OK;
}

/* Both processes must have a known node, found at the start or received later. */
bool gab_offer_is_of_use(const gab_checkpoint *checkpoint, gab_rank holder)
{
  const gab_members *members = gab_world_members(checkpoint->world);
  const gab_domains *domains = checkpoint->domains;
  const gab_process here = gab_members_process(members, gab_world_rank(checkpoint->world)),
                    there = gab_members_process(members, holder);
  if (!domains || checkpoint->within_node == GAB_WITHIN_NODE_SEND ||
      checkpoint->compression != GAB_COMPRESSION_NONE || here == GAB_NO_PROCESS || there == GAB_NO_PROCESS)
    return false;
  const int32_t known = gab_domains_ranks(domains);
  return here < known && there < known &&
         gab_domains_together(domains, GAB_DOMAIN_NODE, (gab_rank)here, (gab_rank)there);
}

static bool has_holder_beside(const gab_checkpoint *checkpoint, const gab_placement *placement)
{
  for (int k = 0; placement->scheme && k < gab_placement_copies(placement); k++) {
    const gab_rank holder = gab_placement_holder(placement, gab_world_rank(checkpoint->world), k);
    if (holder != GAB_NO_RANK && gab_offer_is_of_use(checkpoint, holder)) return true;
  }
  return false;
}

/* If the system has refused shared memory, it is not requested again: each attempt would first release the present memory. */
gab_status gab_own_image_fit(const gab_checkpoint *checkpoint, gab_snapshot *snapshot, size_t bytes)
{
  gab_buffer *own = &snapshot->own;
  gab_shared_key key;
  void *memory;
  if (gab_shared_key_of(own->data, &key)) {
    if (gab_buffer_fit(own, bytes) == GAB_OK) return GAB_OK;
  } else if (snapshot->own_unseen || !has_holder_beside(checkpoint, &snapshot->placement)) {
    return gab_buffer_fit(own, bytes);
  }
  gab_buffer_release(own);
  const bool is_there = gab_alloc_shared(bytes, own->use, &memory) == GAB_OK;
  snapshot->own_unseen = !is_there || !gab_shared_key_of(memory, &key);
  if (!is_there) return gab_buffer_fit(own, bytes);
  own->data = memory;
  own->capacity = bytes;
  return GAB_OK;
}

/* ---------------------------------------------------------------- any image */

gab_status gab_buffer_fit(gab_buffer *buffer, size_t bytes)
{
  gab_buffer_clear(buffer);
  if (buffer->capacity >= bytes && buffer->capacity - bytes <= bytes / 64 + 4096) return GAB_OK;
  void *memory = buffer->data;
  const gab_status status = gab_realloc_unset(bytes, buffer->use, &memory);
  if (status == GAB_OK || !memory) buffer->capacity = status == GAB_OK ? bytes : 0;
  buffer->data = memory;
  return status;
}

/* ---------------------------------------------------------------- offers */

gab_status gab_offer_pack(const gab_buffer *own, size_t bytes, gab_buffer *offer)
{
  gab_shared_key key = {.process = 0};
  const bool visible = gab_shared_key_of(own->data, &key);
  GAB_TRY(gab_message_begin(offer));
  GAB_TRY(gab_put_u64(offer, 0));
  GAB_TRY(gab_put_u32(offer, OFFER_MAGIC));
  GAB_TRY(gab_put_u32(offer, OFFER_VERSION));
  GAB_TRY(gab_put_u64(offer, bytes));
  GAB_TRY(gab_put_u8(offer, visible));
  return gab_put_bytes(offer, &key, sizeof key);
}

bool gab_offer_open(gab_copy *copy, const gab_buffer *message, size_t *bytes, bool *visible)
{
  uint64_t nothing, all;
  uint32_t magic, version;
  uint8_t has_key;
  gab_shared_key key;
  if (gab_message_bytes(message) != GAB_OFFER_BYTES) return false;
  gab_reader in = gab_message_reader(message);
  if (gab_get_u64(&in, &nothing) != GAB_OK || gab_get_u32(&in, &magic) != GAB_OK ||
      gab_get_u32(&in, &version) != GAB_OK || gab_get_u64(&in, &all) != GAB_OK ||
      gab_get_u8(&in, &has_key) != GAB_OK || gab_get_bytes(&in, &key, sizeof key) != GAB_OK || nothing != 0 ||
      magic != OFFER_MAGIC || version != OFFER_VERSION || all < GAB_ENVELOPE_BYTES || all > SIZE_MAX)
    return false;
  key.boot[sizeof key.boot - 1] = '\0';
  *bytes = (size_t)all;
  *visible = has_key && gab_shared_view_open(&copy->view, &key, *bytes);
  if (!has_key) gab_shared_view_close(&copy->view);
  return true;
}

void gab_copy_forget(gab_copy *copy)
{
  if (copy->image.fixed) gab_buffer_release(&copy->image);
}

void gab_copy_release(gab_copy *copy)
{
  gab_buffer_release(&copy->image);
  gab_buffer_release(&copy->answer);
  gab_shared_view_close(&copy->view);
}

void gab_copy_map(gab_copy *copy, size_t bytes)
{
  const gab_memory_use use = copy->image.use;
  gab_buffer_release(&copy->image);
  /* A full fixed buffer is never written to, and is copied before it is sent (gab_image_moves_send()). */
  copy->image = gab_buffer_over((void *)(uintptr_t)copy->view.bytes, bytes);
  copy->image.use = use;
  copy->image.size = bytes;
}

/* Both sides are read much later, so the copy bypasses the caches. Lines are prefetched: with small pages, as files in
 * memory mostly have, the hardware prefetcher stops at the end of each. */
static void copy_lines(unsigned char *to, const unsigned char *from, size_t bytes)
{
  enum { AHEAD = 1024 };
  const size_t lines = (uintptr_t)to % GAB_CACHE_LINE == 0 ? bytes / GAB_CACHE_LINE * GAB_CACHE_LINE : 0;
  for (size_t at = 0; at < lines; at += GAB_CACHE_LINE) {
    if (at + AHEAD < bytes) __builtin_prefetch(from + at + AHEAD, 0, 0);
    gab_nontemporal_line(to + at, from + at);
  }
  gab_nontemporal_copy(to + lines, from + lines, bytes - lines);
}

static void copy_by_threads(unsigned char *to, const unsigned char *from, size_t bytes)
{
  enum { STRIPE = 256 * 1024 };
#pragma omp parallel if (bytes > STRIPE)
  {
#pragma omp for schedule(static)
    for (size_t at = 0; at < bytes; at += STRIPE)
      copy_lines(to + at, from + at, bytes - at < STRIPE ? bytes - at : STRIPE);
    gab_nontemporal_fence();
  }
}

bool gab_copy_piece(gab_copy *copy, size_t *done)
{
  enum { PIECE = 8 << 20 };
  const size_t left = copy->image.size - *done, bytes = left < PIECE ? left : PIECE;
  copy_by_threads(copy->image.data + *done, (const unsigned char *)copy->view.bytes + *done, bytes);
  *done += bytes;
  return bytes == left;
}

gab_status gab_image_unmap(gab_buffer *image)
{
  if (!image->fixed) return GAB_OK;
  gab_buffer copied;
  gab_buffer_init(&copied, image->use);
  GAB_TRY(gab_buffer_fit(&copied, image->size));
  copied.size = image->size;
  copy_by_threads(copied.data, image->data, image->size);
  gab_buffer_release(image);
  *image = copied;
  return GAB_OK;
}
