/* SPDX-License-Identifier: Apache-2.0 */
/** @file interval.h
 *  @brief Checkpoint intervals: in steps, in seconds, or by cost and failure rate.
 *
 *  The root converts times to steps once per checkpoint and sends them to all together with it. So the decision is free
 *  in other steps and equal on all ranks (contract 8).
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_RESILIENCE_INTERVAL_H
#define GABION_RESILIENCE_INTERVAL_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gab_interval_mode {
  GAB_INTERVAL_STEPS = 0, /**< every `steps` steps */
  GAB_INTERVAL_SECONDS,   /**< about every `seconds` seconds */
  GAB_INTERVAL_AUTO       /**< by the measured cost of a checkpoint and the mtbf: gab_interval_daly() */
} gab_interval_mode;

typedef struct gab_interval {
  gab_interval_mode mode;
  gab_step steps; /**< 0 in mode STEPS: never after the first */
  double seconds;
  double mtbf; /**< mean time between failures of the whole run in seconds, for AUTO */
} gab_interval;

/** Reads "100" or "100 steps", "30 s", "10 min", "1 h", "auto" (which needs the mtbf), "never".
 *  @return ::GAB_ERR_INPUT with the error */
gab_status gab_interval_parse(const char *text, double mtbf, gab_interval *interval);

/** Estimate of the mtbf after some time. The given value counts like one failure in that time, so observations outweigh
 *  it: (mtbf + seconds) / (1 + failures), the mean of the rate's gamma distribution. */
GAB_EXTENDER double gab_interval_observed_mtbf(double mtbf, double seconds, int failures);

/** The first-order optimum of Young: sqrt(2 mtbf cost), all in seconds. */
double gab_interval_young(double mtbf, double cost);

/** The higher-order optimum of Daly (2006, eq. 37): computing time between two checkpoints,
 *  sqrt(2 c M) (1 + sqrt(c / (2 M)) / 3 + c / (18 M)) - c for a cost c < 2 M, else M. All in seconds. */
double gab_interval_daly(double mtbf, double cost);

/** Returns the cost of checkpoints every `interval` seconds plus, to first order, the loss by failures, as a share
 * of the computing time: cost / interval + interval / (2 mtbf). @param[in] mtbf <= 0: unknown, no loss */
GAB_EXTENDER double gab_interval_overhead(double interval, double mtbf, double cost);

/** Returns the computing time between two checkpoints in modes SECONDS and AUTO, in seconds. */
GAB_EXTENDER double gab_interval_seconds(const gab_interval *interval, double cost);

#ifdef __cplusplus
}
#endif
#endif
