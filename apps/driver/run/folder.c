/* SPDX-License-Identifier: Apache-2.0 */
/* The output folder of a run. */
#include "apps/driver/driver.h"
#include "blockforest/output/output_retry.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "core/system/run_file.h"
#include "resilience/reports/completion.h"
#include "resilience/run_folder/run_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "cases/cylinder.yaml" to "out/cylinder". */
void gab_app_default_folder(const char *path, char *folder, size_t capacity)
{
  const char *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  const char *dot = strrchr(name, '.');
  size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  if (strspn(name, ".") >= length) length = strlen(name); /* a name like "...yaml" must not become out/.. */
  snprintf(folder, capacity, "out/%.*s", (int)length, name);
}

static gab_status write_text(const char *path, const char *text, size_t length)
{
  char why[900];
  if (gab_output_file_save(path, text, length) == GAB_OK) return GAB_OK;
  snprintf(why, sizeof why, "%s", gab_error_message());
  GAB_FAIL(GAB_ERR_INPUT, "%s", why);
}

/* The root's part: prepares a folder in which results of an older run cannot be mistaken for those of this one. */
static gab_status prepare_folder(const gab_app_case *which, const char *folder, bool continues)
{
  char path[GAB_APP_PATH_LENGTH + 32], why[GAB_RUN_FILE_WHY];
  snprintf(path, sizeof path, "%s/checkpoints", folder);
  if (!gab_run_folder_is_safe(path, why)) GAB_FAIL(GAB_ERR_INPUT, "%s", why);
  snprintf(path, sizeof path, "%s/summary.json", folder);
  unlink(path);
  snprintf(path, sizeof path, "%s/log.txt", folder);
  if (!continues && gab_launch_attempt() == 0) unlink(path); /* a restarted run appends to its log */
  snprintf(path, sizeof path, "%s/checkpoints", folder);
  if (gab_app_starts_anew(which->options)) GAB_TRY(gab_restart_remove_all(path));
  gab_buffer text = {0};
  gab_status status = gab_config_effective(which->config, &text);
  snprintf(path, sizeof path, "%s/case.yaml", folder);
  if (status == GAB_OK) status = write_text(path, (const char *)text.data, text.size);
  gab_buffer_release(&text);
  return status;
}

static gab_status open_folder(gab_world *world, const gab_app_case *which, const char *folder, bool continues)
{
  gab_status status = GAB_OK;
  char path[GAB_APP_PATH_LENGTH + 32];
  if (strlen(folder) >= GAB_APP_PATH_LENGTH)
    GAB_FAIL(GAB_ERR_INPUT, "the name of the output folder is too long: %.60s...", folder);
  GAB_TRY(gab_output_folder_make(world, folder));
  if (gab_world_is_root(world)) status = prepare_folder(which, folder, continues);
  GAB_TRY(gab_world_reduce_status(world, status));
  snprintf(path, sizeof path, "%s/log.txt", folder);
  return gab_world_reduce_status(world, gab_log_open(path));
}

/* At the first attempt a disk that refuses writing is an error of the user. Later attempts wait for it, and keep the data
 * in node memory. */
gab_status gab_app_folder_open(gab_world *world, const gab_app_case *which, const char *folder,
                               bool continues)
{
  const double patience = gab_config_real(which->config, "output.retry");
  const bool may_find = gab_launch_attempt() > 0 && getenv("GABION_NODE_MEMORY");
  char why[900];
  gab_output_set_retry(may_find ? patience : 0);
  const gab_status status = open_folder(world, which, folder, continues);
  gab_output_set_retry(patience);
  if (status != GAB_ERR_INPUT || !may_find) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  GAB_FAIL(GAB_ERR_AGAIN, "%s; the state in node memory is kept", why);
}

/* Files of every run, and those among them that exist when it begins. */
#define BEGUN_FILES "case.yaml\nlog.txt\nevents.jsonl\n"
#define OWN_FILES   BEGUN_FILES "progress.json\nsummary.json\n"

static gab_status settle_folder(const char *folder, gab_output *const *outputs, const char *more,
                                bool continues)
{
  gab_buffer names = {0};
  uint64_t removed = 0;
  gab_status status = gab_put_bytes(&names, OWN_FILES, sizeof OWN_FILES - 1);
  for (size_t i = 0; outputs[i] && status == GAB_OK; i++) status = gab_output_list_files(outputs[i], &names);
  if (status == GAB_OK && more) status = gab_put_bytes(&names, more, strlen(more));
  if (status == GAB_OK)
    status = gab_run_files_settle(folder, &names, BEGUN_FILES,
                                  continues ? GAB_RUN_FILES_KEEP : GAB_RUN_FILES_REMOVE, &removed);
  gab_buffer_release(&names);
  if (removed > 0)
    gab_log(GAB_LOG_INFO, "removed %" PRIu64 " file%s of an earlier run from %s (those of its %s)", removed,
            removed == 1 ? "" : "s", folder, GAB_RUN_FILES);
  return status;
}

gab_status gab_app_folder_settle(gab_world *world, const char *folder, gab_output *const *outputs,
                                 const char *more, bool continues)
{
  const bool again = gab_launch_attempt() > 0; /* files of the previous attempt belong to this run */
  gab_status status = GAB_OK;
  if (gab_world_is_root(world)) status = settle_folder(folder, outputs, more, continues || again);
  return gab_world_reduce_status(world, status);
}
