/* SPDX-License-Identifier: Apache-2.0 */
/** @file case_impl.h
 *  @brief Declarations for command lines and cases, shared by the sources of the driver; no solver, no run.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_CASE_IMPL_H
#define GABION_APPS_DRIVER_CASE_IMPL_H

#include "apps/driver/case/case.h"
#include "core/base/text/json.h"
#include "resilience/disk/restart.h"
#include "resilience/resilience_config.h"
#include "resilience/run_folder/run_lock.h"

/* ---------------------------------------------------------------- command line */

enum { GAB_APP_MOST_SETTINGS = 256 };

/** Arguments of a command. Strings are borrowed from argv. */
struct gab_app_options {
  const char *word;  /**< the only argument that is not an option: case file or key; NULL: none */
  const char *other; /**< the second one, of `compare`; NULL: none */
  const char *words[GAB_APP_MOST_SETTINGS]; /**< all of them, of commands that take any number */
  size_t word_count;
  const char *out;                             /**< output folder; NULL: not given */
  const char *draw;                            /**< folder of --draw; NULL: not given */
  const char *settings[GAB_APP_MOST_SETTINGS]; /**< of --set */
  size_t setting_count;
  const char *injections[GAB_APP_MOST_SETTINGS]; /**< of --inject */
  size_t injection_count;
  double cycles;                             /**< of `plan --cycles`; 0: not given */
  double walltime;                           /**< seconds from the start of the launcher; 0: not given */
  const char *block;                         /**< of --block; NULL: not given */
  const char *traffic;                       /**< of --traffic; NULL: not given */
  const char *cells;                         /**< of `converge --cells`; NULL: not given */
  const char *scaling;                       /**< of `converge --scaling`; NULL: not given */
  const char *ranks;                         /**< of `converge -n`; NULL: not given */
  const char *values[GAB_APP_MOST_SETTINGS]; /**< of --value */
  size_t value_count;
  const char *tolerance;      /**< of `compare --tolerance`; NULL: not given */
  const char *point, *launch; /**< of `sweep`: number of a point; options of gabion-launch; NULL: not given */
  bool dry_run, redo, table;  /**< of `sweep`; dry_run of `clean`, too */
  bool all;                   /**< of `clean` */
  bool slurm, pbs;            /**< of `sweep`: print the script of an array */
  bool fresh, anyway;         /**< start from the beginning; resume with another case */
  bool overcommit;            /**< start even if the memory does not suffice */
  bool print_spares;          /**< print how many spare processes the case asks for, and end */
  bool devices;               /**< list accelerators, and end */
  bool verbose, quiet, reference, processes, help, json;
};

/** Which options a command understands: letters o(ut), s(et), i(nject), v(erbose), q(uiet), r(eference),
 * w(alltime), t(raffic), p(rocesses), f(resh), c(ontinue-anyway), b(lock), j(son), D(raw), m(emory: --overcommit), C(ells), x (--scaling), V(alue), n, T(olerance),
 * y (--dry-run), R(edo), a (--table), k (--point), l(aunch), L (--slurm), B (--pbs), A (--all); 2: two arguments, *: any number; --help always.
 *  @return ::GAB_ERR_INPUT that names the closest known option for one that is not */
gab_status gab_app_options_parse(int argc, char **argv, const char *allowed, gab_app_options *options);

/** The word of a NULL-terminated list that is closest to `wanted`, for messages. */
const char *gab_app_closest(const char *wanted, const char *const *words);

/* ---------------------------------------------------------------- parameters */

/** A configuration with all sections of the driver and of the modules. @param[out] config  owned by the caller */
gab_status gab_app_config_create(gab_config **config);
/** A checked configuration from a file of this process, with the --set of a command line. @param[out] config  owned by the
 *  caller, NULL on failure */
gab_status gab_app_config_from_file(const gab_app_options *options, gab_config **config);

enum { GAB_APP_PATH_LENGTH = 1024 /**< bytes of a file name */ };
/** Reads run.steps or run.time, and run.check_every. @param[in] dt  0 if unknown: run.time is not read */
gab_status gab_app_steps_read(const gab_config *config, double dt, gab_step *steps, gab_step *check_every);
/** The same for an item of output.slices, whose name must differ from those given by the driver. */
gab_status gab_app_slice_settle(const gab_config *config, size_t index, gab_status status);
/** ::GAB_ERR_INPUT for an invalid --inject. */
gab_status gab_app_injections_check(const gab_app_options *options);
/** The folder part of a path ("." if it has none). */
void gab_app_folder_of(const char *path, char *folder, size_t capacity);
/** Whether the case has strategy `local`. Pure. */
bool gab_app_wants_local(const gab_app_case *which);

/* ---------------------------------------------------------------- where a run begins, and what it needs */

/** Takes the lock of the output folder, searches for checkpoints of an earlier run there, and compares the case.
 * Collective. Writes nothing else. @param[out] lock  to be released for any status @param[out] restart  NULL: the run
 * starts at step 0; owned by the caller @param[out] is_finished  all steps are done @return ::GAB_ERR_INPUT with all
 * parameters that differ, or with the run that holds the lock */
gab_status gab_app_continuation_find(gab_world *world, const gab_app_case *which, const char *folder,
                                     gab_run_lock **lock, gab_restart **restart, bool *is_finished);
/** Checks for results of a finished run in a folder without checkpoints. Collective; writes nothing. @param[out]
 * is_finished they are those of this case, except for sections that change no result; logged @return ::GAB_ERR_INPUT with
 * all parameters that differ if they are those of another case */
gab_status gab_app_kept_results_check(gab_world *world, const gab_app_case *which, const char *folder,
                                      bool *is_finished);
/** Compares a case with that of the last run that ended in a folder, as far as sections change results. Local. The content of
 * files that the case names counts if gab_config_hash_files() has read it. @param[out] code  exit code of that run; -1: there
 * is none @param[out] differences  appended: lines; none if it is this case */
gab_status gab_app_kept_results_compare(const gab_config *config, const char *folder, int *code,
                                        gab_buffer *differences);
/** @param[in,out] differences  of gab_app_kept_results_compare(); terminated @return ::GAB_ERR_INPUT with them and the folder */
gab_status gab_app_kept_results_refuse(const char *folder, gab_buffer *differences);
/** Compares a case with that of a checkpoint. A file that only a start reads (gab_config_key.at_start) counts as equal if
 * the case names the same file, or if it no longer exists. Local, equal on all ranks. @param[in] has_begun the case belongs
 * to a run that is only read: files of its start are ignored @param[out] differences  lines, terminated @param[out] count
 * of parameters that differ */
gab_status gab_app_manifest_compare(const gab_config *config, const gab_manifest *manifest, bool has_begun,
                                    gab_buffer *differences, size_t *count);
/** Refuses a checkpoint of another case unless the options say to resume from it anyway: a warning. Local, equal on all ranks.
 * @return ::GAB_ERR_INPUT with all parameters that differ */
gab_status gab_app_manifest_check(const gab_config *config, const gab_app_options *options,
                                  const gab_manifest *manifest);
/** Compares the case.yaml of two output folders: parameters of all sections, and contents of files that they name. Local.
 * @param[out] differences  appended: lines "  key: VALUE in A, VALUE in B" @param[out] count  of them @return
 * ::GAB_ERR_INPUT if one cannot be read by this program */
gab_status gab_app_case_files_compare(const char *path_a, const char *path_b, gab_buffer *differences,
                                      size_t *count);
/** Logs how a run ended before its last step. A stop by the time limit is not an error. Local, called by all. */
void gab_app_tell_end(gab_world *world, gab_status status);
/** Members of summary.json that describe the case: title, time step, physical time at the end, parameters that differ from
 * their defaults. */
void gab_app_put_case(gab_json *json, const gab_app_case *which, double time);
/** True if old checkpoints are to be removed. */
bool gab_app_starts_anew(const gab_app_options *options);
/** Checks that depend on the number of processes: ranks of fault injections and of a file of failure domains. Collective.
 * @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_app_processes_check(gab_world *world, const gab_app_case *which);
/** Bytes of snapshots in a process per byte of its image: buffers of the case times own and stored images (Kohl et al.
 * 2017, eq. 2). Local. @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_app_snapshot_factor(const gab_config *config, int32_t processes, double *factor);
/** ::GAB_ERR_INPUT with the numbers if the case needs more memory than this node has free. Local.
 *  @param[in] here  processes on this node */
gab_status gab_app_memory_check(const gab_config *config, const gab_app_memory *memory, int processes,
                                int here);
/** The same on every node of a run, except with --overcommit or after a death. Collective. */
gab_status gab_app_memory_settle(gab_world *world, const gab_app_case *which, const gab_app_memory *memory);
/** "cases/cylinder.yaml" to "out/cylinder". */
void gab_app_default_folder(const char *path, char *folder, size_t capacity);

/* ---------------------------------------------------------------- the monitor `recompute': run/recompute_monitor.c */

gab_status gab_app_recompute_plan_read(const gab_config *config, gab_step check_every,
                                       gab_app_recompute *plan);
/** Whether blocks are computed twice in the step with this number, from 1. Pure. */
bool gab_app_recompute_plan_has(const gab_app_recompute *plan, gab_step steps);
gab_status gab_app_recompute_declare(gab_config *config);
/** Whether the monitor reports after `steps` steps: in these steps, and in the next ones. Pure. */
bool gab_app_recompute_plan_looks(const gab_app_recompute *plan, gab_step steps);

/** ::GAB_ERR_INPUT if the recovery strategies of a case include `reconstruct`. @param[in] why  reason why it is impossible */
gab_status gab_app_reconstruct_refuse(const gab_config *config, const char *why);

/** ::GAB_ERR_INPUT for a name of a probe, line or body that cannot be in the head of a table. */
gab_status gab_app_column_check(const gab_config *config, const char *path);

/** Reads an output schedule from the keys every, interval, start below `path`. */
gab_status gab_app_schedule_read(const gab_config *config, const char *path, double dt,
                                 gab_schedule *schedule);
/** The same for a series of rows, including the last state. Nothing is due without the section; with it, every or interval
 * is required. */
gab_status gab_app_series_read(const gab_config *config, const char *path, double dt, gab_schedule *schedule);

/** Reads the compression level of files from the key compression below `path`. */
int gab_app_compression_read(const gab_config *config, const char *path);

/** Checks that depend on the number of processes, for any number up to `most`: refuses what is invalid for all of them, and
 * warns of fault injections on ranks that none of them has. @return ::GAB_ERR_INPUT for a file of failure domains that fits
 * none */
gab_status gab_app_any_processes_check(const gab_app_case *which, uint64_t most);

/** Logs the number of spare processes that a case asks for, if any. */
void gab_app_describe_spares(const gab_config *config, int64_t processes);

/** Number of possible blocks of level 0, and the cells of one of them, counted along x first. Pure. */
int64_t gab_app_root_count(const gab_forest_options *forest);
gab_box gab_app_root_cells(const gab_forest_options *forest, int64_t root);

#endif
