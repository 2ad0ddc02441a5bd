/* SPDX-License-Identifier: Apache-2.0 */
/* Local against global recovery, for people and for programs. */
#include "apps/driver/delays/plan_delays.h"

#include "core/base/text/json.h"

#include <math.h>

/* ---------------------------------------------------------------- for people */

static void print_model(const delays_options *options, FILE *out)
{
  const gab_delay_model *model = &options->model;
  const gab_neighbourhood *box = &model->neighbourhood;
  fprintf(out, "%" PRId32 " processes, ", gab_neighbourhood_processes(box));
  if (box->graph)
    fprintf(out, "neighbours as in %s (%.1f each)", options->common.word,
            (double)box->graph->first[box->graph->count] / box->graph->count);
  else
    fprintf(out, "%dD, %s, %d neighbours", box->dimension, box->periodic[0] ? "periodic" : "open",
            box->neighbours);
  fprintf(out, "; %" GAB_PRI_STEP " steps of %g, with a failure %g, noise below %g; recurrence %s",
          model->steps, model->step_time, model->failed_step_time, model->noise,
          model->form == GAB_DELAYS_PRINTED ? "as printed" : "causal");
  if (model->ghost_depth > 1) fprintf(out, "; an exchange every %" PRId32 " steps", model->ghost_depth);
  if (model->reduce_every > 0) fprintf(out, "; a reduction every %" GAB_PRI_STEP, model->reduce_every);
  if (model->checkpoint_every > 0)
    fprintf(out, "; a checkpoint of %g every %" GAB_PRI_STEP, model->checkpoint_time,
            model->checkpoint_every);
  if (model->rework > 0) fprintf(out, "; lost steps again in %g of their time", model->rework);
  if (model->spares >= 0) fprintf(out, "; %" PRId64 " spares", model->spares);
  if (options->group > 1) fprintf(out, "; %" PRId32 " fail together", options->group);
  fprintf(out, "\n");
}

static const char *source_text(const delays_options *options, const delays_row *row, char text[40])
{
  switch (row->source) {
  case DELAYS_BY_RATE:
    snprintf(text, 40, "rate %g %%", 100 * row->value);
    break;
  case DELAYS_BY_MTBF:
    snprintf(text, 40, options->mtbf_each ? "mtbf of each %g" : "mtbf %g", row->value);
    break;
  case DELAYS_LISTED:
    snprintf(text, 40, "as listed");
  }
  return text;
}

static const char *ratio_text(double part, double whole, char text[16])
{
  if (whole > 0) snprintf(text, 16, "%.3f", part / whole);
  else snprintf(text, 16, "-");
  return text;
}

void gab_app_delays_print(const delays_options *options, const delays_row *rows, size_t count, double seconds,
                          FILE *out)
{
  char text[40], ratio[2][16];
  print_model(options, out);
  fprintf(out, "  %-22s %10s %12s | %-32s | %-32s\n", "", "", "", "late: mean over the processes",
          "late: the end of the run");
  fprintf(out, "  %-22s %10s %12s | %10s %10s %10s | %10s %10s %10s\n", "failures", "per run", "undisturbed",
          "local", "global", "ratio", "local", "global", "ratio");
  for (size_t k = 0; k < count; k++) {
    const delays_row *row = &rows[k];
    fprintf(out, "  %-22s %10.4g %12.6g | %10.4g %10.4g %10s | %10.4g %10.4g %10s\n",
            source_text(options, row, text), row->failures, row->undisturbed, row->local.mean,
            row->global.mean, ratio_text(row->local.mean, row->global.mean, ratio[0]), row->local.most,
            row->global.most, ratio_text(row->local.most, row->global.most, ratio[1]));
    if (row->global_steps > 0)
      fprintf(out, "  %-22s without a spare %.4g times: recovered from globally\n", "", row->global_steps);
  }
  fprintf(out, "  %" PRId64 " run%s each, played in %.2f s\n", options->runs, options->runs == 1 ? "" : "s",
          seconds);
}

/* ---------------------------------------------------------------- for programs */

static void put_overhead(gab_json *json, const char *name, const delays_overhead *overhead)
{
  gab_json_object(json, name);
  gab_json_real(json, "mean", overhead->mean);
  gab_json_real(json, "end", overhead->most);
  gab_json_close(json);
}

static void put_ratio(gab_json *json, const char *name, double part, double whole)
{
  if (whole > 0) gab_json_real(json, name, part / whole);
  else gab_json_null(json, name);
}

static void put_row(gab_json *json, const delays_row *row)
{
  static const char *const names[] = {"rate", "mtbf"};
  gab_json_object(json, NULL);
  if (row->source != DELAYS_LISTED) gab_json_real(json, names[row->source], row->value);
  gab_json_real(json, "failures", row->failures);
  gab_json_real(json, "undisturbed", row->undisturbed);
  put_overhead(json, "local", &row->local);
  put_overhead(json, "global", &row->global);
  put_ratio(json, "ratio_mean", row->local.mean, row->global.mean);
  put_ratio(json, "ratio_end", row->local.most, row->global.most);
  gab_json_real(json, "without_spare", row->global_steps);
  gab_json_close(json);
}

static void put_model(gab_json *json, const delays_options *options)
{
  const gab_delay_model *model = &options->model;
  gab_json_int(json, "processes", gab_neighbourhood_processes(&model->neighbourhood));
  gab_json_text(json, "form", model->form == GAB_DELAYS_PRINTED ? "printed" : "causal");
  gab_json_int(json, "steps", model->steps);
  gab_json_real(json, "t1", model->step_time);
  gab_json_real(json, "t2", model->failed_step_time);
  gab_json_real(json, "noise", model->noise);
  gab_json_int(json, "ghost_depth", model->ghost_depth > 1 ? model->ghost_depth : 1);
}

static gab_status finish(gab_json *json, FILE *out)
{
  gab_buffer text = {0};
  gab_status status = gab_json_end(&json, &text);
  if (status == GAB_OK) fwrite(text.data, 1, text.size, out);
  gab_buffer_release(&text);
  return status;
}

gab_status gab_app_delays_print_json(const delays_options *options, const delays_row *rows, size_t count,
                                     double seconds, FILE *out)
{
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  put_model(json, options);
  gab_json_int(json, "runs", options->runs);
  gab_json_bool(json, "mtbf_of_each", options->mtbf_each);
  gab_json_list(json, "rows");
  for (size_t k = 0; k < count; k++) put_row(json, &rows[k]);
  gab_json_close(json);
  gab_json_rounded(json, "playing_seconds", seconds, 3);
  return finish(json, out);
}

/* ---------------------------------------------------------------- reach of a delay */

static void put_reach(gab_json *json, const delays_options *options, gab_step step, double share)
{
  gab_json_object(json, NULL);
  gab_json_int(json, "steps", step);
  gab_json_real(json, "time", (double)step * options->model.step_time);
  gab_json_real(json, "share", share);
  gab_json_close(json);
}

/* Steps that were asked for, else those at which another tenth is reached. */
gab_status gab_app_delays_print_reach(const delays_options *options, const double *share, gab_step steps,
                                      FILE *out)
{
  gab_json *json = options->common.json ? gab_json_begin(GAB_JSON_PAGE) : NULL;
  double tenth = 0;
  if (json) put_model(json, options);
  else print_model(options, out);
  gab_json_list(json, "reach");
  if (!json) fprintf(out, "  %12s %12s %12s\n", "steps after", "time", "late, %");
  for (gab_step step = 0; step <= steps; step++) {
    bool told = options->at.count == 0 && share[step] >= tenth;
    for (size_t k = 0; k < options->at.count; k++) told = told || options->at.value[k] == (double)step;
    if (!told) continue;
    while (tenth <= share[step]) tenth = (floor(10 * tenth + 0.5) + 1) / 10;
    if (json) put_reach(json, options, step, share[step]);
    else
      fprintf(out, "  %12" GAB_PRI_STEP " %12g %12.4f\n", step, (double)step * options->model.step_time,
              100 * share[step]);
  }
  gab_json_close(json);
  return json ? finish(json, out) : GAB_OK;
}
