/* SPDX-License-Identifier: Apache-2.0 */
/** @file port.c
 *  @brief Ports: opening, sending, receiving, and the positions on their channels. */
#include "core/world/world_impl.h"
#include "core/base/lower_bound_impl.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ channels */

static size_t channel_place(const gab_port *port, gab_rank peer)
{
  size_t at = 0;
  GAB_LOWER_BOUND(size_t, at, port->channel_count, i, port->channels[i].peer < peer);
  return at;
}

static gab_status find_channel(gab_port *port, gab_rank peer, gab_channel **channel)
{
  const size_t place = channel_place(port, peer);
  if (place == port->channel_count || port->channels[place].peer != peer) {
    void *array = port->channels;
    GAB_TRY(
        gab_array_reserve(&array, &port->channel_capacity, port->channel_count + 1, sizeof *port->channels));
    port->channels = array;
    memmove(port->channels + place + 1, port->channels + place,
            (port->channel_count - place) * sizeof *port->channels);
    port->channels[place] = (gab_channel){.peer = peer};
    port->channel_count++;
  }
  *channel = &port->channels[place];
  return GAB_OK;
}

void gab_port_forget(gab_port *port, gab_rank peer)
{
  const size_t place = channel_place(port, peer);
  if (place == port->channel_count || port->channels[place].peer != peer) return;
  port->channel_count--;
  memmove(port->channels + place, port->channels + place + 1,
          (port->channel_count - place) * sizeof *port->channels);
}

/* ------------------------------------------------------------------------------------ opening and closing */

gab_status gab_port_open(gab_world *world, const char *name, uint32_t context, gab_port **port)
{
  GAB_TRY(GAB_NEW(port, GAB_MEMORY_OTHER));
  (*port)->world = world;
  (*port)->context = context;
  snprintf((*port)->name, sizeof(*port)->name, "%s", name);
  (*port)->next = world->ports;
  world->ports = *port;
  return GAB_OK;
}

static uint32_t highest_context(const gab_world *world)
{
  void *value = NULL;
  int found = 0;
  if (world->is_without_mpi) return UINT32_MAX;
  MPI_Comm_get_attr(world->comm, MPI_TAG_UB, &value, &found);
  const int bound = found ? *(int *)value : 32767; /* minimum of the MPI standard */
  return (uint32_t)bound;
}

gab_status gab_port_create(gab_world *world, const char *name, gab_port **port)
{
  *port = NULL;
  GAB_TRY(gab_world_check(world));
  if (world->next_context > highest_context(world))
    GAB_FAIL(GAB_ERR_STATE, "port %s: all %" PRIu32 " contexts of this MPI are used up", name,
             world->next_context);
  GAB_TRY(gab_port_open(world, name, world->next_context, port));
  world->next_context++;
  return GAB_OK;
}

static void empty_own(gab_port *port)
{
  for (size_t i = 0; i < port->own_count; i++) gab_buffer_release(&port->own[i]);
  port->own_count = 0;
}

/* Reuses the numbers of destroyed logged ports before the first message is logged: those of objects used only in the
 * set-up. */
static void free_log_contexts(gab_world *world)
{
  if (world->logger) return;
  world->logged_ports = 0;
  for (const gab_port *port = world->ports; port; port = port->next)
    if (port->logged && port->log_context >= world->logged_ports) world->logged_ports = port->log_context + 1;
}

void gab_port_destroy(gab_port **port_pointer)
{
  gab_port *port = *port_pointer;
  if (!port) return;
  *port_pointer = NULL;
  if (port->world) {
    gab_port_abandon(port);
    gab_traffic_take_kept(port);
    gab_port **place = &port->world->ports;
    while (*place != port) place = &(*place)->next;
    *place = port->next;
    free_log_contexts(port->world);
  }
  gab_traffic_destroy(port->traffic);
  empty_own(port);
  gab_free(&port->own);
  gab_free(&port->channels);
  gab_free(&port);
}

void gab_world_abandon_ports(gab_world *world)
{
  for (gab_port *port = world->ports; port; port = port->next) gab_port_abandon(port);
}

void gab_world_reset_ports(gab_world *world)
{
  for (gab_port *port = world->ports; port; port = port->next) {
    gab_port_abandon(port);
    empty_own(port);
    port->channel_count = 0;
  }
  world->port_resets++;
}

uint64_t gab_world_port_resets(const gab_world *world) { return world->port_resets; }

void gab_port_set_pattern(gab_port *port, uint32_t pattern, uint64_t iteration)
{
  port->has_pattern = true;
  port->pattern = (gab_pattern_id){pattern, iteration};
}

/* ------------------------------------------------------------------------------------ messages to oneself */

static gab_status send_to_self(gab_port *port, const gab_buffer *message)
{
  void *array = port->own;
  GAB_TRY(gab_array_reserve(&array, &port->own_capacity, port->own_count + 1, sizeof *port->own));
  port->own = array;
  gab_buffer *copy = &port->own[port->own_count];
  gab_buffer_init(copy, GAB_MEMORY_MESSAGE);
  const gab_status status = gab_put_bytes(copy, message->data, message->size);
  if (status == GAB_OK) port->own_count++;
  else gab_buffer_release(copy);
  return status;
}

/* ------------------------------------------------------------------------------------ sending and receiving
 */

/* After any error MPI must not keep the memory of the caller, who will release it: neither that of this message nor that of
 * earlier ones. */
gab_status gab_port_give_up(gab_port *port, gab_status status)
{
  if (status != GAB_OK) gab_port_abandon(port);
  return status;
}

static gab_status check_peer(gab_port *port, gab_rank peer, const gab_buffer *message)
{
  if (!port->world) GAB_FAIL(GAB_ERR_STATE, "port %s: its world is gone", port->name);
  GAB_TRY(gab_world_check(port->world));
  if (gab_world_replays(port->world))
    GAB_FAIL(GAB_ERR_STATE, "port %s: a respawned process in its set-up has nobody to talk to", port->name);
  if (!port->logged) GAB_TRY(gab_world_refuse_logged(port->world, port->name));
  if (gab_world_comm_rank(port->world, peer) < 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "port %s: rank %" GAB_PRI_RANK " does not take part", port->name, peer);
  const gab_traffic *traffic = port->traffic;
  for (size_t i = 0; traffic && i < traffic->transfer_count; i++)
    if (traffic->transfers[i].message == message)
      GAB_FAIL(GAB_ERR_ARGUMENT, "port %s: a buffer cannot serve two messages at once", port->name);
  return GAB_OK;
}

static bool uses_logger(const gab_port *port) { return port->logged && port->world->logger; }

static gab_envelope envelope_for(const gab_port *port, gab_rank target, uint64_t sequence, size_t bytes)
{
  const gab_world *world = port->world;
  const gab_pattern_id id = gab_port_pattern(port);
  return (gab_envelope){.epoch = world->epoch,
                        .source = world->rank,
                        .target = target,
                        .source_incarnation = gab_world_incarnation(world, world->rank),
                        .target_incarnation = gab_world_incarnation(world, target),
                        .context = port->context,
                        .pattern = id.pattern,
                        .iteration = id.iteration,
                        .sequence = sequence,
                        .step = world->step,
                        .bytes = bytes};
}

static gab_status start_send(gab_port *port, gab_rank target, gab_buffer *message, bool kept)
{
  gab_channel *channel;
  GAB_TRY(find_channel(port, target, &channel));
  const gab_envelope envelope = envelope_for(port, target, channel->sent, gab_message_bytes(message));
  gab_envelope_write(&envelope, message->data);
  channel->sent++;
  if (!port->world->sent_is_uncounted) {
    channel->counted++;
    channel->counted_bytes += message->size;
  }
  if (target == port->world->rank) return send_to_self(port, message);
  if (uses_logger(port)) return gab_logged_send(port, target, message);
  gab_transfer *transfer;
  GAB_TRY(gab_traffic_add(port, message, &transfer));
  transfer->outgoing = true;
  transfer->kept = kept;
  transfer->peer = target;
  transfer->total = message->size;
  return gab_traffic_post(port, transfer, transfer->total);
}

static gab_status send_message(gab_port *port, gab_rank target, gab_buffer *message, bool kept)
{
  GAB_TRY(check_peer(port, target, message));
  if (message->size < GAB_ENVELOPE_BYTES)
    GAB_FAIL(GAB_ERR_ARGUMENT, "port %s: the message was not begun by gab_message_begin()", port->name);
  return gab_port_give_up(port, start_send(port, target, message, kept));
}

gab_status gab_port_send(gab_port *port, gab_rank target, gab_buffer *message)
{
  return send_message(port, target, message, false);
}

gab_status gab_port_send_kept(gab_port *port, gab_rank target, gab_buffer *message)
{
  return send_message(port, target, message, true);
}

static gab_status check_order(const gab_port *port, gab_rank source)
{
  const gab_traffic *traffic = port->traffic;
  for (size_t i = 0; traffic && i < traffic->transfer_count; i++) {
    const gab_transfer *before = &traffic->transfers[i];
    if (!before->outgoing && before->peer == source && before->total == GAB_SIZE_UNKNOWN)
      GAB_FAIL(GAB_ERR_STATE,
               "port %s: nothing can be received from rank %" GAB_PRI_RANK
               " behind a message of unknown size",
               port->name, source);
  }
  return GAB_OK;
}

static gab_status start_receive(gab_port *port, gab_rank source, gab_buffer *message, size_t payload_bytes)
{
  const bool unknown = payload_bytes == GAB_SIZE_UNKNOWN;
  gab_channel *channel;
  GAB_TRY(find_channel(port, source, &channel));
  gab_buffer_clear(message);
  const bool own = source == port->world->rank || uses_logger(port); /* without MPI */
  const size_t total = unknown ? GAB_CHUNK_BYTES : payload_bytes + GAB_ENVELOPE_BYTES;
  void *place;
  if (!own) GAB_TRY(gab_buffer_extend(message, total, &place));
  gab_transfer *transfer;
  GAB_TRY(gab_traffic_add(port, message, &transfer));
  transfer->peer = source;
  transfer->total = unknown ? GAB_SIZE_UNKNOWN : total;
  transfer->sequence = channel->received++;
  return own ? GAB_OK : gab_traffic_post(port, transfer, total);
}

gab_status gab_port_receive(gab_port *port, gab_rank source, gab_buffer *message, size_t payload_bytes)
{
  GAB_TRY(check_peer(port, source, message));
  GAB_TRY(check_order(port, source));
  if (payload_bytes != GAB_SIZE_UNKNOWN && payload_bytes > SIZE_MAX / 2)
    GAB_FAIL(GAB_ERR_ARGUMENT, "port %s: a message of %zu bytes", port->name, payload_bytes);
  return gab_port_give_up(port, start_receive(port, source, message, payload_bytes));
}

static gab_status poll(gab_port *port, gab_rank source, gab_buffer *message, bool *there)
{
  gab_channel *channel;
  GAB_TRY(find_channel(port, source, &channel));
  gab_transfer transfer = {
      .message = message, .peer = source, .total = GAB_SIZE_UNKNOWN, .sequence = channel->received};
  gab_buffer_clear(message);
  if (source == port->world->rank) GAB_TRY(gab_port_take_own(port, &transfer, there));
  else if (uses_logger(port)) GAB_TRY(gab_logged_poll(port, &transfer, there));
  else GAB_TRY(gab_traffic_poll(port, &transfer, there));
  if (*there) channel->received++;
  return GAB_OK;
}

static bool is_awaited(const gab_port *port, gab_rank source)
{
  const gab_traffic *traffic = port->traffic;
  for (size_t i = 0; traffic && i < traffic->transfer_count; i++)
    if (!traffic->transfers[i].outgoing && traffic->transfers[i].peer == source) return true;
  return false;
}

gab_status gab_port_poll(gab_port *port, gab_rank source, gab_buffer *message, bool *there)
{
  *there = false;
  GAB_TRY(check_peer(port, source, message));
  if (is_awaited(port, source))
    GAB_FAIL(GAB_ERR_STATE,
             "port %s: a message from rank %" GAB_PRI_RANK " cannot be polled while a receive is under way",
             port->name, source);
  return gab_port_give_up(port, poll(port, source, message, there));
}

static gab_status progress_logged(gab_port *port, bool *done)
{
  bool pending;
  GAB_TRY(gab_port_give_up(port, gab_logged_serve(port)));
  GAB_TRY(gab_port_give_up(port, gab_logged_take(port, &pending)));
  if (done) *done = !pending;
  return GAB_OK;
}

gab_status gab_port_progress(gab_port *port, bool *done)
{
  if (done) *done = false;
  if (!port->world) GAB_FAIL(GAB_ERR_STATE, "port %s: its world is gone", port->name);
  GAB_TRY(gab_world_check(port->world));
  if (uses_logger(port)) return progress_logged(port, done);
  bool pending, finished = false;
  GAB_TRY(gab_port_give_up(port, gab_traffic_check(port, &pending)));
  /* A first chunk that is being polled must not be completed elsewhere meanwhile. */
  if (!pending) GAB_TRY(gab_port_give_up(port, gab_traffic_test(port, &finished)));
  if (done) *done = finished && !pending;
  return GAB_OK;
}

static bool waits_for_itself(const gab_port *port)
{
  const gab_traffic *traffic = port->traffic;
  for (size_t i = 0; traffic && i < traffic->transfer_count; i++) {
    const gab_transfer *transfer = &traffic->transfers[i];
    if (!transfer->outgoing && !transfer->checked && transfer->peer == port->world->rank) return true;
  }
  return false;
}

/* Handles arrived messages; serves other ranks while some are pending. */
static gab_status test_pending(gab_port *port, bool *pending)
{
  if (!uses_logger(port)) return gab_traffic_check(port, pending);
  GAB_TRY(gab_logged_take(port, pending));
  return *pending ? gab_logged_serve(port) : GAB_OK;
}

gab_status gab_port_finish(gab_port *port)
{
  if (!port->world) GAB_FAIL(GAB_ERR_STATE, "port %s: its world is gone", port->name);
  GAB_TRY(gab_world_check(port->world));
  int looks = 0;
  for (;;) {
    bool pending;
    GAB_TRY(gab_port_give_up(port, test_pending(port, &pending)));
    if (!pending) break;
    if (waits_for_itself(port)) {
      gab_port_abandon(port);
      GAB_FAIL(GAB_ERR_STATE, "port %s: nothing was sent for a receive from oneself", port->name);
    }
    gab_world_pause(port->world, &looks);
  }
  return gab_port_give_up(port, gab_traffic_wait(port));
}
