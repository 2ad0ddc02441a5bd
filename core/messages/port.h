/* SPDX-License-Identifier: Apache-2.0 */
/** @file port.h
 *  @brief Messages between ranks: ports, channels and envelopes.
 *
 *  A *channel* leads from one rank to another in one context; a *port* is this process's end of all channels of one
 *  context. All point-to-point messages of the framework use ports. Every logical message starts with an envelope (source and
 *  target with incarnations, epoch, sequence number on the channel, step, pattern and iteration id, size). It may travel in
 *  chunks, below the message size at which Open MPI's TCP BTL fails. Receives name their source. A repair drops messages
 *  from and to older incarnations. An envelope with a wrong sequence number, epoch or incarnation is an error.
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

/** What stands before every logical message; packed little-endian into #GAB_ENVELOPE_BYTES bytes. */
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
/** Largest piece that is given to MPI at once. */
#define GAB_CHUNK_BYTES ((size_t)768 * 1024)

/** Empties a buffer and reserves the capacity of the envelope; then pack the payload behind it. */
gab_status gab_message_begin(gab_buffer *message);
/** Payload bytes of a message that is being packed or was received. */
size_t gab_message_bytes(const gab_buffer *message);
/** The payload of a received message. */
gab_reader gab_message_reader(const gab_buffer *message);
/** The envelope of a received message. */
gab_status gab_message_envelope(const gab_buffer *message, gab_envelope *envelope);

/** Opens a port with a context of its own. Collective over the living in the sense that all have to open the
 *  same ports in the same order; no communication.
 *  @param[in] name  for messages; copied */
gab_status gab_port_create(gab_world *world, const char *name, gab_port **port);
/** Drops what is still under way, then closes. Local. Buffers that are still lent to the port must not have
 *  been released before. */
void gab_port_destroy(gab_port **port);

/** How often this process has dropped what was under way in all ports and begun all channels anew: in repairs, and where it goes back
 *  without one (strategy `local`). What was begun before that is over. Local. */
uint64_t gab_world_port_resets(const gab_world *world);

/** Pattern and iteration id of the messages sent from now on, instead of what is active in the world (core/messages/pattern.h). */
void gab_port_set_pattern(gab_port *port, uint32_t pattern, uint64_t iteration);

/** Starts sending a message. @param[in] message  begun by gab_message_begin(); borrowed and not to be touched
 *  until gab_port_finish(). A rank may send to itself.
 *  @return ::GAB_ERR_ARGUMENT or ::GAB_ERR_STATE for a call that is refused: what is under way stays so.
 * After any other failure everything is dropped, as after one of gab_port_finish() */
gab_status gab_port_send(gab_port *port, gab_rank target, gab_buffer *message);
/** Starts sending a message that may be the only copy of its bytes. As gab_port_send(), except that the port never takes the
 *  buffer from the caller: after a fault, or after another failure, it holds what it held before. The caller neither writes
 *  nor releases it until gab_port_finish() has succeeded, the world has been repaired, or the port has been destroyed. */
gab_status gab_port_send_kept(gab_port *port, gab_rank target, gab_buffer *message);
/** Starts receiving. @param[out] message  borrowed until gab_port_finish()
 *  @param[in] payload_bytes  exactly what will come, or GAB_SIZE_UNKNOWN; of unknown ones at most one per
 *  sender may be under way, and nothing else from that sender behind it. If something else comes,
 *  gab_port_finish() tells; but Open MPI 5.0.7 writes a longer message past the end of the buffer when it
 *  comes through shared memory, so where the two sides might differ, use GAB_SIZE_UNKNOWN.
 *  @return as gab_port_send(); refused are buffers that serve another message and ranks that do not take part
 */
gab_status gab_port_receive(gab_port *port, gab_rank source, gab_buffer *message, size_t payload_bytes);
/** Receives the next message of a channel if it is there. Does not wait, but for the rest of a message that has begun to
 *  come. @param[out] message  replaced if so, else empty; not lent
 *  @return as gab_port_finish(); ::GAB_ERR_STATE while a gab_port_receive() from that rank is under way */
gab_status gab_port_poll(gab_port *port, gab_rank source, gab_buffer *message, bool *there);
/** Helps what is under way along without blocking. @param[out] done  all is finished (then finish will not
 *  block); may be NULL
 *  @return as gab_port_finish() */
gab_status gab_port_progress(gab_port *port, bool *done);
/** Waits until all sends and receives of this port are done. In a world that breaks meanwhile all messages of
 *  all ports are dropped and their buffers handed back empty: a peer that does not know of the fault yet may
 *  still be reading the old content, so the port keeps that until the repair. Buffers of gab_port_send_kept() stay as they are.
 *  @return ::GAB_ERR_FAULT then; ::GAB_ERR_CORRUPT or ::GAB_ERR_MPI if something else came than was due;
 *  ::GAB_ERR_STATE if a receive from oneself has no message */
gab_status gab_port_finish(gab_port *port);
/** Where something other than this port failed (no memory for the next message, say) and buffers that are lent are about to be
 *  released: after a failure everything that is under way in this port is dropped, as after one of gab_port_finish(), and what comes
 *  after it is a repair or the end. Local. @param[in] status  of what was done; ::GAB_OK: nothing happens @return `status` */
gab_status gab_port_give_up(gab_port *port, gab_status status);

#ifdef __cplusplus
}
#endif
#endif
