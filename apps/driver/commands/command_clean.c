/* SPDX-License-Identifier: Apache-2.0 */
/* gabion clean: removes what finished runs need no more. Needs no MPI. */
#include "apps/driver/commands/run_tree.h"
#include "apps/driver/commands/status_history.h"

#include "core/base/log.h"
#include "core/world/alone.h"
#include "resilience/run_folder/run_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: gabion clean FOLDER... [--dry-run] [--all]\n"
    "\n"
    "Removes what finished runs need no more: their checkpoints, and unfinished temporary files. Results\n"
    "stay. FOLDER is the output folder of a run, or a folder of runs, such as that of a sweep.\n"
    "\n"
    "  --dry-run  say what would be removed\n"
    "  --all      also of runs that are unfinished or failed: they then cannot resume\n"
    "\n"
    "Runs that compute are left alone. A larger run.steps then starts from step 0, and other cases cannot\n"
    "start from these checkpoints. Memory of nodes is freed by gabion-launch, not here.\n"
    "Exit code: 0, 2 if a FOLDER has no run, or if a run was left alone that computes or is unfinished.\n";

typedef struct cleaning {
  const gab_app_options *options;
  uint64_t files, bytes; /* of all runs */
  size_t left_alone;
} cleaning;

/* ---------------------------------------------------------------- sizes */

/* Adds regular files in a folder and below, at most two levels. */
static void add_sizes(const char *folder, int depth, uint64_t *files, uint64_t *bytes)
{
  char path[PATH_MAX];
  struct stat about;
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= PATH_MAX || lstat(path, &about) != 0)
      continue;
    if (S_ISDIR(about.st_mode) && depth < 2) add_sizes(path, depth + 1, files, bytes);
    if (!S_ISREG(about.st_mode)) continue;
    ++*files;
    *bytes += (uint64_t)about.st_size;
  }
  if (entries) closedir(entries);
}

static const char *size_text(uint64_t bytes, char text[32])
{
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  double value = (double)bytes;
  size_t unit = 0;
  for (; value >= 1000 && unit < 4; unit++) value /= 1000;
  snprintf(text, 32, unit == 0 ? "%.0f %s" : "%.3g %s", value, units[unit]);
  return text;
}

/* ---------------------------------------------------------------- one run */

static gab_status remove_checkpoints(const char *path, bool dry_run, uint64_t *files, uint64_t *bytes)
{
  uint64_t left_files = 0, left_bytes = 0, all_files = 0, all_bytes = 0;
  struct stat about;
  if (lstat(path, &about) != 0 || !S_ISDIR(about.st_mode)) return GAB_OK;
  add_sizes(path, 0, &all_files, &all_bytes);
  gab_status status = dry_run ? GAB_OK : gab_restart_remove_all(path);
  if (!dry_run) {
    add_sizes(path, 0, &left_files, &left_bytes); /* of other programs */
    (void)rmdir(path);
  }
  *files += all_files - left_files;
  *bytes += all_bytes - left_bytes;
  return status;
}

static gab_status clean_locked(cleaning *all, const char *folder)
{
  char path[PATH_MAX], size[32];
  uint64_t files = 0, bytes = 0;
  const bool dry_run = all->options->dry_run;
  snprintf(path, sizeof path, "%s/checkpoints", folder);
  gab_status status = remove_checkpoints(path, dry_run, &files, &bytes);
  if (status == GAB_OK) status = gab_run_files_remove_unfinished(folder, dry_run, &files, &bytes);
  all->files += files;
  all->bytes += bytes;
  if (files > 0)
    printf("%s: %s %" PRIu64 " file%s, %s\n", folder, dry_run ? "would remove" : "removed", files,
           files == 1 ? "" : "s", size_text(bytes, size));
  return status;
}

/* Whether the run needs its checkpoints to resume. @param[out] state  of it */
static bool is_unfinished(const char *folder, char state[64])
{
  gab_app_status_history *past = calloc(1, sizeof *past);
  gab_json_document *progress = gab_app_status_open(folder, "progress.json");
  snprintf(state, 64, "unknown");
  if (past && gab_app_status_history_read(folder, past))
    snprintf(state, 64, "%s", gab_app_status_word(progress, past));
  gab_json_forget(&progress);
  free(past);
  return strcmp(state, "done") != 0;
}

static gab_status clean_run(void *user, const char *folder)
{
  cleaning *all = user;
  char state[64], whose[512];
  gab_world *world = NULL;
  gab_run_lock *lock = NULL;
  if (gab_run_lock_is_held(folder, whose, sizeof whose)) {
    all->left_alone++;
    printf("%s: left alone: %s computes there\n", folder, whose);
    return GAB_OK;
  }
  if (is_unfinished(folder, state) && !all->options->all) {
    all->left_alone++;
    printf("%s: left alone: %s, and it needs its checkpoints to resume (--all removes them)\n", folder,
           state);
    return GAB_OK;
  }
  if (all->options->dry_run) return clean_locked(all, folder);
  GAB_TRY(gab_world_create_alone(&world));
  gab_status status = gab_run_lock_take(world, folder, &lock);
  if (status == GAB_OK) status = clean_locked(all, folder);
  gab_run_lock_release(&lock, GAB_RUN_LOCK_REMOVE);
  gab_world_destroy(&world);
  return status;
}

/* ---------------------------------------------------------------- the command */

static gab_status clean(cleaning *all)
{
  char size[32];
  const gab_app_options *options = all->options;
  if (options->word_count == 0) GAB_FAIL(GAB_ERR_INPUT, "no folder given (gabion clean --help)");
  for (size_t i = 0; i < options->word_count; i++)
    GAB_TRY(gab_app_run_tree_visit(options->words[i], clean_run, all));
  printf("%s %" PRIu64 " file%s, %s%s\n", options->dry_run ? "would remove" : "removed", all->files,
         all->files == 1 ? "" : "s", size_text(all->bytes, size),
         all->left_alone > 0 ? "; some runs were left alone" : "");
  return GAB_OK;
}

int gab_app_command_clean(int argc, char **argv)
{
  gab_app_options options;
  cleaning all = {.options = &options};
  gab_status status = gab_app_options_parse(argc, argv, "yA*", &options);
  if (status == GAB_OK && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  if (status == GAB_OK) status = clean(&all);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  return status != GAB_OK ? gab_status_exit_code(status) : all.left_alone > 0 ? 2 : 0;
}
