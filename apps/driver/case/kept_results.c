/* SPDX-License-Identifier: Apache-2.0 */
/* Protects results of a finished run from a run that starts at step 0 in the same output folder, unless --fresh is
 * given. case.yaml in the folder has the case of the results and is read like any parameter file. */
#include "apps/driver/driver.h"

#include "core/base/log.h"
#include "core/base/text/json.h"
#include "core/messages/collective.h"
#include "core/system/file.h"

#include <string.h>
#include <unistd.h>

/* Sections that change no result. */
static const char *const without_effect[] = {"resilience", "faults"};

static bool has_effect(const char *line)
{
  for (size_t i = 0; i < sizeof without_effect / sizeof without_effect[0]; i++) {
    const size_t length = strlen(without_effect[i]);
    if (strncmp(line, without_effect[i], length) == 0 && strchr(". =", line[length])) return false;
  }
  return true;
}

/* Lines of gab_config_canonical() that can change a result. */
static gab_status put_settings(const gab_config *config, gab_buffer *lines)
{
  gab_buffer all = {0};
  gab_status status = gab_config_canonical(config, &all);
  for (size_t at = 0; at < all.size && status == GAB_OK;) {
    const char *line = (const char *)all.data + at, *end = memchr(line, '\n', all.size - at);
    const size_t length = end ? (size_t)(end - line) + 1 : all.size - at;
    if (has_effect(line)) status = gab_put_bytes(lines, line, length);
    at += length;
  }
  gab_buffer_release(&all);
  return status;
}

/* Lines "# KEY has content HASH" of gab_config_effective(), as "KEY = content HASH". */
static gab_status put_contents(const gab_buffer *yaml, gab_buffer *lines)
{
  static const char middle[] = " has content ";
  gab_status status = GAB_OK;
  for (size_t at = 0; at < yaml->size && status == GAB_OK;) {
    const char *line = (const char *)yaml->data + at, *end = memchr(line, '\n', yaml->size - at);
    const int length = (int)(end ? (size_t)(end - line) : yaml->size - at);
    char text[512];
    snprintf(text, sizeof text, "%.*s", length, line);
    char *key_end = strncmp(text, "# ", 2) == 0 ? strstr(text, middle) : NULL;
    if (key_end) {
      *key_end = '\0';
      char entry[sizeof text + 16];
      const int size =
          snprintf(entry, sizeof entry, "%s = content %s\n", text + 2, key_end + sizeof middle - 1);
      status = gab_put_bytes(lines, entry, (size_t)size);
    }
    at += (size_t)length + 1;
  }
  return status;
}

static gab_status compare(const gab_config *theirs, const gab_buffer *their_yaml, const gab_config *mine,
                          const gab_buffer *my_yaml, gab_buffer *differences)
{
  gab_buffer lines[2][2] = {{{0}}};
  gab_status status = put_settings(theirs, &lines[0][0]);
  if (status == GAB_OK) status = put_settings(mine, &lines[0][1]);
  if (status == GAB_OK) status = put_contents(their_yaml, &lines[1][0]);
  if (status == GAB_OK) status = put_contents(my_yaml, &lines[1][1]);
  for (int i = 0; i < 2 && status == GAB_OK; i++)
    (void)gab_manifest_compare(&lines[i][0], &lines[i][1], "in the folder", NULL, NULL, differences);
  for (int i = 0; i < 4; i++) gab_buffer_release(&lines[i / 2][i % 2]);
  return status;
}

/* Differences between case.yaml of the folder and the case, both as they are written there. */
static gab_status find_differences(const gab_config *config, const char *path, gab_buffer *differences)
{
  gab_app_options options = {.word = path};
  gab_buffer theirs = {0}, mine = {0};
  gab_config *before = NULL, *now = NULL;
  gab_status status = gab_app_config_from_file(&options, &before);
  if (status == GAB_OK) status = gab_app_config_create(&now);
  if (status == GAB_OK) status = gab_file_read(path, SIZE_MAX, &theirs);
  if (status == GAB_OK) status = gab_config_effective(config, &mine);
  if (status == GAB_OK)
    status = gab_config_load_text(now, gab_config_name(config), (const char *)mine.data, mine.size);
  if (status == GAB_OK) status = gab_config_check(now);
  if (status == GAB_OK) status = compare(before, &theirs, now, &mine, differences);
  gab_config_destroy(&before);
  gab_config_destroy(&now);
  gab_buffer_release(&theirs);
  gab_buffer_release(&mine);
  return status;
}

static bool has_finished(const char *folder)
{
  char path[GAB_APP_PATH_LENGTH + 32], code[16] = "";
  snprintf(path, sizeof path, "%s/summary.json", folder);
  if (access(path, R_OK) != 0) return false;
  gab_json_document *summary = gab_json_read_file(path);
  gab_json_get_text(summary, "/exit_code", code, sizeof code);
  gab_json_forget(&summary);
  gab_error_clear();
  return strcmp(code, "0") == 0;
}

/* The root's part. */
static gab_status check(const gab_config *config, const char *folder, bool *is_finished)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  gab_buffer differences = {0};
  if (!has_finished(folder)) return GAB_OK;
  snprintf(path, sizeof path, "%s/case.yaml", folder);
  gab_status status = find_differences(config, path, &differences);
  if (status != GAB_OK) {
    gab_error_clear(); /* e.g. of another version */
    static const char unknown[] = "  its case.yaml cannot be read by this program\n";
    GAB_TRY(gab_put_bytes(&differences, unknown, sizeof unknown - 1));
  }
  *is_finished = differences.size == 0;
  if (!*is_finished)
    status = gab_put_u8(&differences, 0) != GAB_OK
                 ? GAB_ERR_MEMORY
                 : gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__,
                                 "the output folder %s has the results of another case:\n"
                                 "%.1500s--fresh replaces them, another --out keeps them",
                                 folder, (const char *)differences.data);
  gab_buffer_release(&differences);
  return status;
}

gab_status gab_app_kept_results_check(gab_world *world, const gab_app_case *which, const char *folder,
                                      bool *is_finished)
{
  bool is_same = false;
  const gab_status status = gab_world_is_root(world) ? check(which->config, folder, &is_same) : GAB_OK;
  GAB_TRY(gab_world_reduce_status(world, status));
  uint64_t done = is_same;
  GAB_TRY(gab_world_max_u64(world, &done, 1));
  *is_finished = done;
  if (*is_finished)
    gab_log(GAB_LOG_INFO, "finished: %s has the results of this case (--fresh computes them again)", folder);
  return GAB_OK;
}
