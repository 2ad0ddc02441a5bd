/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people and the lines for programs. */
#include "apps/bench/bench.h"

#include "core/base/text/json.h"

#include <stdarg.h>
#include <unistd.h>

/* Processes may be more than the machine has cores: then all of its cores work. */
static int cores_at_work(const bench *b, int32_t processes)
{
  long online = sysconf(_SC_NPROCESSORS_ONLN), wanted = (long)processes * b->threads;
  return (int)(online > 0 && wanted > online ? online : wanted);
}

static void table_line(bench *b, const bench_result *result, int cores, double percent)
{
  if (!b->table) return;
  if (!b->told_head)
    fprintf(b->table, "%-44s %4s %4s %5s %10s %21s %-7s %10s %6s\n", "name", "proc", "thr", "cores", "median",
            "min .. max", "unit", "ceiling", "%");
  b->told_head = true;
  char spread[48], ceiling[32] = "", share[16] = "";
  snprintf(spread, sizeof spread, "%.4g .. %.4g", result->min, result->max);
  if (result->ceiling > 0) {
    snprintf(ceiling, sizeof ceiling, "%.4g", result->ceiling);
    snprintf(share, sizeof share, "%.0f", percent);
  }
  fprintf(b->table, "%-44s %4" PRId32 " %4d %5d %10.4g %21s %-7s %10s %6s\n", result->name, result->processes,
          b->threads, cores, result->value, spread, result->unit, ceiling, share);
  fflush(b->table);
}

static void json_line(bench *b, const bench_result *result, int cores, double percent)
{
  if (!b->json) return;
  gab_buffer text = {0};
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_text(json, "name", result->name);
  gab_json_int(json, "cores", cores);
  gab_json_real(json, "value", result->value);
  gab_json_text(json, "unit", result->unit);
  if (result->ceiling > 0) {
    gab_json_real(json, "ceiling", result->ceiling);
    gab_json_rounded(json, "percent", percent, 1);
  } else {
    gab_json_null(json, "ceiling");
    gab_json_null(json, "percent");
  }
  gab_json_int(json, "processes", result->processes);
  gab_json_int(json, "threads", b->threads);
  gab_json_real(json, "min", result->min);
  gab_json_real(json, "max", result->max);
  gab_json_int(json, "samples", result->samples);
  if (gab_json_end(&json, &text) == GAB_OK) fwrite(text.data, 1, text.size, b->json);
  gab_buffer_release(&text);
  fflush(b->json);
}

void bench_report(bench *b, const bench_result *given)
{
  bench_result result = *given;
  if (result.processes == 0) result.processes = bench_processes(b);
  int cores = cores_at_work(b, result.processes);
  double percent = result.percent;
  if (result.ceiling > 0 && percent == 0) percent = 100 * result.value / result.ceiling;
  table_line(b, &result, cores, percent);
  json_line(b, &result, cores, percent);
}

void bench_report_series(bench *b, const char *name, const bench_series *series, double scale,
                         const char *unit)
{
  bench_report(b, &(bench_result){.name = name,
                                  .value = scale * series->median,
                                  .min = scale * series->min,
                                  .max = scale * series->max,
                                  .samples = series->count,
                                  .unit = unit});
}

void bench_report_pair(bench *b, const char *name, const bench_pair_result *pair, double scale,
                       const char *unit)
{
  bench_report(b, &(bench_result){.name = name,
                                  .value = scale * pair->rate.median,
                                  .min = scale * pair->rate.min,
                                  .max = scale * pair->rate.max,
                                  .samples = pair->rate.count,
                                  .unit = unit,
                                  .ceiling = scale * pair->ceiling.median,
                                  .percent = 100 * pair->share});
}

void bench_report_part(bench *b, const char *name, const double *part, const double *whole)
{
  double parts[BENCH_MOST_SAMPLES], wholes[BENCH_MOST_SAMPLES], shares[BENCH_MOST_SAMPLES];
  for (int i = 0; i < b->repetitions; i++) {
    parts[i] = part[i];
    wholes[i] = whole[i];
    shares[i] = part[i] / whole[i];
  }
  const bench_pair_result result = {.rate = bench_summarise(parts, b->repetitions),
                                    .ceiling = bench_summarise(wholes, b->repetitions),
                                    .share = bench_summarise(shares, b->repetitions).median};
  bench_report_pair(b, name, &result, 1, "ns");
}

void bench_remark(bench *b, const char *format, ...)
{
  if (!b->table) return;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(b->table, format, arguments);
  va_end(arguments);
  fputc('\n', b->table);
}
