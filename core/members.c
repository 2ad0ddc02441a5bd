/** @file members.c
 *  @brief Translation between slots and dense indices over the sorted list of the gone ones. */
#include "core/members.h"

#include <string.h>

void gab_members_init(gab_members *members, gab_slot slots)
{
  *members = (gab_members){.slots = slots > 0 ? slots : 0};
}

void gab_members_release(gab_members *members)
{
  gab_free(&members->gone);
  *members = (gab_members){0};
}

gab_status gab_members_copy(gab_members *to, const gab_members *from)
{
  if (to == from) return GAB_OK;
  void *gone = NULL;
  if (from->gone_count > 0) {
    const size_t bytes = (size_t)from->gone_count * sizeof *from->gone;
    GAB_TRY(gab_alloc(bytes, GAB_MEMORY_OTHER, &gone));
    memcpy(gone, from->gone, bytes);
  }
  gab_members_release(to);
  *to = (gab_members){from->slots, from->gone_count, gone};
  return GAB_OK;
}

/* How many of the gone slots are below `slot`; also the place of `slot` in their list. */
static int32_t gone_below(const gab_members *members, gab_slot slot)
{
  int32_t lo = 0, hi = members->gone_count;
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;
    if (members->gone[mid] < slot) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

gab_status gab_members_remove(gab_members *members, gab_slot slot)
{
  if (!gab_members_has(members, slot)) return GAB_OK;
  const int32_t place = gone_below(members, slot);
  void *gone = members->gone;
  GAB_TRY(gab_realloc(((size_t)members->gone_count + 1) * sizeof *members->gone, GAB_MEMORY_OTHER, &gone));
  members->gone = gone;
  memmove(members->gone + place + 1, members->gone + place,
          (size_t)(members->gone_count - place) * sizeof *members->gone);
  members->gone[place] = slot;
  members->gone_count++;
  return GAB_OK;
}

int32_t gab_members_count(const gab_members *members) { return members->slots - members->gone_count; }

bool gab_members_has(const gab_members *members, gab_slot slot)
{
  if (slot < 0 || slot >= members->slots) return false;
  const int32_t place = gone_below(members, slot);
  return place == members->gone_count || members->gone[place] != slot;
}

int32_t gab_members_index(const gab_members *members, gab_slot slot)
{
  return gab_members_has(members, slot) ? slot - gone_below(members, slot) : -1;
}

gab_slot gab_members_slot(const gab_members *members, int32_t index)
{
  if (index < 0 || index >= gab_members_count(members)) return GAB_NO_SLOT;
  /* gone[i] - i is the number of members below gone[i] and does not fall with i: the gone ones that lie
   * before the member of this index are those for which it is at most the index. */
  int32_t lo = 0, hi = members->gone_count;
  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;
    if (members->gone[mid] - mid <= index) lo = mid + 1;
    else hi = mid;
  }
  return index + lo;
}

gab_status gab_members_pack(const gab_members *members, gab_buffer *out)
{
  GAB_TRY(gab_put_i32(out, members->slots));
  GAB_TRY(gab_put_u64(out, (uint64_t)members->gone_count));
  for (int32_t i = 0; i < members->gone_count; i++) GAB_TRY(gab_put_i32(out, members->gone[i]));
  return GAB_OK;
}

/* The list has to be ascending and within the slots: what does not obey was never packed by us. */
static gab_status unpack_gone(gab_reader *in, gab_members *members)
{
  gab_slot last = -1;
  for (int32_t i = 0; i < members->gone_count; i++) {
    GAB_TRY(gab_get_i32(in, &members->gone[i]));
    if (members->gone[i] <= last || members->gone[i] >= members->slots)
      GAB_FAIL(GAB_ERR_CORRUPT, "list of gone slots is out of order");
    last = members->gone[i];
  }
  return GAB_OK;
}

gab_status gab_members_unpack(gab_members *members, gab_reader *in)
{
  gab_reader reader = *in;
  gab_members fresh = {0};
  size_t count;
  GAB_TRY(gab_get_i32(&reader, &fresh.slots));
  GAB_TRY(gab_get_count(&reader, sizeof(int32_t), &count));
  if (fresh.slots < 0 || count > (size_t)fresh.slots)
    GAB_FAIL(GAB_ERR_CORRUPT, "%zu of %" GAB_PRI_SLOT " slots cannot be gone", count, fresh.slots);
  if (count > 0) {
    void *gone = NULL;
    GAB_TRY(gab_alloc(count * sizeof *fresh.gone, GAB_MEMORY_OTHER, &gone));
    fresh.gone = gone;
    fresh.gone_count = (int32_t)count;
  }
  gab_status status = unpack_gone(&reader, &fresh);
  if (status != GAB_OK) {
    gab_members_release(&fresh);
    return status;
  }
  gab_members_release(members);
  *members = fresh;
  *in = reader;
  return GAB_OK;
}
