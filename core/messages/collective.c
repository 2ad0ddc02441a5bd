/* SPDX-License-Identifier: Apache-2.0 */
/** @file collective.c
 *  @brief Reductions, broadcasts and scans over the members, as trees of messages. Gathers: gather.c. */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int32_t my_index(const gab_world *world) { return gab_world_my_place(world); }
static int32_t how_many(const gab_world *world) { return gab_world_participants(world); }
static gab_rank rank_at(const gab_world *world, int32_t index) { return gab_world_participant(world, index); }

static gab_status send_bytes(gab_world *world, gab_port *port, gab_rank target, const void *bytes,
                             size_t count)
{
  GAB_TRY(gab_message_begin(&world->outbox));
  GAB_TRY(gab_put_bytes(&world->outbox, bytes, count));
  GAB_TRY(gab_port_send(port, target, &world->outbox));
  return gab_port_finish(port);
}

static gab_status receive_bytes(gab_world *world, gab_port *port, gab_rank source, size_t count)
{
  GAB_TRY(gab_port_receive(port, source, &world->inbox, count));
  return gab_port_finish(port);
}

/* ------------------------------------------------------------------------------------ broadcast */

/* Down a binomial tree from the member of index `root`; members forward the received buffer unchanged. */
static gab_status broadcast(gab_world *world, int32_t root, gab_buffer *bytes)
{
  const int32_t count = how_many(world), place = (my_index(world) - root + count) % count;
  gab_buffer *message = &world->outbox;
  int32_t mask = 1;
  while (mask < count && !(place & mask)) mask <<= 1;
  if (place == 0) {
    GAB_TRY(gab_message_begin(message));
    GAB_TRY(gab_put_bytes(message, bytes->data, bytes->size));
  } else {
    message = &world->inbox;
    GAB_TRY(
        receive_bytes(world, world->tree, rank_at(world, (place - mask + root) % count), GAB_SIZE_UNKNOWN));
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (place + mask >= count) continue;
    GAB_TRY(gab_port_send(world->tree, rank_at(world, (place + mask + root) % count), message));
    GAB_TRY(gab_port_finish(world->tree));
  }
  if (place == 0) return GAB_OK;
  const gab_reader payload = gab_message_reader(message);
  gab_buffer_clear(bytes);
  return gab_put_bytes(bytes, payload.at, gab_reader_left(&payload));
}

static gab_status replay_broadcast(gab_world *world, gab_buffer *bytes)
{
  gab_reader in;
  GAB_TRY(gab_replay_next(world, GAB_REPLAY_BROADCAST, &in));
  gab_buffer_clear(bytes);
  return gab_put_bytes(bytes, in.at, gab_reader_left(&in));
}

gab_status gab_world_broadcast(gab_world *world, gab_rank root, gab_buffer *bytes)
{
  GAB_TRY(gab_world_check(world));
  if (gab_world_replays(world)) return replay_broadcast(world, bytes);
  gab_world_enter(world, GAB_FAULT_POINT_REDUCTION);
  const int32_t index = gab_members_index(&world->members, root);
  if (index < 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "rank %" GAB_PRI_RANK " cannot broadcast: it does not take part", root);
  GAB_TRY(broadcast(world, index, bytes));
  gab_replay_note(world, GAB_REPLAY_BROADCAST, bytes->data, bytes->size);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ reductions */

/* Up a binomial tree to the first member and down again. */
static gab_status reduce(gab_world *world, void *values, size_t count, size_t element_bytes,
                         gab_combine_fn combine)
{
  const int32_t members = how_many(world), index = my_index(world);
  const size_t bytes = count * element_bytes;
  for (int32_t mask = 1; mask < members; mask <<= 1) {
    if (index & mask) {
      GAB_TRY(send_bytes(world, world->tree, rank_at(world, index - mask), values, bytes));
      break;
    }
    if (index + mask >= members) continue;
    GAB_TRY(receive_bytes(world, world->tree, rank_at(world, index + mask), bytes));
    if (count > 0) combine(values, world->inbox.data + GAB_ENVELOPE_BYTES, count);
  }
  gab_buffer result;
  gab_buffer_init(&result, GAB_MEMORY_MESSAGE);
  gab_status status = index == 0 ? gab_put_bytes(&result, values, bytes) : GAB_OK;
  if (status == GAB_OK) status = broadcast(world, 0, &result);
  if (status == GAB_OK && result.size != bytes)
    status = gab_error_set(GAB_ERR_CORRUPT, __FILE__, __LINE__,
                           "the result of a reduction has %zu bytes instead of %zu", result.size, bytes);
  if (status == GAB_OK && bytes > 0) memcpy(values, result.data, bytes);
  gab_buffer_release(&result);
  return status;
}

gab_status gab_world_reduce(gab_world *world, void *values, size_t count, size_t element_bytes,
                            gab_combine_fn combine)
{
  GAB_TRY(gab_world_check(world));
  gab_world_enter(world, GAB_FAULT_POINT_REDUCTION);
  if (element_bytes > 0 && count > SIZE_MAX / 4 / element_bytes)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%zu elements of %zu bytes cannot be reduced", count, element_bytes);
  if (gab_world_replays(world))
    return gab_replay_into(world, GAB_REPLAY_REDUCTION, values, count * element_bytes);
  GAB_TRY(reduce(world, values, count, element_bytes, combine));
  gab_replay_note(world, GAB_REPLAY_REDUCTION, values, count * element_bytes);
  return GAB_OK;
}

gab_status gab_world_barrier(gab_world *world) { return gab_world_reduce(world, NULL, 0, 1, NULL); }

static void add_u64(void *into, const void *from, size_t count)
{
  uint64_t *a = into;
  const uint64_t *b = from;
  for (size_t i = 0; i < count; i++) a[i] += b[i];
}

static void max_u64(void *into, const void *from, size_t count)
{
  uint64_t *a = into;
  const uint64_t *b = from;
  for (size_t i = 0; i < count; i++) a[i] = a[i] < b[i] ? b[i] : a[i];
}

static void min_u64(void *into, const void *from, size_t count)
{
  uint64_t *a = into;
  const uint64_t *b = from;
  for (size_t i = 0; i < count; i++) a[i] = b[i] < a[i] ? b[i] : a[i];
}

/* -0 < +0, so that the sign of a zero does not depend on the order; a NaN stays a NaN for the same reason. */
static bool is_below(double a, double b) { return a < b || (a == b && signbit(a) && !signbit(b)); }

static void max_f64(void *into, const void *from, size_t count)
{
  double *a = into;
  const double *b = from;
  for (size_t i = 0; i < count; i++)
    if (isnan(b[i]) || is_below(a[i], b[i])) a[i] = isnan(a[i]) || isnan(b[i]) ? (double)NAN : b[i];
}

static void min_f64(void *into, const void *from, size_t count)
{
  double *a = into;
  const double *b = from;
  for (size_t i = 0; i < count; i++)
    if (isnan(b[i]) || is_below(b[i], a[i])) a[i] = isnan(a[i]) || isnan(b[i]) ? (double)NAN : b[i];
}

static void merge_exact(void *into, const void *from, size_t count)
{
  gab_exact_sum *a = into;
  const gab_exact_sum *b = from;
  for (size_t i = 0; i < count; i++) gab_exact_merge(&a[i], &b[i]);
}

gab_status gab_world_sum_u64(gab_world *world, uint64_t *values, size_t count)
{
  return gab_world_reduce(world, values, count, sizeof *values, add_u64);
}

gab_status gab_world_max_u64(gab_world *world, uint64_t *values, size_t count)
{
  return gab_world_reduce(world, values, count, sizeof *values, max_u64);
}

gab_status gab_world_min_u64(gab_world *world, uint64_t *values, size_t count)
{
  return gab_world_reduce(world, values, count, sizeof *values, min_u64);
}

gab_status gab_world_max_f64(gab_world *world, double *values, size_t count)
{
  return gab_world_reduce(world, values, count, sizeof *values, max_f64);
}

gab_status gab_world_min_f64(gab_world *world, double *values, size_t count)
{
  return gab_world_reduce(world, values, count, sizeof *values, min_f64);
}

gab_status gab_world_sum_exact(gab_world *world, gab_exact_sum *sums, size_t count)
{
  return gab_world_reduce(world, sums, count, sizeof *sums, merge_exact);
}

/* ------------------------------------------------------------------------------------ prefix sum */

/* A respawned process counts after all members, like a spare. */
static gab_status replay_scan(gab_world *world, uint64_t *before, uint64_t *total)
{
  uint64_t all;
  GAB_TRY(gab_replay_into(world, GAB_REPLAY_SCAN, &all, sizeof all));
  *before = all;
  if (total) *total = all;
  return GAB_OK;
}

/* Recursive doubling: before round d a rank has the sum of itself and of the 2^d - 1 members below it. */
gab_status gab_world_scan_u64(gab_world *world, uint64_t value, uint64_t *before, uint64_t *total)
{
  GAB_TRY(gab_world_check(world));
  gab_world_enter(world, GAB_FAULT_POINT_REDUCTION);
  if (gab_world_replays(world)) return replay_scan(world, before, total);
  const int32_t count = how_many(world), index = my_index(world);
  uint64_t sum = value;
  for (int32_t reach = 1; reach < count; reach <<= 1) {
    const bool sends = index + reach < count, receives = index >= reach;
    if (sends) {
      GAB_TRY(gab_message_begin(&world->outbox));
      GAB_TRY(gab_put_u64(&world->outbox, sum));
      GAB_TRY(gab_port_send(world->tree, rank_at(world, index + reach), &world->outbox));
    }
    if (receives)
      GAB_TRY(gab_port_receive(world->tree, rank_at(world, index - reach), &world->inbox, sizeof sum));
    GAB_TRY(gab_port_finish(world->tree));
    if (!receives) continue;
    gab_reader reader = gab_message_reader(&world->inbox);
    uint64_t below = 0;
    GAB_TRY(gab_get_u64(&reader, &below));
    sum += below;
  }
  gab_buffer all;
  gab_buffer_init(&all, GAB_MEMORY_MESSAGE);
  gab_status status = index == count - 1 ? gab_put_u64(&all, sum) : GAB_OK;
  if (status == GAB_OK) status = broadcast(world, count - 1, &all);
  gab_reader reader = gab_reader_of_buffer(&all);
  uint64_t everything = 0;
  if (status == GAB_OK) status = gab_get_u64(&reader, &everything);
  gab_buffer_release(&all);
  if (status != GAB_OK) return status;
  gab_replay_note(world, GAB_REPLAY_SCAN, &everything, sizeof everything);
  *before = sum - value;
  if (total) *total = everything;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ status */

gab_status gab_world_reduce_status(gab_world *world, gab_status mine)
{
  if (mine == GAB_ERR_FAULT) return mine;
  uint64_t failed = mine == GAB_OK ? UINT64_MAX : (uint64_t)gab_world_rank(world);
  GAB_TRY(gab_world_min_u64(world, &failed, 1));
  if (failed == UINT64_MAX) return GAB_OK;

  const gab_rank speaker = (gab_rank)failed;
  gab_buffer text = {0};
  gab_status status = GAB_OK;
  char message[2048];
  if (gab_world_rank(world) == speaker) {
    snprintf(message, sizeof message, "%s", gab_error_message());
    GAB_TRY_GOTO(status, done, gab_put_u32(&text, (uint32_t)mine));
    GAB_TRY_GOTO(status, done, gab_put_string(&text, message));
  }
  GAB_TRY_GOTO(status, done, gab_world_broadcast(world, speaker, &text));
  gab_reader reader = gab_reader_of_buffer(&text);
  uint32_t code = 0;
  GAB_TRY_GOTO(status, done, gab_get_u32(&reader, &code));
  GAB_TRY_GOTO(status, done, gab_get_string(&reader, message, sizeof message));
  status = code > GAB_OK && code < GAB_STATUS_COUNT ? (gab_status)code : GAB_ERR_CORRUPT;
  /* the message of this rank is unchanged; other ranks add its rank */
  if (gab_world_rank(world) == speaker) {
    gab_error_set(status, __FILE__, __LINE__, "%s", message);
  } else {
    gab_error_set(status, __FILE__, __LINE__, "rank %" GAB_PRI_RANK ": %s", speaker, message);
  }
done:
  gab_buffer_release(&text);
  return status;
}
