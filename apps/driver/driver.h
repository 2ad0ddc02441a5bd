/** @file driver.h
 *  @brief What the sources of the driver `gabion` share: command lines, cases, commands.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_DRIVER_H
#define GABION_APPS_DRIVER_DRIVER_H

#include "blockforest/output/output.h"
#include "blockforest/forest/sample.h"
#include "loadbalance/balance.h"
#include "resilience/loop/monitor.h"
#include "resilience/resilience_config.h"
#include "resilience/disk/restart.h"
#include "resilience/run_folder/run_lock.h"

#include <stdio.h>

/* ---------------------------------------------------------------- command line */

enum { DRIVER_MOST_SETTINGS = 256 };

/** What the words behind a command say. Strings are borrowed from argv. */
typedef struct driver_options {
  const char *word; /**< the one word that is no option: case file or key; NULL if none was given */
  const char *out;  /**< output folder; NULL: not given */
  const char *settings[DRIVER_MOST_SETTINGS]; /**< of --set */
  size_t setting_count;
  const char *drills[DRIVER_MOST_SETTINGS]; /**< of --inject */
  size_t drill_count;
  double walltime;     /**< seconds from the start of the launcher; 0: not given */
  const char *block;   /**< of --block; NULL: not given */
  const char *traffic; /**< of --traffic; NULL: not given */
  bool fresh, anyway;  /**< start anew; go on with another case */
  bool overcommit;     /**< start even if the memory does not suffice */
  bool print_spares;   /**< print how many spare processes the case asks for, and end */
  bool verbose, quiet, reference, processes, help, json;
} driver_options;

/** Which options a command understands: letters o(ut), s(et), i(nject), v(erbose), q(uiet), r(eference),
 * w(alltime), t(raffic), p(rocesses), f(resh), c(ontinue-anyway), b(lock), j(son), m(emory: --overcommit); --help always.
 *  @return ::GAB_ERR_INPUT that names the closest known option for one that is not */
gab_status driver_options_parse(int argc, char **argv, const char *allowed, driver_options *options);

/** The word of a NULL-terminated list that is closest to `wanted`, for messages. */
const char *driver_closest(const char *wanted, const char *const *words);

/* ---------------------------------------------------------------- parameters */

/** A configuration that knows all sections of the driver and of the modules. @param[out] config  owned by
 * the caller */
gab_status driver_config_create(gab_config **config);
/** Applies the --set of a command line, then checks. */
gab_status driver_config_finish(gab_config *config, const driver_options *options);
/** A configuration from a file of this process. @param[out] config  owned by the caller, NULL on failure */
gab_status driver_config_from_file(const driver_options *options, gab_config **config);

/** When blocks are shared out anew by what they took. */
typedef struct driver_rebalance {
  gab_step every; /**< 0: never by itself */
  double above;   /**< unevenness */
} driver_rebalance;

/** Which steps have blocks that are computed twice, and how many. */
typedef struct recompute_plan {
  gab_step every; /**< 0: the monitor is not wanted */
  double share;   /**< of the blocks */
} recompute_plan;

enum {
  DRIVER_LONGEST_NAME = 48, /**< bytes of a name that stands in the head of a table */
  DRIVER_PATH_LENGTH = 1024 /**< bytes of a file's name */
};

typedef struct gab_physics gab_physics; /* physics.h */

/** What a parameter file comes to for any physics, worked out without communication. That of a physics begins with it. */
typedef struct driver_case {
  const gab_physics *physics; /**< borrowed, as config and options */
  const gab_config *config;
  const driver_options *options;
  gab_forest_options domain; /**< in the cells that the file speaks of */
  gab_forest_options grid;   /**< the same in cells of level 0 */
  gab_balance_options balance;
  driver_rebalance rebalance;
  double dt; /**< of a step */
  gab_step steps, check_every;
  recompute_plan recompute;
} driver_case;

/** Reads the section `balance`. */
gab_status driver_balance_read(const gab_config *config, gab_balance_options *found, driver_rebalance *when);
bool driver_rebalance_due(const driver_rebalance *when, gab_step step, gab_step last_step);
/** Shares blocks out anew if their work was uneven. Collective. @param[in,out] report  of a distribution that was made */
gab_status driver_rebalance_now(const driver_rebalance *when, const gab_balance_options *options,
                                gab_forest *forest, gab_step step, gab_balance_report *report);
/** Reads run.steps or run.time, and run.check_every. @param[in] dt  0 if it is not known: run.time is not
 * looked at */
gab_status driver_steps_read(const gab_config *config, double dt, gab_step *steps, gab_step *check_every);
/** ::GAB_ERR_INPUT if the recovery strategies of a case name `reconstruct`. @param[in] why  it cannot be */
gab_status driver_reconstruct_refuse(const gab_config *config, const char *why);
/** Puts the place in the file before what a module had to say against an input, and leaves other outcomes as they are. */
gab_status driver_blame(const gab_config *config, const char *path, gab_status status);
/** The same for an item of output.slices, whose name has to differ from those that the driver itself gives. */
gab_status driver_slice_settle(const gab_config *config, size_t index, gab_status status);
/** ::GAB_ERR_INPUT for a name of a probe, line or body that cannot be in the head of a table. */
gab_status driver_column_check(const gab_config *config, const char *path);
/** ::GAB_ERR_INPUT for an --inject that is no drill. */
gab_status driver_drills_check(const driver_options *options);
/** The folder part of a path ("." if it has none). */
void driver_folder_of(const char *path, char *folder, size_t capacity);
/** Cells, blocks and scale of the domain; what is periodic is left to the physics. */
gab_status driver_domain_read(const gab_config *config, gab_forest_options *forest);
/** Makes the output folder with the case in it, and opens the log there. Collective.
 *  @param[in] continues  the run goes on from a checkpoint there: the log is kept. Else old checkpoints go if the
 *  options say so */
gab_status driver_folder_open(gab_world *world, const gab_config *config, const driver_options *options,
                              const char *folder, bool continues);

/** Clears away what an earlier run left that this one does not go on from, and lists what this one writes.
 * Collective; the last thing before the run, so that a run that is refused clears nothing away.
 *  @param[in] outputs  of the run, NULL-terminated @param[in] more  further names, a line each; may be NULL
 */
gab_status driver_folder_settle(gab_world *world, const char *folder, gab_output *const *outputs,
                                const char *more, bool continues);

/** Where a run begins. */
typedef struct driver_continuation {
  gab_run_lock *lock;   /**< of the output folder */
  gab_restart *restart; /**< NULL: anew. Owned by whoever asked, until gab_timeloop_continue() */
  bool finished;        /**< nothing is left to do */
} driver_continuation;

/** Takes the lock of the output folder, looks for checkpoints of an earlier run there, and compares the case.
 *  Collective. Writes nothing else. @param[in] steps  that are to be done in all
 *  @param[out] found  to be ended by driver_continuation_end() whatever the status
 *  @return ::GAB_ERR_INPUT with all parameters that differ, or with the run that holds the folder */
gab_status driver_continuation_find(gab_world *world, const gab_config *config, const driver_options *options,
                                    const char *folder, gab_step steps, driver_continuation *found);
/** Says in the log how a run ended that did not come to its last step. Stopped in time is no error. Local, by
 * all. */
void driver_tell_end(gab_world *world, gab_status status);
/** Gives the folder free, when nothing is written any more. Local, by all. @param[in] status  how the run
 * ended */
void driver_continuation_end(driver_continuation *found, gab_status status);
/** Members of summary.json that say what the case is: title, time step, physical time at the end, parameters
 * that are not as they are by default. */
void driver_put_case(gab_json *json, const gab_config *config, const driver_options *options, double dt,
                     double time);
/** True if old checkpoints are to be removed. */
bool driver_starts_anew(const driver_options *options);
/** What depends on how many processes there are: slots of drills and of a file of failure domains. Collective.
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status driver_processes_check(gab_world *world, const gab_config *config, const driver_options *options);
/** The same for any number of processes up to `most`: warns of drills that none of them has. Local.
 *  @return ::GAB_ERR_INPUT for a file of failure domains that fits none */
gab_status driver_any_processes_check(const gab_config *config, const driver_options *options, uint64_t most);
/** Says in the log how many spare processes a case asks for, if any, beside those that compute. */
void driver_describe_spares(const gab_config *config, int64_t processes);
/** What the cells of a case take of memory. */
typedef struct driver_memory {
  double cells;        /**< of the grid, at least */
  double state, image; /**< bytes of a cell in the fields, in a snapshot */
  /** Those of the cells that need memory, or some number above `most` if they are more; may be NULL. */
  double (*count)(const void *user, double most);
  const void *user;
} driver_memory;
/** Bytes of snapshots in a process for each byte of its image: in as many buffers as the case asks for, its own and
 *  what it keeps of others (Kohl et al. 2017, eq. 2). Local. @return ::GAB_ERR_INPUT with the place in the file */
gab_status driver_snapshot_factor(const gab_config *config, int32_t processes, double *factor);
/** ::GAB_ERR_INPUT with the numbers if the case needs more memory than this node has free. Local.
 *  @param[in] here  processes on this node */
gab_status driver_memory_check(const gab_config *config, const driver_memory *memory, int processes,
                               int here);
/** The same on every node of a run, unless the options say otherwise or it goes on after a death. Collective. */
gab_status driver_memory_settle(gab_world *world, const gab_config *config, const driver_options *options,
                                const driver_memory *memory);
/** Blocks of level 0 that a grid could have, and the cells of one of them, counted along x first. Pure. */
int64_t driver_root_count(const gab_forest_options *forest);
gab_box driver_root_cells(const gab_forest_options *forest, int64_t root);
/** "cases/cylinder.yaml" to "out/cylinder". */
void driver_default_folder(const char *path, char *folder, size_t capacity);
/** The outcome of setting a run up, the same on all and for the right reason, also if processes died. */
gab_status driver_end_of_setup(gab_world *world, gab_status status);
/** The same before there is anything to run, with the reason in the log. */
gab_status driver_refuse(gab_world *world, gab_status status);
/** Reads when something is written from the keys every, interval, start below `path`. */
gab_status output_schedule_read(const gab_config *config, const char *path, double dt,
                                gab_schedule *schedule);
/** Reads how much files are compressed from the key compression below `path`. */
int output_compression_read(const gab_config *config, const char *path);

/* ---------------------------------------------------------------- the monitor `recompute' */

gab_status recompute_plan_read(const gab_config *config, gab_step check_every, recompute_plan *plan);
/** Whether blocks are computed twice in the step that comes to so many steps. Pure. */
bool recompute_plan_has(const recompute_plan *plan, gab_step steps);
gab_status recompute_declare(gab_config *config);
/** Whether the monitor has something to say after so many steps: in those, and in the ones behind them. Pure. */
bool recompute_plan_looks(const recompute_plan *plan, gab_step steps);
/** Says in the log what it came to. Collective. */
gab_status recompute_report(gab_world *world, const recompute_plan *plan, const gab_sample_report *mine);

/* ---------------------------------------------------------------- commands, each returns an exit code */

int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_status(int argc, char **argv);
int command_help(int argc, char **argv);
int command_info(int argc, char **argv);
int command_checkpoint(int argc, char **argv);
int command_assemble(int argc, char **argv);

#endif
