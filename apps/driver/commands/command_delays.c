/* SPDX-License-Identifier: Apache-2.0 */
/* gabion plan --delays: how the delays of failures spread, with local and with global recovery. */
#include "apps/driver/delays/plan_delays.h"

#include "core/system/file.h"
#include "core/base/log.h"
#include "core/memory/memory.h"
#include "core/base/timer.h"

#include <string.h>

static const char usage[] =
    "usage: gabion plan --delays [CASE.yaml -n PROCESSES] [options]\n"
    "\n"
    "Simulates runs of a stencil code with failing processes, by the model of Gamell et al. 2015,\n"
    "section 4. Prints the delay of the run with local recovery (the failed process is delayed, others\n"
    "wait for it when its delay reaches them) and with global recovery (all are delayed, once per step\n"
    "with a failure). Neighbours are those in a box of processes, or those of the processes of a case.\n"
    "\n";

static const char notes[] = "\n"
                            "Late is what a run takes longer than an undisturbed one with the same noise. "
                            "The printed recurrence leaves\n"
                            "T(i-1,j) out of the maximum: a process forgets its own delay unless neighbours "
                            "give it back, and delays\n"
                            "reach every second process only. As in the paper nobody waits for all in a "
                            "global recovery, and a checkpoint\n"
                            "is no reduction unless --reduce-every makes it one.\n";

bool gab_app_delays_are_asked_for(int argc, char **argv)
{
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], "--delays") == 0) return true;
  return false;
}

/* ---------------------------------------------------------------- times of processes as a table */

static gab_status put_line(gab_buffer *text, const char *line)
{
  return gab_put_bytes(text, line, strlen(line));
}

static gab_status put_times(const delays_options *options, const double *sums, gab_buffer *text)
{
  const int32_t processes = gab_neighbourhood_processes(&options->model.neighbourhood);
  char line[128];
  GAB_TRY(put_line(text, "process,undisturbed,local,global\n"));
  for (int32_t k = 0; k < processes; k++) {
    double mean[3];
    for (int way = 0; way < 3; way++)
      mean[way] = sums[(size_t)way * (size_t)processes + (size_t)k] / (double)options->runs;
    snprintf(line, sizeof line, "%" PRId32 ",%.9g,%.9g,%.9g\n", k, mean[0], mean[1], mean[2]);
    GAB_TRY(put_line(text, line));
  }
  return GAB_OK;
}

static gab_status write_times(const delays_options *options, const double *sums)
{
  gab_buffer text = {0};
  gab_status status = put_times(options, sums, &text);
  if (status == GAB_OK) status = gab_file_replace(options->csv, text.data, text.size, GAB_FILE_RENAMED);
  gab_buffer_release(&text);
  return status;
}

/* ---------------------------------------------------------------- the command */

/* A row for each rate, each mean time, and the list. */
static size_t list_rows(const delays_options *options, delays_row rows[2 * DELAYS_MOST_VALUES + 1])
{
  size_t count = 0;
  for (size_t k = 0; k < options->rates.count; k++)
    rows[count++] = (delays_row){.source = DELAYS_BY_RATE, .value = options->rates.value[k]};
  for (size_t k = 0; k < options->mtbfs.count; k++)
    rows[count++] = (delays_row){.source = DELAYS_BY_MTBF, .value = options->mtbfs.value[k]};
  if (options->listed.count) rows[count++] = (delays_row){.source = DELAYS_LISTED};
  return count;
}

static gab_status play_rows(const delays_options *options)
{
  delays_row rows[2 * DELAYS_MOST_VALUES + 1];
  const size_t count = list_rows(options, rows);
  const size_t processes = (size_t)gab_neighbourhood_processes(&options->model.neighbourhood);
  double *sums = NULL;
  const double start = gab_seconds();
  if (options->csv && count > 1) GAB_FAIL(GAB_ERR_INPUT, "--csv is of one row: name one rate, mtbf or list");
  if (options->csv) GAB_TRY(GAB_NEW_ARRAY(&sums, 3 * processes, GAB_MEMORY_OTHER));
  gab_status status = GAB_OK;
  for (size_t k = 0; k < count && status == GAB_OK; k++)
    status = gab_app_delays_play(options, rows[k].source, rows[k].value, sums, &rows[k]);
  const double seconds = gab_seconds() - start;
  if (status == GAB_OK && options->csv) status = write_times(options, sums);
  gab_free(&sums);
  if (status == GAB_OK && options->picture) status = gab_app_delays_draw(options, &rows[0]);
  if (status != GAB_OK) return status;
  if (options->common.json) return gab_app_delays_print_json(options, rows, count, seconds, stdout);
  gab_app_delays_print(options, rows, count, seconds, stdout);
  return GAB_OK;
}

static int32_t middle_of(const gab_neighbourhood *box)
{
  int32_t process = 0;
  if (box->graph) return box->graph->count / 2;
  for (int axis = box->dimension - 1; axis >= 0; axis--)
    process = process * box->extent[axis] + box->extent[axis] / 2;
  return process;
}

static gab_status play_reach(const delays_options *options)
{
  const gab_neighbourhood *box = &options->model.neighbourhood;
  const int64_t process = options->reach == -2 ? middle_of(box) : options->reach;
  double *share = NULL;
  if (process >= gab_neighbourhood_processes(box))
    GAB_FAIL(GAB_ERR_INPUT, "--reach %" PRId64 ": there are %" PRId32 " processes", process,
             gab_neighbourhood_processes(box));
  GAB_TRY(GAB_NEW_ARRAY(&share, (size_t)options->model.steps + 1, GAB_MEMORY_OTHER));
  gab_status status = gab_delays_reach(&options->model, (int32_t)process, options->model.steps, share);
  if (status == GAB_OK) status = gab_app_delays_print_reach(options, share, options->model.steps, stdout);
  gab_free(&share);
  return status;
}

/* Errors of the model are errors of the command line. */
static gab_status play(delays_options *options)
{
  delays_graph graph = {0};
  gab_status status = GAB_OK;
  if (options->common.word) {
    status = gab_app_delays_graph_of_case(options, &graph);
    options->model.neighbourhood.graph = &graph.graph;
  }
  if (status == GAB_OK) status = options->reach == -1 ? play_rows(options) : play_reach(options);
  gab_app_delays_graph_release(&graph);
  return status == GAB_ERR_ARGUMENT ? GAB_ERR_INPUT : status;
}

int gab_app_command_delays(int argc, char **argv)
{
  delays_options options;
  gab_status status = gab_app_delays_options_parse(argc, argv, &options);
  if (status == GAB_OK && options.common.help) {
    gab_app_usage_put(usage, stdout);
    gab_app_delays_options_print(stdout);
    fputs(notes, stdout);
  } else if (status == GAB_OK) status = play(&options);
  if (status == GAB_OK && fflush(stdout) != 0) status = GAB_ERR_IO;
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  gab_app_delays_options_release(&options);
  return gab_status_exit_code(status);
}
