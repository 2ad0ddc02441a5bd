/* SPDX-License-Identifier: Apache-2.0 */
/* Processes against time, as figures 2, 7 and 8 of Gamell et al. 2015. */
#include "apps/driver/delays/plan_delays.h"

#include "blockforest/pictures/png_chart.h"

#include <math.h>

enum {
  WIDTH = 900,
  HEIGHT = 640,
  LINE_DISTANCE = 5 /* pixels between lines of steps, at least */
};

typedef struct drawing {
  gab_chart *chart;
  const gab_failures *failures;
  const delays_options *options;
  gab_step every; /* steps between two lines */
  size_t next;    /* failure to be marked */
} drawing;

static void draw_step(void *user, gab_step step, const double *times)
{
  drawing *made = user;
  const gab_delay_model *model = &made->options->model;
  if (step % made->every == 0 || step == model->steps)
    gab_chart_curve(made->chart, times, (size_t)gab_neighbourhood_processes(&model->neighbourhood),
                    (double)step / (double)model->steps);
  if (made->options->drawn == GAB_DELAYS_UNDISTURBED) return;
  for (; made->next < made->failures->count && made->failures->at[made->next].step == step; made->next++) {
    const int32_t process = made->failures->at[made->next].process;
    /* Position of the failure: about the beginning of the step, most of which is then recovery. */
    const double lost = model->failed_step_time - model->step_time;
    gab_chart_cross(made->chart, process, times[process] - (step > 0 ? lost : 0));
  }
}

static gab_status begin(drawing *made, const gab_delay_result *result, size_t failures)
{
  static const char *const recovery[] = {"undisturbed", "local recovery", "global recovery"};
  const gab_delay_model *model = &made->options->model;
  const int32_t processes = gab_neighbourhood_processes(&model->neighbourhood);
  char title[96], subtitle[160];
  snprintf(title, sizeof title, "%" PRId32 " processes, %" GAB_PRI_STEP " steps: %s", processes, model->steps,
           recovery[made->options->drawn]);
  snprintf(subtitle, sizeof subtitle, "t1 %g, t2 %g, noise %g, %zu failure%s; ends at %.6g", model->step_time,
           model->failed_step_time, model->noise, failures, failures == 1 ? "" : "s", result->most);
  const gab_chart_options options = {.title = title,
                                     .subtitle = subtitle,
                                     .axis = {"process", "time"},
                                     .lower = {-0.5, 0},
                                     .upper = {processes - 0.5, result->most > 0 ? 1.02 * result->most : 1},
                                     .width = WIDTH,
                                     .height = HEIGHT};
  const double lines = (double)HEIGHT / LINE_DISTANCE;
  made->every = (gab_step)ceil((double)model->steps / lines);
  if (made->every < 1) made->every = 1;
  return gab_chart_create(&options, &made->chart);
}

gab_status gab_app_delays_draw(const delays_options *options, const delays_row *row)
{
  gab_failures failures = {0};
  gab_delay_result result;
  gab_delay_model model = options->model;
  drawing made = {.options = options, .failures = &failures};
  model.seed = gab_app_delays_seed(options, 0);
  gab_status status = gab_app_delays_failures(options, row->source, row->value, 0, &failures);
  if (status == GAB_OK) status = gab_delays_run(&model, &failures, options->drawn, NULL, NULL, &result);
  if (status == GAB_OK) status = begin(&made, &result, result.failures);
  if (status == GAB_OK) status = gab_delays_run(&model, &failures, options->drawn, draw_step, &made, &result);
  if (status == GAB_OK) status = gab_chart_save(made.chart, options->picture);
  gab_chart_destroy(&made.chart);
  gab_failures_release(&failures);
  return status;
}
