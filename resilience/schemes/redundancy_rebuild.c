/* SPDX-License-Identifier: Apache-2.0 */
/* Reconstruction of lost images of a coded group. The stripes are partitioned over the live members: each gets the columns
 * of its stripes, solves for the lost pieces, and sends these to the ranks that need the images. So no member receives more
 * than about twice an image. */
#include "resilience/schemes/code_impl.h"
#include "resilience/schemes/redundancy_impl.h"
#include "resilience/schemes/placement_impl.h"

#include <string.h>

/* A stripe with lost pieces: the members that have its columns, and how lost pieces are computed from them. */
typedef struct stripe {
  int number, maker;                                    /* member that computes it */
  int present[GAB_MOST_GROUP], members[GAB_MOST_GROUP]; /* columns used, and the members that have them */
  int gone[GAB_MOST_GROUP], gone_count;                 /* members whose pieces are computed */
} stripe;

typedef struct rebuilding {
  gab_checkpoint *checkpoint;
  const gab_snapshot *snapshot;
  const gab_parities *parities;
  const gab_group_losses *losses;
  gab_buffer *images;
  gab_group_buffers *buffers, *results;
  stripe *stripes;         /* those with lost pieces, in order */
  int stripe_count, round; /* stripes with different makers: as many as live members, consecutive numbers */
  size_t at, bytes;        /* of each piece: the part in transit */
} rebuilding;

/* Parity r of a stripe is column pieces + r. @return -1 if the member's part of it is lost */
static int column_of(const gab_group *group, const gab_group_losses *losses, int member, int number)
{
  int piece = gab_group_piece(group, member, number);
  if (piece >= 0) return losses->image_gone[member] ? -1 : piece;
  return losses->parity_gone[member] ? -1 : gab_group_pieces(group) - 1 - piece;
}

bool gab_group_can_rebuild(const gab_group *group, const gab_group_losses *losses)
{
  for (int number = 0; number < group->count; number++) {
    int left = 0;
    bool needed = false;
    for (int i = 0; i < group->count; i++) {
      left += column_of(group, losses, i, number) >= 0;
      needed = needed || (losses->image_gone[i] && gab_group_piece(group, i, number) >= 0);
    }
    if (needed && left < gab_group_pieces(group)) return false;
  }
  return true;
}

/* Chooses pieces before parities, which need fewer multiplications. @return false if no piece of the stripe is lost */
static bool look_at_stripe(const rebuilding *r, int number, stripe *s)
{
  const gab_group *group = &r->parities->group;
  const gab_group_losses *losses = r->losses;
  int pieces = gab_group_pieces(group), count = 0;
  int alive[GAB_MOST_GROUP], alive_count = 0;
  s->number = number;
  s->gone_count = 0;
  for (int wanted = 0; wanted < group->count && count < pieces; wanted++)
    for (int i = 0; i < group->count; i++)
      if (column_of(group, losses, i, number) == wanted) {
        s->present[count] = wanted;
        s->members[count++] = i;
      }
  for (int i = 0; i < group->count; i++) {
    if (losses->living[i]) alive[alive_count++] = i;
    if (losses->target[i] >= 0 && gab_group_piece(group, i, number) >= 0) s->gone[s->gone_count++] = i;
  }
  s->maker = alive[number % alive_count];
  return s->gone_count > 0;
}

/* ---------------------------------------------------------------- columns to the makers */

static void copy_column(const rebuilding *r, int column, unsigned char *into)
{
  int pieces = gab_group_pieces(&r->parities->group);
  if (column < pieces) {
    gab_piece_copy(&r->snapshot->own, r->parities->piece, column, r->at, r->bytes, into);
    return;
  }
  const unsigned char *rows = r->parities->rows.data + sizeof(uint64_t);
  memcpy(into, rows + (size_t)(column - pieces) * r->parities->piece + r->at, r->bytes);
}

/* The maker gets its own column as a message that is not sent. */
static gab_status give_column(rebuilding *r, const stripe *s, int k)
{
  const gab_group *group = &r->parities->group;
  int from = s->members[k], me = group->index;
  void *place;
  if (s->maker == me && from != me)
    return gab_port_receive(r->checkpoint->port, group->ranks[from], &r->buffers->in[from], r->bytes);
  if (from != me) return GAB_OK;
  gab_buffer *message = s->maker == me ? &r->buffers->in[me] : &r->buffers->out[s->maker];
  GAB_TRY(gab_message_begin(message));
  GAB_TRY(gab_buffer_extend(message, r->bytes, &place));
  copy_column(r, s->present[k], place);
  return s->maker == me ? GAB_OK : gab_port_send(r->checkpoint->port, group->ranks[s->maker], message);
}

/* ---------------------------------------------------------------- pieces to where they are wanted */

static gab_status make_piece(rebuilding *r, const stripe *s, int member, gab_buffer *message)
{
  const gab_group *group = &r->parities->group;
  int pieces = gab_group_pieces(group);
  const unsigned char *columns[GAB_MOST_GROUP];
  uint8_t factors[GAB_MOST_GROUP];
  void *place;
  GAB_TRY(gab_code_solve(pieces, s->present, gab_group_piece(group, member, s->number), factors));
  GAB_TRY(gab_message_begin(message));
  GAB_TRY(gab_buffer_extend(message, r->bytes, &place));
  for (int k = 0; k < pieces; k++) columns[k] = r->buffers->in[s->members[k]].data + GAB_ENVELOPE_BYTES;
  gab_code_combine(factors, columns, pieces, r->bytes, place);
  return GAB_OK;
}

/* Sends the part of a stripe to one image. Several images of a stripe follow one another, so one buffer per image is
 * enough. */
static gab_status pass_on(rebuilding *r, const stripe *s, int member)
{
  const gab_group *group = &r->parities->group;
  int me = group->index, target = r->losses->target[member];
  gab_buffer *made = target == me ? &r->results->in[member] : &r->results->out[member];
  if (s->maker == me) {
    GAB_TRY(make_piece(r, s, member, made));
    return target == me ? GAB_OK : gab_port_send(r->checkpoint->port, group->ranks[target], made);
  }
  if (target != me) return GAB_OK;
  return gab_port_receive(r->checkpoint->port, group->ranks[s->maker], made, r->bytes);
}

static void take_in(rebuilding *r, const stripe *s, int member)
{
  const gab_group *group = &r->parities->group;
  if (r->losses->target[member] != group->index) return;
  size_t from = (size_t)gab_group_piece(group, member, s->number) * r->parities->piece + r->at;
  size_t length = (size_t)r->parities->lengths[member], bytes = r->bytes;
  if (from >= length) return;
  if (bytes > length - from) bytes = length - from;
  memcpy(r->images[member].data + GAB_ENVELOPE_BYTES + from, r->results->in[member].data + GAB_ENVELOPE_BYTES,
         bytes);
}

/* ---------------------------------------------------------------- round by round */

/* Stripes [first, last): each has a different maker, so all columns are sent at once, then the pieces. */
static gab_status rebuild_round(rebuilding *r, int first, int last)
{
  int pieces = gab_group_pieces(&r->parities->group);
  gab_world_enter(r->checkpoint->world, GAB_FAULT_POINT_RECOVERY);
  for (int i = first; i < last; i++)
    for (int k = 0; k < pieces; k++) GAB_TRY(give_column(r, &r->stripes[i], k));
  GAB_TRY(gab_port_finish(r->checkpoint->port));
  for (int i = first; i < last; i++) {
    const stripe *s = &r->stripes[i];
    for (int k = 0; k < s->gone_count; k++) GAB_TRY(pass_on(r, s, s->gone[k]));
    GAB_TRY(gab_port_finish(r->checkpoint->port));
    for (int k = 0; k < s->gone_count; k++) take_in(r, s, s->gone[k]);
  }
  return GAB_OK;
}

static gab_status rebuild_chunk(rebuilding *r)
{
  for (int first = 0, last; first < r->stripe_count; first = last) {
    int limit = (r->stripes[first].number / r->round + 1) * r->round;
    for (last = first; last < r->stripe_count && r->stripes[last].number < limit;) last++;
    GAB_TRY(rebuild_round(r, first, last));
  }
  return GAB_OK;
}

static gab_status reserve_capacity(rebuilding *r)
{
  const gab_group *group = &r->parities->group;
  void *place;
  for (int i = 0; i < group->count; i++) {
    if (r->losses->target[i] != group->index) continue;
    GAB_TRY(gab_buffer_fit(&r->images[i], GAB_ENVELOPE_BYTES + (size_t)r->parities->lengths[i]));
    GAB_TRY(gab_message_begin(&r->images[i]));
    GAB_TRY(gab_buffer_extend(&r->images[i], (size_t)r->parities->lengths[i], &place));
  }
  return GAB_OK;
}

static gab_status find_stripes(rebuilding *r)
{
  const gab_group *group = &r->parities->group;
  GAB_TRY(GAB_NEW_ARRAY(&r->stripes, (size_t)group->count, GAB_MEMORY_OTHER));
  for (int i = 0; i < group->count; i++) r->round += r->losses->living[i];
  for (int number = 0; number < group->count; number++)
    r->stripe_count += look_at_stripe(r, number, &r->stripes[r->stripe_count]);
  return GAB_OK;
}

static gab_status rebuild(rebuilding *r)
{
  size_t chunk = gab_code_chunk(&r->parities->group, r->parities->piece);
  GAB_TRY(find_stripes(r));
  GAB_TRY(reserve_capacity(r));
  for (r->at = 0; r->at < r->parities->piece; r->at += r->bytes) {
    r->bytes = r->parities->piece - r->at < chunk ? r->parities->piece - r->at : chunk;
    GAB_TRY(rebuild_chunk(r));
  }
  return GAB_OK;
}

gab_status gab_group_rebuild(gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                             const gab_group_losses *losses, gab_buffer *images)
{
  gab_group_buffers buffers, results;
  gab_group_buffers_init(&buffers);
  gab_group_buffers_init(&results);
  rebuilding r = {checkpoint, snapshot, &snapshot->parities, losses, images, &buffers, &results, NULL, 0, 0,
                  0,          0};
  gab_status status =
      gab_port_give_up(checkpoint->port, rebuild(&r)); /* which would otherwise still use the buffer sets */
  gab_free(&r.stripes);
  gab_group_buffers_release(&buffers);
  gab_group_buffers_release(&results);
  return status;
}
