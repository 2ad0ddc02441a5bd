/* SPDX-License-Identifier: Apache-2.0 */
/** @file collective.h
 *  @brief Operations over all live ranks, built on ports.
 *
 *  Trees over the dense indices of the members. Results do not depend on the number of processes: integers and extremes are
 *  independent of the order, sums of doubles use exact accumulators. All are collective over live processes, return
 *  ::GAB_ERR_FAULT if the communicator is revoked, and enter ::GAB_FAULT_POINT_REDUCTION.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_CORE_COLLECTIVE_H
#define GABION_CORE_COLLECTIVE_H

#include "core/base/exact_sum.h"
#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

gab_status gab_world_barrier(gab_world *world);

/** In place, elementwise; everyone gets the result. */
gab_status gab_world_sum_u64(gab_world *world, uint64_t *values, size_t count);
gab_status gab_world_max_u64(gab_world *world, uint64_t *values, size_t count);
gab_status gab_world_min_u64(gab_world *world, uint64_t *values, size_t count);
gab_status gab_world_max_f64(gab_world *world, double *values, size_t count);
gab_status gab_world_min_f64(gab_world *world, double *values, size_t count);
/** Merges the accumulators of all; everyone gets the same sums. */
gab_status gab_world_sum_exact(gab_world *world, gab_exact_sum *sums, size_t count);

/** Combines `count` elements of `element_bytes` each by an associative, commutative function; in place. */
typedef void (*gab_combine_fn)(void *into, const void *from, size_t count);
gab_status gab_world_reduce(gab_world *world, void *values, size_t count, size_t element_bytes,
                            gab_combine_fn combine);

/** Reduces the outcome of a local operation: GAB_OK if all ranks pass GAB_OK; otherwise every rank gets the status and the
 *  message of the lowest rank that failed, elsewhere preceded by "rank N: ". A rank that passes ::GAB_ERR_FAULT does not
 *  take part, because its communicator is revoked: it gets ::GAB_ERR_FAULT back at once.
 *  @param[in] mine  own outcome; its message is that of gab_error_message() */
gab_status gab_world_reduce_status(gab_world *world, gab_status mine);

/** Exclusive prefix sum over the ranks in their order, mod 2^64: the first gets 0.
 *  @param[out] total  the sum over all; may be NULL */
GAB_EXTENDER gab_status gab_world_scan_u64(gab_world *world, uint64_t value, uint64_t *before,
                                           uint64_t *total);

/** Broadcasts the bytes of `root`. @param[in,out] bytes  plain buffer (no envelope); replaced on other ranks */
gab_status gab_world_broadcast(gab_world *world, gab_rank root, gab_buffer *bytes);

/** Receives the bytes that rank `from` gathered; valid during the call, at any alignment. */
typedef gab_status (*gab_visit_fn)(void *user, gab_rank from, gab_reader bytes);

/** Maximum bytes of a message of a gather between members of the tree. */
#define GAB_GATHER_PIECE_BYTES ((size_t)128 * 1024)
/** Longer strings are not sent up the tree: the root fetches them from their owners. */
#define GAB_GATHER_LONG_BYTES ((size_t)64 * 1024)

/** Sends one byte string of every rank to the root, up a binomial tree, and passes them to `visit` in rank order. For short
 * strings the root waits for log2(P) messages. Strings of more than #GAB_GATHER_LONG_BYTES are fetched from their owners
 * one after another; the root requests the next one while it receives the one before.
 *
 * Memory: the root holds one string at a time, and a buffer of #GAB_CHUNK_BYTES; every other process three such buffers at
 * most, and a copy of its own string if that is long. In addition MPI may buffer one piece of each child in the tree (at
 * most log2(P)), and on the root one string of at most #GAB_CHUNK_BYTES. The capacity of a long string, on the root and at
 * its owner, is kept for the next gather. Algorithm: gather.c.
 *
 * A process returns when its parent in the tree has received all that it sent, and the root its long string; other
 * processes may not have returned. After a death, processes that still wait return ::GAB_ERR_FAULT; others, including the
 * root if it has all strings, return ::GAB_OK and ::GAB_ERR_FAULT from their next call. A respawned process in its set-up
 * sends nothing and gets ::GAB_OK.
 * @param[in] mine plain buffer (no envelope); not changed
 * @param[in] visit called on the root only, with its own string first; a status other than GAB_OK does not stop other ranks
 *   from sending and is returned on the root. It must not communicate
 * @return ::GAB_ERR_CORRUPT if the received data is not one string of each rank; ::GAB_ERR_STATE under strategy `local`
 *   outside of a section */
gab_status gab_world_gather(gab_world *world, const gab_buffer *mine, gab_visit_fn visit, void *user);

/** Sends fixed-size items to ranks that do not expect them (crystal router: log2(P) rounds with known partners, no array of
 * length P). For small control data; use ports for bulk data when both sides know of it. @param[in] items  count items of
 * item_bytes each; targets[i] is the rank of item i @param[out] received  cleared, then for each item its source rank as
 * i32 and its bytes, sorted by source rank, in sending order within one source @param[out] received_count  number of items
 */
GAB_EXTENDER gab_status gab_world_route(gab_world *world, const void *items, const gab_rank *targets,
                                        size_t count, size_t item_bytes, gab_buffer *received,
                                        size_t *received_count);

#ifdef __cplusplus
}
#endif
#endif
