/* SPDX-License-Identifier: Apache-2.0 */
/* The border of the local part: local proxies and their remote neighbours. Adjacency is symmetric, so two ranks list
 * the blocks of their common border in the same order without communication. */
#include "blockforest/adaptation/proxy_impl.h"
#include "core/base/lower_bound_impl.h"

#include <stdlib.h>
#include <string.h>

/* A local proxy and a rank with a neighbour of it. */
typedef struct interest {
  gab_rank rank;
  size_t index;
} interest;

static int by_rank_and_index(const void *a, const void *b)
{
  const interest *left = a, *right = b;
  if (left->rank != right->rank) return left->rank < right->rank ? -1 : 1;
  return (left->index > right->index) - (left->index < right->index);
}

static int by_rank_and_id(const void *a, const void *b)
{
  const gab_stranger *left = a, *right = b;
  if (left->rank != right->rank) return left->rank < right->rank ? -1 : 1;
  return (left->id > right->id) - (left->id < right->id);
}

static size_t count_foreign(const gab_proxies *all)
{
  const gab_rank me = gab_world_rank(all->world);
  size_t foreign = 0;
  for (size_t r = 0; r < all->row_count; r++) foreign += all->rows[r].owner != me;
  return foreign;
}

/* Appends the ranks with neighbours of proxy `index`, each once. */
static size_t add_interests(const gab_proxies *all, size_t index, interest *interests, size_t count)
{
  const gab_rank me = gab_world_rank(all->world);
  const gab_proxy *proxy = &all->proxies[index];
  const size_t first = count;
  for (size_t r = 0; r < proxy->neighbour_count; r++) {
    const gab_rank owner = proxy->neighbours[r].owner;
    if (owner == me) continue;
    size_t seen = count;
    while (seen > first && interests[seen - 1].rank != owner) seen--;
    if (seen == first) interests[count++] = (interest){owner, index};
  }
  return count;
}

static gab_status collect_ours(const gab_proxies *all, gab_border *border, interest *interests)
{
  size_t count = 0;
  for (size_t i = 0; i < all->count; i++) count = add_interests(all, i, interests, count);
  if (count > 1) qsort(interests, count, sizeof *interests, by_rank_and_index);
  GAB_TRY(GAB_NEW_ARRAY(&border->ours, count, GAB_MEMORY_OTHER));
  border->ours_count = count;
  size_t talks = 0;
  for (size_t i = 0; i < count; i++) {
    border->ours[i] = interests[i].index;
    talks += i == 0 || interests[i].rank != interests[i - 1].rank;
  }
  GAB_TRY(GAB_NEW_ARRAY(&border->talks, talks, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || interests[i].rank != interests[i - 1].rank) {
      gab_talk *talk = &border->talks[border->talk_count++];
      talk->rank = interests[i].rank;
      talk->first = i;
      gab_buffer_init(&talk->out, GAB_MEMORY_MESSAGE);
      gab_buffer_init(&talk->in, GAB_MEMORY_MESSAGE);
    }
    border->talks[border->talk_count - 1].count++;
  }
  return GAB_OK;
}

static gab_status collect_theirs(const gab_proxies *all, gab_border *border, size_t foreign)
{
  const gab_rank me = gab_world_rank(all->world);
  GAB_TRY(GAB_NEW_ARRAY(&border->theirs, foreign, GAB_MEMORY_OTHER));
  size_t count = 0;
  for (size_t r = 0; r < all->row_count; r++)
    if (all->rows[r].owner != me)
      border->theirs[count++] = (gab_stranger){.rank = all->rows[r].owner, .id = all->rows[r].id};
  if (count > 1) qsort(border->theirs, count, sizeof *border->theirs, by_rank_and_id);
  for (size_t i = 0; i < count; i++)
    if (border->theirs_count == 0 ||
        by_rank_and_id(&border->theirs[border->theirs_count - 1], &border->theirs[i]) != 0)
      border->theirs[border->theirs_count++] = border->theirs[i];
  gab_talk *talk = border->talks;
  for (size_t i = 0; i < border->theirs_count; i++) {
    while (talk->rank != border->theirs[i].rank) talk++;
    if (talk->their_count++ == 0) talk->their_first = i;
  }
  return GAB_OK;
}

static gab_status link_rows(const gab_proxies *all, gab_border *border)
{
  gab_known known = {.count = all->count + border->theirs_count};
  if (known.count > INT32_MAX)
    GAB_FAIL(GAB_ERR_MEMORY, "%zu proxies are too many for one process", known.count);
  GAB_TRY(GAB_NEW_ARRAY(&border->links, all->row_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&known.blocks, known.count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < all->count; i++) known.blocks[i] = (gab_known_block){all->proxies[i].id, (int32_t)i};
  for (size_t i = 0; i < border->theirs_count; i++)
    known.blocks[all->count + i] = (gab_known_block){border->theirs[i].id, (int32_t)(all->count + i)};
  gab_known_sort(&known);
  size_t fingers[GAB_DIRECTIONS] = {0};
  gab_status status = GAB_OK;
  for (size_t r = 0; r < all->row_count; r++) {
    const gab_neighbour *row = &all->rows[r];
    size_t found = gab_known_find(&known, row->id, &fingers[row->direction]);
    if (found == SIZE_MAX) {
      status = gab_error_set(GAB_ERR_STATE, __FILE__, __LINE__,
                             "neighbour " GAB_PRI_BLOCK " should be here, but is not", row->id);
      break;
    }
    border->links[r] = known.blocks[found].value;
  }
  gab_free(&known.blocks);
  return status;
}

gab_status gab_border_make(const gab_proxies *all, gab_border *border)
{
  interest *interests;
  *border = (gab_border){0};
  const size_t foreign = count_foreign(all);
  GAB_TRY(GAB_NEW_ARRAY(&interests, foreign, GAB_MEMORY_OTHER));
  gab_status status = collect_ours(all, border, interests);
  gab_free(&interests);
  GAB_TRY(status);
  GAB_TRY(collect_theirs(all, border, foreign));
  return link_rows(all, border);
}

void gab_border_release(gab_border *border)
{
  for (size_t t = 0; t < border->talk_count; t++) {
    gab_buffer_release(&border->talks[t].out);
    gab_buffer_release(&border->talks[t].in);
  }
  gab_free(&border->ours);
  gab_free(&border->theirs);
  gab_free(&border->talks);
  gab_free(&border->links);
}

gab_talk *gab_border_talk(const gab_border *border, gab_rank rank)
{
  size_t at = 0;
  GAB_LOWER_BOUND(size_t, at, border->talk_count, i, border->talks[i].rank < rank);
  return at < border->talk_count && border->talks[at].rank == rank ? &border->talks[at] : NULL;
}

gab_status gab_border_exchange(gab_proxies *all, gab_border *border, void *values, size_t bytes)
{
  unsigned char *value = values;
  void *place;
  for (size_t t = 0; t < border->talk_count; t++) {
    gab_talk *talk = &border->talks[t];
    GAB_TRY(gab_message_begin(&talk->out));
    GAB_TRY(gab_buffer_extend(&talk->out, talk->count * bytes, &place));
    for (size_t i = 0; i < talk->count; i++)
      memcpy((unsigned char *)place + i * bytes, value + border->ours[talk->first + i] * bytes, bytes);
    GAB_TRY(gab_port_receive(all->port, talk->rank, &talk->in, talk->their_count * bytes));
  }
  for (size_t t = 0; t < border->talk_count; t++)
    GAB_TRY(gab_port_send(all->port, border->talks[t].rank, &border->talks[t].out));
  GAB_TRY(gab_port_finish(all->port));
  for (size_t t = 0; t < border->talk_count; t++) {
    gab_reader in = gab_message_reader(&border->talks[t].in);
    GAB_TRY(gab_get_bytes(&in, value + (all->count + border->talks[t].their_first) * bytes,
                          border->talks[t].their_count * bytes));
    GAB_TRY(gab_reader_expect_end(&in));
  }
  return GAB_OK;
}

gab_status gab_border_talk_all(gab_proxies *all, gab_border *border)
{
  for (size_t t = 0; t < border->talk_count; t++)
    if (border->talks[t].receives)
      GAB_TRY(gab_port_receive(all->port, border->talks[t].rank, &border->talks[t].in, GAB_SIZE_UNKNOWN));
  for (size_t t = 0; t < border->talk_count; t++)
    if (border->talks[t].sends)
      GAB_TRY(gab_port_send(all->port, border->talks[t].rank, &border->talks[t].out));
  return gab_port_finish(all->port);
}
