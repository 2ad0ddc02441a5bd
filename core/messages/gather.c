/** @file gather.c
 *  @brief Gathers: the byte strings of all who take part go up a binomial tree to the first of them, in pieces; long ones
 *  go to it straight.
 *
 *  In the tree over the dense indices the parent of a member is the one whose index lacks the lowest set bit, so
 *  that a member and all below it are a range of indices. Each sends one stream: head and bytes of its own
 *  string, then the streams of its children in their order, as they come: only the root looks at what they
 *  mean. A stream travels in pieces. The first one goes out unasked, so that short strings need one message for
 *  each level of the tree; each further one when the parent has acknowledged the one before, so that what
 *  waits anywhere grows with the number of children alone, not with what lies below them. A member fills
 *  its next piece while the last one waits. It is done when all of its pieces are acknowledged: what it sends in
 *  a gather that follows does not pile up behind them.
 *
 *  Of a long string the head alone goes up, at once; its owner then waits until the root has come to it in the order of the
 *  strings, and asks. So each long string crosses the network once. The root gets there: those before are served, and
 *  members above have smaller indices, so that nothing they wait for lies behind it.
 *
 *  A member talks to its parent through one port and to its children through another, or it would have to wait
 *  for the one before it could hear the others. Behind the last piece both sides forget the channel: each gather begins at
 *  number 0, whatever one of them has dropped in between (gab_world_drop_messages()). */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"

/* A piece begins with a byte of flags, a string with slot and size. */
enum { FLAGS_BYTES = 1, HEAD_BYTES = 12 };
enum {
  LAST_PIECE = 1, /* of its stream */
  AT_ONCE = 2 /* ends with the head of a long string, and nothing comes before the root has fetched that */
};

_Static_assert(GAB_GATHER_LONG_BYTES + HEAD_BYTES <= GAB_GATHER_PIECE_BYTES,
               "a string that is not long lies in one piece");

/* The port between a member and its children: one of two, by its depth, which is the number of bits in its index. */
static gab_port *port_below(const gab_world *world, int32_t index)
{
  unsigned depth = 0;
  for (uint32_t bits = (uint32_t)index; bits != 0; bits &= bits - 1) depth++;
  return world->gather[depth % 2];
}

/* ------------------------------------------------------------------------------------ the next piece of a child */

static gab_status acknowledge(gab_world *world, gab_port *down, gab_slot child)
{
  GAB_TRY(gab_message_begin(&world->outbox));
  GAB_TRY(gab_port_send(down, child, &world->outbox));
  return gab_port_finish(down);
}

/* Into the inbox. @param[out] bytes  of the stream, in the inbox */
static gab_status next_piece(gab_world *world, gab_port *down, gab_slot child, gab_reader *bytes,
                             uint8_t *flags)
{
  GAB_TRY(gab_port_receive(down, child, &world->inbox, GAB_SIZE_UNKNOWN));
  GAB_TRY(gab_port_finish(down));
  *bytes = gab_message_reader(&world->inbox);
  GAB_TRY(gab_get_u8(bytes, flags));
  if (gab_reader_left(bytes) > GAB_GATHER_PIECE_BYTES)
    GAB_FAIL(GAB_ERR_CORRUPT, "slot %" GAB_PRI_SLOT " gathered a piece of %zu bytes", child,
             gab_reader_left(bytes));
  GAB_TRY(acknowledge(world, down, child));
  if (*flags & LAST_PIECE) gab_port_forget(down, child);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ below the root */

typedef struct relay {
  gab_world *world;
  gab_port *up, *down;
  gab_slot parent;
  gab_buffer filling, waiting; /* pieces: the one that grows, and the one that is lent to `up` */
  gab_buffer acknowledgement;
} relay;

static gab_status begin_piece(gab_buffer *piece)
{
  GAB_TRY(gab_message_begin(piece));
  return gab_put_u8(piece, 0);
}

static size_t room_in(const gab_buffer *piece)
{
  return GAB_GATHER_PIECE_BYTES + FLAGS_BYTES - gab_message_bytes(piece);
}

/* Sends the piece once the one before is acknowledged, and begins the next one. */
static gab_status push(relay *r, uint8_t flags)
{
  GAB_TRY(gab_port_finish(r->up));
  gab_buffer_swap(&r->filling, &r->waiting);
  r->waiting.data[GAB_ENVELOPE_BYTES] = flags;
  GAB_TRY(gab_port_receive(r->up, r->parent, &r->acknowledgement, 0));
  GAB_TRY(gab_port_send(r->up, r->parent, &r->waiting));
  return begin_piece(&r->filling);
}

/* The long string of this process, once the root asks for it. */
static gab_status hand_over(gab_world *world, const gab_buffer *mine)
{
  const gab_slot root = gab_world_root(world);
  GAB_TRY(gab_port_receive(world->gather_long, root, &world->inbox, 0));
  GAB_TRY(gab_port_finish(world->gather_long));
  GAB_TRY(gab_message_begin(&world->outbox));
  GAB_TRY(gab_put_bytes(&world->outbox, mine->data, mine->size));
  GAB_TRY(gab_port_send(world->gather_long, root, &world->outbox));
  GAB_TRY(gab_port_finish(world->gather_long));
  gab_port_forget(world->gather_long, root);
  return GAB_OK;
}

static gab_status put_own(relay *r, const gab_buffer *mine)
{
  unsigned char place[HEAD_BYTES];
  gab_buffer head = gab_buffer_over(place, sizeof place);
  GAB_TRY(gab_put_i32(&head, r->world->slot));
  GAB_TRY(gab_put_u64(&head, mine->size));
  GAB_TRY(gab_put_bytes(&r->filling, place, sizeof place)); /* into an empty piece: the string fits, too */
  if (mine->size <= GAB_GATHER_LONG_BYTES) return gab_put_bytes(&r->filling, mine->data, mine->size);
  GAB_TRY(push(r, AT_ONCE));
  return hand_over(r->world, mine);
}

/* A piece that does not fit behind what is there becomes the next one as it is, uncopied: of two that follow
 * each other one at least is half full. */
static gab_status pass_on(relay *r, gab_slot child)
{
  gab_reader bytes;
  uint8_t flags = 0;
  while (!(flags & LAST_PIECE)) {
    GAB_TRY(next_piece(r->world, r->down, child, &bytes, &flags));
    if (gab_reader_left(&bytes) <= room_in(&r->filling)) {
      GAB_TRY(gab_put_bytes(&r->filling, bytes.at, gab_reader_left(&bytes)));
    } else {
      GAB_TRY(push(r, 0));
      gab_buffer_swap(&r->filling, &r->world->inbox);
    }
    if (flags & AT_ONCE) GAB_TRY(push(r, AT_ONCE));
  }
  return GAB_OK;
}

static gab_status climb(relay *r, int32_t index, const gab_buffer *mine)
{
  const int32_t count = gab_world_participants(r->world);
  GAB_TRY(begin_piece(&r->filling));
  GAB_TRY(put_own(r, mine));
  for (int32_t mask = 1; !(index & mask) && index + mask < count; mask <<= 1)
    GAB_TRY(pass_on(r, gab_world_participant(r->world, index + mask)));
  GAB_TRY(push(r, LAST_PIECE));
  GAB_TRY(gab_port_finish(r->up));
  gab_port_forget(r->up, r->parent);
  return GAB_OK;
}

static gab_status send_up(gab_world *world, int32_t index, const gab_buffer *mine)
{
  const int32_t parent = index & (index - 1);
  relay r = {.world = world,
             .up = port_below(world, parent),
             .down = port_below(world, index),
             .parent = gab_world_participant(world, parent)};
  gab_buffer_init(&r.filling, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&r.waiting, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&r.acknowledgement, GAB_MEMORY_MESSAGE);
  const gab_status status = gab_port_give_up(r.up, climb(&r, index, mine));
  gab_buffer_release(&r.filling);
  gab_buffer_release(&r.waiting);
  gab_buffer_release(&r.acknowledgement);
  return status;
}

/* ------------------------------------------------------------------------------------ on the root */

/* What comes from one child. */
typedef struct stream {
  gab_world *world;
  gab_port *port;
  gab_slot child;
  gab_reader piece; /* what is left of it */
  uint8_t flags;    /* of that piece */
} stream;

static gab_status need_piece(stream *s)
{
  if (gab_reader_left(&s->piece) > 0) return GAB_OK;
  if (s->flags & LAST_PIECE)
    GAB_FAIL(GAB_ERR_CORRUPT, "what slot %" GAB_PRI_SLOT " gathered ends in the middle", s->child);
  return next_piece(s->world, s->port, s->child, &s->piece, &s->flags);
}

/* The next bytes of the stream, where they lie: nobody cuts a head or a string. */
static gab_status take(stream *s, size_t count, gab_reader *bytes)
{
  if (count > 0) GAB_TRY(need_piece(s));
  return gab_get_view(&s->piece, count, bytes);
}

/* A long string, from its owner, which waits for that. It comes into the inbox, where nothing is left of the piece with its head. */
static gab_status fetch(stream *s, gab_slot from, size_t size, gab_reader *bytes)
{
  gab_world *world = s->world;
  if (gab_reader_left(&s->piece) > 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "slot %" GAB_PRI_SLOT " gathered more behind the head of a long string", from);
  GAB_TRY(gab_message_begin(&world->outbox));
  GAB_TRY(gab_port_send(world->gather_long, from, &world->outbox));
  GAB_TRY(gab_port_receive(world->gather_long, from, &world->inbox, GAB_SIZE_UNKNOWN));
  GAB_TRY(gab_port_finish(world->gather_long));
  gab_port_forget(world->gather_long, from); /* or the root would keep a list of all slots */
  *bytes = gab_message_reader(&world->inbox);
  if (gab_reader_left(bytes) == size) return GAB_OK;
  GAB_FAIL(GAB_ERR_CORRUPT, "slot %" GAB_PRI_SLOT " was to give %zu bytes and gave %zu", from, size,
           gab_reader_left(bytes));
}

static gab_status take_string(stream *s, gab_slot due, gab_reader *bytes)
{
  gab_reader head;
  gab_slot from;
  uint64_t size;
  GAB_TRY(take(s, HEAD_BYTES, &head));
  GAB_TRY(gab_get_i32(&head, &from));
  GAB_TRY(gab_get_u64(&head, &size));
  if (from != due || size > SIZE_MAX / 2)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "%" PRIu64 " bytes of slot %" GAB_PRI_SLOT " were gathered where those of slot %" GAB_PRI_SLOT
             " were due",
             size, from, due);
  if (size > GAB_GATHER_LONG_BYTES) return fetch(s, from, (size_t)size, bytes);
  return take(s, (size_t)size, bytes);
}

/* Of the members from `child` on, all that are below it. A refusal does not stop the stream. */
static gab_status take_stream(stream *s, int32_t child, gab_visit_fn visit, void *user, gab_status *verdict)
{
  const int32_t count = gab_world_participants(s->world);
  for (int32_t index = child; index < 2 * child && index < count; index++) {
    const gab_slot from = gab_world_participant(s->world, index);
    gab_reader bytes;
    GAB_TRY(take_string(s, from, &bytes));
    if (*verdict == GAB_OK) *verdict = visit(user, from, bytes);
  }
  if (gab_reader_left(&s->piece) == 0 && !(s->flags & LAST_PIECE)) /* behind a long string: an empty one */
    GAB_TRY(next_piece(s->world, s->port, s->child, &s->piece, &s->flags));
  if (!(s->flags & LAST_PIECE) || gab_reader_left(&s->piece) > 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "slot %" GAB_PRI_SLOT " gathered more than it was to", s->child);
  return GAB_OK;
}

static gab_status collect(gab_world *world, const gab_buffer *mine, gab_visit_fn visit, void *user)
{
  const int32_t count = gab_world_participants(world);
  gab_status verdict = visit(user, world->slot, gab_reader_of_buffer(mine)), status = GAB_OK;
  for (int32_t child = 1; status == GAB_OK && child < count; child <<= 1) {
    stream s = {.world = world, .port = port_below(world, 0), .child = gab_world_participant(world, child)};
    status = take_stream(&s, child, visit, user, &verdict);
  }
  return status == GAB_OK ? verdict : status;
}

gab_status gab_world_gather(gab_world *world, const gab_buffer *mine, gab_visit_fn visit, void *user)
{
  GAB_TRY(gab_world_check(world));
  gab_world_enter(world, GAB_PHASE_REDUCTION);
  if (gab_world_replays(world)) return GAB_OK; /* nobody hears it any more, and it hears nothing */
  if (gab_world_is_root(world)) return collect(world, mine, visit, user);
  return send_up(world, gab_world_my_place(world), mine);
}
