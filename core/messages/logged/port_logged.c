/* SPDX-License-Identifier: Apache-2.0 */
/** @file port_logged.c
 *  @brief Messages of logged ports with a message logger. */
#include "core/world/world_impl.h"

gab_status gab_logged_send(gab_port *port, gab_rank target, gab_buffer *message)
{
  const gab_message_logger *logger = port->world->logger;
  const gab_pattern_id id = gab_port_pattern(port);
  const gab_msglog_label label = {
      .step = port->world->step, .pattern = id.pattern, .iteration = id.iteration};
  if (port != port->world->tree)
    return logger->send(logger->user, target, port->log_context, &label, message);
  gab_buffer copy; /* a broadcast sends one message to several ranks */
  gab_buffer_init(&copy, GAB_MEMORY_MESSAGE);
  gab_status status = gab_put_bytes(&copy, message->data, message->size);
  if (status == GAB_OK) status = logger->send(logger->user, target, port->log_context, &label, &copy);
  gab_buffer_release(&copy);
  return status;
}

/* The message logger has checked sequence numbers and incarnations. */
static gab_status verify(const gab_port *port, gab_transfer *transfer)
{
  gab_envelope is;
  GAB_TRY(gab_message_envelope(transfer->message, &is));
  const size_t total = (size_t)is.bytes + GAB_ENVELOPE_BYTES;
  if (is.source != transfer->peer || is.target != port->world->rank || is.context != port->context ||
      total != transfer->message->size || (transfer->total != GAB_SIZE_UNKNOWN && transfer->total != total))
    GAB_FAIL(
        GAB_ERR_CORRUPT,
        "port %s: a message of %zu bytes from rank %" GAB_PRI_RANK " to rank %" GAB_PRI_RANK
        " in context %" PRIu32 " came where one from rank %" GAB_PRI_RANK " in context %" PRIu32 " was due",
        port->name, transfer->message->size, is.source, is.target, is.context, transfer->peer, port->context);
  transfer->checked = true;
  return GAB_OK;
}

/* A message received by name belongs to the present step; only polled ones may be early (core/messages/mailbox.h). */
static gab_status verify_step(const gab_port *port, const gab_transfer *transfer)
{
  gab_envelope is;
  if (transfer->peer == port->world->rank) return GAB_OK;
  GAB_TRY(gab_message_envelope(transfer->message, &is));
  if (is.step != port->world->step)
    GAB_FAIL(
        GAB_ERR_CORRUPT,
        "port %s: a message that rank %" GAB_PRI_RANK " sent in step %" GAB_PRI_STEP
        " came to rank %" GAB_PRI_RANK " in step %" GAB_PRI_STEP
        ". With strategy `local' a rank that goes back has to send and receive what it did before; what is made "
        "from the state by messages is rebuilt behind each checkpoint (gab_timeloop_on_checkpoint())",
        port->name, is.source, is.step, is.target, port->world->step);
  return GAB_OK;
}

static gab_status look_for(gab_port *port, gab_transfer *transfer, bool *there)
{
  const gab_message_logger *logger = port->world->logger;
  if (transfer->peer == port->world->rank) {
    GAB_TRY(gab_port_take_own(port, transfer, there));
    transfer->checked = *there;
    return GAB_OK;
  }
  GAB_TRY(logger->receive(logger->user, transfer->peer, port->log_context, transfer->message, there));
  return *there ? verify(port, transfer) : GAB_OK;
}

gab_status gab_logged_poll(gab_port *port, gab_transfer *transfer, bool *there)
{
  const gab_message_logger *logger = port->world->logger;
  *there = false;
  if (logger->reaches && !logger->reaches(logger->user, transfer->peer)) return GAB_OK;
  return look_for(port, transfer, there);
}

/* No message arrives in between, so of two messages from one sender the first is found first. */
gab_status gab_logged_take(gab_port *port, bool *pending)
{
  *pending = false;
  for (size_t i = 0; port->traffic && i < port->traffic->transfer_count; i++) {
    gab_transfer *transfer = &port->traffic->transfers[i];
    bool there;
    if (transfer->checked) continue;
    GAB_TRY(look_for(port, transfer, &there));
    if (there) GAB_TRY(verify_step(port, transfer));
    else *pending = true;
  }
  return GAB_OK;
}

gab_status gab_logged_serve(gab_port *port)
{
  const gab_message_logger *logger = port->world->logger;
  GAB_TRY(gab_world_check(port->world));
  return logger->serve(logger->user);
}
