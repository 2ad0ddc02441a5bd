/* SPDX-License-Identifier: Apache-2.0 */
/** @file collective.h
 *  @brief Operations over all living ranks, built on ports.
 *
 *  Trees over the dense indices of the members, so that a result never depends on how many processes there
 *  are: integers and extremes are order-free by nature, sums of doubles go through exact accumulators. All are
 *  collective over the living, return ::GAB_ERR_FAULT in a broken world, and announce ::GAB_FAULT_POINT_REDUCTION.
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

/** Everyone gets the bytes of `root`. @param[in,out] bytes  plain buffer (no envelope); replaced elsewhere */
gab_status gab_world_broadcast(gab_world *world, gab_rank root, gab_buffer *bytes);

/** Takes the bytes that rank `from` gathered; they are valid during the call, at any address. */
typedef gab_status (*gab_visit_fn)(void *user, gab_rank from, gab_reader bytes);

/** Most bytes of a gather that travel up the tree in one message. */
#define GAB_GATHER_PIECE_BYTES ((size_t)128 * 1024)
/** A string of more bytes does not go up the tree: the root fetches it from its owner. */
#define GAB_GATHER_LONG_BYTES ((size_t)64 * 1024)

/** Brings one byte string of every rank to the root, up a binomial tree, and shows them there one after another in
 *  rank order. For short strings the root waits for log2(P) messages. Those of more than #GAB_GATHER_LONG_BYTES the root
 *  fetches from their owners one after another, and calls for the next one while it receives the one before.
 *
 *  Memory: the root holds one string at a time, and a buffer of #GAB_CHUNK_BYTES; every other process three such
 *  buffers at most, and a copy of its own string if that is long. Beside that one piece of each child in the
 *  tree, of which a process has log2(P) at most, may wait in the memory of MPI, and on the root one string of
 *  #GAB_CHUNK_BYTES at most. The capacity of a long string, on the root and at its owner, stays for the next gather. How
 *  that is kept: gather.c.
 *
 *  A process returns when its parent in the tree has received all that it sent, and the root its long string; that says
 *  nothing of other processes. A death in it is told to those who still wait for something, by ::GAB_ERR_FAULT; others, the root
 *  too if it has all strings, return ::GAB_OK and hear of it in their next call. A respawned process in its set-up sends nothing and
 *  gets ::GAB_OK.
 *  @param[in] mine  plain buffer (no envelope); not touched
 *  @param[in] visit  called on the root only, its own first in order; a status other than GAB_OK does not stop the
 *  others from sending and is returned on the root. It must not communicate
 *  @return ::GAB_ERR_CORRUPT if what came is not one string of each; ::GAB_ERR_STATE where strategy `local` is in force and
 *  no section is open */
gab_status gab_world_gather(gab_world *world, const gab_buffer *mine, gab_visit_fn visit, void *user);

/** Sends fixed-size items to ranks that do not know of it (crystal router: log2(P) rounds with known partners,
 *  no array of length P). For small control data; bulk goes through ports once both sides know.
 *  @param[in] items  count items of item_bytes each; targets[i] is the rank of item i
 *  @param[out] received  cleared, then for each item its source rank as i32 and its bytes, sorted by source
 *  rank, in sending order within one source
 *  @param[out] received_count  number of items */
GAB_EXTENDER gab_status gab_world_route(gab_world *world, const void *items, const gab_rank *targets,
                                        size_t count, size_t item_bytes, gab_buffer *received,
                                        size_t *received_count);

#ifdef __cplusplus
}
#endif
#endif
