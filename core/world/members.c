/* SPDX-License-Identifier: Apache-2.0 */
/** @file members.c
 *  @brief Conversion between ranks, dense indices and processes by the sorted lists of lost and returned ranks. */
#include "core/world/members.h"
#include "core/base/lower_bound_impl.h"

#include <string.h>

void gab_members_init(gab_members *members, gab_rank ranks)
{
  *members = (gab_members){.ranks = ranks > 0 ? ranks : 0};
}

void gab_members_release(gab_members *members)
{
  gab_free(&members->gone);
  gab_free(&members->returns);
  *members = (gab_members){0};
}

static gab_status copy_list(const void *from, int32_t count, size_t element_bytes, void **copy)
{
  *copy = NULL;
  if (count == 0) return GAB_OK;
  GAB_TRY(gab_alloc((size_t)count * element_bytes, GAB_MEMORY_OTHER, copy));
  memcpy(*copy, from, (size_t)count * element_bytes);
  return GAB_OK;
}

gab_status gab_members_copy(gab_members *to, const gab_members *from)
{
  if (to == from) return GAB_OK;
  void *gone, *returns;
  GAB_TRY(copy_list(from->gone, from->gone_count, sizeof *from->gone, &gone));
  const gab_status status = copy_list(from->returns, from->return_count, sizeof *from->returns, &returns);
  if (status != GAB_OK) {
    gab_free(&gone);
    return status;
  }
  gab_members_release(to);
  *to = (gab_members){from->ranks, from->gone_count, gone, from->return_count, returns};
  return GAB_OK;
}

/* Number of lost ranks below `rank`; also the place of `rank` in their list. */
static int32_t gone_below(const gab_members *members, gab_rank rank)
{
  int32_t at = 0;
  GAB_LOWER_BOUND(int32_t, at, members->gone_count, i, members->gone[i] < rank);
  return at;
}

gab_status gab_members_remove(gab_members *members, gab_rank rank)
{
  if (!gab_members_has(members, rank)) return GAB_OK;
  const int32_t place = gone_below(members, rank);
  GAB_TRY(GAB_RESIZE_ARRAY(&members->gone, (size_t)members->gone_count + 1, GAB_MEMORY_OTHER));
  memmove(members->gone + place + 1, members->gone + place,
          (size_t)(members->gone_count - place) * sizeof *members->gone);
  members->gone[place] = rank;
  members->gone_count++;
  return GAB_OK;
}

/* The place of `rank` in the list of returned ranks. */
static int32_t return_place(const gab_members *members, gab_rank rank)
{
  int32_t at = 0;
  GAB_LOWER_BOUND(int32_t, at, members->return_count, i, members->returns[i].rank < rank);
  return at;
}

static gab_return *find_return(const gab_members *members, gab_rank rank)
{
  const int32_t place = return_place(members, rank);
  return place < members->return_count && members->returns[place].rank == rank ? &members->returns[place]
                                                                               : NULL;
}

static gab_status add_return(gab_members *members, gab_rank rank)
{
  const int32_t place = return_place(members, rank);
  GAB_TRY(GAB_RESIZE_ARRAY(&members->returns, (size_t)members->return_count + 1, GAB_MEMORY_OTHER));
  memmove(members->returns + place + 1, members->returns + place,
          (size_t)(members->return_count - place) * sizeof *members->returns);
  members->returns[place] = (gab_return){.rank = rank, .process = rank};
  members->return_count++;
  return GAB_OK;
}

gab_status gab_members_return(gab_members *members, gab_rank rank, gab_process process)
{
  if (rank < 0 || rank >= members->ranks || gab_members_has(members, rank))
    GAB_FAIL(GAB_ERR_ARGUMENT, "rank %" GAB_PRI_RANK " cannot come back: it is not gone", rank);
  if (process < 0 || gab_members_rank_of_process(members, process) != GAB_NO_RANK)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "process %" GAB_PRI_PROCESS " cannot run rank %" GAB_PRI_RANK ": it runs another one", process,
             rank);
  if (!find_return(members, rank)) GAB_TRY(add_return(members, rank));
  gab_return *back = find_return(members, rank);
  back->process = process;
  back->incarnation++;
  const int32_t place = gone_below(members, rank);
  members->gone_count--;
  memmove(members->gone + place, members->gone + place + 1,
          (size_t)(members->gone_count - place) * sizeof *members->gone);
  return GAB_OK;
}

gab_incarnation gab_members_incarnation(const gab_members *members, gab_rank rank)
{
  const gab_return *back = find_return(members, rank);
  return back ? back->incarnation : 0;
}

gab_process gab_members_last_process(const gab_members *members, gab_rank rank)
{
  const gab_return *back = find_return(members, rank);
  return back ? back->process : (gab_process)rank;
}

gab_process gab_members_process(const gab_members *members, gab_rank rank)
{
  return gab_members_has(members, rank) ? gab_members_last_process(members, rank) : GAB_NO_PROCESS;
}

gab_rank gab_members_rank_of_process(const gab_members *members, gab_process process)
{
  for (int32_t i = 0; i < members->return_count; i++)
    if (members->returns[i].process == process && gab_members_has(members, members->returns[i].rank))
      return members->returns[i].rank;
  const gab_rank rank = (gab_rank)process;
  return gab_members_has(members, rank) && !find_return(members, rank) ? rank : GAB_NO_RANK;
}

bool gab_members_has_survived(const gab_members *then, const gab_members *now, gab_rank rank)
{
  return gab_members_has(then, rank) && gab_members_has(now, rank) &&
         gab_members_incarnation(then, rank) == gab_members_incarnation(now, rank);
}

/* Only returned ranks can differ in their incarnation. */
gab_status gab_members_survivors(const gab_members *then, const gab_members *now, gab_members *survivors)
{
  gab_members left = {0};
  gab_status status = gab_members_copy(&left, now);
  for (int32_t i = 0; i < now->return_count && status == GAB_OK; i++)
    if (!gab_members_has_survived(then, now, now->returns[i].rank))
      status = gab_members_remove(&left, now->returns[i].rank);
  if (status != GAB_OK) {
    gab_members_release(&left);
    return status;
  }
  gab_members_release(survivors);
  *survivors = left;
  return GAB_OK;
}

int32_t gab_members_count(const gab_members *members) { return members->ranks - members->gone_count; }

bool gab_members_has(const gab_members *members, gab_rank rank)
{
  if (rank < 0 || rank >= members->ranks) return false;
  const int32_t place = gone_below(members, rank);
  return place == members->gone_count || members->gone[place] != rank;
}

int32_t gab_members_index(const gab_members *members, gab_rank rank)
{
  return gab_members_has(members, rank) ? rank - gone_below(members, rank) : -1;
}

gab_rank gab_members_rank(const gab_members *members, int32_t index)
{
  if (index < 0 || index >= gab_members_count(members)) return GAB_NO_RANK;
  /* gone[i] - i is the number of members below gone[i] and does not decrease with i. The lost ranks before the
   * member of this index are those for which it is at most the index. */
  int32_t place = 0;
  GAB_LOWER_BOUND(int32_t, place, members->gone_count, i, members->gone[i] - i <= index);
  return index + place;
}

/* Flag in the number of lost ranks: a list of returned ranks follows. Without returned ranks the bytes equal those
 * of the format before returns existed. */
#define RETURNS_FOLLOW ((uint64_t)1 << 63)

gab_status gab_members_pack(const gab_members *members, gab_buffer *out)
{
  const uint64_t mark = members->return_count > 0 ? RETURNS_FOLLOW : 0;
  GAB_TRY(gab_put_i32(out, members->ranks));
  GAB_TRY(gab_put_u64(out, (uint64_t)members->gone_count | mark));
  for (int32_t i = 0; i < members->gone_count; i++) GAB_TRY(gab_put_i32(out, members->gone[i]));
  if (!mark) return GAB_OK;
  GAB_TRY(gab_put_u64(out, (uint64_t)members->return_count));
  for (int32_t i = 0; i < members->return_count; i++) {
    GAB_TRY(gab_put_i32(out, members->returns[i].rank));
    GAB_TRY(gab_put_i32(out, members->returns[i].process));
    GAB_TRY(gab_put_u32(out, members->returns[i].incarnation));
  }
  return GAB_OK;
}

/* The lists must be ascending and within the ranks. */
static gab_status unpack_gone(gab_reader *in, gab_members *members, uint64_t count)
{
  gab_rank last = -1;
  if (count == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&members->gone, (size_t)count, GAB_MEMORY_OTHER));
  members->gone_count = (int32_t)count;
  for (int32_t i = 0; i < members->gone_count; i++) {
    GAB_TRY(gab_get_i32(in, &members->gone[i]));
    if (members->gone[i] <= last || members->gone[i] >= members->ranks)
      GAB_FAIL(GAB_ERR_CORRUPT, "list of gone ranks is out of order");
    last = members->gone[i];
  }
  return GAB_OK;
}

static gab_status unpack_returns(gab_reader *in, gab_members *members)
{
  size_t count;
  gab_rank last = -1;
  GAB_TRY(gab_get_count(in, 3 * sizeof(int32_t), &count));
  if (count == 0 || count > (size_t)members->ranks)
    GAB_FAIL(GAB_ERR_CORRUPT, "%zu of %" GAB_PRI_RANK " ranks cannot have come back", count, members->ranks);
  GAB_TRY(GAB_NEW_ARRAY(&members->returns, count, GAB_MEMORY_OTHER));
  members->return_count = (int32_t)count;
  for (size_t i = 0; i < count; i++) {
    gab_return *back = &members->returns[i];
    GAB_TRY(gab_get_i32(in, &back->rank));
    GAB_TRY(gab_get_i32(in, &back->process));
    GAB_TRY(gab_get_u32(in, &back->incarnation));
    if (back->rank <= last || back->rank >= members->ranks || back->process < 0 || back->incarnation < 1)
      GAB_FAIL(GAB_ERR_CORRUPT, "list of returned ranks is out of order");
    last = back->rank;
  }
  return GAB_OK;
}

static gab_status unpack(gab_reader *in, gab_members *fresh)
{
  uint64_t count;
  GAB_TRY(gab_get_i32(in, &fresh->ranks));
  GAB_TRY(gab_get_u64(in, &count));
  const bool returns_follow = (count & RETURNS_FOLLOW) != 0;
  count &= ~RETURNS_FOLLOW;
  if (fresh->ranks < 0 || count > (uint64_t)fresh->ranks || count > gab_reader_left(in) / sizeof(int32_t))
    GAB_FAIL(GAB_ERR_CORRUPT, "%" PRIu64 " of %" GAB_PRI_RANK " ranks cannot be gone", count, fresh->ranks);
  GAB_TRY(unpack_gone(in, fresh, count));
  return returns_follow ? unpack_returns(in, fresh) : GAB_OK;
}

gab_status gab_members_unpack(gab_members *members, gab_reader *in)
{
  gab_reader reader = *in;
  gab_members fresh = {0};
  const gab_status status = unpack(&reader, &fresh);
  if (status != GAB_OK) {
    gab_members_release(&fresh);
    return status;
  }
  gab_members_release(members);
  *members = fresh;
  *in = reader;
  return GAB_OK;
}
