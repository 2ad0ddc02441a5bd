/* SPDX-License-Identifier: Apache-2.0 */
/** @file fault_injection.h
 *  @brief Fault injections at a chosen step and fault point: chosen ranks are killed by SIGKILL, stopped by SIGSTOP for
 *  a time, or a bit of their state flips.
 *
 *  Part of the product, not only of its tests: users inject faults by the parameter file or `--inject`, and the run
 *  records them in events.jsonl.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_FAULT_INJECTION_H
#define GABION_RESILIENCE_FAULT_INJECTION_H

#include "blockforest/forest/forest.h"
#include "core/world/fault_point.h"
#include "resilience/reports/events.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_INJECTION_RANKS = 64 };

/** A fault injection. Its ranks are lost together, in one recovery: a rank that has not reached the fault point when
 * another one dies takes part in the repair of the communicators and dies before the restore. */
typedef struct gab_fault_injection {
  gab_step step;         /**< fires at this step, or at the next occurrence of the fault point */
  gab_fault_point point; /**< fires on entry */
  gab_incarnation
      incarnation; /**< of the ranks: 0 the processes of the start, 1 the first replacement processes */
  bool once;   /**< fires in one attempt of gabion-launch only; else in each attempt that reaches the step */
  int attempt; /**< attempt for `once`: 0 the first, 1 the first restart, and so on */
  int visit;   /**< number of the visit of the fault point, counted from that step; 1: the first */
  int rank_count; /**< number of ranks; 0: use `random` */
  gab_rank ranks[GAB_INJECTION_RANKS];
  int random;    /**< number of random ranks, the same on all processes */
  uint64_t seed; /**< of the random ranks */
  double
      stopped; /**< seconds for which the ranks are stopped instead of killed, after which they continue; 0: killed */
  bool flips;   /**< flips a bit in the state of their blocks: */
  uint64_t bit; /**< its number, modulo the number of bits (blockforest/migration/flip.h) */
} gab_fault_injection;

/** Parses "rank=2,step=500,phase=exchange,visit=1". Several ranks: rank=2+5; replacement processes:
 * incarnation=1; only in the first restart by the launcher: attempt=1; random ranks: random=2,seed=7; stopped for
 * 4.5 s: stopped=4.5; a flipped bit of the blocks: flip=12345. @return ::GAB_ERR_INPUT with the error and the
 * form */
gab_status gab_fault_injection_parse(const char *text, gab_fault_injection *injection);

typedef struct gab_fault_injector gab_fault_injector;

#ifdef __cplusplus
}
#endif
#endif
