/* SPDX-License-Identifier: Apache-2.0 */
/** @file solver.h
 *  @brief A solver is a table: all solver-specific functions that the commands of `gabion` call.
 *
 *  The commands use only cases (::gab_app_case) and tables, no flow and no solidification. A program passes its own table
 *  to gab_app_main(), alone or with those of `gabion`, and is linked with gabion::app (libgabion-app):
 *  @code
 *    static const gab_solver heat = {.name = "heat", .title = "conduction of heat", .section = "heat", ..., .add = add};
 *    int main(int argc, char **argv)
 *    {
 *      static const gab_solver *const solvers[] = {&heat, &gab_solver_flow};
 *      return gab_app_main(argc, argv, solvers, 2);
 *    }
 *  @endcode
 *  Complete example: tests/apps/tutorials/helper_heat.c; tests/install/own/own_entries.c extends the table of the flow. For
 *  explicit schemes on cells: apps/driver/stencil/stencil.h. A solver of `gabion` itself is a folder next to flow/, named
 *  in main.c.
 *
 *  Stability: extender.
 */
#ifndef GABION_APPS_DRIVER_SOLVER_H
#define GABION_APPS_DRIVER_SOLVER_H

#include "apps/driver/case/case.h"
#include "blockforest/forest/sample.h"
#include "core/base/text/json.h"
#include "core/base/version.h"
#include "resilience/loop/monitor.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_app_run gab_app_run;   /* run/run.h */
typedef struct gab_app_plan gab_app_plan; /* plan/app_plan.h */

enum { GAB_APP_MOST_EVIDENCE = 24 };

/** Names of one kind. */
typedef struct gab_app_names {
  const char *title;            /**< "lattices" */
  const char *(*at)(int index); /**< NULL after the last */
} gab_app_names;

struct gab_device;

struct gab_solver {
  const char *name;    /**< "flow" */
  const char *title;   /**< with its article, for messages: "a flow" */
  const char *section; /**< a case with this section uses this solver; NULL: any case without a section of
                        * another solver */
  /** Sections of parameter files for this solver only, NULL-terminated: other solvers refuse them. */
  const char *const *own;
  /** Bytes of its case, a structure that begins with a ::gab_app_case. */
  size_t case_bytes;

  /** Declares those sections. Local. */
  gab_status (*declare)(gab_config *config);
  /** Derives the case from a checked parameter file. Local. @param[in,out] found  solver, config and options are set, all
   * else is zero; released by the caller for any status @return ::GAB_ERR_INPUT with the places in the file */
  gab_status (*read)(gab_app_case *found);
  /** Releases the results of read(), also partial ones. NULL: no effect. */
  void (*release)(gab_app_case *which);
  /** Logs the derived quantities of the case. Local. */
  void (*describe)(const gab_app_case *which);

  /** `gabion check`: refuses invalid cases that prepare() accepts, then logs what follows from the case. NULL: only checks
   * that there are enough blocks of level 0 for the processes. Collective. */
  gab_status (*check)(gab_app_run *it);

  /* ---- A run. `it' begins with a ::gab_app_run; the rest is initially zero. */

  /** Bytes of a run. */
  size_t run_bytes;
  /** Makes forest and model, and names the quantities; no blocks, no files. Local except for creating collective objects. */
  gab_status (*prepare)(gab_app_run *it);
  /** Adds writers other than fields and slices. NULL: none. Local. */
  gab_status (*add_writers)(gab_app_run *it);
  /** Memory of its cells, after prepare(). NULL: not checked. */
  gab_app_memory (*memory)(const gab_app_run *it);
  /** Makes the grid, partitioned over the ranks, and the initial state. Collective. */
  gab_status (*build)(gab_app_run *it);
  /** Logs what was built. NULL: the number of blocks. */
  void (*describe_run)(const gab_app_run *it);
  /** Adds its entities, the tasks of a step and its post-step actions, with those of run/run.h at the places it chooses. */
  gab_status (*add)(gab_app_run *it);
  /** Physical time after `step` steps; with a variable dt, of the present state. NULL: step times gab_app_case.dt. Pure. */
  double (*time)(const gab_app_run *it, gab_step step);
  /** Its live monitors, which cases choose by name. NULL: none. */
  gab_monitor_list (*monitors)(void);
  /** A gab_rebalance_fn after a death; `user` is the run. NULL: by the section `balance`. */
  gab_status (*rebalance)(void *user, gab_forest *forest);
  /** ::GAB_ERR_DIVERGED, with the place, if the state is invalid. NULL: no check; a case that sets run.check_every is
   * refused (except for check_recomputed). Local. */
  gab_status (*check_finite)(gab_app_run *it);
  /** For the monitor `recompute`, NULL without it: whether blocks that were computed twice differ; at rest: or have changed
   * since. */
  gab_status (*check_recomputed)(gab_app_run *it, bool at_rest);
  gab_sample_report (*recomputation)(const gab_app_run *it);
  /** Updates the neighbourhood data of quantities that are not pointwise, before the output of a step that contains some;
   * not for rows of series. NULL: no effect. Collective. */
  gab_status (*update_quantities)(gab_app_run *it);
  /** Quantities of its runs, for help and info. NULL: the usual fields. */
  gab_config_choice_fn *quantities;
  const char *const *usual_fields; /**< NULL-terminated: default quantities of output.fields */
  const char *usual_slice;         /**< default quantity of a slice */
  /** Sets the open options of a slice, and adds related ones. NULL: no effect. Local. */
  gab_status (*settle_slice)(gab_app_run *it, const char *quantity, gab_slice_options *options);
  /** Output of a run that diverged: at most #GAB_APP_MOST_EVIDENCE fields, and a slice of a quantity. NULL: the usual
   * fields, and the usual slice across the last axis. Local. */
  void (*pick_evidence)(const gab_app_run *it, gab_quantity *picked, size_t *count, const char **quantity,
                        gab_slice_options *slice);
  /** State of its series between rows. NULL: none. */
  gab_status (*pack_series)(const gab_app_run *it, gab_buffer *out);
  gab_status (*unpack_series)(gab_app_run *it, gab_reader *in);
  /** Writes final output after the last step. NULL: none. Collective. */
  gab_status (*finish)(gab_app_run *it, gab_step step);
  /** Logs remedies for a run that diverged. NULL: none. */
  void (*name_levers)(const gab_app_run *it);
  /** Minimum number of levels in blocks_of_levels of summary.json. NULL: those up to the finest of its adaptation
   * (run/run.h). */
  int (*levels)(const gab_app_run *it);
  /** Members of "grid" in summary.json besides blocks_of_levels. NULL: none. */
  void (*put_grid)(const gab_app_run *it, gab_json *json);
  /** Draws the case on its grid into a folder: `gabion check --draw`. After `check`. NULL: no drawing. */
  gab_status (*draw)(gab_app_run *it, const char *folder);
  /** Members of "results" in summary.json: values of the last state. Called after `finish`. NULL: no such object. */
  void (*put_results)(const gab_app_run *it, gab_json *json);
  /** Logs results other than pictures and fields. NULL: none. */
  void (*report)(const gab_app_run *it);
  /** Its program makes user-defined communicators (gab_world_dup(), gab_world_split()). All processes must repair these, so
   * recovery is global and strategy `local` is disabled, which `check` and `plan` report. A run that has some without
   * setting this warns. */
  bool own_comms;
  const char *files; /**< names of its files other than those of its writers, one per line; NULL: none */
  /** Releases the results of prepare(), including the forest, also partial ones. */
  void (*release_run)(gab_app_run *it);

  /** For `gabion plan`, after prepare(): reports memory and messages of blocks, and refines the initial grid, as build()
   * but without blocks. NULL: cannot be planned. Collective. */
  gab_status (*plan)(gab_app_run *it, gab_app_plan *plan);
  /** For `gabion info` without a case: named choices of its parameter files besides quantities and monitors; ends with one
   * without a title. NULL: none. */
  const gab_app_names *names;
  /** For `gabion info --devices`: whether a device gives the bits of the processor for this solver. NULL: no use of
   * devices. Local. @return ::GAB_ERR_SUSPECT with the first difference */
  gab_status (*check_device)(struct gab_device *device);
  /** For `gabion info`: prints kernels and similar choices of the case. NULL: none. Local. */
  gab_status (*print)(const gab_app_case *which, FILE *out);
};

/** Lattice Boltzmann flow, and solidification by a phase field, as in `gabion`. The flow has no section: it gets all cases
 * without a section of another solver. */
extern const gab_solver gab_solver_flow, gab_solver_solidification;

/** The complete main() of a program: the commands run, check, plan, status, checkpoint, assemble, help and info, for these
 * solvers. Call registration functions (boundary conditions, balancers, schemes, ...) before. @param[in] solvers  of
 * `count`, borrowed until the process ends; at most one without a section @return the exit code of the program */
int gab_app_main(int argc, char **argv, const gab_solver *const *solvers, int count);
#define gab_app_main(...) GAB_WITH_VERSION(gab_app_main(__VA_ARGS__))

#ifdef __cplusplus
}
#endif

#endif
