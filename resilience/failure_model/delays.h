/* SPDX-License-Identifier: Apache-2.0 */
/** @file delays.h
 *  @brief Propagation of the delay of a failed process: a model of runs with local and with global recovery.
 *
 *  Gamell et al. 2015, section 4: process j completes step i at
 *
 *      T(i,j) = max over the neighbours k of T(i-1,k) + t1 (t2 if j fails in step i) + r,    T(0,j) = 0,
 *
 *  with r uniform in (0, noise): GAB_DELAYS_PRINTED. The maximum omits T(i-1,j), so a process forgets its own delay unless a
 *  neighbour returns it one step later, and delays reach every second process only. GAB_DELAYS_CAUSAL includes it: a process
 *  begins a step when its neighbours and itself have ended the one before.
 *
 *  With local recovery only the failed process is delayed by t2 - t1; the others wait if the delay reaches them. With global
 *  recovery all are delayed, once in each step with a failure; as in the paper they do not wait for all then. Without noise,
 *  in the causal form, the delay of the latest process with local recovery is t2 - t1 times the length of the longest chain
 *  of failures, each of which the delay of the one before can have reached.
 *
 *  One process simulates all: 24 bytes per modelled process, without ghosts. Local, no MPI; OpenMP threads share a step, and
 *  the result does not depend on their number.
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_DELAYS_H
#define GABION_RESILIENCE_DELAYS_H

#include "resilience/failure_model/failures.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Dependencies of processes, as compressed rows: process j waits for neighbour[first[j]] … neighbour[first[j + 1] -
 *  1]. Borrowed. */
typedef struct gab_process_graph {
  int32_t count;
  const int64_t *first;     /**< count + 1 of them */
  const int32_t *neighbour; /**< first[count] of them */
} gab_process_graph;

/** A box of processes, process x + extent[0] (y + extent[1] z) at (x, y, z); or any graph. */
typedef struct gab_neighbourhood {
  const gab_process_graph *graph; /**< not NULL: used instead of the following members */
  int dimension;                  /**< 1 … 3 */
  int32_t extent[3];              /**< of the first `dimension` axes */
  bool periodic[3];
  int neighbours; /**< of an inner process: 2 in 1D; 4, 8 in 2D; 6, 18, 26 in 3D */
} gab_neighbourhood;

typedef enum gab_delays_form { GAB_DELAYS_CAUSAL = 0, GAB_DELAYS_PRINTED } gab_delays_form;

/** Effect of failures of processes. */
typedef enum gab_delays_recovery {
  GAB_DELAYS_UNDISTURBED = 0, /**< nothing: failures are passed over */
  GAB_DELAYS_LOCAL,           /**< the failed process alone pays */
  GAB_DELAYS_GLOBAL           /**< all pay, once per step with failures */
} gab_delays_recovery;

/** Times in any one unit, s for instance. */
typedef struct gab_delay_model {
  gab_neighbourhood neighbourhood;
  gab_delays_form form;
  gab_step steps;
  double step_time;          /**< t1 */
  double failed_step_time;   /**< t2 >= t1: of a step with a failure, recovery included */
  double noise;              /**< upper end of r; 0: none */
  int32_t ghost_depth;       /**< layers of ghost cells: neighbours wait for each other in every N-th step
                              only; 0: 1 */
  gab_step reduce_every;     /**< interval of steps after which all wait for all; 0: never */
  gab_step checkpoint_every; /**< 0: never after that of the start */
  double checkpoint_time;    /**< added to each step that ends with one */
  double rework; /**< a failed process computes the whole steps since the last checkpoint again, in so much of
                    t1 each; 0: t2 has it all */
  int64_t spares; /**< failures beyond these are recovered from globally; negative: as many spares as are
                     needed */
  uint64_t seed;  /**< of the noise, which does not depend on failures and recovery */
} gab_delay_model;

/** When processes have ended the last step. */
typedef struct gab_delay_result {
  double least, mean, most;
  size_t failures; /**< of processes */
  size_t global;   /**< steps in which all paid */
} gab_delay_result;

/** Sees the times T(step, j) of all processes j at the end of a step; the first time with step 0. */
typedef void (*gab_delay_observer)(void *user, gab_step step, const double *times);

/** Number of processes of a neighbourhood. */
int32_t gab_neighbourhood_processes(const gab_neighbourhood *neighbourhood);

/** Simulates a run. @param[in] failures  in order (gab_failures_put_in_order()); may be NULL
 *  @param[in] observe  may be NULL @param[out] result
 *  @return ::GAB_ERR_ARGUMENT with the invalid value of the model or the failures, ::GAB_ERR_MEMORY */
gab_status gab_delays_run(const gab_delay_model *model, const gab_failures *failures,
                          gab_delays_recovery recovery, gab_delay_observer observe, void *user,
                          gab_delay_result *result);

/** Reach of the delay of one process: it fails in step 1, without other failures or noise.
 *  @param[in] model  only neighbourhood, form and ghost depth are used @param[in] process  that fails
 *  @param[out] share  `steps` + 1 of them: share[n] of all processes are late n steps after the failed one */
gab_status gab_delays_reach(const gab_delay_model *model, int32_t process, gab_step steps, double *share);

#ifdef __cplusplus
}
#endif
#endif
