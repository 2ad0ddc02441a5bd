/** @file driver.h
 *  @brief What the sources of the driver `gabion` share: command lines, cases, commands.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_DRIVER_H
#define GABION_APPS_DRIVER_DRIVER_H

#include "apps/driver/plan/app_plan.h"
#include "resilience/resilience_config.h"

#include <stdio.h>

/* ---------------------------------------------------------------- command line */

enum { GAB_APP_MOST_SETTINGS = 256 };

/** What the words behind a command say. Strings are borrowed from argv. */
struct gab_app_options {
  const char *word; /**< the one word that is no option: case file or key; NULL if none was given */
  const char *out;  /**< output folder; NULL: not given */
  const char *settings[GAB_APP_MOST_SETTINGS]; /**< of --set */
  size_t setting_count;
  const char *drills[GAB_APP_MOST_SETTINGS]; /**< of --inject */
  size_t drill_count;
  double walltime;     /**< seconds from the start of the launcher; 0: not given */
  const char *block;   /**< of --block; NULL: not given */
  const char *traffic; /**< of --traffic; NULL: not given */
  bool fresh, anyway;  /**< start anew; go on with another case */
  bool overcommit;     /**< start even if the memory does not suffice */
  bool print_spares;   /**< print how many spare processes the case asks for, and end */
  bool verbose, quiet, reference, processes, help, json;
};

/** Which options a command understands: letters o(ut), s(et), i(nject), v(erbose), q(uiet), r(eference),
 * w(alltime), t(raffic), p(rocesses), f(resh), c(ontinue-anyway), b(lock), j(son), m(emory: --overcommit); --help always.
 *  @return ::GAB_ERR_INPUT that names the closest known option for one that is not */
gab_status gab_app_options_parse(int argc, char **argv, const char *allowed, gab_app_options *options);

/** The word of a NULL-terminated list that is closest to `wanted`, for messages. */
const char *gab_app_closest(const char *wanted, const char *const *words);

/* ---------------------------------------------------------------- parameters */

/** A configuration that knows all sections of the driver and of the modules. @param[out] config  owned by
 * the caller */
gab_status gab_app_config_create(gab_config **config);
/** Applies the --set of a command line, then checks. */
gab_status gab_app_config_finish(gab_config *config, const gab_app_options *options);
/** A configuration from a file of this process. @param[out] config  owned by the caller, NULL on failure */
gab_status gab_app_config_from_file(const gab_app_options *options, gab_config **config);

enum { GAB_APP_PATH_LENGTH = 1024 /**< bytes of a file's name */ };

/** Whether blocks are to be shared out anew now. Pure. */
bool gab_app_rebalance_due(const gab_app_rebalance *when, gab_step step, gab_step last_step);
/** Shares blocks out anew if their work was uneven. Collective. @param[in,out] report  of a distribution that was made */
gab_status gab_app_rebalance_now(const gab_app_rebalance *when, const gab_balance_options *options,
                                 gab_forest *forest, gab_step step, gab_balance_report *report);
/** Reads run.steps or run.time, and run.check_every. @param[in] dt  0 if it is not known: run.time is not
 * looked at */
gab_status gab_app_steps_read(const gab_config *config, double dt, gab_step *steps, gab_step *check_every);
/** The same for an item of output.slices, whose name has to differ from those that the driver itself gives. */
gab_status gab_app_slice_settle(const gab_config *config, size_t index, gab_status status);
/** ::GAB_ERR_INPUT for an --inject that is no drill. */
gab_status gab_app_drills_check(const gab_app_options *options);
/** The folder part of a path ("." if it has none). */
void gab_app_folder_of(const char *path, char *folder, size_t capacity);
/** Whether the case wants strategy `local`. Pure. */
bool gab_app_wants_local(const gab_app_case *which);
/** Says in the log what strategy `local` comes to in a run, if the case wants it: whether it will be in force, and how far delays mask
 *  each other. Local, after prepare(). */
void gab_app_run_describe_local(const gab_app_run *it);
/** Warns of a program with communicators of its own that gab_physics.own_comms does not tell of, where that ends strategy `local`.
 *  Local. */
void gab_app_run_warn_of_comms(const gab_app_run *it);
/** Makes the output folder with the case in it, and opens the log there. Collective.
 *  @param[in] continues  the run goes on from a checkpoint there: the log is kept. Else old checkpoints go if the
 *  options say so */
gab_status gab_app_folder_open(gab_world *world, const gab_config *config, const gab_app_options *options,
                               const char *folder, bool continues);

/** Clears away what an earlier run left that this one does not go on from, and lists what this one writes.
 * Collective; the last thing before the run, so that a run that is refused clears nothing away.
 *  @param[in] outputs  of the run, NULL-terminated @param[in] more  further names, a line each; may be NULL
 */
gab_status gab_app_folder_settle(gab_world *world, const char *folder, gab_output *const *outputs,
                                 const char *more, bool continues);

/** Where a run begins. */
typedef struct gab_app_continuation {
  gab_run_lock *lock;   /**< of the output folder */
  gab_restart *restart; /**< NULL: anew. Owned by whoever asked, until gab_timeloop_continue() */
  bool finished;        /**< nothing is left to do */
} gab_app_continuation;

/** Takes the lock of the output folder, looks for checkpoints of an earlier run there, and compares the case.
 *  Collective. Writes nothing else. @param[in] steps  that are to be done in all
 *  @param[out] found  to be ended by gab_app_continuation_end() whatever the status
 *  @return ::GAB_ERR_INPUT with all parameters that differ, or with the run that holds the folder */
gab_status gab_app_continuation_find(gab_world *world, const gab_config *config,
                                     const gab_app_options *options, const char *folder, gab_step steps,
                                     gab_app_continuation *found);
/** Says in the log how a run ended that did not come to its last step. Stopped in time is no error. Local, by
 * all. */
void gab_app_tell_end(gab_world *world, gab_status status);
/** Gives the folder free, when nothing is written any more. Local, by all. @param[in] status  how the run
 * ended */
void gab_app_continuation_end(gab_app_continuation *found, gab_status status);
/** Members of summary.json that say what the case is: title, time step, physical time at the end, parameters
 * that are not as they are by default. */
void gab_app_put_case(gab_json *json, const gab_config *config, const gab_app_options *options, double dt,
                      double time);
/** True if old checkpoints are to be removed. */
bool gab_app_starts_anew(const gab_app_options *options);
/** What depends on how many processes there are: slots of drills and of a file of failure domains. Collective.
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_app_processes_check(gab_world *world, const gab_config *config,
                                   const gab_app_options *options);
/** Bytes of snapshots in a process for each byte of its image: in as many buffers as the case asks for, its own and
 *  what it keeps of others (Kohl et al. 2017, eq. 2). Local. @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_app_snapshot_factor(const gab_config *config, int32_t processes, double *factor);
/** ::GAB_ERR_INPUT with the numbers if the case needs more memory than this node has free. Local.
 *  @param[in] here  processes on this node */
gab_status gab_app_memory_check(const gab_config *config, const gab_app_memory *memory, int processes,
                                int here);
/** The same on every node of a run, unless the options say otherwise or it goes on after a death. Collective. */
gab_status gab_app_memory_settle(gab_world *world, const gab_config *config, const gab_app_options *options,
                                 const gab_app_memory *memory);
/** "cases/cylinder.yaml" to "out/cylinder". */
void gab_app_default_folder(const char *path, char *folder, size_t capacity);
/** The outcome of setting a run up, the same on all and for the right reason, also if processes died. */
gab_status gab_app_end_of_setup(gab_world *world, gab_status status);
/** The same before there is anything to run, with the reason in the log. */
gab_status gab_app_refuse(gab_world *world, gab_status status);

/* ---------------------------------------------------------------- physics and cases */

/** Says which physics there are, before anything is read. @param[in] physics  of `count`, borrowed for ever; a case that is
 *  none of the others' is of the one without a section
 *  @return ::GAB_ERR_ARGUMENT, without any, if an entry lacks what it has to have, or several have no section */
gab_status gab_app_physics_set(const gab_physics *const *physics, int count);
/** @return the index-th of all physics, NULL behind the last */
const gab_physics *gab_app_physics_at(int index);
/** What runs of a physics have to write: the index-th, without a name behind the last. */
gab_config_word gab_app_physics_quantity(const gab_physics *physics, int index);
/** What a slice shows: as output.slices says, else what is usual for the physics. */
const char *gab_app_slice_quantity(const gab_app_case *which, size_t index);
/** What a checked parameter file is about. */
const gab_physics *gab_app_physics_of(const gab_config *config);

/** Makes the case of a checked parameter file and reads it. Local. @param[in] config, options  borrowed
 *  @param[out] found  to be destroyed by gab_app_case_destroy() whatever the status */
gab_status gab_app_case_create(const gab_config *config, const gab_app_options *options,
                               gab_app_case **found);
void gab_app_case_destroy(gab_app_case **which);
/** The live monitors of its physics. */
gab_monitor_list gab_app_case_monitors(const gab_app_case *which);
/** What a case takes on so many processes, and the grid of the start, on this process, for `use`; starts MPI for it and
 *  ends it. plan/plan_model.c.
 *  @param[out] started  gab_seconds() when MPI was up, before `use` is called; may be NULL
 *  @return ::GAB_ERR_INPUT if there are several processes, or if the physics cannot be planned */
gab_status gab_app_case_plan(const gab_app_case *which, int32_t slots, gab_app_plan_fn *use, void *user,
                             double *started);

/* ---------------------------------------------------------------- runs */

/** The part of a run that makes no blocks and touches no file: what it refuses, `gabion check` refuses too. Local but for the
 *  making of collective objects. @param[out] made  to be destroyed whatever the status */
gab_status gab_app_run_create(gab_world *world, const gab_app_case *which, const char *folder,
                              gab_app_run **made);
void gab_app_run_destroy(gab_app_run **which);
/** `gabion check` of what has been made so. Collective. */
gab_status gab_app_run_check(gab_app_run *it);
/** Computes a case, and says in the log how that ended. The output folder is touched only after all else has succeeded.
 *  Collective. @param[in,out] begin  its restart is owned by the run from now on, its lock is borrowed */
gab_status gab_app_run_case(gab_world *world, const gab_app_case *which, const char *folder,
                            gab_app_continuation *begin);
/** What all have: the state of the output as an entity, the end, the end by a failure. */
gab_status gab_app_run_add_duties(gab_app_run *it);
/** The look whether the numbers are finite: behind the monitors that the case asks for, which may know what was the matter
 *  before. As a monitor, since these look ahead of each checkpoint too: the last one is finite when a run diverges. */
gab_status gab_app_run_add_check(gab_app_run *it);
/** Adds fields and slices that the case asks for, and what a run leaves that diverged. Local. */
gab_status gab_app_run_add_writers(gab_app_run *it);

/* ---------------------------------------------------------------- the monitor `recompute' */

gab_status gab_app_recompute_plan_read(const gab_config *config, gab_step check_every,
                                       gab_app_recompute *plan);
/** Whether blocks are computed twice in the step that comes to so many steps. Pure. */
bool gab_app_recompute_plan_has(const gab_app_recompute *plan, gab_step steps);
gab_status gab_app_recompute_declare(gab_config *config);
/** Whether the monitor has something to say after so many steps: in those, and in the ones behind them. Pure. */
bool gab_app_recompute_plan_looks(const gab_app_recompute *plan, gab_step steps);
/** Says in the log what it came to. Collective. */
gab_status gab_app_recompute_report(gab_world *world, const gab_app_recompute *plan,
                                    const gab_sample_report *mine);

/* ---------------------------------------------------------------- commands, each returns an exit code */

/** Writes a text of usage, with the name of this program where it says `gabion `. */
void gab_app_usage_put(const char *usage, FILE *out);
int gab_app_command_run(int argc, char **argv);
int gab_app_command_check(int argc, char **argv);
int gab_app_command_status(int argc, char **argv);
int gab_app_command_help(int argc, char **argv);
int gab_app_command_info(int argc, char **argv);
int gab_app_command_checkpoint(int argc, char **argv);
int gab_app_command_assemble(int argc, char **argv);

#endif
