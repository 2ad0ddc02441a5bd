/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/commands/status_line.h"

#include "core/base/timer.h"
#include "core/system/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_VALUES = 3, LONGEST_ROW = 16384 };

/* ---------------------------------------------------------------- last row */

/* The table that says most: forces, probes, integrals, else the first one by name. @return false if there is none */
static bool find_series(const char *folder, char name[256])
{
  static const char *const first[] = {"forces.csv", "probes.csv", "integrals.csv"};
  char path[GAB_APP_PATH_LENGTH + 300];
  for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, first[i]);
    snprintf(name, 256, "%s", first[i]);
    if (access(path, R_OK) == 0) return true;
  }
  DIR *entries = opendir(folder);
  name[0] = '\0';
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    const size_t length = strlen(entry->d_name);
    if (length <= 4 || strcmp(entry->d_name + length - 4, ".csv") != 0) continue;
    if (!name[0] || strcmp(entry->d_name, name) < 0) snprintf(name, 256, "%s", entry->d_name);
  }
  if (entries) closedir(entries);
  return name[0] != '\0';
}

/* The last whole line of a file, read from its end. @return false if there is none */
static bool read_last_line(FILE *file, char line[LONGEST_ROW])
{
  if (fseek(file, 0, SEEK_END) != 0) return false;
  const long size = ftell(file), part = size < LONGEST_ROW - 1 ? size : LONGEST_ROW - 1;
  if (part <= 0 || fseek(file, size - part, SEEK_SET) != 0) return false;
  line[fread(line, 1, (size_t)part, file)] = '\0';
  char *end = strrchr(line, '\n');
  if (!end) return false;
  *end = '\0';
  const char *begin = strrchr(line, '\n');
  if (!begin && part < size) return false; /* the line is longer */
  if (begin) memmove(line, begin + 1, strlen(begin + 1) + 1);
  return begin != NULL; /* else it is the head */
}

/* "forces: time 20, cylinder.cx 1.4": the first columns but the step. */
static void print_last_row(const char *folder)
{
  char name[256], path[GAB_APP_PATH_LENGTH + 300], row[LONGEST_ROW], *head = NULL;
  size_t capacity = 0;
  FILE *file;
  if (!find_series(folder, name)) return;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (gab_file_open(path, &file) != GAB_OK) return;
  if (getline(&head, &capacity, file) > 0 && read_last_line(file, row)) {
    head[strcspn(head, "\n")] = '\0';
    printf("  %.*s:", (int)(strlen(name) - 4), name);
    char *columns = head, *values = row, *column, *value;
    for (int shown = 0;
         shown < SHOWN_VALUES && (column = strsep(&columns, ",")) && (value = strsep(&values, ","));) {
      if (strcmp(column, "step") == 0) continue;
      printf("%s %s %.5g", shown > 0 ? "," : "", column, strtod(value, NULL));
      shown++;
    }
  }
  free(head);
  fclose(file);
}

/* ---------------------------------------------------------------- the line */

static void print_progress(const char *word, gab_json_document *progress, const gab_app_status_history *past)
{
  char text[GAB_DATE_CAPACITY];
  const double step = gab_json_get_real(progress, "/step"), steps = gab_json_get_real(progress, "/steps");
  if (progress) printf("  step %.0f of %.0f", step, steps);
  if (strcmp(word, "running") == 0 && progress)
    printf(", %s left", gab_app_status_duration(gab_json_get_real(progress, "/seconds_left"), text));
  else if (strcmp(word, "done") != 0)
    printf(", since %s", gab_local_date(past->end_time > 0 ? past->end_time : past->last_time, text));
}

void gab_app_status_print_line(const char *folder, gab_json_document *progress,
                               const gab_app_status_history *past)
{
  const char *word = gab_app_status_word(progress, past);
  printf("%s: %s", folder, word);
  print_progress(word, progress, past);
  print_last_row(folder);
  printf("\n");
}

void gab_app_status_count(const char *word, gab_app_status_counts *counts)
{
  static const char *const words[] = {"done", "running", "dead"};
  size_t *const known[] = {&counts->done, &counts->running, &counts->dead};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(word, words[i]) == 0) {
      ++*known[i];
      return;
    }
  counts->other++;
}

void gab_app_status_print_counts(const gab_app_status_counts *counts)
{
  printf("%zu runs: %zu done, %zu running, %zu ended before, %zu dead\n",
         counts->done + counts->running + counts->other + counts->dead, counts->done, counts->running,
         counts->other, counts->dead);
}
