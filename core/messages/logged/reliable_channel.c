/* SPDX-License-Identifier: Apache-2.0 */
/** @file reliable_channel.c
 *  @brief Reliable channels between processes, which continue after deaths.
 *
 *  A message consists of one or several MPI messages, all with one tag and in order: first lane, sizes, head, and a short
 *  payload; a longer payload follows in chunks from its own memory. A receiver of the first part waits for the others, which
 *  were posted with it. */
#include "core/messages/logged/reliable_channel.h"

#include "core/base/log.h"
#include "core/world/world_impl.h"

#include <string.h>

enum {
  FIRST_BYTES = 24,  /* lane, bytes of the head, bytes of the payload */
  INLINE = 4096,     /* payload sent with the head */
  STRANGERS = 64,    /* places that are not near and are probed in one turn */
  MOST_AT_ONCE = 64, /* messages of one place before the next place */
  MOST_PROBED = 4096 /* maximum places for one probe of any source: MPI loops over all of them */
};

/* s, interval of the checks of places that are not near, and for deaths. A waiting process polls near places repeatedly;
 * each further MPI call would lengthen these polls and, where processes share cores, release the core. */
static const double turn = 100e-6;

/* Memory that MPI reads: for one or several requests, which end in any order. */
typedef struct parcel {
  void *memory; /* owned; NULL: lent */
  size_t bytes; /* of that memory */
  void *lent;   /* NULL: nothing */
  int requests;
} parcel;

typedef struct sending {
  MPI_Request request;
  parcel *of;
} sending;

struct gab_reliable_channel {
  gab_world *world;
  gab_reliable_channel_events events;
  gab_process places, place;
  gab_process *place_of; /* by rank in the communicator */
  bool by_name;          /* places are probed one by one: near ones, and the others in turn */
  gab_process *near;
  size_t near_count;
  gab_process next_stranger;
  double looked_far; /* time of the last check of other places, and for deaths */
  gab_process *dead; /* detected */
  size_t dead_count;
  gab_process *untold; /* those whose death is to be reported, perhaps again */
  size_t untold_count;
  int failed; /* members of the communicator, as far as checked */
  sending *sendings;
  size_t sending_count, sending_capacity;
  gab_buffer in, payload; /* of an incoming message: all of it if short, else the head; and a long payload */
  gab_buffer aside;       /* memory for a payload much longer than the last one */
  void *idle;             /* memory of a sent payload, for the next one: its pages have been touched */
  size_t idle_bytes;
  gab_reliable_channel_stats stats;
};

/* The rank of a place in the communicator; members and processes of the world do not change while there is a
 * reliable channel. */
static int comm_rank_of(const gab_reliable_channel *channel, gab_process place)
{
  const gab_world *world = channel->world;
  const int32_t members = gab_members_count(&world->members);
  if (place < members) return gab_world_comm_rank(world, gab_members_rank(&world->members, place));
  return gab_world_comm_rank(world, (gab_rank)gab_world_spare(world, place - members));
}

static gab_status number_places(gab_reliable_channel *channel)
{
  int comm_ranks = 0, comm_rank = 0;
  MPI_Comm_size(channel->world->comm, &comm_ranks);
  MPI_Comm_rank(channel->world->comm, &comm_rank);
  GAB_TRY(GAB_NEW_ARRAY(&channel->place_of, (size_t)comm_ranks, GAB_MEMORY_OTHER));
  for (int i = 0; i < comm_ranks; i++) channel->place_of[i] = GAB_NO_PROCESS;
  for (gab_process place = 0; place < channel->places; place++)
    channel->place_of[comm_rank_of(channel, place)] = place;
  channel->place = channel->place_of[comm_rank];
  return GAB_OK;
}

gab_status gab_reliable_channel_create(gab_world *world, const gab_reliable_channel_events *events,
                                       gab_reliable_channel **channel)
{
  *channel = NULL;
  if (world->channel) GAB_FAIL(GAB_ERR_STATE, "the world has a reliable channel already");
  gab_reliable_channel *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->world = world;
  made->events = *events;
  made->places = gab_members_count(&world->members) + gab_world_spares(world);
  made->by_name = made->places > MOST_PROBED;
  gab_buffer_init(&made->in, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&made->payload, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&made->aside, GAB_MEMORY_MESSAGE);
  const gab_status status = number_places(made);
  if (status != GAB_OK) {
    gab_free(&made);
    return status;
  }
  world->channel = *channel = made;
  return GAB_OK;
}

gab_process gab_reliable_channel_places(const gab_reliable_channel *channel) { return channel->places; }
gab_process gab_reliable_channel_place(const gab_reliable_channel *channel) { return channel->place; }

gab_reliable_channel_stats gab_reliable_channel_statistics(const gab_reliable_channel *channel)
{
  gab_reliable_channel_stats stats = channel->stats;
  stats.near = channel->near_count;
  return stats;
}

static bool is_in(const gab_process *list, size_t count, gab_process place)
{
  for (size_t i = 0; i < count; i++)
    if (list[i] == place) return true;
  return false;
}

static gab_status append(gab_process **list, size_t *count, gab_process place)
{
  if (is_in(*list, *count, place)) return GAB_OK;
  GAB_TRY(gab_list_reserve(list, *count, sizeof place));
  (*list)[(*count)++] = place;
  return GAB_OK;
}

bool gab_reliable_channel_is_dead(const gab_reliable_channel *channel, gab_process place)
{
  return is_in(channel->dead, channel->dead_count, place);
}

gab_status gab_reliable_channel_add_near(gab_reliable_channel *channel, gab_process place)
{
  return append(&channel->near, &channel->near_count, place);
}

void gab_reliable_channel_keep_near(gab_reliable_channel *channel,
                                    bool (*stays)(const void *user, gab_process place), const void *user)
{
  size_t kept = 0;
  for (size_t i = 0; i < channel->near_count; i++)
    if (stays(user, channel->near[i])) channel->near[kept++] = channel->near[i];
  channel->near_count = kept;
}

/* ------------------------------------------------------------------------------------ errors */

#ifdef GAB_HAVE_ULFM
static gab_status note_dead(gab_reliable_channel *channel, gab_process place)
{
  if (is_in(channel->dead, channel->dead_count, place)) return GAB_OK;
  GAB_TRY(append(&channel->dead, &channel->dead_count, place));
  return append(&channel->untold, &channel->untold_count, place);
}
#endif

/* Handles the code of a call that names a place. @return GAB_OK if the place is dead, which is recorded */
static gab_status judge(gab_reliable_channel *channel, gab_process place, int code, const char *function)
{
  if (code == MPI_SUCCESS) return GAB_OK;
  GAB_TRY(gab_world_check(channel->world));
#ifdef GAB_HAVE_ULFM
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  if (class == MPIX_ERR_PROC_FAILED) return note_dead(channel, place);
#else
  (void)place;
#endif
  return gab_world_mpi(channel->world, code, function);
}

/* Open MPI 5.0.7 does not report a death by MPI_Iprobe, which then never finds a message. */
static gab_status look_for_dead(gab_reliable_channel *channel)
{
#ifdef GAB_HAVE_ULFM
  MPI_Comm comm = channel->world->comm;
  MPI_Group failed, all;
  int count = 0;
  GAB_TRY(gab_world_mpi(channel->world, MPIX_Comm_get_failed(comm, &failed), "MPIX_Comm_get_failed"));
  MPI_Group_size(failed, &count);
  if (count == channel->failed) return MPI_Group_free(&failed) == MPI_SUCCESS ? GAB_OK : GAB_ERR_MPI;
  gab_status status = GAB_OK;
  MPI_Comm_group(comm, &all);
  for (int i = 0; i < count && status == GAB_OK; i++) {
    int comm_rank = MPI_UNDEFINED;
    MPI_Group_translate_ranks(failed, 1, &i, all, &comm_rank);
    for (gab_process place = 0; place < channel->places && status == GAB_OK; place++)
      if (comm_rank_of(channel, place) == comm_rank) status = note_dead(channel, place);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&failed);
  channel->failed = count;
  return status;
#else
  (void)channel;
  return GAB_OK;
#endif
}

/* ------------------------------------------------------------------------------------ sending */

static gab_status wrap(void *memory, size_t bytes, void *lent, parcel **made)
{
  GAB_TRY(GAB_NEW(made, GAB_MEMORY_OTHER));
  **made = (parcel){.memory = memory, .bytes = bytes, .lent = lent, .requests = 1};
  return GAB_OK;
}

static void let_go(gab_reliable_channel *channel, parcel *of)
{
  if (--of->requests > 0) return;
  if (of->lent) channel->events.sent(channel->events.user, of->lent);
  if (of->bytes > channel->idle_bytes) {
    gab_free(&channel->idle);
    channel->idle = of->memory;
    channel->idle_bytes = of->bytes;
  } else gab_free(&of->memory);
  gab_free(&of);
}

static gab_status post(gab_reliable_channel *channel, gab_process place, const void *bytes, size_t count,
                       parcel *of)
{
  gab_world *world = channel->world;
  sending made = {.request = MPI_REQUEST_NULL, .of = of};
  void *list = channel->sendings;
  GAB_TRY(gab_array_reserve(&list, &channel->sending_capacity, channel->sending_count + 1, sizeof made));
  channel->sendings = list;
  const int code = MPI_Isend(bytes, (int)count, MPI_BYTE, comm_rank_of(channel, place), GAB_CONTEXT_RELIABLE,
                             world->comm, &made.request);
  if (code != MPI_SUCCESS) return judge(channel, place, code, "MPI_Isend");
  of->requests++;
  channel->sendings[channel->sending_count++] = made;
  return GAB_OK;
}

static void store(unsigned char *at, uint64_t value)
{
  for (int i = 0; i < 8; i++) at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t fetch(const unsigned char *at)
{
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

/* Sends the first part, with a short payload. */
static gab_status post_first(gab_reliable_channel *channel, gab_process place, uint32_t lane,
                             const gab_buffer *head, const void *payload, size_t bytes)
{
  const size_t with = bytes <= INLINE ? bytes : 0, count = FIRST_BYTES + head->size + with;
  void *memory;
  parcel *of;
  GAB_TRY(gab_alloc(count, GAB_MEMORY_MESSAGE, &memory));
  gab_status status = wrap(memory, 0, NULL, &of);
  if (status != GAB_OK) {
    gab_free(&memory);
    return status;
  }
  unsigned char *at = memory;
  store(at, lane);
  store(at + 8, head->size);
  store(at + 16, bytes);
  if (head->size > 0) memcpy(at + FIRST_BYTES, head->data, head->size);
  if (with > 0) memcpy(at + FIRST_BYTES + head->size, payload, with);
  status = post(channel, place, memory, count, of);
  let_go(channel, of);
  return status;
}

/* Posted chunks are received even if the next one fails. */
static gab_status post_chunks(gab_reliable_channel *channel, gab_process place, const unsigned char *from,
                              size_t bytes, parcel *of)
{
  for (size_t at = 0; at < bytes; at += GAB_CHUNK_BYTES) {
    const size_t left = bytes - at;
    GAB_TRY(post(channel, place, from + at, left < GAB_CHUNK_BYTES ? left : GAB_CHUNK_BYTES, of));
    if (is_in(channel->dead, channel->dead_count, place)) return GAB_OK;
  }
  return GAB_OK;
}

/* Memory for a payload: idle memory if large enough and not more than twice the size. */
static gab_status reserve_for(gab_reliable_channel *channel, size_t bytes, void **memory, size_t *capacity)
{
  const bool fits = channel->idle && bytes <= channel->idle_bytes && channel->idle_bytes / 2 <= bytes;
  *capacity = fits ? channel->idle_bytes : bytes;
  if (!fits) return gab_alloc(bytes, GAB_MEMORY_MESSAGE, memory);
  *memory = channel->idle;
  channel->idle = NULL;
  channel->idle_bytes = 0;
  return GAB_OK;
}

static gab_status post_payload(gab_reliable_channel *channel, gab_process place, const void *payload,
                               size_t bytes, void *lent)
{
  void *memory = NULL;
  size_t capacity = 0;
  parcel *of;
  gab_status status = lent ? GAB_OK : reserve_for(channel, bytes, &memory, &capacity);
  if (status == GAB_OK) status = wrap(memory, capacity, lent, &of);
  if (status != GAB_OK) {
    gab_free(&memory);
    if (lent) channel->events.sent(channel->events.user, lent);
    return status;
  }
  if (memory) memcpy(memory, payload, bytes);
  status = post_chunks(channel, place, memory ? memory : payload, bytes, of);
  let_go(channel, of);
  return status;
}

gab_status gab_reliable_channel_send(gab_reliable_channel *channel, gab_process place, uint32_t lane,
                                     const gab_buffer *head, const void *payload, size_t bytes, void *lent)
{
  const bool is_dead = is_in(channel->dead, channel->dead_count, place);
  gab_status status = gab_world_check(channel->world);
  if (head->size > GAB_CHUNK_BYTES / 2)
    status = gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "a head of %zu bytes", head->size);
  if (status == GAB_OK && is_dead) status = append(&channel->untold, &channel->untold_count, place);
  if (status == GAB_OK && !is_dead) {
    channel->stats.sent++;
    channel->stats.sent_bytes += bytes;
    status = post_first(channel, place, lane, head, payload, bytes);
    if (status == GAB_OK && bytes > INLINE) return post_payload(channel, place, payload, bytes, lent);
  }
  if (lent) channel->events.sent(channel->events.user, lent); /* the payload was copied, or is not needed */
  return status;
}

static gab_status end_sendings(gab_reliable_channel *channel)
{
  size_t kept = 0;
  gab_status status = GAB_OK;
  for (size_t i = 0; i < channel->sending_count; i++) {
    sending one = channel->sendings[i];
    int done = 0;
    /* After an error MPI has freed the request: its target is dead. */
    const int code = status == GAB_OK ? MPI_Test(&one.request, &done, MPI_STATUS_IGNORE) : MPI_SUCCESS;
    if (code != MPI_SUCCESS && !gab_mpi_is_fault(code))
      status = gab_world_mpi(channel->world, code, "MPI_Test");
    if (code != MPI_SUCCESS && gab_world_check(channel->world) != GAB_OK) status = GAB_ERR_FAULT;
    if (status == GAB_OK && (done || code != MPI_SUCCESS)) let_go(channel, one.of);
    else channel->sendings[kept++] = one;
  }
  channel->sending_count = kept;
  return status;
}

/* ------------------------------------------------------------------------------------ receiving */

/* @param[out] whole  false: the sender died during the message */
static gab_status receive(gab_reliable_channel *channel, gab_process place, unsigned char *at, size_t count,
                          bool *whole)
{
  MPI_Status status;
  int came = 0;
  const int code = MPI_Recv(at, (int)count, MPI_BYTE, comm_rank_of(channel, place), GAB_CONTEXT_RELIABLE,
                            channel->world->comm, &status);
  *whole = code == MPI_SUCCESS;
  GAB_TRY(judge(channel, place, code, "MPI_Recv"));
  if (*whole) MPI_Get_count(&status, MPI_BYTE, &came);
  if (*whole && (size_t)came != count)
    GAB_FAIL(GAB_ERR_CORRUPT, "a message of %d bytes came from place %" GAB_PRI_PROCESS " where %zu were due",
             came, place, count);
  return GAB_OK;
}

static bool is_twice_too_much(const gab_buffer *memory, size_t bytes) { return memory->capacity / 2 > bytes; }

/* A callback that takes a payload keeps its memory as long as the message. Memory returned for an image is much too large
 * for most messages: a short one would occupy it, and the next image would need new pages. So it is reserved for messages
 * of similar size. */
static void choose_memory(gab_reliable_channel *channel, size_t bytes)
{
  gab_buffer *payload = &channel->payload, *aside = &channel->aside;
  const bool is_short = payload->capacity < bytes && payload->capacity < aside->capacity;
  gab_buffer_clear(payload);
  if (is_short || is_twice_too_much(payload, bytes)) gab_buffer_swap(payload, aside);
  if (!is_twice_too_much(payload, bytes)) return;
  if (payload->capacity > aside->capacity) gab_buffer_swap(payload, aside);
  gab_buffer_release(payload);
}

static gab_status receive_payload(gab_reliable_channel *channel, gab_process place, size_t bytes, bool *whole)
{
  void *memory;
  choose_memory(channel, bytes);
  if (channel->payload.capacity < bytes) { /* the content need not be kept while it grows */
    gab_buffer_release(&channel->payload);
    gab_buffer_init(&channel->payload, GAB_MEMORY_MESSAGE);
  }
  GAB_TRY(gab_buffer_extend(&channel->payload, bytes, &memory));
  for (size_t done = 0; done < bytes && *whole; done += GAB_CHUNK_BYTES) {
    const size_t left = bytes - done;
    GAB_TRY(receive(channel, place, channel->payload.data + done,
                    left < GAB_CHUNK_BYTES ? left : GAB_CHUNK_BYTES, whole));
  }
  return GAB_OK;
}

/* Receives a whole message whose first part of `count` bytes has arrived. */
static gab_status take(gab_reliable_channel *channel, gab_process place, int count)
{
  gab_buffer *in = &channel->in;
  void *memory;
  bool whole;
  gab_buffer_clear(in);
  GAB_TRY(gab_buffer_extend(in, (size_t)count, &memory));
  GAB_TRY(receive(channel, place, in->data, (size_t)count, &whole));
  if (!whole) return GAB_OK;
  if (count < FIRST_BYTES) GAB_FAIL(GAB_ERR_CORRUPT, "a message of %d bytes on the reliable channel", count);
  const uint64_t lane = fetch(in->data), head = fetch(in->data + 8), payload = fetch(in->data + 16);
  const uint64_t here = (uint64_t)count - FIRST_BYTES;
  if (head > here || here - head != (payload <= INLINE ? payload : 0) || payload > SIZE_MAX / 4)
    GAB_FAIL(GAB_ERR_CORRUPT, "a message from place %" GAB_PRI_PROCESS " does not fit together", place);
  if (payload > INLINE) GAB_TRY(receive_payload(channel, place, (size_t)payload, &whole));
  if (!whole) return GAB_OK;
  channel->stats.received++;
  return channel->events.message(channel->events.user, place, (uint32_t)lane, in->data + FIRST_BYTES,
                                 (size_t)here, payload > INLINE ? &channel->payload : NULL);
}

static gab_status look_at(gab_reliable_channel *channel, gab_process place)
{
  if (place == channel->place || is_in(channel->dead, channel->dead_count, place)) return GAB_OK;
  for (int taken = 0; taken < MOST_AT_ONCE; taken++) {
    int there = 0, count = 0;
    MPI_Status status;
    const int code =
        MPI_Iprobe(comm_rank_of(channel, place), GAB_CONTEXT_RELIABLE, channel->world->comm, &there, &status);
    GAB_TRY(judge(channel, place, code, "MPI_Iprobe"));
    if (code != MPI_SUCCESS || !there) return GAB_OK;
    MPI_Get_count(&status, MPI_BYTE, &count);
    GAB_TRY(take(channel, place, count));
    if (is_in(channel->dead, channel->dead_count, place)) return GAB_OK;
  }
  return GAB_OK;
}

/* MPI no longer probes any source, since a process has died. */
static gab_status probe_by_name(gab_reliable_channel *channel, int code)
{
  channel->by_name = true;
  return gab_mpi_is_fault(code) ? gab_world_check(channel->world)
                                : gab_world_mpi(channel->world, code, "MPI_Iprobe");
}

/* A single probe finds any sender. Each probe that finds nothing makes MPI progress and, where processes share cores,
 * releases the core: one probe per place made a step of 50 ms longer by 2 ms. Useless once a message of a dead process has
 * arrived, which cannot be received. */
static gab_status look_at_any(gab_reliable_channel *channel)
{
  for (int taken = 0; taken < MOST_AT_ONCE; taken++) {
    int there = 0, count = 0;
    MPI_Status status;
    const int code = MPI_Iprobe(MPI_ANY_SOURCE, GAB_CONTEXT_RELIABLE, channel->world->comm, &there, &status);
    if (code != MPI_SUCCESS) return probe_by_name(channel, code);
    if (!there) return GAB_OK;
    const gab_process place = channel->place_of[status.MPI_SOURCE];
    channel->by_name = place == GAB_NO_PROCESS || is_in(channel->dead, channel->dead_count, place);
    if (channel->by_name) return GAB_OK;
    MPI_Get_count(&status, MPI_BYTE, &count);
    GAB_TRY(take(channel, place, count));
  }
  return GAB_OK;
}

static gab_status look_at_near(gab_reliable_channel *channel)
{
  for (size_t i = 0; i < channel->near_count; i++) GAB_TRY(look_at(channel, channel->near[i]));
  return GAB_OK;
}

static gab_status look_far(gab_reliable_channel *channel)
{
  const double now = gab_seconds();
  if (now - channel->looked_far < turn) return GAB_OK;
  channel->looked_far = now;
  for (int i = 0; channel->by_name && i < STRANGERS && i < channel->places; i++) {
    channel->next_stranger = (channel->next_stranger + 1) % channel->places;
    if (!is_in(channel->near, channel->near_count, channel->next_stranger))
      GAB_TRY(look_at(channel, channel->next_stranger));
  }
  return look_for_dead(channel);
}

gab_status gab_reliable_channel_serve(gab_reliable_channel *channel)
{
  GAB_TRY(gab_world_check(channel->world));
  GAB_TRY(end_sendings(channel));
  if (!channel->by_name) GAB_TRY(look_at_any(channel));
  if (channel->by_name) GAB_TRY(look_at_near(channel));
  GAB_TRY(look_far(channel));
  while (channel->untold_count > 0)
    GAB_TRY(channel->events.down(channel->events.user, channel->untold[--channel->untold_count]));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ the end */

void gab_reliable_channel_end(gab_reliable_channel *channel)
{
  for (size_t i = 0; i < channel->sending_count; i++) {
    sending *one = &channel->sendings[i];
    int done = 0;
    MPI_Test(&one->request, &done, MPI_STATUS_IGNORE);
    if (one->request != MPI_REQUEST_NULL) MPI_Request_free(&one->request);
    let_go(channel, one->of);
  }
  channel->sending_count = 0;
  channel->world->channel = NULL;
}

void gab_reliable_channel_destroy(gab_reliable_channel **pointer)
{
  gab_reliable_channel *channel = *pointer;
  if (!channel) return;
  *pointer = NULL;
  if (channel->world->channel == channel) gab_reliable_channel_end(channel);
  gab_free(&channel->place_of);
  gab_free(&channel->near);
  gab_free(&channel->dead);
  gab_free(&channel->untold);
  gab_free(&channel->sendings);
  gab_buffer_release(&channel->in);
  gab_buffer_release(&channel->payload);
  gab_buffer_release(&channel->aside);
  gab_free(&channel->idle);
  gab_free(&channel);
}
