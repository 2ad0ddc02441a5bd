/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said about the points of a sweep before their runs. */
#include "apps/driver/campaign/sweep/sweep_impl.h"

#include "core/base/log.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_REFUSALS = 3, SHOWN_OTHERS = 10 };

/* ---------------------------------------------------------------- one point */

/* What the folder says about earlier runs of the case. */
static gab_status find_state(const gab_app_sweep *sweep, size_t index, gab_app_case *which)
{
  gab_app_sweep_point *point = &sweep->points[index];
  char folder[PATH_MAX], path[PATH_MAX];
  gab_buffer differences = {0}, hashes = {0};
  point->state = GAB_APP_SWEEP_WAITING;
  point->is_fresh = sweep->options->fresh;
  if (sweep->options->fresh || access(gab_app_sweep_path(sweep, index, "summary.json", path), R_OK) != 0)
    return GAB_OK;
  gab_status status = gab_config_hash_files(which->config, &hashes);
  if (status == GAB_OK)
    status = gab_app_kept_results_compare(which->config, gab_app_sweep_path(sweep, index, NULL, folder),
                                          &point->code, &differences);
  const bool is_same = status == GAB_OK && differences.size == 0;
  gab_buffer_release(&differences);
  gab_buffer_release(&hashes);
  if (!is_same) return status; /* the run resumes, or says what differs */
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
  if (status == GAB_OK) status = find_state(sweep, index, which);
  if (status == GAB_OK && use) status = use(which);
  gab_app_case_destroy(&which);
  gab_app_sweep_settings_release(&settings);
  return status;
}

/* ---------------------------------------------------------------- all points */

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
  return GAB_OK;
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
  if (refused == 0) return GAB_OK;
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
