/* SPDX-License-Identifier: Apache-2.0 */
/* Storage of local recovery: images of a rank, here and at its holder, and the decisions since the oldest of them. */
#include "resilience/local/protocol/local_impl.h"

#include <string.h>

gab_step gab_local_may_go_back_to(const gab_local *local, const gab_local_partner *partner)
{
  if (!local->setup.own_times) return local->committed;
  const gab_step alone =
      partner && !partner->is_inner ? partner->cluster_committed : local->cluster_committed;
  return alone > local->committed ? alone : local->committed;
}

const gab_local_image *gab_local_newest(const gab_local_images *images, gab_step limit)
{
  const gab_local_image *newest = NULL;
  for (int i = 0; i < images->count; i++)
    if (images->list[i].checkpoint <= limit) newest = &images->list[i];
  return newest;
}

bool gab_local_has_image(const gab_local_images *images, gab_step checkpoint)
{
  for (int i = 0; i < images->count; i++)
    if (images->list[i].checkpoint == checkpoint) return true;
  return false;
}

gab_buffer gab_local_take_idle(gab_local_images *images)
{
  gab_buffer bytes;
  gab_buffer_init(&bytes, GAB_MEMORY_SNAPSHOT);
  if (images->idle.data) gab_buffer_swap(&bytes, &images->idle);
  gab_buffer_clear(&bytes);
  return bytes;
}

/* Keeps the larger one of two buffers. */
static void give_idle(gab_local_images *images, gab_buffer *bytes)
{
  if (bytes->capacity > images->idle.capacity) gab_buffer_swap(bytes, &images->idle);
  gab_buffer_release(bytes);
}

gab_status gab_local_keep_packed(gab_local_images *images, const gab_local_image *what, gab_buffer *bytes)
{
  const gab_step checkpoint = what->checkpoint;
  int place = 0;
  while (place < images->count && images->list[place].checkpoint < checkpoint) place++;
  const bool is_new = place == images->count || images->list[place].checkpoint != checkpoint;
  if (is_new && images->count == (int)(sizeof images->list / sizeof images->list[0]))
    GAB_FAIL(GAB_ERR_STATE, "cannot store another image, of checkpoint %" GAB_PRI_STEP, checkpoint);
  gab_local_image *image = &images->list[place];
  if (is_new) {
    memmove(image + 1, image, (size_t)(images->count - place) * sizeof *image);
    images->count++;
    gab_buffer_init(&image->bytes, GAB_MEMORY_SNAPSHOT);
  }
  image->checkpoint = checkpoint;
  image->own = what->own;
  image->decisions = what->decisions;
  gab_buffer_swap(&image->bytes, bytes);
  give_idle(images, bytes);
  return GAB_OK;
}

gab_status gab_local_keep_image(gab_local_images *images, const gab_local_image *what,
                                const gab_buffer *bytes)
{
  gab_buffer copy = gab_local_take_idle(images);
  gab_status status = gab_put_bytes(&copy, bytes->data, bytes->size);
  if (status == GAB_OK) status = gab_local_keep_packed(images, what, &copy);
  gab_buffer_release(&copy);
  return status;
}

/* ---------------------------------------------------------------- dropping */

static void drop_decisions(gab_local_decisions *decisions, uint64_t before)
{
  if (before <= decisions->base) return;
  uint64_t many = before - decisions->base;
  if (many > decisions->count) many = decisions->count;
  if (many > 0)
    memmove(decisions->values, decisions->values + many, (decisions->count - many) * sizeof(uint64_t));
  decisions->base = before;
  decisions->count -= many;
}

static void drop_image(gab_local_images *images, int place)
{
  gab_local_image *image = &images->list[place];
  give_idle(images, &image->bytes);
  images->count--;
  memmove(image, image + 1, (size_t)(images->count - place) * sizeof *image);
}

void gab_local_forget_images(gab_local_images *images)
{
  while (images->count > 0) drop_image(images, images->count - 1);
  gab_buffer_release(&images->idle);
}

/* Needed are the newest checkpoint committed in the cluster (rollback), the newest common one that all have (next
 * strategy), and their successors. */
static void drop_old(gab_local_images *images, gab_step limit, gab_step committed)
{
  bool has_later = false, has_later_common = false;
  for (int i = images->count - 1; i >= 0; i--) {
    const gab_local_image image = images->list[i];
    if (has_later && (image.own || has_later_common)) drop_image(images, i);
    has_later = has_later || image.checkpoint <= limit;
    has_later_common = has_later_common || (!image.own && image.checkpoint <= committed);
  }
}

void gab_local_prune(gab_local *local)
{
  drop_old(&local->images, gab_local_may_go_back_to(local, NULL), local->committed);
  if (local->images.count == 0) return;
  uint64_t before = local->images.list[0].decisions;
  /* this rank rolled back to before a checkpoint that is committed now */
  if (local->decided < before) before = local->decided;
  drop_decisions(&local->decisions, before);
}

void gab_local_prune_protected(const gab_local *local, gab_local_partner *protected)
{
  drop_old(&protected->images, gab_local_may_go_back_to(local, protected), local->committed);
  if (protected->images.count > 0) drop_decisions(&protected->decisions, protected->images.list[0].decisions);
}
