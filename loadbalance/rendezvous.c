/* SPDX-License-Identifier: Apache-2.0 */
#include "loadbalance/rendezvous_impl.h"

#include "core/messages/collective.h"
#include "loadbalance/balance_impl.h"

/* ------------------------------------------------------------------ what is routed */

typedef struct registration {
  uint64_t key, weight;
  uint32_t index;
  int32_t level;
} registration;

typedef struct answer {
  uint32_t index;
  int32_t part;
} answer;

/* Items of one size with a target each, then the received ones. */
typedef struct post {
  void *items;
  gab_rank *targets;
  size_t count;
  gab_buffer received;
  size_t received_count;
} post;

static gab_status post_open(post *mail, size_t count, size_t item_bytes)
{
  gab_rank *targets;
  *mail = (post){.count = count, .received = {.use = GAB_MEMORY_MESSAGE}};
  GAB_TRY(gab_alloc(count * item_bytes, GAB_MEMORY_MESSAGE, &mail->items));
  gab_status status = GAB_NEW_ARRAY(&targets, count, GAB_MEMORY_MESSAGE);
  if (status != GAB_OK) gab_free(&mail->items);
  else mail->targets = targets;
  return status;
}

static void post_close(post *mail)
{
  gab_free(&mail->items);
  gab_free(&mail->targets);
  gab_buffer_release(&mail->received);
}

/* Releases sent items. */
static gab_status post_route(gab_world *world, post *mail, size_t item_bytes)
{
  GAB_TRY(gab_world_route(world, mail->items, mail->targets, mail->count, item_bytes, &mail->received,
                          &mail->received_count));
  gab_free(&mail->items);
  gab_free(&mail->targets);
  return GAB_OK;
}

/* ------------------------------------------------------------------ registration */

static void fill_in(gab_proxies *proxies, const gab_curve *curve, post *mail)
{
  const gab_members *members = gab_world_members(gab_proxies_world(proxies));
  const int32_t count = gab_members_count(members);
  registration *items = mail->items;
  gab_order order;
  gab_order_init(&order, &gab_proxies_options(proxies)->grid, curve);
  for (size_t i = 0; i < mail->count; i++) {
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    const uint64_t key = gab_order_key(&order, proxy->id);
    items[i] =
        (registration){key, gab_balance_weight(proxy), (uint32_t)i, gab_proxies_level(proxies, proxy->id)};
    mail->targets[i] = gab_members_rank(members, gab_order_piece(&order, key, count));
  }
}

/* Radix sort from the last digit, without digits that are equal everywhere: time is linear in the number of entries.
 * Stable. */
static gab_status sort_by_key(gab_rendezvous *rendezvous)
{
  enum { BITS = 8, DIGITS = 1 << BITS };
  gab_home_entry *from = rendezvous->entries, *to;
  uint64_t differ = 0;
  for (size_t i = 1; i < rendezvous->count; i++)
    differ |= rendezvous->entries[i].key ^ rendezvous->entries[0].key;
  GAB_TRY(GAB_NEW_ARRAY(&to, rendezvous->count, GAB_MEMORY_OTHER));
  for (int shift = 0; shift < 64; shift += BITS) {
    size_t places[DIGITS + 1] = {0};
    if ((differ >> shift & (DIGITS - 1)) == 0) continue;
    for (size_t i = 0; i < rendezvous->count; i++) ++places[(from[i].key >> shift & (DIGITS - 1)) + 1];
    for (int digit = 0; digit < DIGITS; digit++) places[digit + 1] += places[digit];
    for (size_t i = 0; i < rendezvous->count; i++)
      to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    gab_home_entry *sorted = to;
    to = from;
    from = sorted;
  }
  rendezvous->entries = from;
  gab_free(&to);
  return GAB_OK;
}

static gab_status take_registrations(gab_rendezvous *rendezvous, const post *mail)
{
  gab_reader in = gab_reader_of_buffer(&mail->received);
  GAB_TRY(GAB_NEW_ARRAY(&rendezvous->entries, mail->received_count, GAB_MEMORY_OTHER));
  for (; rendezvous->count < mail->received_count; rendezvous->count++) {
    gab_rank source;
    registration item;
    GAB_TRY(gab_get_i32(&in, &source));
    GAB_TRY(gab_get_bytes(&in, &item, sizeof item));
    rendezvous->entries[rendezvous->count] = (gab_home_entry){.key = item.key,
                                                              .weight = item.weight,
                                                              .owner = source,
                                                              .index = item.index,
                                                              .part = -1,
                                                              .level = item.level};
  }
  return GAB_OK;
}

gab_status gab_rendezvous_register(gab_rendezvous *rendezvous, gab_proxies *proxies, const gab_curve *curve)
{
  post mail;
  const size_t count = gab_proxies_count(proxies);
  *rendezvous = (gab_rendezvous){.world = gab_proxies_world(proxies)};
  if (count > UINT32_MAX) GAB_FAIL(GAB_ERR_MEMORY, "%zu blocks on one process are too many", count);
  GAB_TRY(post_open(&mail, count, sizeof(registration)));
  fill_in(proxies, curve, &mail);
  gab_status status = post_route(rendezvous->world, &mail, sizeof(registration));
  if (status == GAB_OK) status = take_registrations(rendezvous, &mail);
  post_close(&mail);
  return status == GAB_OK ? sort_by_key(rendezvous) : status;
}

void gab_rendezvous_release(gab_rendezvous *rendezvous)
{
  gab_free(&rendezvous->entries);
  rendezvous->count = 0;
}

/* ------------------------------------------------------------------ what the rendezvous tell */

static gab_status take_parts(const post *mail, int32_t *parts, size_t count)
{
  gab_reader in = gab_reader_of_buffer(&mail->received);
  if (mail->received_count != count)
    GAB_FAIL(GAB_ERR_STATE, "the rendezvous placed %zu of %zu blocks", mail->received_count, count);
  for (size_t i = 0; i < count; i++) {
    gab_rank source;
    answer item;
    GAB_TRY(gab_get_i32(&in, &source));
    GAB_TRY(gab_get_bytes(&in, &item, sizeof item));
    if (item.index >= count) GAB_FAIL(GAB_ERR_STATE, "a home speaks of a block that is not here");
    parts[item.index] = item.part;
  }
  return GAB_OK;
}

gab_status gab_rendezvous_ask(gab_rendezvous *rendezvous, int32_t *parts, size_t count)
{
  post mail;
  GAB_TRY(post_open(&mail, rendezvous->count, sizeof(answer)));
  answer *items = mail.items;
  for (size_t i = 0; i < rendezvous->count; i++) {
    items[i] = (answer){rendezvous->entries[i].index, rendezvous->entries[i].part};
    mail.targets[i] = rendezvous->entries[i].owner;
  }
  gab_rendezvous_release(rendezvous);
  gab_status status = post_route(rendezvous->world, &mail, sizeof(answer));
  if (status == GAB_OK) status = take_parts(&mail, parts, count);
  post_close(&mail);
  return status;
}
