/* SPDX-License-Identifier: Apache-2.0 */
/* Start of a run: from step 0, or from a checkpoint of the previous run in the same folder. */
#include "apps/driver/driver.h"

#include "core/messages/collective.h"
#include "core/base/text/json.h"
#include "core/base/log.h"
#include "resilience/reports/completion.h"
#include "resilience/reports/history.h"
#include "resilience/resilience_config.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* A run that the launcher restarts always resumes. */
bool gab_app_starts_anew(const gab_app_options *options)
{
  return options->fresh && gab_launch_attempt() == 0;
}

static bool has_its_default(const void *config, const char *key) { return !gab_config_is_set(config, key); }

/* ---------------------------------------------------------------- files that only a start reads */

/* The next line of a text "key = value", and its key. @return its length including the end; 0: no more lines */
static size_t next_line(const gab_buffer *text, size_t at, char key[GAB_CONFIG_PATH_CAPACITY])
{
  const char *line = (const char *)text->data + at;
  const size_t left = text->size - at;
  if (left == 0) return 0;
  const char *end = memchr(line, '\n', left), *equals = memchr(line, '=', left);
  const size_t length = end ? (size_t)(end - line) + 1 : left;
  size_t name = equals && equals < line + length ? (size_t)(equals - line) : length;
  while (name > 0 && line[name - 1] == ' ') name--;
  snprintf(key, GAB_CONFIG_PATH_CAPACITY, "%.*s", (int)name, line);
  return length;
}

/* @return the length of the line of a key; 0: not found */
static size_t find_line(const gab_buffer *text, const char *key, size_t *at)
{
  char here[GAB_CONFIG_PATH_CAPACITY];
  size_t length;
  for (*at = 0; (length = next_line(text, *at, here)) > 0; *at += length)
    if (strcmp(here, key) == 0) return length;
  return 0;
}

static bool have_same_line(const gab_buffer *a, const gab_buffer *b, const char *key)
{
  size_t at_a, at_b;
  const size_t length = find_line(a, key, &at_a);
  return length > 0 && find_line(b, key, &at_b) == length &&
         memcmp(a->data + at_a, b->data + at_b, length) == 0;
}

/* The file of a start may have changed since, or no longer exist, without effect on the checkpoint. It counts as equal if
 * the case names the same file, or if it no longer exists. */
static bool is_settled(const gab_config *config, const gab_manifest *manifest, const gab_buffer *parameters,
                       const gab_buffer *mine, const char *key)
{
  gab_hash64_stream nothing;
  char empty[GAB_CONFIG_PATH_CAPACITY + 64];
  size_t at;
  if (!gab_config_is_read_at_start(config, key) || find_line(&manifest->state, key, &at) == 0) return false;
  gab_hash64_begin(&nothing, 0);
  const size_t length =
      (size_t)snprintf(empty, sizeof empty, "%s = content %016" PRIx64 "\n", key, gab_hash64_of(&nothing));
  if (find_line(mine, key, &at) == length && memcmp(mine->data + at, empty, length) == 0) return true;
  return have_same_line(&manifest->parameters, parameters, key);
}

/* Lines of the parameters that count as differences. @param[out] out  cleared */
static gab_status keep_unsettled(const gab_config *config, const gab_manifest *manifest, bool has_begun,
                                 const gab_buffer *mine, const gab_buffer *from, gab_buffer *out)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_buffer parameters = {0};
  gab_status status = gab_config_canonical(config, &parameters);
  for (size_t at = 0, length; status == GAB_OK && (length = next_line(from, at, key)) > 0; at += length)
    if (!(has_begun && gab_config_is_read_at_start(config, key)) &&
        !is_settled(config, manifest, &parameters, mine, key))
      status = gab_put_bytes(out, from->data + at, length);
  gab_buffer_release(&parameters);
  return status;
}

/* ---------------------------------------------------------------- the case of a checkpoint */

/* Appends the files with changed content to the differences; ends the text. */
static gab_status name_files(const gab_config *config, gab_buffer *differences)
{
  gab_buffer lines = {0};
  GAB_TRY(gab_put_u8(differences, 0));
  gab_status status = gab_config_name_files(config, (const char *)differences->data, &lines);
  differences->size--;
  if (status == GAB_OK) status = gab_put_bytes(differences, lines.data, lines.size);
  if (status == GAB_OK) status = gab_put_u8(differences, 0);
  gab_buffer_release(&lines);
  return status;
}

gab_status gab_app_manifest_compare(const gab_config *config, const gab_manifest *manifest, bool has_begun,
                                    gab_buffer *differences, size_t *count)
{
  gab_buffer all = {0}, mine = {0}, theirs = {0};
  gab_status status = gab_resilience_state_text(config, &all);
  if (status == GAB_OK) status = keep_unsettled(config, manifest, has_begun, &all, &all, &mine);
  if (status == GAB_OK) status = keep_unsettled(config, manifest, has_begun, &all, &manifest->state, &theirs);
  *count = status == GAB_OK ? gab_manifest_compare(&theirs, &mine, "in the checkpoint", "now",
                                                   has_its_default, config, differences)
                            : 0;
  if (status == GAB_OK) status = name_files(config, differences);
  gab_buffer_release(&all);
  gab_buffer_release(&mine);
  gab_buffer_release(&theirs);
  return status;
}

gab_status gab_app_manifest_check(const gab_config *config, const gab_app_options *options,
                                  const gab_manifest *manifest)
{
  gab_buffer differences = {0};
  size_t count;
  gab_status status = gab_app_manifest_compare(config, manifest, false, &differences, &count);
  const char *text = (const char *)differences.data;
  if (status == GAB_OK && count > 0 && options->anyway)
    gab_log(GAB_LOG_WARNING,
            "resuming from the checkpoint of another case, step %" GAB_PRI_STEP ":\n"
            "%s",
            manifest->step, text);
  else if (status == GAB_OK && count > 0)
    status =
        gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__,
                      "the output folder has a checkpoint (step %" GAB_PRI_STEP ") of another case:\n"
                      "%.1500s--fresh removes it and starts from step 0, --continue-anyway resumes from it,"
                      " another --out keeps it",
                      manifest->step, text);
  gab_buffer_release(&differences);
  return status;
}

/* Whether all steps and the final output were done. Read by the root. */
static gab_status ask_finished(gab_world *world, const char *folder, const gab_manifest *newest,
                               gab_step steps, bool *finished)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  snprintf(path, sizeof path, "%s/summary.json", folder);
  uint64_t done = 0;
  if (gab_world_is_root(world) && newest->step >= steps) {
    char code[16] = "0";
    gab_json_document *summary = gab_json_read_file(path);
    gab_json_get_text(summary, "/exit_code", code, sizeof code);
    done = newest->step > steps || strcmp(code, "0") == 0;
    gab_json_forget(&summary);
  }
  GAB_TRY(gab_world_max_u64(world, &done, 1));
  *finished = done;
  return GAB_OK;
}

/* Refuses to start again if jobs have repeatedly died at the same place. Read by the root. */
static gab_status check_tries(gab_world *world, const gab_config *config, const char *folder)
{
  gab_history history = {.from = -1};
  if (gab_world_is_root(world)) gab_history_read(folder, &history);
  uint64_t facts[2] = {history.deaths, (uint64_t)(history.from + 1)};
  GAB_TRY(gab_world_max_u64(world, facts, 2));
  if (facts[0] < (uint64_t)gab_config_int(config, "resilience.tries")) return GAB_OK;
  GAB_FAIL(GAB_ERR_ENDED,
           "%" PRIu64 " jobs in a row resumed from step %" PRIu64
           " and died before the next checkpoint on disk: giving up; see %s/log.txt and "
           "events.jsonl (a larger resilience.tries allows more, --fresh starts from step 0; a "
           "shorter resilience.disk.every helps if the deaths are independent)",
           facts[0], facts[1] - 1, folder);
}

/* Evaluates the newest checkpoint of the folder for this run. */
static gab_status check_newest(gab_world *world, const gab_app_case *which, const char *folder,
                               const gab_manifest *newest, bool *is_finished)
{
  GAB_TRY(gab_app_manifest_check(which->config, which->options, newest));
  GAB_TRY(ask_finished(world, folder, newest, which->steps, is_finished));
  if (!*is_finished) return check_tries(world, which->config, folder);
  gab_log(GAB_LOG_INFO,
          "finished: %s has the results of all %" GAB_PRI_STEP
          " steps (a larger run.steps resumes, --fresh starts from step 0)",
          folder, newest->step);
  return GAB_OK;
}

gab_status gab_app_continuation_find(gab_world *world, const gab_app_case *which, const char *folder,
                                     gab_run_lock **lock, gab_restart **restart, bool *is_finished)
{
  char checkpoints[GAB_APP_PATH_LENGTH + 32];
  *lock = NULL;
  *restart = NULL;
  *is_finished = false;
  if (strlen(folder) >= GAB_APP_PATH_LENGTH)
    GAB_FAIL(GAB_ERR_INPUT, "the name of the output folder is too long: %.60s...", folder);
  GAB_TRY(gab_run_lock_take(world, folder, lock));
  if (gab_app_starts_anew(which->options)) return GAB_OK;
  snprintf(checkpoints, sizeof checkpoints, "%s/checkpoints", folder);
  GAB_TRY(gab_restart_find(world, checkpoints, true, restart));
  gab_status status = GAB_OK;
  const bool is_there = gab_restart_count(*restart) > 0;
  if (is_there) status = check_newest(world, which, folder, gab_restart_manifest(*restart, 0), is_finished);
  /* A later attempt may find its state in node memory; otherwise this is called again. */
  else if (gab_launch_attempt() == 0) {
    status = gab_restart_check_none(*restart);
    if (status == GAB_OK) status = gab_app_kept_results_check(world, which, folder, is_finished);
  }
  if (status != GAB_OK || !is_there) gab_restart_destroy(restart);
  return status;
}

void gab_app_tell_end(gab_world *world, gab_status status)
{
  const bool in_order = status == GAB_ERR_REQUEUE || status == GAB_ERR_AGAIN;
  const gab_log_level level = in_order ? GAB_LOG_INFO : GAB_LOG_ERROR;
  char words[2048];
  snprintf(words, sizeof words, "%s", gab_error_message()); /* a broken world has a separate message */
  const bool whole = gab_world_check(world) == GAB_OK;
  if (whole && status == GAB_ERR_INPUT) gab_log(level, "%s", words); /* same text as `gabion check` */
  else if (whole) gab_log(level, "%s: %s", gab_status_name(status), words);
  else if (status != GAB_ERR_FAULT) /* not reported elsewhere */
    gab_log_all(level, "%s: %s", gab_status_name(status), words);
}
