/* SPDX-License-Identifier: Apache-2.0 */
/* Protects results of a finished run from a run that starts at step 0 in the same output folder, unless --fresh is
 * given. case.yaml in the folder has the case of the results and is read like any parameter file. */
#include "apps/driver/driver.h"

#include "core/base/log.h"
#include "core/base/text/json.h"
#include "core/messages/collective.h"
#include "core/system/file.h"

#include <stdlib.h>
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

/* Lines of gab_config_canonical(): all, or only parameters that affect results. */
static gab_status put_settings(const gab_config *config, bool all_sections, gab_buffer *lines)
{
  gab_buffer all = {0};
  gab_status status = gab_config_canonical(config, &all);
  for (size_t at = 0; at < all.size && status == GAB_OK;) {
    const char *line = (const char *)all.data + at, *end = memchr(line, '\n', all.size - at);
    const size_t length = end ? (size_t)(end - line) + 1 : all.size - at;
    if (all_sections || has_effect(line)) status = gab_put_bytes(lines, line, length);
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

/* Two cases, each with its text in the form of case.yaml. */
typedef struct two_cases {
  gab_config *config[2];
  gab_buffer yaml[2];
  const char *place[2]; /* for messages */
} two_cases;

static gab_status compare(const two_cases *cases, bool all_sections, gab_buffer *differences, size_t *count)
{
  gab_buffer settings[2] = {{0}}, contents[2] = {{0}};
  gab_status status = GAB_OK;
  *count = 0;
  for (int i = 0; i < 2 && status == GAB_OK; i++) {
    status = put_settings(cases->config[i], all_sections, &settings[i]);
    if (status == GAB_OK) status = put_contents(&cases->yaml[i], &contents[i]);
  }
  if (status == GAB_OK) {
    const char *const *place = cases->place;
    *count = gab_manifest_compare(&settings[0], &settings[1], place[0], place[1], NULL, NULL, differences);
    *count += gab_manifest_compare(&contents[0], &contents[1], place[0], place[1], NULL, NULL, differences);
  }
  for (int i = 0; i < 2; i++) gab_buffer_release(&settings[i]), gab_buffer_release(&contents[i]);
  return status;
}

static gab_status read_case(two_cases *cases, int which, const char *path)
{
  gab_app_options options = {.word = path};
  GAB_TRY(gab_app_config_from_file(&options, &cases->config[which]));
  return gab_file_read(path, SIZE_MAX, &cases->yaml[which]);
}

static void release(two_cases *cases)
{
  for (int i = 0; i < 2; i++) gab_config_destroy(&cases->config[i]), gab_buffer_release(&cases->yaml[i]);
}

gab_status gab_app_case_files_compare(const char *path_a, const char *path_b, gab_buffer *differences,
                                      size_t *count)
{
  two_cases cases = {.place = {"in A", "in B"}};
  gab_status status = read_case(&cases, 0, path_a);
  if (status == GAB_OK) status = read_case(&cases, 1, path_b);
  if (status == GAB_OK) status = compare(&cases, true, differences, count);
  release(&cases);
  return status;
}

/* Differences between case.yaml of the folder and the case, both as they are written there. */
static gab_status find_differences(const gab_config *config, const char *path, gab_buffer *differences)
{
  two_cases cases = {.place = {"in the folder", "now"}};
  size_t count;
  gab_status status = read_case(&cases, 0, path);
  if (status == GAB_OK) status = gab_app_config_create(&cases.config[1]);
  if (status == GAB_OK) status = gab_config_effective(config, &cases.yaml[1]);
  if (status == GAB_OK)
    status = gab_config_load_text(cases.config[1], gab_config_name(config), (const char *)cases.yaml[1].data,
                                  cases.yaml[1].size);
  if (status == GAB_OK) status = gab_config_check(cases.config[1]);
  if (status == GAB_OK) status = compare(&cases, false, differences, &count);
  release(&cases);
  return status;
}

/* -1: no run has ended in the folder */
static int exit_code_of(const char *folder)
{
  char path[GAB_APP_PATH_LENGTH + 32], code[16] = "";
  snprintf(path, sizeof path, "%s/summary.json", folder);
  if (access(path, R_OK) != 0) return -1;
  gab_json_document *summary = gab_json_read_file(path);
  gab_json_get_text(summary, "/exit_code", code, sizeof code);
  gab_json_forget(&summary);
  gab_error_clear();
  return code[0] >= '0' && code[0] <= '9' ? atoi(code) : -1;
}

gab_status gab_app_kept_results_compare(const gab_config *config, const char *folder, int *code,
                                        gab_buffer *differences)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  *code = exit_code_of(folder);
  if (*code < 0) return GAB_OK;
  snprintf(path, sizeof path, "%s/case.yaml", folder);
  if (find_differences(config, path, differences) == GAB_OK) return GAB_OK;
  gab_error_clear(); /* e.g. of another version */
  static const char unknown[] = "  its case.yaml cannot be read by this program\n";
  return gab_put_bytes(differences, unknown, sizeof unknown - 1);
}

gab_status gab_app_kept_results_refuse(const char *folder, gab_buffer *differences)
{
  GAB_TRY(gab_put_u8(differences, 0));
  GAB_FAIL(GAB_ERR_INPUT,
           "the output folder %s has the results of another case:\n"
           "%.1500s--fresh replaces them, another --out keeps them",
           folder, (const char *)differences->data);
}

/* The root's part. */
static gab_status check(const gab_config *config, const char *folder, bool *is_finished)
{
  gab_buffer differences = {0};
  int code;
  if (exit_code_of(folder) != 0) return GAB_OK;
  gab_status status = gab_app_kept_results_compare(config, folder, &code, &differences);
  *is_finished = status == GAB_OK && differences.size == 0;
  if (status == GAB_OK && !*is_finished) status = gab_app_kept_results_refuse(folder, &differences);
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
