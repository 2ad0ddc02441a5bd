/* SPDX-License-Identifier: Apache-2.0 */
/* Restores the output folder after a refused start. A checkpoint that does not match the case is detected when its
 * first image is read, and the folder has been opened before. */
#include "apps/driver/run/run_impl.h"
#include "resilience/run_folder/run_files.h"

#include "core/base/log.h"
#include "core/system/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20 };

/* Files that a start writes completely, and files that it appends to. */
static const char *const written[GAB_APP_KEPT_FILES] = {"summary.json", "case.yaml", "progress.json",
                                                        GAB_RUN_FILES};
static const char *const appended[GAB_APP_KEPT_LOGS] = {"log.txt", "events.jsonl"};

static void path_in(const char *folder, const char *name, char path[GAB_APP_PATH_LENGTH + 32])
{
  snprintf(path, GAB_APP_PATH_LENGTH + 32, "%s/%s", folder, name);
}

void gab_app_folder_keep(const char *folder, gab_app_kept_folder *kept)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  struct stat is;
  for (int i = 0; i < GAB_APP_KEPT_FILES; i++) {
    path_in(folder, written[i], path);
    kept->is_there[i] = gab_file_read(path, MOST_BYTES, &kept->content[i]) == GAB_OK;
  }
  for (int i = 0; i < GAB_APP_KEPT_LOGS; i++) {
    path_in(folder, appended[i], path);
    kept->size[i] = lstat(path, &is) == 0 && S_ISREG(is.st_mode) ? (int64_t)is.st_size : -1;
  }
  kept->is_kept = true;
  gab_error_clear();
}

void gab_app_folder_put_back(const char *folder, const gab_app_kept_folder *kept)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  for (int i = 0; i < GAB_APP_KEPT_FILES; i++) {
    path_in(folder, written[i], path);
    if (!kept->is_there[i]) (void)unlink(path);
    else if (gab_file_replace(path, kept->content[i].data, kept->content[i].size, GAB_FILE_RENAMED) != GAB_OK)
      gab_log_all(GAB_LOG_WARNING, "%s", gab_error_message());
  }
  for (int i = 0; i < GAB_APP_KEPT_LOGS; i++) {
    path_in(folder, appended[i], path);
    if ((kept->size[i] < 0 ? unlink(path) : truncate(path, (off_t)kept->size[i])) != 0 && errno != ENOENT)
      gab_log_all(GAB_LOG_WARNING, "%s cannot be truncated to its former length: %s", path, strerror(errno));
  }
}

void gab_app_kept_folder_release(gab_app_kept_folder *kept)
{
  for (int i = 0; i < GAB_APP_KEPT_FILES; i++) gab_buffer_release(&kept->content[i]);
}
