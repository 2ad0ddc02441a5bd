/* SPDX-License-Identifier: Apache-2.0 */
/** @file fault_injection.h
 *  @brief Fault injections: real deaths, by SIGKILL, of chosen ranks at a chosen step and fault point; or they are stopped
 *  (SIGSTOP) for a time, or a bit of their state flips.
 *
 *  Part of the product, not of its tests: a user who wants to know whether a case survives says so in the
 *  parameter file or with `--inject`, and the run records what it did to itself in events.jsonl.
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

/** Which ranks die, and when. Ranks of one fault injection are lost together, in one recovery: one that is still on
 *  its way when another one has died notices that, takes part in repairing the communicators, and dies before anything is restored. */
typedef struct gab_fault_injection {
  gab_step step; /**< at this step or, if the fault point does not occur in it, the next time it does */
  gab_fault_point point; /**< on coming to it */
  gab_incarnation
      incarnation; /**< of the ranks that die: 0 the processes they started with, 1 the first that took over */
  bool once;   /**< in one attempt of gabion-launch only; else in each, as far as that comes to the step */
  int attempt; /**< which, if `once`: 0 the first, 1 what it starts when that has ended or hung, and so on */
  int visit;   /**< number of the visit of the fault point, counted from that step; 1: the first */
  int rank_count; /**< ranks that die; if 0: `random` ones */
  gab_rank ranks[GAB_INJECTION_RANKS];
  int random;    /**< number of ranks drawn at random, the same ones on all processes */
  uint64_t seed; /**< of the drawing */
  double
      stopped; /**< seconds for which the ranks are stopped instead of killed, after which they wake up; 0: killed */
  bool flips;   /**< they live on, with another value of a bit of the state of their blocks: */
  uint64_t bit; /**< that of this number, modulo the number of bits (blockforest/migration/flip.h) */
} gab_fault_injection;

/** Reads "rank=2,step=500,phase=exchange,visit=1"; several ranks as rank=2+5; incarnation=1 means who took over,
 *  attempt=1 only in the job that the launcher starts behind the first; "random=2,seed=7" draws; stopped=4.5 stops them for so
 *  many seconds, flip=12345 flips that bit of what their blocks hold.
 *  @return ::GAB_ERR_INPUT that says what is wrong and shows the form */
gab_status gab_fault_injection_parse(const char *text, gab_fault_injection *injection);

typedef struct gab_fault_injector gab_fault_injector;

#ifdef __cplusplus
}
#endif
#endif
