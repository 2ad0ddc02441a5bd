/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.h
 *  @brief Aligned allocation with counters.
 *
 *  All large allocations use it, so that a run can report its present and maximum memory by purpose; tests check Kohl et al.
 *  2017, eq. 2, against these counters.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_CORE_MEMORY_H
#define GABION_CORE_MEMORY_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Purpose of an allocation. */
typedef enum gab_memory_use {
  GAB_MEMORY_OTHER = 0,
  GAB_MEMORY_FIELD,    /**< the state of the simulation */
  GAB_MEMORY_SNAPSHOT, /**< images of checkpoints */
  GAB_MEMORY_MESSAGE,  /**< send and receive buffers */
  GAB_MEMORY_USE_COUNT
} gab_memory_use;

#define GAB_ALIGNMENT 64 /**< bytes; a cache line and an AVX-512 register */

/** Allocates `bytes` (0 allowed) aligned to #GAB_ALIGNMENT, zeroed. Thread safe.
 *  @param[out] memory  owned by the caller, released by gab_free(); NULL on failure
 *  @return ::GAB_ERR_MEMORY with the size in the message */
gab_status gab_alloc(size_t bytes, gab_memory_use use, void **memory);

/** gab_alloc() of one object, or of an array of `count` (0 allowed), with the size of the type of `*pointer`. Sets the
 * pointer bytewise: C does not allow to write a `T *` through a `void **`. Example: `double *sums;
 * GAB_TRY(GAB_NEW_ARRAY(&sums, n, GAB_MEMORY_OTHER));` @param[out] pointer  address of a typed pointer, which is NULL on
 * failure; evaluated once @return ::GAB_ERR_MEMORY also if `count` elements have more bytes than a size_t can hold */
#define GAB_NEW(pointer, use)              GAB_NEW_ARRAY(pointer, 1, use)
#define GAB_NEW_ARRAY(pointer, count, use) gab_alloc_elements((count), sizeof **(pointer), (use), (pointer))
gab_status gab_alloc_elements(size_t count, size_t bytes_each, gab_memory_use use, void *pointer);

/** Grows or shrinks, keeping the first min(old, new) bytes; new bytes are not zeroed; *memory may be NULL. Blocks of at
 * least 32 MiB before and after are resized by the system, which moves the pages of separate mappings (nearly all of this
 * size) and allocates only the difference; other blocks exist twice temporarily. On failure *memory is unchanged. */
gab_status gab_realloc(size_t bytes, gab_memory_use use, void **memory);

/** gab_realloc() of an array to `count` elements, for a typed pointer, like GAB_NEW_ARRAY(). */
#define GAB_RESIZE_ARRAY(pointer, count, use)                                                                \
  gab_realloc_elements((count), sizeof **(pointer), (use), (pointer))
gab_status gab_realloc_elements(size_t count, size_t bytes_each, gab_memory_use use, void *pointer);

/** The same if the content will be overwritten: the bytes are undefined. The old block is released first; blocks of at
 * least 32 MiB before and after are resized by the system, as above. On failure *memory may be NULL. */
GAB_EXTENDER gab_status gab_realloc_unset(size_t bytes, gab_memory_use use, void **memory);

/** Reserves capacity for one more item in a list that doubles: grows it if `count` is a power of two, or 0. So the list
 * must grow by single items from empty; items may be removed in between. @param[in,out] list  address of the pointer to the
 * first item, of any object type @param[in] count  number of items */
GAB_EXTENDER gab_status gab_list_reserve(void *list, size_t count, size_t bytes_each);

/** Releases and sets *memory to NULL; NULL is allowed. */
void gab_free(void *memory_pointer);

/** While on, released fields keep their memory for new ones instead of returning it to the system: for phases in which many
 * fields are replaced. Ends when turned off as often as on. Thread safe. */
GAB_EXTENDER void gab_memory_hold(bool on);

/** Present / maximum bytes of this process for one use; GAB_MEMORY_USE_COUNT: the total. */
size_t gab_memory_now(gab_memory_use use);
size_t gab_memory_peak(gab_memory_use use);
/** Sets all maxima to the present values. */
GAB_EXTENDER void gab_memory_reset_peak(void);

#ifdef __cplusplus
}
#endif
#endif
