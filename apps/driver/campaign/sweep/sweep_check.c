/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said about the points of a sweep before their runs. */
#include "apps/driver/campaign/sweep/sweep_impl.h"

#include "core/base/log.h"
#include "core/memory/memory.h"
#include "core/world/alone.h"
#include "resilience/disk/restart.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_REFUSALS = 3, SHOWN_OTHERS = 10 };

/* ---------------------------------------------------------------- one point */

/* Refuses a folder with results or checkpoints of another case, as the run would: before anything is written. Where a run
 * writes, the next one decides. */
static gab_status check_folder(const gab_app_case *which, const char *folder, int code,
                               gab_buffer *differences)
{
  char checkpoints[PATH_MAX + 16];
  gab_world *world = NULL;
  gab_restart *restart = NULL;
  snprintf(checkpoints, sizeof checkpoints, "%s/checkpoints", folder);
  if (gab_run_lock_is_held(folder, NULL, 0)) return GAB_OK;
  bool has_any = access(checkpoints, R_OK) == 0;
  gab_status status = has_any ? gab_world_create_alone(&world) : GAB_OK;
  if (status == GAB_OK && has_any) status = gab_restart_find(world, checkpoints, false, &restart);
  has_any = status == GAB_OK && has_any && gab_restart_count(restart) > 0;
  if (has_any)
    status = gab_app_manifest_check(which->config, which->options, gab_restart_manifest(restart, 0));
  else if (status == GAB_OK && code == 0 && differences->size > 0)
    status = gab_app_kept_results_refuse(folder, differences);
  gab_restart_destroy(&restart);
  gab_world_destroy(&world);
  return status;
}

/* What the folder says about earlier runs of the case. */
static gab_status find_state(const gab_app_sweep *sweep, size_t index, gab_app_case *which)
{
  gab_app_sweep_point *point = &sweep->points[index];
  char folder[PATH_MAX], path[PATH_MAX];
  gab_buffer differences = {0}, hashes = {0};
  point->state = GAB_APP_SWEEP_WAITING;
  point->is_fresh = sweep->options->fresh;
  if (sweep->options->fresh || access(gab_app_sweep_path(sweep, index, NULL, folder), R_OK) != 0)
    return GAB_OK;
  const bool has_ended = access(gab_app_sweep_path(sweep, index, "summary.json", path), R_OK) == 0;
  gab_status status = gab_config_hash_files(which->config, &hashes);
  if (status == GAB_OK && has_ended)
    status = gab_app_kept_results_compare(which->config, folder, &point->code, &differences);
  const bool is_same = status == GAB_OK && has_ended && differences.size == 0;
  if (status == GAB_OK && !is_same)
    status = check_folder(which, folder, has_ended ? point->code : -1, &differences);
  gab_buffer_release(&differences);
  gab_buffer_release(&hashes);
  if (!is_same) return status; /* the run resumes, or starts */
  point->is_kept = point->code == 0;
  if (point->code == 0) point->state = GAB_APP_SWEEP_DONE;
  else if (point->code == gab_status_exit_code(GAB_ERR_DIVERGED) && sweep->options->redo)
    point->is_fresh = true;
  else if (point->code == gab_status_exit_code(GAB_ERR_DIVERGED)) { /* and would again */
    point->state = GAB_APP_SWEEP_FAILED;
    free(point->message);
    point->message = strdup("diverged before; --redo computes it again");
  }
  return GAB_OK;
}

/* Equal values give equal hashes, however they are written. */
static gab_status hash_case(gab_app_sweep_point *point, const gab_app_case *which)
{
  gab_buffer text = {0};
  const gab_status status = gab_config_canonical(which->config, &text);
  if (status == GAB_OK) point->hash = gab_hash64(text.data, text.size, 0);
  gab_buffer_release(&text);
  return status;
}

/* Reads the case of a point. @param[in] use  what to do with it; NULL: nothing more */
static gab_status read_point(const gab_app_sweep *sweep, size_t index,
                             gab_status (*use)(const gab_app_case *which))
{
  gab_app_sweep_settings settings = {.count = 0};
  gab_app_case *which = NULL;
  gab_status status = gab_app_sweep_settings_make(sweep, index, &settings);
  gab_app_options options = {.word = sweep->case_file, .setting_count = settings.count};
  memcpy(options.settings, settings.items, sizeof options.settings);
  if (status == GAB_OK) status = gab_app_case_from_file(&options, &which);
  if (status == GAB_OK) status = hash_case(&sweep->points[index], which);
  if (status == GAB_OK) status = find_state(sweep, index, which);
  if (status == GAB_OK && use) status = use(which);
  gab_app_case_destroy(&which);
  gab_app_sweep_settings_release(&settings);
  return status;
}

/* ---------------------------------------------------------------- all points */

static int compare_hashes(const void *a, const void *b)
{
  const gab_app_sweep_point *one = *(const gab_app_sweep_point *const *)a,
                            *other = *(const gab_app_sweep_point *const *)b;
  if (one->hash != other->hash) return one->hash < other->hash ? -1 : 1;
  return one < other ? -1 : one > other;
}

/* Refuses points that are one case under two names. */
static gab_status check_different(const gab_app_sweep *sweep)
{
  const gab_app_sweep_point **order;
  size_t count = 0;
  GAB_TRY(GAB_NEW_ARRAY(&order, sweep->point_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < sweep->point_count; i++)
    if (sweep->points[i].state != GAB_APP_SWEEP_LEFT) order[count++] = &sweep->points[i];
  qsort(order, count, sizeof *order, compare_hashes);
  gab_status status = GAB_OK;
  for (size_t i = 1; i < count && status == GAB_OK; i++)
    if (order[i - 1]->hash == order[i]->hash)
      status = gab_config_fail(
          sweep->config, "vary",
          "points %td and %td, %.100s and %.100s, are the same case; leave one of them out",
          order[i - 1] - sweep->points + 1, order[i] - sweep->points + 1, order[i - 1]->name, order[i]->name);
  gab_free(&order);
  return status;
}

gab_status gab_app_sweep_check(gab_app_sweep *sweep)
{
  size_t refused = 0;
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR); /* warnings are in the log of each run */
  for (size_t i = 0; i < sweep->point_count; i++) {
    if (sweep->points[i].state == GAB_APP_SWEEP_LEFT || read_point(sweep, i, NULL) == GAB_OK) continue;
    if (refused++ < SHOWN_REFUSALS)
      gab_log(GAB_LOG_ERROR, "point %zu, %s: %s", i + 1, sweep->points[i].name, gab_error_message());
  }
  const gab_log_level level = sweep->options->quiet ? GAB_LOG_WARNING : GAB_LOG_INFO;
  gab_log_set_level(level, level);
  if (refused > 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s: %zu of %zu points are refused; nothing was started",
             gab_config_name(sweep->config), refused, sweep->point_count);
  return check_different(sweep);
}

static const char *word_of(const gab_app_sweep_point *point, bool is_refused)
{
  if (is_refused) return "refused";
  return point->state == GAB_APP_SWEEP_DONE     ? "done"
         : point->state == GAB_APP_SWEEP_FAILED ? "diverged"
                                                : "to run";
}

gab_status gab_app_sweep_list(gab_app_sweep *sweep)
{
  int longest = 0;
  size_t refused = 0;
  for (size_t i = 0; i < sweep->point_count; i++)
    if ((int)strlen(sweep->points[i].name) > longest) longest = (int)strlen(sweep->points[i].name);
  gab_log_set_level(GAB_LOG_WARNING, GAB_LOG_WARNING); /* without what `check` derives */
  for (size_t i = 0; i < sweep->point_count; i++) {
    if (sweep->points[i].state == GAB_APP_SWEEP_LEFT) continue;
    const bool is_refused = read_point(sweep, i, gab_app_case_check) != GAB_OK;
    printf("%5zu  %-*s  %s\n", i + 1, longest, sweep->points[i].name, word_of(&sweep->points[i], is_refused));
    if (is_refused) printf("       %s\n", gab_error_message());
    fflush(stdout); /* warnings of the case are on the other stream */
    refused += is_refused;
  }
  if (refused == 0) return check_different(sweep);
  GAB_FAIL(GAB_ERR_INPUT, "%s: %zu of %zu points are refused", gab_config_name(sweep->config), refused,
           sweep->point_count);
}

static bool is_point(const gab_app_sweep *sweep, const char *name)
{
  for (size_t i = 0; i < sweep->point_count; i++)
    if (strcmp(sweep->points[i].name, name) == 0) return true;
  return false;
}

void gab_app_sweep_name_others(const gab_app_sweep *sweep)
{
  size_t count = 0;
  char path[PATH_MAX];
  DIR *entries = opendir(sweep->folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    if (entry->d_name[0] == '.' || is_point(sweep, entry->d_name)) continue;
    snprintf(path, sizeof path, "%s/%s/case.yaml", sweep->folder, entry->d_name);
    if (access(path, F_OK) != 0 || count++ >= SHOWN_OTHERS) continue;
    gab_log(GAB_LOG_INFO, "left: %s/%s has a run that is not a point of %s", sweep->folder, entry->d_name,
            gab_config_name(sweep->config));
  }
  if (count > SHOWN_OTHERS) gab_log(GAB_LOG_INFO, "left: %zu more", count - SHOWN_OTHERS);
  if (entries) closedir(entries);
}
