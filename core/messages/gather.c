/* SPDX-License-Identifier: Apache-2.0 */
/** @file gather.c
 *  @brief Gathers: byte strings of all participants travel up the tree of reductions to the root in pieces; long strings go
 *  directly.
 *
 *  In the tree over dense indices the parent of a member has the index without its lowest set bit, so a member and its
 *  descendants are a range of indices. Each member sends one stream: the head of its own string (rank and size), the bytes
 *  unless the string is long, and then the streams of its children in order, unchanged; only the root parses them. A stream
 *  travels in pieces. The first piece is sent at once, so short strings need one message per level of the tree; each
 *  further one after the parent has acknowledged the previous one. Only the head of a long string goes up: when the root
 *  reaches it, it calls for the string, and the owner sends it. So each long string crosses the network once, and the root
 *  knows its size before. The root calls for the next one while it receives the previous one, if both heads are in the same
 *  piece and the next string is at most one chunk.
 *
 *  Invariants.
 *  - A member below the root holds at most three pieces (being filled, not acknowledged by the parent, being received) and
 *    a copy of its own string if that is long. One piece per child may wait in MPI.
 *  - The root holds one piece, one long string, and in MPI one chunk that it has called for in advance.
 *  - The root calls for each long string once, in the order of ranks, after it has received the head.
 *
 *  There is no deadlock. A piece is acknowledged on receipt. Members wait for pieces of their children, in turn, and for
 *  acknowledgements of their parents; meanwhile owners of long strings answer the call of the root (wait_for()). So the
 *  root always gets a string that it calls for. A child whose parent waits for its piece does not wait for an
 *  acknowledgement: the parent has acknowledged all received pieces. The child either sends, or waits for a child of its
 *  own, to which the same applies; leaves send.
 *
 *  A death breaks the world for all waiting processes (GAB_ERR_FAULT), and the repair drops messages in transit in all
 *  ports.
 *
 *  A member uses separate ports to its parent and to its children, so that waiting for one does not block the others. After
 *  the last piece both sides reset the channel, as do root and owner after a long string. So each gather begins with
 *  sequence number 0, also after gab_world_drop_messages(), and the root has no list of all ranks.
 */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"

/* A piece begins with a byte of flags, a string with rank and size. */
enum { FLAGS_BYTES = 1, HEAD_BYTES = 12 };
enum { LAST_PIECE = 1 /* the last one of its stream */ };

_Static_assert(GAB_GATHER_LONG_BYTES + HEAD_BYTES <= GAB_GATHER_PIECE_BYTES,
               "a string that is not long lies in one piece");

/* The port between a member and its children: one of two, by its depth, the number of bits in its index. */
static gab_port *port_below(const gab_world *world, int32_t index)
{
  unsigned depth = 0;
  for (uint32_t bits = (uint32_t)index; bits != 0; bits &= bits - 1) depth++;
  return world->gather[depth % 2];
}

/* ------------------------------------------------------------------------------------ a long string */

/* Pending action of the owner of a long string. */
typedef enum pending { PENDING_NONE, PENDING_CALL, PENDING_ANSWER } pending;

typedef struct owner {
  gab_world *world;
  const gab_buffer *mine;
  pending pending;  /* PENDING_CALL: waits for the call; PENDING_ANSWER: the string is in transit */
  gab_buffer *note; /* acknowledgements and calls to send, since the outbox has the long string */
} owner;

static gab_status await_call(owner *o)
{
  GAB_TRY(gab_port_receive(o->world->gather_long, gab_world_root(o->world), &o->world->outbox, 0));
  o->pending = PENDING_CALL;
  return GAB_OK;
}

/* Called after the transfer in progress is finished. */
static gab_status handle_pending(owner *o)
{
  gab_port *port = o->world->gather_long;
  const gab_rank root = gab_world_root(o->world);
  GAB_TRY(gab_port_finish(port));
  if (o->pending == PENDING_ANSWER) {
    o->pending = PENDING_NONE;
    gab_port_forget(port, root);
    return GAB_OK;
  }
  gab_buffer *message = &o->world->outbox;
  GAB_TRY(gab_message_begin(message));
  GAB_TRY(gab_put_bytes(message, o->mine->data, o->mine->size));
  GAB_TRY(gab_port_send(port, root, message));
  o->pending = PENDING_ANSWER;
  return GAB_OK;
}

/* Finishes the transfer of a port, and meanwhile answers the root. */
static gab_status wait_for(owner *o, gab_port *port)
{
  for (int looks = 0; o->pending != PENDING_NONE;) {
    bool done, has_news;
    GAB_TRY(gab_port_progress(port, &done));
    if (done) break;
    GAB_TRY(gab_port_progress(o->world->gather_long, &has_news));
    if (has_news) GAB_TRY(handle_pending(o));
    else gab_world_pause(o->world, &looks);
  }
  return gab_port_finish(port);
}

/* ------------------------------------------------------------------------------------ the next piece of a child */

static gab_status acknowledge(const owner *o, gab_port *down, gab_rank child)
{
  GAB_TRY(gab_message_begin(o->note));
  GAB_TRY(gab_port_send(down, child, o->note));
  return gab_port_finish(down);
}

/* Receives the next piece of a child. @param[out] bytes of the stream, in the inbox */
static gab_status next_piece(owner *o, gab_port *down, gab_rank child, gab_reader *bytes, uint8_t *flags)
{
  gab_world *world = o->world;
  GAB_TRY(gab_port_receive(down, child, &world->inbox, GAB_SIZE_UNKNOWN));
  GAB_TRY(wait_for(o, down));
  *bytes = gab_message_reader(&world->inbox);
  GAB_TRY(gab_get_u8(bytes, flags));
  if (gab_reader_left(bytes) > GAB_GATHER_PIECE_BYTES)
    GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " gathered a piece of %zu bytes", child,
             gab_reader_left(bytes));
  GAB_TRY(acknowledge(o, down, child));
  if (*flags & LAST_PIECE) gab_port_forget(down, child);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ below the root */

typedef struct relay {
  owner own;
  gab_port *up, *down;
  gab_rank parent;
  gab_buffer filling, waiting; /* pieces: being filled, and lent to `up` */
  gab_buffer acknowledgement;
} relay;

static gab_status begin_piece(gab_buffer *piece)
{
  GAB_TRY(gab_message_begin(piece));
  return gab_put_u8(piece, 0);
}

static size_t free_bytes_in(const gab_buffer *piece)
{
  return GAB_GATHER_PIECE_BYTES + FLAGS_BYTES - gab_message_bytes(piece);
}

/* Sends the piece after the previous one is acknowledged, and begins the next one. */
static gab_status push(relay *r, uint8_t flags)
{
  GAB_TRY(wait_for(&r->own, r->up));
  gab_buffer_swap(&r->filling, &r->waiting);
  r->waiting.data[GAB_ENVELOPE_BYTES] = flags;
  GAB_TRY(gab_port_receive(r->up, r->parent, &r->acknowledgement, 0));
  GAB_TRY(gab_port_send(r->up, r->parent, &r->waiting));
  return begin_piece(&r->filling);
}

/* An empty piece has capacity for the head and a string that is not long. */
static gab_status put_own(relay *r)
{
  const gab_buffer *mine = r->own.mine;
  GAB_TRY(gab_put_i32(&r->filling, r->own.world->rank));
  GAB_TRY(gab_put_u64(&r->filling, mine->size));
  if (mine->size > GAB_GATHER_LONG_BYTES) return await_call(&r->own);
  return gab_put_bytes(&r->filling, mine->data, mine->size);
}

/* A piece that does not fit becomes the next piece without a copy, so of two successive pieces at least one is half
 * full. */
static gab_status pass_on(relay *r, gab_rank child)
{
  gab_reader bytes;
  uint8_t flags = 0;
  while (!(flags & LAST_PIECE)) {
    GAB_TRY(next_piece(&r->own, r->down, child, &bytes, &flags));
    if (gab_reader_left(&bytes) <= free_bytes_in(&r->filling)) {
      GAB_TRY(gab_put_bytes(&r->filling, bytes.at, gab_reader_left(&bytes)));
    } else {
      GAB_TRY(push(r, 0));
      gab_buffer_swap(&r->filling, &r->own.world->inbox);
    }
  }
  return GAB_OK;
}

static gab_status climb(relay *r, int32_t index)
{
  gab_world *world = r->own.world;
  const int32_t count = gab_world_participants(world);
  GAB_TRY(begin_piece(&r->filling));
  GAB_TRY(put_own(r));
  for (int32_t mask = 1; !(index & mask) && index + mask < count; mask <<= 1)
    GAB_TRY(pass_on(r, gab_world_participant(world, index + mask)));
  GAB_TRY(push(r, LAST_PIECE));
  GAB_TRY(wait_for(&r->own, r->up));
  gab_port_forget(r->up, r->parent);
  while (r->own.pending != PENDING_NONE) GAB_TRY(handle_pending(&r->own));
  return GAB_OK;
}

static gab_status send_up(gab_world *world, int32_t index, const gab_buffer *mine)
{
  const int32_t parent = index & (index - 1);
  gab_buffer note;
  relay r = {.own = {.world = world, .mine = mine, .note = &note},
             .up = port_below(world, parent),
             .down = port_below(world, index),
             .parent = gab_world_participant(world, parent)};
  gab_buffer_init(&note, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&r.filling, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&r.waiting, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&r.acknowledgement, GAB_MEMORY_MESSAGE);
  gab_port *const ports[] = {r.up, r.down, world->gather_long};
  gab_status status = climb(&r, index);
  for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) status = gab_port_give_up(ports[i], status);
  gab_buffer_release(&note);
  gab_buffer_release(&r.filling);
  gab_buffer_release(&r.waiting);
  gab_buffer_release(&r.acknowledgement);
  return status;
}

/* ------------------------------------------------------------------------------------ on the root */

/* A string, or its head. */
typedef struct entry {
  gab_rank from;
  size_t size;
} entry;

/* The stream of one child. */
typedef struct stream {
  owner own; /* the root, without a pending action */
  gab_port *port;
  gab_rank child;
  gab_reader piece;    /* unread part of the piece */
  uint8_t flags;       /* of that piece */
  gab_rank called_for; /* owner whose string was requested in advance */
} stream;

static gab_status need_piece(stream *s)
{
  if (gab_reader_left(&s->piece) > 0) return GAB_OK;
  if (s->flags & LAST_PIECE)
    GAB_FAIL(GAB_ERR_CORRUPT, "what rank %" GAB_PRI_RANK " gathered ends in the middle", s->child);
  return next_piece(&s->own, s->port, s->child, &s->piece, &s->flags);
}

static gab_status get_head(gab_reader *in, entry *head)
{
  uint64_t size;
  GAB_TRY(gab_get_i32(in, &head->from));
  GAB_TRY(gab_get_u64(in, &size));
  if (size > SIZE_MAX / 2)
    GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " gathered %" PRIu64 " bytes", head->from, size);
  head->size = (size_t)size;
  return GAB_OK;
}

static gab_status call_for(const owner *root, gab_rank from)
{
  GAB_TRY(gab_message_begin(root->note));
  return gab_port_send(root->world->gather_long, from, root->note);
}

/* Calls for the string after the last head, if its head is known. At most one chunk, since it arrives even if the
 * gather fails. */
static gab_status call_ahead(stream *s)
{
  gab_reader rest = s->piece;
  entry next;
  if (gab_reader_left(&rest) < HEAD_BYTES) return GAB_OK;
  GAB_TRY(get_head(&rest, &next));
  if (next.size <= GAB_GATHER_LONG_BYTES || next.size > GAB_CHUNK_BYTES) return GAB_OK;
  if (gab_world_comm_rank(s->own.world, next.from) < 0 || next.from == s->own.world->rank)
    GAB_FAIL(GAB_ERR_CORRUPT, "%zu bytes of rank %" GAB_PRI_RANK " were gathered, which has no part in it",
             next.size, next.from);
  s->called_for = next.from;
  return call_for(&s->own, next.from);
}

/* Fetches a long string from its owner, which waits for the call. */
static gab_status fetch(stream *s, const entry *head, gab_reader *bytes)
{
  gab_world *world = s->own.world;
  gab_port *port = world->gather_long;
  gab_buffer *string = &world->outbox; /* kept, since new memory for each gather costs time */
  if (s->called_for != head->from) GAB_TRY(call_for(&s->own, head->from));
  GAB_TRY(gab_port_finish(port));
  s->called_for = GAB_NO_RANK;
  if (head->size + GAB_ENVELOPE_BYTES > string->capacity)
    gab_buffer_release(string); /* otherwise two strings would be in memory */
  GAB_TRY(gab_port_receive(port, head->from, string, head->size));
  GAB_TRY(call_ahead(s));
  GAB_TRY(gab_port_finish(port));
  gab_port_forget(port, head->from); /* otherwise the root would keep a list of all ranks */
  *bytes = gab_message_reader(string);
  return GAB_OK;
}

static gab_status take_string(stream *s, gab_rank due, gab_reader *bytes)
{
  entry head;
  GAB_TRY(need_piece(s));
  GAB_TRY(get_head(&s->piece, &head));
  if (head.from != due)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "%zu bytes of rank %" GAB_PRI_RANK " were gathered where those of rank %" GAB_PRI_RANK
             " were due",
             head.size, head.from, due);
  if (head.size > GAB_GATHER_LONG_BYTES) return fetch(s, &head, bytes);
  return gab_get_view(&s->piece, head.size, bytes); /* strings are not split over pieces */
}

/* Reads the stream of `child` and its descendants. An error of `visit` does not stop the stream. */
static gab_status take_stream(stream *s, int32_t child, gab_visit_fn visit, void *user, gab_status *verdict)
{
  const int32_t count = gab_world_participants(s->own.world);
  for (int32_t index = child; index < 2 * child && index < count; index++) {
    const gab_rank from = gab_world_participant(s->own.world, index);
    gab_reader bytes;
    GAB_TRY(take_string(s, from, &bytes));
    if (*verdict == GAB_OK) *verdict = visit(user, from, bytes);
  }
  if (!(s->flags & LAST_PIECE) || gab_reader_left(&s->piece) > 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " gathered more than it was to", s->child);
  return GAB_OK;
}

static gab_status collect(gab_world *world, const gab_buffer *mine, gab_visit_fn visit, void *user)
{
  const int32_t count = gab_world_participants(world);
  gab_status verdict = visit(user, world->rank, gab_reader_of_buffer(mine)), status = GAB_OK;
  gab_buffer note;
  gab_buffer_init(&note, GAB_MEMORY_MESSAGE);
  for (int32_t child = 1; status == GAB_OK && child < count; child <<= 1) {
    stream s = {.own = {.world = world, .note = &note},
                .port = port_below(world, 0),
                .child = gab_world_participant(world, child),
                .called_for = GAB_NO_RANK};
    status = take_stream(&s, child, visit, user, &verdict);
  }
  if (count > 1) status = gab_port_give_up(world->gather_long, status);
  gab_buffer_release(&note);
  return status == GAB_OK ? verdict : status;
}

gab_status gab_world_gather(gab_world *world, const gab_buffer *mine, gab_visit_fn visit, void *user)
{
  GAB_TRY(gab_world_check(world));
  gab_world_enter(world, GAB_FAULT_POINT_REDUCTION);
  if (gab_world_replays(world)) return GAB_OK; /* a respawned process in its set-up takes no part */
  if (gab_world_is_root(world)) return collect(world, mine, visit, user);
  return send_up(world, gab_world_my_place(world), mine);
}
