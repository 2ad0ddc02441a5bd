/* SPDX-License-Identifier: Apache-2.0 */
/** @file solver.h
 *  @brief A solver is a table: all that the commands of `gabion` know of what they compute.
 *
 *  The commands see cases (::gab_app_case) and tables, never a flow or a solidification. A program hands its own table to
 *  gab_app_main(), alone or beside those of `gabion`, and is linked with gabion::app (libgabion-app):
 *  @code
 *    static const gab_solver heat = {.name = "heat", .title = "conduction of heat", .section = "heat", ..., .add = add};
 *    int main(int argc, char **argv)
 *    {
 *      static const gab_solver *const solvers[] = {&heat, &gab_solver_flow};
 *      return gab_app_main(argc, argv, solvers, 2);
 *    }
 *  @endcode
 *  tests/apps/tutorials/helper_heat.c is a whole one; tests/install/own/own_entries.c takes the table of the flow and adds to it. What an
 *  explicit scheme on cells needs is there already: apps/driver/stencil/stencil.h. A solver that `gabion` itself is to know is
 *  a folder beside flow/, named in main.c.
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
  const char *(*at)(int index); /**< NULL behind the last */
} gab_app_names;

struct gab_device;

struct gab_solver {
  const char *name;    /**< "flow" */
  const char *title;   /**< with its article, for messages: "a flow" */
  const char *section; /**< a case with this section is one of it; NULL: a case that is none of the others' */
  /** Sections of parameter files that mean nothing without it, NULL-terminated: another solver refuses them. */
  const char *const *own;
  /** Bytes of its case, a structure that begins with a ::gab_app_case. */
  size_t case_bytes;

  /** Declares those sections. Local. */
  gab_status (*declare)(gab_config *config);
  /** Derives the case from a checked parameter file. Local. @param[in,out] found  solver, config and options are set,
   *  all else is zero; stays where it is, to be released whatever the status
   *  @return ::GAB_ERR_INPUT with the places in the file */
  gab_status (*read)(gab_app_case *found);
  /** Ends what read() has made, as far as that came. NULL: nothing. */
  void (*release)(gab_app_case *which);
  /** Says in the log what the case comes to. Local. */
  void (*describe)(const gab_app_case *which);

  /** `gabion check`: what is to be refused beside what prepare() refuses; then says in the log what follows from the
   *  case. NULL: no more than there are blocks of level 0 for the processes. Collective. */
  gab_status (*check)(gab_app_run *it);

  /* ---- A run. What is called `it' begins with a ::gab_app_run, zero behind that at first. */

  /** Bytes of it. */
  size_t run_bytes;
  /** Makes forest and model, names the quantities; no blocks, no files. Local but for the making of collective objects. */
  gab_status (*prepare)(gab_app_run *it);
  /** Adds writers beside fields and slices. NULL: none. Local. */
  gab_status (*add_writers)(gab_app_run *it);
  /** What its cells take, after prepare(). NULL: it is not checked. */
  gab_app_memory (*memory)(const gab_app_run *it);
  /** Makes the grid, shared out, and the initial state. Collective. */
  gab_status (*build)(gab_app_run *it);
  /** Says in the log what has been built. NULL: how many blocks. */
  void (*describe_run)(const gab_app_run *it);
  /** Adds its entities, the tasks of a step and its post-step actions, those of run/run.h among them in the order that it wants. */
  gab_status (*add)(gab_app_run *it);
  /** Physical time after `step` steps; if steps differ in length, that of the present state. NULL: step times gab_app_case.dt. Pure. */
  double (*time)(const gab_app_run *it, gab_step step);
  /** The live monitors that it has: cases ask for them by name. NULL: none. */
  gab_monitor_list (*monitors)(void);
  /** A gab_rebalance_fn for after a death; `user` is the run. NULL: by the section `balance`. */
  gab_status (*rebalance)(void *user, gab_forest *forest);
  /** ::GAB_ERR_DIVERGED, with the place, if the numbers mean nothing. NULL: they always mean something, and a case that sets
   *  run.check_every is refused (but for check_recomputed). Local. */
  gab_status (*check_finite)(gab_app_run *it);
  /** Of the monitor `recompute`, NULL without it: whether blocks that were computed twice differ; at rest: or changed since. */
  gab_status (*check_recomputed)(gab_app_run *it, bool at_rest);
  gab_sample_report (*recomputation)(const gab_app_run *it);
  /** Brings up to date what quantities that are not pointwise look at around cells, ahead of a step's output if some of them are
   *  written there; not for rows of series. NULL: nothing to do. Collective. */
  gab_status (*update_quantities)(gab_app_run *it);
  /** What its runs have to write, for help and info. NULL: the usual fields. */
  gab_config_choice_fn *quantities;
  const char *const
      *usual_fields;       /**< NULL-terminated: quantities of output.fields that does not say which */
  const char *usual_slice; /**< of a slice that does not say which */
  /** Settles what a slice leaves open, and adds what goes with it. NULL: nothing. Local. */
  gab_status (*settle_slice)(gab_app_run *it, const char *quantity, gab_slice_options *options);
  /** What a run that diverged leaves: at most #GAB_APP_MOST_EVIDENCE fields, and a slice of a quantity. NULL: the usual fields,
   *  and the usual slice across the last axis. Local. */
  void (*pick_evidence)(const gab_app_run *it, gab_quantity *picked, size_t *count, const char **quantity,
                        gab_slice_options *slice);
  /** What its series remember from row to row. NULL: nothing. */
  gab_status (*pack_series)(const gab_app_run *it, gab_buffer *out);
  gab_status (*unpack_series)(gab_app_run *it, gab_reader *in);
  /** Writes what is to be written once all steps are done. NULL: nothing. Collective. */
  gab_status (*finish)(gab_app_run *it, gab_step step);
  /** Says in the log what may help a run that diverged. NULL: nothing. */
  void (*name_levers)(const gab_app_run *it);
  /** How many levels of its grid blocks_of_levels in summary.json names at least. NULL: those up to the
   *  finest of its adaptation (run/run.h). */
  int (*levels)(const gab_app_run *it);
  /** Members beside blocks_of_levels of "grid" in summary.json. NULL: none. */
  void (*put_grid)(const gab_app_run *it, gab_json *json);
  /** Draws what the grid sees of the case into a folder: `gabion check --draw`. After `check`. NULL: there is nothing to draw. */
  gab_status (*draw)(gab_app_run *it, const char *folder);
  /** Members of "results" in summary.json: numbers of the last state. Called after `finish`. NULL: no such object. */
  void (*put_results)(const gab_app_run *it, gab_json *json);
  /** Says in the log what came out, beside pictures and fields. NULL: nothing. */
  void (*report)(const gab_app_run *it);
  /** Its program makes communicators of its own (gab_world_dup(), gab_world_split()): all processes have to repair them, so that its
   *  faults are global and strategy `local` is not in force, which `check` and `plan` say then. A run that has some without
   *  saying so here warns. */
  bool own_comms;
  const char *files; /**< what it writes beside its writers, a name in each line; NULL: nothing */
  /** Ends what prepare() has made, the forest among it, as far as that came. */
  void (*release_run)(gab_app_run *it);

  /** For `gabion plan`, after prepare(): says what blocks take and send, and refines the grid of the start, as build() does
   *  but without blocks. NULL: it cannot be planned. Collective. */
  gab_status (*plan)(gab_app_run *it, gab_app_plan *plan);
  /** For `gabion info` without a case: what its parameter files may choose by name, beside quantities and monitors; ended by one
   *  without a title. NULL: nothing. */
  const gab_app_names *names;
  /** For `gabion info --devices`: whether a device gives the bits of the processor for what this solver computes. NULL: it has
   *  nothing for devices. Local. @return ::GAB_ERR_SUSPECT with the first difference */
  gab_status (*check_device)(struct gab_device *device);
  /** For `gabion info`: prints what the case is computed with. NULL: nothing. Local. */
  gab_status (*print)(const gab_app_case *which, FILE *out);
};

/** A flow by lattice Boltzmann, and solidification by a phase field, as `gabion` has them. The flow has no section of its own: a
 *  case that is none of the others' is one. */
extern const gab_solver gab_solver_flow, gab_solver_solidification;

/** The whole program, for a main() of one's own: the commands run, check, plan, status, checkpoint, assemble, help and info, for
 *  these solvers. What the program registers (boundary conditions, balancers, schemes, ...) it registers before.
 *  @param[in] solvers  of `count`, borrowed until the process ends; at most one without a section @return the exit code of the program */
int gab_app_main(int argc, char **argv, const gab_solver *const *solvers, int count);
#define gab_app_main(...) GAB_WITH_VERSION(gab_app_main(__VA_ARGS__))

#ifdef __cplusplus
}
#endif

#endif
