/* SPDX-License-Identifier: Apache-2.0 */
/** @file failures.h
 *  @brief Assumed failures (not injected ones) for models of a run: process and step of each failure.
 *
 *  A list is random, from a rate or a mean time between failures, or given. Random ones come from a counter-based
 *  generator: the same seed gives the same list, on any number of threads. Local, no MPI.
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_FAILURES_H
#define GABION_RESILIENCE_FAILURES_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_process_failure {
  gab_step step; /**< from 1: the step that it does not complete at first */
  int32_t process;
} gab_process_failure;

/** Zero-initialise ({0}); release with gab_failures_release(). */
typedef struct gab_failures {
  gab_process_failure *at; /**< owned */
  size_t count;
} gab_failures;

void gab_failures_release(gab_failures *failures);
/** Appends one. Lists that were added to are to be put in order before they are used. */
gab_status gab_failures_add(gab_failures *failures, gab_step step, int32_t process);
/** By step, then by process; a process fails once in a step, however often it is listed. */
void gab_failures_put_in_order(gab_failures *failures);
/** Whether all are in that order, in steps 1 … steps, of processes 0 … processes - 1. */
bool gab_failures_are_valid(const gab_failures *failures, gab_step steps, int32_t processes);

/** Range of random failures. */
typedef struct gab_failure_draw {
  gab_step steps;
  int32_t processes;
  int32_t group; /**< processes g group … (g + 1) group - 1 fail together, as those of a node do; 0 or 1: each
                    by itself */
  uint64_t seed;
} gab_failure_draw;

/** In every step each group fails with the same probability. Appends, in order.
 *  @param[in] probability  per group and step, 0 … 1
 *  @return ::GAB_ERR_ARGUMENT for an impossible draw, or one of more than 2^30 expected failures */
gab_status gab_failures_draw_rate(const gab_failure_draw *draw, double probability, gab_failures *failures);

/** Times between failures are exponentially distributed; each affects a random group. Appends, in order.
 *  @param[in] mtbf  mean time between two failures of the whole run, s
 *  @param[in] step_seconds  duration of a step without failures, s: failures occur at times of an undisturbed run
 *  @return as gab_failures_draw_rate() */
gab_status gab_failures_draw_mtbf(const gab_failure_draw *draw, double mtbf, double step_seconds,
                                  gab_failures *failures);

/** Mean time between failures of the whole of `count` parts that fail independently: mtbf_of_one / count
 *  (Herault and Robert 2015; Kohl et al. 2017, eq. 1). In the unit of `mtbf_of_one`. */
double gab_mtbf_of_all(double mtbf_of_one, double count);

#ifdef __cplusplus
}
#endif
#endif
