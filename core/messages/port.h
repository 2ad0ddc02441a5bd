/* SPDX-License-Identifier: Apache-2.0 */
/** @file port.h
 *  @brief Messages between ranks: ports, channels and envelopes.
 *
 *  A *channel* connects one rank to another in one direction in one context; a *port* is this process's end of all channels
 *  of one context. All point-to-point messages of the framework use ports. Every logical message starts with an envelope
 *  (source and target with incarnations, epoch, sequence number on the channel, step, pattern and iteration id, size). It
 *  may travel in chunks, below the message size at which Open MPI's TCP BTL fails. Receives name their source. A repair
 *  drops messages from and to older incarnations. An envelope with a wrong sequence number, epoch or incarnation is an
 *  error.
 *
 *  Life of a message:
 *  @code
 *    gab_message_begin(&out);  gab_put_u64(&out, 42);
 *    gab_port_receive(port, peer, &in, GAB_SIZE_UNKNOWN);
 *    gab_port_send(port, peer, &out);
 *    GAB_TRY(gab_port_finish(port));
 *    gab_reader reader = gab_message_reader(&in);
 *  @endcode
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_PORT_H
#define GABION_CORE_PORT_H

#include "core/base/buffer.h"
#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_port gab_port;

/** Head of each logical message; packed little-endian into #GAB_ENVELOPE_BYTES bytes. */
typedef struct gab_envelope {
  gab_epoch epoch;
  gab_rank source, target;
  gab_incarnation source_incarnation, target_incarnation;
  uint32_t context;   /**< of the port */
  uint32_t pattern;   /**< communication pattern, for any-source matching and logs; 0: the default one */
  uint64_t iteration; /**< iteration of that pattern */
  uint64_t sequence;  /**< number of this message on its channel since the last repair, from 0 */
  gab_step step;
  uint64_t bytes; /**< of the payload */
} gab_envelope;

#define GAB_ENVELOPE_BYTES 128
#define GAB_SIZE_UNKNOWN   SIZE_MAX
/** Largest piece passed to MPI at once. */
#define GAB_CHUNK_BYTES ((size_t)768 * 1024)

/** Empties a buffer and reserves space for the envelope; pack the payload after it. */
gab_status gab_message_begin(gab_buffer *message);
/** Payload bytes of a message that is being packed or was received. */
size_t gab_message_bytes(const gab_buffer *message);
/** The payload of a received message. */
gab_reader gab_message_reader(const gab_buffer *message);
/** The envelope of a received message. */
gab_status gab_message_envelope(const gab_buffer *message, gab_envelope *envelope);

/** Opens a port with a separate context. Collective over live processes, which must open the same ports in the same
 *  order; no communication.
 *  @param[in] name  for messages; copied */
gab_status gab_port_create(gab_world *world, const char *name, gab_port **port);
/** Drops messages in transit and closes the port. Local. Do not release buffers lent to the port
 *  before. */
void gab_port_destroy(gab_port **port);

/** Number of times that this process has dropped the messages of all ports and reset all channels: in repairs, and
 *  in rollbacks of strategy `local`. Operations started before are void. Local. */
uint64_t gab_world_port_resets(const gab_world *world);

/** Sets pattern and iteration id of messages sent from now on, instead of the active ones of the world (core/messages/pattern.h). */
void gab_port_set_pattern(gab_port *port, uint32_t pattern, uint64_t iteration);

/** Starts sending a message. @param[in] message  begun by gab_message_begin(); borrowed; do not access it until
 *  gab_port_finish(). A rank may send to itself. @return ::GAB_ERR_ARGUMENT or ::GAB_ERR_STATE for a refused call,
 *  which does not affect other messages. After any other error all messages are dropped, as after an error of
 *  gab_port_finish() */
gab_status gab_port_send(gab_port *port, gab_rank target, gab_buffer *message);
/** Starts sending a message that may be the only copy of its bytes. As gab_port_send(), but the buffer keeps its
 *  content also after a fault or another error. The caller must neither write nor release it until gab_port_finish()
 *  has succeeded, the world has been repaired, or the port has been destroyed. */
gab_status gab_port_send_kept(gab_port *port, gab_rank target, gab_buffer *message);
/** Starts receiving. @param[out] message  borrowed until gab_port_finish()
 *  @param[in] payload_bytes exact size, or GAB_SIZE_UNKNOWN; at most one receive of
 *  unknown size per sender, as the last one. gab_port_finish() reports another size;
 *  but Open MPI 5.0.7 writes a longer message past the end of the buffer if it
 *  arrives through shared memory, so use GAB_SIZE_UNKNOWN if the sizes might differ.
 *  @return as gab_port_send(); refused are buffers in use and ranks that do not take
 *  part */
gab_status gab_port_receive(gab_port *port, gab_rank source, gab_buffer *message, size_t payload_bytes);
/** Receives the next message of a channel if it has arrived. Waits only for the rest of a message whose first chunk
 *  has arrived. @param[out] message replaced if received, else empty; not lent @return as gab_port_finish();
 *  ::GAB_ERR_STATE during a gab_port_receive() from that rank */
gab_status gab_port_poll(gab_port *port, gab_rank source, gab_buffer *message, bool *there);
/** Advances transfers without blocking. @param[out] done all are finished,
 *  so gab_port_finish() will not block; may be NULL @return as
 *  gab_port_finish() */
gab_status gab_port_progress(gab_port *port, bool *done);
/** Waits until all sends and receives of this port are done. After a fault all messages of all ports are
 *  dropped and their buffers returned empty; the port keeps the content until the repair, since a peer may
 *  still read it. Buffers of gab_port_send_kept() do not change. @return ::GAB_ERR_FAULT then;
 *  ::GAB_ERR_CORRUPT or ::GAB_ERR_MPI for an unexpected message; ::GAB_ERR_STATE if a receive from this rank
 *  itself has no message */
gab_status gab_port_finish(gab_port *port);
/** Drops all messages of this port after an error outside of it (e.g. lack of memory), before lent buffers are
 *  released, as after an error of gab_port_finish(). A repair or the end must follow. Local. @param[in] status of
 *  the operation; ::GAB_OK: no effect @return `status` */
gab_status gab_port_give_up(gab_port *port, gab_status status);

#ifdef __cplusplus
}
#endif
#endif
