/* SPDX-License-Identifier: Apache-2.0 */
/** @file route.c
 * @brief Items to ranks that do not expect them: the crystal router.
 *
 * Source: G. Fox et al., Solving Problems on Concurrent Processors, Prentice Hall 1988, chapter 22. The range of members is
 * halved again and again; in each round all items for the other half are sent to a known partner there. */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"

#include <stdlib.h>
#include <string.h>

enum { TARGET = 0, SOURCE = 4, BYTES = 8 }; /* layout of an item in transit: two ranks, then its bytes */

typedef struct router {
  gab_world *world;
  size_t stride;      /* of an item in transit */
  gab_buffer items;   /* on this rank at present */
  gab_buffer message; /* to the partner */
} router;

static gab_rank read_rank(const unsigned char *at)
{
  return (gab_rank)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

static gab_status load(router *r, const void *items, const gab_rank *targets, size_t count, size_t item_bytes)
{
  GAB_TRY(gab_buffer_reserve(&r->items, count * r->stride));
  for (size_t i = 0; i < count; i++) {
    if (!gab_members_has(&r->world->members, targets[i]))
      GAB_FAIL(GAB_ERR_ARGUMENT, "item %zu goes to rank %" GAB_PRI_RANK ", which does not take part", i,
               targets[i]);
    GAB_TRY(gab_put_i32(&r->items, targets[i]));
    GAB_TRY(gab_put_i32(&r->items, r->world->rank));
    GAB_TRY(gab_put_bytes(&r->items, (const unsigned char *)items + i * item_bytes, item_bytes));
  }
  return GAB_OK;
}

/* Moves the items for members [lo, hi) into the message; the others keep their order. */
static gab_status pick(router *r, int32_t lo, int32_t hi)
{
  const gab_rank first = gab_members_rank(&r->world->members, lo);
  const gab_rank last = gab_members_rank(&r->world->members, hi - 1);
  size_t kept = 0;
  GAB_TRY(gab_message_begin(&r->message));
  for (size_t at = 0; at < r->items.size; at += r->stride) {
    unsigned char *item = r->items.data + at;
    const gab_rank target = read_rank(item + TARGET);
    if (target >= first && target <= last) {
      GAB_TRY(gab_put_bytes(&r->message, item, r->stride));
    } else {
      if (kept != at) memcpy(r->items.data + kept, item, r->stride);
      kept += r->stride;
    }
  }
  r->items.size = kept;
  return GAB_OK;
}

static gab_status take(router *r, const gab_buffer *message)
{
  const gab_reader reader = gab_message_reader(message);
  if (gab_reader_left(&reader) % r->stride != 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "a routed message holds no whole number of items");
  return gab_put_bytes(&r->items, reader.at, gab_reader_left(&reader));
}

/* One round within members [*lo, *hi): half [lo, middle) and half [middle, hi), of which the upper one may
 * have one member more. That one sends to the last of the lower half and gets nothing back. */
static gab_status halve(router *r, int32_t *lo, int32_t *hi)
{
  gab_world *world = r->world;
  const gab_members *members = &world->members;
  const int32_t index = gab_members_index(members, world->rank);
  const int32_t half = (*hi - *lo) / 2, middle = *lo + half;
  const bool odd = (*hi - *lo) % 2 != 0, low = index < middle, extra = odd && index == *hi - 1;
  const int32_t partner = low ? index + half : extra ? middle - 1 : index - half;
  GAB_TRY(low ? pick(r, middle, *hi) : pick(r, *lo, middle));
  GAB_TRY(gab_port_send(world->route, gab_members_rank(members, partner), &r->message));
  if (!extra)
    GAB_TRY(
        gab_port_receive(world->route, gab_members_rank(members, partner), &world->inbox, GAB_SIZE_UNKNOWN));
  GAB_TRY(gab_port_finish(world->route));
  if (!extra) GAB_TRY(take(r, &world->inbox));
  if (odd && index == middle - 1) {
    GAB_TRY(
        gab_port_receive(world->route, gab_members_rank(members, *hi - 1), &world->inbox, GAB_SIZE_UNKNOWN));
    GAB_TRY(gab_port_finish(world->route));
    GAB_TRY(take(r, &world->inbox));
  }
  if (low) *hi = middle;
  else *lo = middle;
  return GAB_OK;
}

/* Items of one source take the same way in the order in which they were sent: the place breaks ties. */
static int by_source_then_place(const void *a, const void *b)
{
  const unsigned char *x = *(const unsigned char *const *)a, *y = *(const unsigned char *const *)b;
  const gab_rank source_x = read_rank(x + SOURCE), source_y = read_rank(y + SOURCE);
  if (source_x != source_y) return source_x < source_y ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Most often they are: there are few sources, or few items. */
static bool is_in_order(const router *r)
{
  for (size_t at = r->stride; at < r->items.size; at += r->stride)
    if (read_rank(r->items.data + at - r->stride + SOURCE) > read_rank(r->items.data + at + SOURCE))
      return false;
  return true;
}

static gab_status deliver(const router *r, gab_buffer *received, size_t *received_count)
{
  const size_t count = r->items.size / r->stride;
  const unsigned char **order;
  GAB_TRY(GAB_NEW_ARRAY(&order, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) order[i] = r->items.data + i * r->stride;
  if (!is_in_order(r)) qsort(order, count, sizeof *order, by_source_then_place);
  gab_buffer_clear(received);
  gab_status status = gab_buffer_reserve(received, count * (r->stride - SOURCE));
  for (size_t i = 0; i < count && status == GAB_OK; i++)
    status = gab_put_bytes(received, order[i] + SOURCE, r->stride - SOURCE);
  gab_free(&order);
  *received_count = count;
  return status;
}

static gab_status run(router *r, const void *items, const gab_rank *targets, size_t count, size_t item_bytes)
{
  if (gab_world_is_spare(r->world) && count > 0)
    GAB_FAIL(GAB_ERR_STATE, "a spare process has nothing to route, but %zu items", count);
  if (gab_world_is_spare(r->world)) return GAB_OK;
  GAB_TRY(load(r, items, targets, count, item_bytes));
  int32_t lo = 0, hi = gab_members_count(&r->world->members);
  while (hi - lo > 1) GAB_TRY(halve(r, &lo, &hi));
  return GAB_OK;
}

gab_status gab_world_route(gab_world *world, const void *items, const gab_rank *targets, size_t count,
                           size_t item_bytes, gab_buffer *received, size_t *received_count)
{
  GAB_TRY(gab_world_check(world));
  gab_world_enter(world, GAB_FAULT_POINT_REDUCTION);
  router r = {.world = world, .stride = BYTES + item_bytes};
  gab_buffer_init(&r.items, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&r.message, GAB_MEMORY_MESSAGE);
  gab_status status = run(&r, items, targets, count, item_bytes);
  if (status == GAB_OK) status = deliver(&r, received, received_count);
  gab_buffer_release(&r.items);
  gab_buffer_release(&r.message);
  return status;
}
