/* SPDX-License-Identifier: Apache-2.0 */
/* gabion compare: differences of two runs, from the files in their folders. Needs no MPI. */
#include "apps/driver/campaign/compare_series.h"
#include "apps/driver/campaign/results_table.h"
#include "apps/driver/case/numbers.h"
#include "apps/driver/driver.h"

#include "core/base/log.h"
#include "core/memory/memory.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: gabion compare FOLDER_A FOLDER_B [options]\n"
    "\n"
    "Compares two runs by their output folders: parameters (case.yaml), end and checksum, numbers of\n"
    "the results (summary.json), and the series (*.csv) in both folders, in the rows that both have by\n"
    "time. A run may be unfinished: its series are compared as far as they are written.\n"
    "\n"
    "  --tolerance X  relative differences up to X count as equal (default: 0). Of a result: to the\n"
    "                 larger magnitude; of a column of a series: to its range in both runs, at least\n"
    "                 1e-9 of its magnitude. Components of a vector: to the largest of them\n"
    "  --value NAME   only results whose name contains this; may be repeated\n"
    "  --verbose, -v  all differences, also those within the tolerance\n"
    "  --json         machine-readable, all values\n"
    "\n"
    "Parameters, numbers of rows, and series or columns in one run only are reported and do not count.\n"
    "Exit code: 0 no difference beyond the tolerance, and with tolerance 0 equal checksums if both runs\n"
    "have one; 1 they differ, or have nothing to compare; 2 no run in a folder, or a file of it cannot\n"
    "be read. Code 0 of an unfinished run covers the rows in common alone: the last line says so.\n";

enum { SHOWN = 20, MOST_FILE = 256, COMPARE_PATH = GAB_APP_PATH_LENGTH + MOST_FILE };

/* The end of a run, or how far it is. */
typedef struct run_end {
  const char *folder;
  bool has_ended;
  char status[64], reason[512], checksum[32];
  double steps, time, ranks;
} run_end;

typedef struct result_difference {
  const gab_app_result *of;
  double most, relative; /* infinite: one run does not have it */
} result_difference;

typedef struct series_row {
  char file[MOST_FILE];
  gab_app_series_difference found;
} series_row;

typedef struct comparison {
  const gab_app_options *options;
  double tolerance;
  run_end runs[2];
  gab_buffer parameters; /* lines */
  size_t parameter_count;
  char parameter_fault[512]; /* "": none */
  gab_app_results results;
  result_difference *differences; /* of all results, the largest first */
  series_row *series;
  size_t series_count, single_series; /* in both folders; in one only */
  size_t compared, beyond;            /* results and columns; those beyond the tolerance */
} comparison;

/* ---------------------------------------------------------------- reading */

/* A file of a run that may be missing. @param[in] member  a text that it must have */
static gab_status open_json(const char *folder, const char *name, const char *member,
                            gab_json_document **document)
{
  char path[COMPARE_PATH], text[64] = "";
  *document = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (access(path, F_OK) != 0) return GAB_OK;
  *document = gab_json_read_file(path);
  if (*document && gab_json_get_text(*document, member, text, sizeof text)[0]) return GAB_OK;
  gab_json_forget(document);
  GAB_FAIL(GAB_ERR_INPUT, "%s: cannot be read, or is not JSON with the member %s of a run", path, member + 1);
}

static gab_status read_end(const char *folder, run_end *run)
{
  gab_json_document *progress, *summary;
  char path[COMPARE_PATH], state[64] = "";
  *run = (run_end){.folder = folder, .time = NAN};
  if (strlen(folder) >= GAB_APP_PATH_LENGTH)
    GAB_FAIL(GAB_ERR_INPUT, "the name of a folder is too long: %.60s...", folder);
  snprintf(path, sizeof path, "%s/events.jsonl", folder);
  if (access(path, R_OK) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "no run in %s: no events.jsonl (a run writes it at its start)", folder);
  GAB_TRY(open_json(folder, "progress.json", "/state", &progress));
  gab_json_get_text(progress, "/state", state, sizeof state);
  run->steps = gab_json_get_real(progress, "/step");
  run->ranks = gab_json_get_real(progress, "/ranks");
  gab_json_forget(&progress);
  if (strcmp(state, "running") == 0) return GAB_OK; /* a summary would be that of an earlier job */
  GAB_TRY(open_json(folder, "summary.json", "/status", &summary));
  if (!summary) return GAB_OK;
  run->has_ended = true;
  gab_json_get_text(summary, "/status", run->status, sizeof run->status);
  gab_json_get_text(summary, "/reason", run->reason, sizeof run->reason);
  gab_json_get_text(summary, "/checksum", run->checksum, sizeof run->checksum);
  if (strcmp(run->checksum, "null") == 0) run->checksum[0] = '\0';
  run->steps = gab_json_get_real(summary, "/steps");
  run->ranks = gab_json_get_real(summary, "/ranks");
  run->time = gab_json_get_real(summary, "/time");
  gab_json_forget(&summary);
  return GAB_OK;
}

/* A case of another program or version is reported; the rest can be compared. */
static void compare_parameters(comparison *all)
{
  char paths[2][COMPARE_PATH];
  for (int i = 0; i < 2; i++) snprintf(paths[i], sizeof paths[i], "%s/case.yaml", all->runs[i].folder);
  if (gab_app_case_files_compare(paths[0], paths[1], &all->parameters, &all->parameter_count) == GAB_OK)
    return;
  snprintf(all->parameter_fault, sizeof all->parameter_fault, "%s", gab_error_message());
  gab_error_clear();
}

/* ---------------------------------------------------------------- comparing */

static bool have_ended(const comparison *all) { return all->runs[0].has_ended && all->runs[1].has_ended; }

static void count(comparison *all, double relative)
{
  all->compared++;
  all->beyond += relative > all->tolerance;
}

static int larger_result_first(const void *a, const void *b)
{
  const result_difference *one = a, *other = b;
  if (one->relative != other->relative) return one->relative > other->relative ? -1 : 1;
  return (one->of > other->of) - (one->of < other->of);
}

static int larger_column_first(const void *a, const void *b)
{
  const gab_app_column_difference *one = a, *other = b;
  if (one->relative != other->relative) return one->relative > other->relative ? -1 : 1;
  return strcmp(one->name, other->name);
}

static gab_status compare_results(comparison *all)
{
  const gab_app_results *results = &all->results;
  if (!have_ended(all)) return GAB_OK;
  for (size_t i = 0; i < 2; i++)
    GAB_TRY(gab_app_results_read(&all->results, i, all->runs[i].folder, all->options));
  GAB_TRY(GAB_NEW_ARRAY(&all->differences, results->count, GAB_MEMORY_OTHER));
  for (size_t k = 0; k < results->count; k++) {
    const gab_app_result *row = &results->rows[k];
    result_difference *found = &all->differences[k];
    *found = (result_difference){row, INFINITY, INFINITY};
    if (gab_app_result_is_complete(row, 2)) {
      const double own = fmax(fabs(row->value[0]), fabs(row->value[1]));
      found->most = fabs(row->value[0] - row->value[1]);
      found->relative =
          found->most > 0 ? found->most / fmax(own, gab_app_result_vector_scale(results, row, 2)) : 0;
    }
    count(all, found->relative);
  }
  if (results->count > 0)
    qsort(all->differences, results->count, sizeof *all->differences, larger_result_first);
  return GAB_OK;
}

static int is_series(const struct dirent *entry)
{
  const size_t length = strlen(entry->d_name);
  return entry->d_name[0] != '.' && length > 4 && length < MOST_FILE &&
         strcmp(entry->d_name + length - 4, ".csv") == 0;
}

static gab_status compare_file(comparison *all, const char *file)
{
  char paths[2][COMPARE_PATH + 1];
  series_row *row = &all->series[all->series_count++];
  snprintf(row->file, sizeof row->file, "%s", file);
  for (int i = 0; i < 2; i++) snprintf(paths[i], sizeof paths[i], "%s/%s", all->runs[i].folder, file);
  GAB_TRY(gab_app_series_compare(paths[0], paths[1], &row->found));
  if (row->found.count > 0)
    qsort(row->found.columns, row->found.count, sizeof *row->found.columns, larger_column_first);
  for (size_t c = 0; c < row->found.count && row->found.common > 0; c++)
    count(all, row->found.columns[c].relative);
  return GAB_OK;
}

static void release_names(struct dirent **names, int number)
{
  for (int i = 0; i < number; i++) free(names[i]);
  free(names);
}

static gab_status compare_all_series(comparison *all)
{
  struct dirent **names[2] = {NULL, NULL};
  int numbers[2] = {0, 0};
  gab_status status = GAB_OK;
  for (int i = 0; i < 2 && status == GAB_OK; i++) {
    numbers[i] = scandir(all->runs[i].folder, &names[i], is_series, alphasort);
    if (numbers[i] < 0)
      status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s cannot be listed: %s",
                             all->runs[i].folder, strerror(errno));
  }
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&all->series, (size_t)numbers[0], GAB_MEMORY_OTHER);
  for (int i = 0; i < numbers[0] && status == GAB_OK; i++)
    for (int j = 0; j < numbers[1] && status == GAB_OK; j++)
      if (strcmp(names[0][i]->d_name, names[1][j]->d_name) == 0)
        status = compare_file(all, names[0][i]->d_name);
  if (status == GAB_OK) all->single_series = (size_t)(numbers[0] + numbers[1]) - 2 * all->series_count;
  for (int i = 0; i < 2; i++) release_names(names[i], numbers[i] > 0 ? numbers[i] : 0);
  return status;
}

/* Whether both have a checksum. */
static bool have_checksums(const comparison *all)
{
  return all->runs[0].checksum[0] && all->runs[1].checksum[0];
}

static bool have_equal_checksums(const comparison *all)
{
  return have_checksums(all) && strcmp(all->runs[0].checksum, all->runs[1].checksum) == 0;
}

static bool are_equal(const comparison *all)
{
  if (all->beyond > 0) return false;
  if (have_equal_checksums(all)) return true;
  return all->compared > 0 && (all->tolerance > 0 || !have_checksums(all));
}

/* ---------------------------------------------------------------- text */

static void print_run(char name, const run_end *run)
{
  printf("%c  %s: ", name, run->folder);
  if (run->has_ended)
    printf("%s after %.0f steps, time %.9g, %.0f rank%s (%s)\n", run->status, run->steps, run->time,
           run->ranks, run->ranks == 1 ? "" : "s", run->reason);
  else printf("not ended, last known step %.0f; only its series are compared\n", run->steps);
}

static void print_parameters(const comparison *all)
{
  if (all->parameter_fault[0]) printf("parameters: cannot be compared: %s\n", all->parameter_fault);
  else if (all->parameter_count == 0) printf("parameters: equal\n");
  else
    printf("parameters: %zu differ%s\n%.*s", all->parameter_count, all->parameter_count == 1 ? "s" : "",
           (int)all->parameters.size, (const char *)all->parameters.data);
}

static void print_checksums(const comparison *all)
{
  const char *a = all->runs[0].checksum, *b = all->runs[1].checksum;
  if (have_equal_checksums(all)) printf("checksum:   equal, %s\n", a);
  else if (have_checksums(all)) printf("checksum:   differs, %s and %s\n", a, b);
  else printf("checksum:   none in %s\n", a[0] ? "B" : b[0] ? "A" : "both");
}

/* How many of `number` sorted differences are shown. */
static bool is_shown(const comparison *all, size_t index, double relative)
{
  return all->options->verbose || (index < SHOWN && relative > all->tolerance);
}

/* "3 of 12 differ, 2 more within 1e-6" */
static void print_counts(const comparison *all, size_t number, size_t beyond, size_t within)
{
  if (beyond == 0 && within == 0) printf("all %zu equal\n", number);
  else printf("%zu of %zu differ", beyond, number);
  if (beyond == 0 && within == 0) return;
  if (all->tolerance > 0) printf(" by more than %g, %zu by less", all->tolerance, within);
  if (beyond > SHOWN && !all->options->verbose) printf("; the %d largest (--verbose shows all)", SHOWN);
  printf("\n");
}

static void print_value(double value)
{
  if (isnan(value)) printf("  %15s", "-");
  else printf("  %15.9g", value);
}

static void print_results(const comparison *all)
{
  const size_t number = all->results.count;
  size_t beyond = 0, within = 0;
  int longest = 6;
  printf("results:    ");
  if (number == 0) {
    printf("none to compare\n");
    return;
  }
  for (size_t k = 0; k < number; k++) {
    const result_difference *found = &all->differences[k];
    beyond += found->relative > all->tolerance;
    within += found->relative > 0 && found->relative <= all->tolerance;
    if (is_shown(all, k, found->relative) && (int)strlen(found->of->name) > longest)
      longest = (int)strlen(found->of->name);
  }
  print_counts(all, number, beyond, within);
  if (beyond > 0 || all->options->verbose)
    printf("  %-*s  %15s  %15s  %10s  %8s\n", longest, "result", "A", "B", "difference", "relative");
  for (size_t k = 0; k < number; k++) {
    const result_difference *found = &all->differences[k];
    if (!is_shown(all, k, found->relative)) continue;
    printf("  %-*s", longest, found->of->name);
    for (int i = 0; i < 2; i++) print_value(found->of->value[i]);
    if (isinf(found->most)) printf("  in one run only, or no number\n");
    else printf("  %10.3g  %8.2g\n", found->most, found->relative);
  }
}

static void print_series(const comparison *all, const series_row *row)
{
  const gab_app_series_difference *found = &row->found;
  size_t beyond = 0, within = 0;
  int longest = 6;
  printf("%s: %zu row%s in common by %s", row->file, found->common, found->common == 1 ? "" : "s",
         found->key);
  if (found->common < found->rows[0] || found->common < found->rows[1])
    printf(" (of %zu and %zu)", found->rows[0], found->rows[1]);
  if (found->single > 0)
    printf(", %zu column%s in one run only", found->single, found->single == 1 ? "" : "s");
  printf(found->common > 0 && found->count > 0 ? "; columns: " : "\n");
  if (found->common == 0 || found->count == 0) return;
  for (size_t c = 0; c < found->count; c++) {
    const gab_app_column_difference *column = &found->columns[c];
    beyond += column->relative > all->tolerance;
    within += column->relative > 0 && column->relative <= all->tolerance;
    if (is_shown(all, c, column->relative) && (int)strlen(column->name) > longest)
      longest = (int)strlen(column->name);
  }
  print_counts(all, found->count, beyond, within);
  if (beyond > 0 || all->options->verbose)
    printf("  %-*s  %10s  %8s  at %s\n", longest, "column", "difference", "of range", found->key);
  for (size_t c = 0; c < found->count; c++) {
    const gab_app_column_difference *column = &found->columns[c];
    if (!is_shown(all, c, column->relative)) continue;
    printf("  %-*s", longest, column->name);
    if (isinf(column->most)) printf("  no number in one run, first at %.9g\n", column->at);
    else if (column->most > 0) printf("  %10.3g  %8.2g  %.9g\n", column->most, column->relative, column->at);
    else printf("  %10d\n", 0);
  }
}

static void print_text(const comparison *all)
{
  for (int i = 0; i < 2; i++) print_run("AB"[i], &all -> runs[i]);
  print_parameters(all);
  print_checksums(all);
  print_results(all);
  for (size_t k = 0; k < all->series_count; k++) print_series(all, &all->series[k]);
  if (all->single_series > 0) printf("%zu series in one folder only\n", all->single_series);
  if (are_equal(all)) {
    printf(all->tolerance > 0 ? "equal within %g" : "equal", all->tolerance);
    printf(have_ended(all) ? "\n" : " in the rows of series in common; a run has not ended\n");
  } else printf(all->compared > 0 || have_checksums(all) ? "they differ\n" : "nothing to compare\n");
}

/* ---------------------------------------------------------------- JSON */

static void put_run(gab_json *json, const char *name, const run_end *run)
{
  gab_json_object(json, name);
  gab_json_text(json, "folder", run->folder);
  gab_json_bool(json, "ended", run->has_ended);
  gab_json_text(json, "status", run->status);
  gab_json_text(json, "reason", run->reason);
  gab_json_text(json, "checksum", run->checksum);
  gab_json_int(json, "steps", (int64_t)run->steps);
  gab_json_real(json, "time", run->time);
  gab_json_int(json, "ranks", (int64_t)run->ranks);
  gab_json_close(json);
}

static void put_series(gab_json *json, const series_row *row)
{
  const gab_app_series_difference *found = &row->found;
  gab_json_object(json, row->file);
  gab_json_text(json, "key", found->key);
  gab_json_uint(json, "rows_in_common", found->common);
  gab_json_uint(json, "rows_a", found->rows[0]);
  gab_json_uint(json, "rows_b", found->rows[1]);
  gab_json_object(json, "columns");
  for (size_t c = 0; c < found->count; c++) {
    gab_json_object(json, found->columns[c].name);
    gab_json_real(json, "difference", found->columns[c].most);
    gab_json_real(json, "relative", found->columns[c].relative);
    gab_json_real(json, "at", found->columns[c].at);
    gab_json_close(json);
  }
  gab_json_close(json);
  gab_json_close(json);
}

static void put_parameters(gab_json *json, const comparison *all)
{
  gab_json_list(json, "parameters");
  for (size_t at = 0; at < all->parameters.size;) {
    const char *line = (const char *)all->parameters.data + at;
    const char *end = memchr(line, '\n', all->parameters.size - at);
    const size_t length = end ? (size_t)(end - line) : all->parameters.size - at;
    const size_t blanks = length < 2 ? length : 2;
    gab_json_bytes(json, NULL, line + blanks, length - blanks);
    at += length + 1;
  }
  gab_json_close(json);
  if (all->parameter_fault[0]) gab_json_text(json, "parameters_fault", all->parameter_fault);
}

static gab_status print_json(const comparison *all)
{
  gab_buffer text = {0};
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  gab_json_bool(json, "equal", are_equal(all));
  gab_json_real(json, "tolerance", all->tolerance);
  put_run(json, "a", &all->runs[0]);
  put_run(json, "b", &all->runs[1]);
  put_parameters(json, all);
  gab_json_object(json, "results");
  for (size_t k = 0; k < all->results.count; k++) {
    const result_difference *found = &all->differences[k];
    gab_json_object(json, found->of->name);
    gab_json_real(json, "a", found->of->value[0]);
    gab_json_real(json, "b", found->of->value[1]);
    gab_json_real(json, "difference", found->most);
    gab_json_real(json, "relative", found->relative);
    gab_json_close(json);
  }
  gab_json_close(json);
  gab_json_object(json, "series");
  for (size_t k = 0; k < all->series_count; k++) put_series(json, &all->series[k]);
  gab_json_close(json);
  GAB_TRY(gab_json_end(&json, &text));
  fwrite(text.data, 1, text.size, stdout);
  gab_buffer_release(&text);
  return GAB_OK;
}

/* ---------------------------------------------------------------- the command */

static gab_status compare(comparison *all)
{
  const gab_app_options *options = all->options;
  if (!options->other) GAB_FAIL(GAB_ERR_INPUT, "two folders are needed (gabion compare --help)");
  if (options->tolerance) GAB_TRY(gab_app_real_read("--tolerance", options->tolerance, 0, &all->tolerance));
  GAB_TRY(read_end(options->word, &all->runs[0]));
  GAB_TRY(read_end(options->other, &all->runs[1]));
  GAB_TRY(compare_results(all));
  GAB_TRY(compare_all_series(all));
  compare_parameters(all);
  if (options->json) return print_json(all);
  print_text(all);
  return GAB_OK;
}

int gab_app_command_compare(int argc, char **argv)
{
  gab_app_options options;
  gab_status status = gab_app_options_parse(argc, argv, "2TVjv", &options);
  if (status == GAB_OK && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  comparison all = {.options = &options};
  if (status == GAB_OK) status = compare(&all);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  const int code = status != GAB_OK ? gab_status_exit_code(status) : are_equal(&all) ? 0 : 1;
  for (size_t k = 0; k < all.series_count; k++) gab_free(&all.series[k].found.columns);
  gab_free(&all.series);
  gab_free(&all.differences);
  gab_app_results_release(&all.results);
  gab_buffer_release(&all.parameters);
  return code;
}
