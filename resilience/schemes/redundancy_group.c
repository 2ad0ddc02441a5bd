/* SPDX-License-Identifier: Apache-2.0 */
/* Coded groups: each member sends the pieces of its image, chunk by chunk, to the members with the parities of their
 * stripes, and adds up the pieces it receives. Memory in addition to the parities is bounded. */
#include "resilience/schemes/code_impl.h"
#include "resilience/schemes/redundancy_impl.h"
#include "resilience/schemes/placement_impl.h"

#include <string.h>

/* Bytes of a rank in transit each way, and the minimum of each piece. Each chunk makes every member wait for all others, so
 * chunks are as large as messages can be (core/messages/port.h) and memory allows. */
enum { AT_ONCE = 6 * 1024 * 1024, LEAST_CHUNK = 8 * 1024, GRAIN = 4096 };

void gab_group_buffers_init(gab_group_buffers *buffers)
{
  for (int i = 0; i < GAB_MOST_GROUP; i++) {
    gab_buffer_init(&buffers->out[i], GAB_MEMORY_MESSAGE);
    gab_buffer_init(&buffers->in[i], GAB_MEMORY_MESSAGE);
  }
}

void gab_group_buffers_release(gab_group_buffers *buffers)
{
  for (int i = 0; i < GAB_MOST_GROUP; i++) {
    gab_buffer_release(&buffers->out[i]);
    gab_buffer_release(&buffers->in[i]);
  }
}

size_t gab_code_chunk(const gab_group *group, size_t piece_bytes)
{
  size_t parities = (size_t)(group->parities ? group->parities : 1);
  size_t chunk = AT_ONCE / ((size_t)group->count * parities),
         most = (GAB_CHUNK_BYTES - GAB_ENVELOPE_BYTES) / parities;
  if (chunk > most) chunk = most;
  chunk -= chunk % GRAIN;
  if (chunk < LEAST_CHUNK) chunk = LEAST_CHUNK;
  return chunk < piece_bytes ? chunk : piece_bytes;
}

void gab_piece_copy(const gab_buffer *image, size_t piece_bytes, int piece, size_t at, size_t bytes,
                    unsigned char *into)
{
  size_t length = gab_message_bytes(image), from = (size_t)piece * piece_bytes + at;
  size_t there = from >= length ? 0 : length - from < bytes ? length - from : bytes;
  if (there) memcpy(into, image->data + GAB_ENVELOPE_BYTES + from, there);
  if (there < bytes) memset(into + there, 0, bytes - there);
}

/* ---------------------------------------------------------------- how long the images are */

static gab_status tell_lengths(gab_checkpoint *checkpoint, const gab_group *group, uint64_t own,
                               gab_group_buffers *buffers)
{
  for (int i = 0; i < group->count; i++) {
    if (i == group->index) continue;
    GAB_TRY(gab_port_receive(checkpoint->port, group->ranks[i], &buffers->in[i], sizeof own));
    GAB_TRY(gab_message_begin(&buffers->out[i]));
    GAB_TRY(gab_put_u64(&buffers->out[i], own));
    GAB_TRY(gab_port_send(checkpoint->port, group->ranks[i], &buffers->out[i]));
  }
  return gab_port_finish(checkpoint->port);
}

static gab_status find_lengths(gab_checkpoint *checkpoint, uint64_t own, gab_group_buffers *buffers,
                               gab_parities *parities)
{
  const gab_group *group = &parities->group;
  uint64_t longest = own;
  GAB_TRY(tell_lengths(checkpoint, group, own, buffers));
  for (int i = 0; i < group->count; i++) {
    parities->lengths[i] = own;
    if (i == group->index) continue;
    gab_reader in = gab_message_reader(&buffers->in[i]);
    GAB_TRY(gab_get_u64(&in, &parities->lengths[i]));
    if (parities->lengths[i] > longest) longest = parities->lengths[i];
  }
  size_t pieces = (size_t)gab_group_pieces(group);
  parities->piece = ((size_t)longest + pieces - 1) / pieces;
  return GAB_OK;
}

/* ---------------------------------------------------------------- encoding */

typedef struct encoding {
  gab_checkpoint *checkpoint;
  const gab_snapshot *snapshot;
  const bool *wants;
  gab_parities *parities;
  gab_group_buffers *buffers;
  size_t at, bytes; /* of each piece: the part in transit */
} encoding;

static bool is_wanted(const encoding *e, int member) { return !e->wants || e->wants[member]; }

/* Number of pieces of `from` that are added to parities of `to`. */
static int pieces_between(const gab_group *group, int from, int to)
{
  int count = 0;
  for (int r = 0; r < group->parities; r++)
    count += gab_group_piece(group, from, gab_group_parity_stripe(group, to, r)) >= 0;
  return count;
}

static gab_status send_to(encoding *e, int to)
{
  const gab_group *group = &e->parities->group;
  gab_buffer *out = &e->buffers->out[to];
  void *place;
  GAB_TRY(gab_message_begin(out));
  for (int r = 0; r < group->parities; r++) {
    int piece = gab_group_piece(group, group->index, gab_group_parity_stripe(group, to, r));
    if (piece < 0) continue;
    GAB_TRY(gab_buffer_extend(out, e->bytes, &place));
    gab_piece_copy(&e->snapshot->own, e->parities->piece, piece, e->at, e->bytes, place);
  }
  return gab_port_send(e->checkpoint->port, group->ranks[to], out);
}

/* In turn i each member sends to the i-th next one and receives from the i-th one before. */
static gab_status post_chunk(encoding *e)
{
  const gab_group *group = &e->parities->group;
  for (int turn = 1; turn < group->count; turn++) {
    int from = (group->index + group->count - turn) % group->count,
        count = pieces_between(group, from, group->index);
    if (count > 0 && is_wanted(e, group->index))
      GAB_TRY(gab_port_receive(e->checkpoint->port, group->ranks[from], &e->buffers->in[from],
                               (size_t)count * e->bytes));
  }
  for (int turn = 1; turn < group->count; turn++) {
    int to = (group->index + turn) % group->count;
    if (pieces_between(group, group->index, to) > 0 && is_wanted(e, to)) GAB_TRY(send_to(e, to));
  }
  return GAB_OK;
}

/* Computes own parity number r from the received pieces. */
static void add_up(const encoding *e, int r, unsigned char *row)
{
  const gab_group *group = &e->parities->group;
  const unsigned char *columns[GAB_MOST_GROUP];
  uint8_t factors[GAB_MOST_GROUP];
  int stripe = gab_group_parity_stripe(group, group->index, r), pieces = gab_group_pieces(group);
  for (int i = 0; i < group->count; i++) {
    int piece = gab_group_piece(group, i, stripe), before = 0;
    if (piece < 0) continue;
    for (int q = 0; q < r; q++)
      before += gab_group_piece(group, i, gab_group_parity_stripe(group, group->index, q)) >= 0;
    columns[piece] = e->buffers->in[i].data + GAB_ENVELOPE_BYTES + (size_t)before * e->bytes;
  }
  for (int c = 0; c < pieces; c++) factors[c] = gab_code_factor(pieces, r, c);
  gab_code_combine(factors, columns, pieces, e->bytes, row + e->at);
}

static gab_status reserve_capacity(const encoding *e, unsigned char **rows)
{
  gab_parities *parities = e->parities;
  size_t bytes = (size_t)parities->group.parities * parities->piece;
  void *place;
  GAB_TRY(gab_buffer_fit(&parities->rows, sizeof(uint64_t) + bytes));
  GAB_TRY(gab_checksum_begin(&parities->rows));
  GAB_TRY(gab_buffer_extend(&parities->rows, bytes, &place));
  *rows = place;
  return GAB_OK;
}

/* The chunk after the one in transit. */
static encoding next_chunk(const encoding *e, gab_group_buffers *buffer_sets)
{
  encoding next = *e;
  size_t chunk = gab_code_chunk(&e->parities->group, e->parities->piece);
  next.at += e->bytes;
  next.bytes = e->parities->piece - next.at < chunk ? e->parities->piece - next.at : chunk;
  next.buffers = e->buffers == &buffer_sets[0] ? &buffer_sets[1] : &buffer_sets[0];
  return next;
}

/* A chunk is in transit while the one before is added up. */
static gab_status encode(encoding *e, gab_group_buffers *buffer_sets)
{
  gab_parities *parities = e->parities;
  const gab_group *group = &parities->group;
  unsigned char *rows = NULL;
  if (is_wanted(e, group->index)) GAB_TRY(reserve_capacity(e, &rows));
  encoding here = next_chunk(e, buffer_sets);
  if (here.bytes > 0) GAB_TRY(post_chunk(&here));
  while (here.bytes > 0) {
    gab_world_enter(e->checkpoint->world, GAB_FAULT_POINT_SNAPSHOT);
    GAB_TRY(gab_port_finish(e->checkpoint->port));
    encoding next = next_chunk(&here, buffer_sets);
    if (next.bytes > 0) GAB_TRY(post_chunk(&next));
    for (int r = 0; rows && r < group->parities; r++) add_up(&here, r, rows + (size_t)r * parities->piece);
    here = next;
  }
  if (rows) gab_checksum_end(&parities->rows, 0, NULL);
  return GAB_OK;
}

gab_status gab_parities_make(gab_checkpoint *checkpoint, const gab_snapshot *snapshot, const bool *wants,
                             bool lengths_known, gab_parities *parities)
{
  if (parities->group.parities == 0) return GAB_OK;
  gab_group_buffers buffer_sets[2];
  for (int i = 0; i < 2; i++) gab_group_buffers_init(&buffer_sets[i]);
  encoding e = {checkpoint, snapshot, wants, parities, &buffer_sets[0], 0, 0};
  gab_status status = GAB_OK;
  if (!lengths_known)
    status = find_lengths(checkpoint, gab_message_bytes(&snapshot->own), &buffer_sets[0], parities);
  if (status == GAB_OK) status = encode(&e, buffer_sets);
  parities->condition = GAB_CONDITION_UNKNOWN;
  status = gab_port_give_up(checkpoint->port, status); /* which would otherwise still use the buffer sets */
  for (int i = 0; i < 2; i++) gab_group_buffers_release(&buffer_sets[i]);
  return status;
}

size_t gab_group_messages(const gab_group *group, size_t piece_bytes)
{
  enum { DESKS = 2, WAYS = 2 };
  if (group->parities == 0) return 0;
  return DESKS * WAYS * (size_t)(group->count - 1) *
         ((size_t)group->parities * gab_code_chunk(group, piece_bytes) + GAB_ENVELOPE_BYTES);
}

gab_status gab_parities_reserve(gab_checkpoint *checkpoint, size_t own, gab_parities *parities)
{
  if (parities->group.parities == 0) return GAB_OK;
  gab_group_buffers buffers;
  gab_group_buffers_init(&buffers);
  gab_status status = gab_port_give_up(checkpoint->port, find_lengths(checkpoint, own, &buffers, parities));
  gab_group_buffers_release(&buffers);
  GAB_TRY(status);
  return gab_buffer_fit(&parities->rows,
                        sizeof(uint64_t) + (size_t)parities->group.parities * parities->piece);
}
