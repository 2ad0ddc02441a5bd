/* SPDX-License-Identifier: Apache-2.0 */
/** @file types.h
 *  @brief Index types of the whole framework, each with its print macro.
 *
 *  Stability: stable.
 */
#ifndef GABION_CORE_TYPES_H
#define GABION_CORE_TYPES_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A logical process, the owner of blocks. Its number never changes in a run and is never reused; the process that runs it,
 * and its rank in MPI communicators, may change. GAB_NO_RANK: none. */
typedef int32_t gab_rank;
#define GAB_PRI_RANK PRId32
#define GAB_NO_RANK  ((gab_rank)-1)

/** An MPI process of the run, with a unique number: first the initial ones, in the order of MPI_COMM_WORLD, then those
 * started later. A process runs a rank, or waits to do so. */
typedef int32_t gab_process;
#define GAB_PRI_PROCESS PRId32
#define GAB_NO_PROCESS  ((gab_process)-1)

/** Number of times that a rank was returned by another process; 0 for its first process. */
typedef uint32_t gab_incarnation;

/** A time step; -1 before the first. */
typedef int64_t gab_step;
#define GAB_PRI_STEP PRId64

/** Number of repairs of the world; increases with each. */
typedef uint64_t gab_epoch;
#define GAB_PRI_EPOCH PRIu64

/** A block of the forest, see blockforest/forest/block_id.h. 0 is not a block. */
typedef uint64_t gab_block_id;
#define GAB_PRI_BLOCK "0x%" PRIx64
#define GAB_NO_BLOCK  ((gab_block_id)0)

/** A half-open box of cells [lo, hi) in x, y, z, in cell indices of one refinement level. */
typedef struct gab_box {
  int64_t lo[3], hi[3];
} gab_box;

/* Compiler attributes: printf-like functions; loops that would share the registers of their caller if they were inlined. */
#if defined(__GNUC__)
#define GAB_NOINLINE                             __attribute__((noinline))
#define GAB_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define GAB_NOINLINE
#define GAB_PRINTF(format_index, first_argument)
#endif

/* Marks declarations that differ from the level in the head of their header ("Stability:"). Definition of the levels:
 * CONTRIBUTING.md. List of stable functions: doc/stable-api.txt. */
#define GAB_STABLE
#define GAB_EXTENDER

#ifdef __cplusplus
}
#endif
#endif
