/* SPDX-License-Identifier: Apache-2.0 */
/** @file resilience_config.h
 *  @brief The sections `resilience` and `faults` of parameter files.
 *
 *  Stability: extender; stable where marked.
 */
#ifndef GABION_RESILIENCE_RESILIENCE_CONFIG_H
#define GABION_RESILIENCE_RESILIENCE_CONFIG_H

#include "core/config/config.h"
#include "resilience/loop/monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Declares the sections. */
GAB_STABLE gab_status gab_resilience_declare(gab_config *config);

/** Checks what only a run would find out: names of schemes, strategies and monitors, intervals, fault injections.
 * Local.
 *  @param[in] monitors  those that the program has: as in gab_resilience_context
 *  @return ::GAB_ERR_INPUT with the place in the file */
GAB_STABLE gab_status gab_resilience_check(const gab_config *config, gab_monitor_list monitors);

/** Checks what depends on the number of ranks, and spares: those that fault injections name, and a file of failure
 *  domains. Local; reads that file. @param[in] inject  further fault injections, see gab_resilience_context @return ::GAB_ERR_INPUT with the place
 *  in the file */
gab_status gab_resilience_check_ranks(const gab_config *config, const char *const *inject,
                                      size_t inject_count, int32_t ranks, int32_t spares);
/** The same before that number is known: refuses what can be right for no number up to `most`; a fault injection that kills nobody
 *  then is a warning in the log. Local. */
gab_status gab_resilience_check_any_ranks(const gab_config *config, const char *const *inject,
                                          size_t inject_count, int32_t most);

/** How many spare processes a case asks for. */
typedef struct gab_spares_asked {
  int32_t count;
  bool per_node; /**< so many on each node; else in all */
} gab_spares_asked;
gab_spares_asked gab_resilience_spares(const gab_config *config);
/** Whether messages are logged: the first strategy lets only the lost go back. Pure.
 *  @param[out] limit  of what a process keeps of them, in largest images; 0: none
 *  @param[out] clusters  those between clusters alone are logged
 *  @param[out] own_every  steps between two checkpoints that a cluster takes alone; 0: none */
bool gab_resilience_logs(const gab_config *config, double *limit, bool *clusters, gab_step *own_every);
/** Whether the job has as many: if not it is refused, with the command that starts it so, but for a job that the launcher
 *  has started again, which goes on with those that there are. Local, with the same result on all.
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_resilience_check_spares(const gab_config *config, const gab_world *world);

/** What a checked parameter file says about redundancy. Local. @param[out] redundancy  borrows the name of the file
 *  of domains from the configuration @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_resilience_redundancy(const gab_config *config, gab_redundancy *redundancy);

/** Snapshots that fit into the memory of a process, where copies are placed like that. What only the start of a job tells
 *  (memory of nodes, monitors of a program) is not known here. Pure. */
int gab_resilience_buffers(const gab_config *config, const gab_placement *placement);

/** Whether a process keeps no memory for images of others on its node, but looks at them there. Pure. */
bool gab_resilience_shares(const gab_config *config);

/** The parameters that the state after some steps depends on, sorted lines "key = value": those of
 *  gab_config_canonical_state() but run.steps and run.time, since how far a run goes is no part of a state. */
gab_status gab_resilience_state_text(const gab_config *config, gab_buffer *text);

/** What an application adds to what its parameter file says. Zero-initialise; borrowed during the call only,
 *  but for rebalance_user and monitor_user. */
typedef struct gab_resilience_context {
  gab_rebalance_fn rebalance; /**< used if the file wants rebalancing; NULL: blocks stay */
  void *rebalance_user;
  gab_monitor_list monitors; /**< that the file may ask for by name */
  void *monitor_user;
  gab_run_lock *lock; /**< of the folder, borrowed; NULL: none */
  const char *folder; /**< of the run; NULL: no events, and no checkpoints on disk */
  const char *const *
      inject; /**< further fault injections in the form of gab_fault_injection_parse(), e.g. of the command line */
  size_t inject_count;
  double
      walltime; /**< seconds that the run has, from the start of its launcher or else from now; 0: no end */
} gab_resilience_context;

/** Turns a loop's protection on as a checked parameter file says, and adds the monitors that it asks for.
 * Collective.
 *  @return ::GAB_ERR_INPUT with the place in the file */
GAB_STABLE gab_status gab_resilience_protect(gab_timeloop *loop, const gab_config *config,
                                             const gab_resilience_context *context);

#ifdef __cplusplus
}
#endif
#endif
