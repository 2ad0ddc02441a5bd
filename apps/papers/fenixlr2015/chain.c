/* SPDX-License-Identifier: Apache-2.0 */
/* Heat in a rod: a chain of blocks whose steps take a given time, to see how the delay of a failed process spreads.
 *
 *   gabion-launch -n 32 --spares 4 -- build/bin/chain --out out/chain --set chain.step_time=0.1 rank=7,step=28,phase=compute
 *
 * An ordinary application of the framework: du/dt = k d2u/dx2 between insulated ends, one ghost cell at each side of a block.
 * In each step every process sleeps for the time that a larger rod would take it, so that many processes share few cores
 * as if each had its own. Neighbours are those of the chain; there are no reductions. So it is the 1-D solver of Gamell et al.
 * 2015, section 6.5, figure 7.
 *
 * OUT/times/process-S.csv has a row for each step that process S computed: when it began the step, had its ghosts, and
 * ended the step. What a process wrote before it was killed stays. The cosine with which the rod begins is an eigenvector of
 * the discrete Laplacian, so that the answer is known: the largest difference from it stands in summary.json. */
#include "blockforest/exchange/block_field.h"
#include "blockforest/output/output.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "loadbalance/balance.h"
#include "resilience/reports/completion.h"
#include "resilience/resilience_config.h"
#include "resilience/reports/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { CELLS = 64, MOST_WORDS = 64 };

/* clang-format off */
static const gab_config_key keys[] = {
    {.name = "steps",     .type = GAB_CONFIG_INT,  .min = 1, .max = 1e9, .default_text = "80", .doc = "time steps"},
    {.name = "blocks",    .type = GAB_CONFIG_INT,  .min = 1, .max = 1e6, .default_text = "32", .doc = "in a row"},
    {.name = "k",         .type = GAB_CONFIG_REAL, .min = 0, .max = 0.5, .default_text = "0.4",
     .doc = "conductivity, in cells^2 per step"},
    {.name = "step_time", .type = GAB_CONFIG_REAL, .min = 0, .max = 60,  .default_text = "0.05", .unit = "s",
     .doc = "for which each process sleeps in a step"},
};
static const gab_config_section section = {.path = "chain", .doc = "A rod.", .keys = keys, .count = 4};
/* clang-format on */

typedef struct chain {
  gab_world *world;
  gab_config *config;
  const char *folder;
  const char *injections[MOST_WORDS];
  size_t injection_count;
  gab_forest *forest;
  gab_data_id now, next; /* temperature; the second one is scratch */
  gab_exchange *exchange;
  gab_timeloop *loop;
  gab_summary summary;
  double error; /* of the final state, at most in any cell */
  FILE *times;  /* of this process; NULL: it has computed nothing yet */
} chain;

/* ---------------------------------------------------------------- the rod */

static const gab_block_field rod_field = {
    .shape = {.cells = {CELLS, 1, 1}, .ghosts = {1, 1, 0}, .components = 1}, .faces_only = true};

/* The n-th state of the slowest mode between insulated ends. */
static double answer(const chain *app, gab_step step, int64_t x)
{
  const double pi = acos(-1), cells = (double)gab_config_int(app->config, "chain.blocks") * CELLS;
  const double decay = 1 - 2 * gab_config_real(app->config, "chain.k") * (1 - cos(pi / cells));
  return pow(decay, (double)step) * cos(pi * ((double)x + 0.5) / cells);
}

static void set_initial(chain *app)
{
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++) {
    const gab_block *block = gab_forest_block(app->forest, i);
    const int64_t first = gab_block_cells(app->forest, block).lo[0];
    for (int32_t x = 0; x < CELLS; x++)
      gab_field_set(gab_block_data(block, app->now), x, 0, 0, 0, answer(app, 0, first + x));
  }
}

static gab_status conduct(const chain *app, const gab_block *block)
{
  gab_field *u = gab_block_data(block, app->now), *next = gab_block_data(block, app->next);
  const gab_box cells = gab_block_cells(app->forest, block);
  const int64_t end = gab_config_int(app->config, "chain.blocks") * CELLS;
  const double k = gab_config_real(app->config, "chain.k");
  if (cells.lo[0] == 0) gab_field_set(u, -1, 0, 0, 0, gab_field_get(u, 0, 0, 0, 0));
  if (cells.hi[0] == end) gab_field_set(u, CELLS, 0, 0, 0, gab_field_get(u, CELLS - 1, 0, 0, 0));
  for (int32_t x = 0; x < CELLS; x++) {
    const double here = gab_field_get(u, x, 0, 0, 0);
    const double around = gab_field_get(u, x - 1, 0, 0, 0) + gab_field_get(u, x + 1, 0, 0, 0);
    gab_field_set(next, x, 0, 0, 0, here + k * (around - 2 * here));
  }
  return gab_field_swap(u, next);
}

/* ---------------------------------------------------------------- a step, and when it was */

/* A row is written at once: the next moment of a process may be its last. */
static gab_status note_times(chain *app, gab_step step, double began, double fed)
{
  char path[4096];
  const gab_rank rank = gab_world_rank(app->world);
  if (!app->times) {
    snprintf(path, sizeof path, "%s/times/process-%" GAB_PRI_PROCESS ".csv", app->folder,
             gab_world_process(app->world));
    app->times = fopen(path, "w");
    if (!app->times) GAB_FAIL(GAB_ERR_IO, "cannot write %s", path);
    fprintf(app->times, "rank,incarnation,step,began,fed,ended\n");
  }
  fprintf(app->times, "%" GAB_PRI_RANK ",%u,%" GAB_PRI_STEP ",%.6f,%.6f,%.6f\n", rank,
          (unsigned)gab_world_incarnation(app->world, rank), step, began, fed, gab_seconds_since_1970());
  return fflush(app->times) == 0 ? GAB_OK : GAB_ERR_IO;
}

static void sleep_for(double seconds)
{
  struct timespec left = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
  while (nanosleep(&left, &left) != 0) continue;
}

static gab_status step_rod(void *user, gab_step step)
{
  chain *app = user;
  const double began = gab_seconds_since_1970();
  GAB_TRY(gab_exchange_start(app->exchange));
  GAB_TRY(gab_exchange_finish(app->exchange));
  const double fed = gab_seconds_since_1970();
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++)
    GAB_TRY(conduct(app, gab_forest_block(app->forest, i)));
  sleep_for(gab_config_real(app->config, "chain.step_time"));
  return note_times(app, step, began, fed);
}

/* ---------------------------------------------------------------- the end */

static gab_status judge(void *user, gab_step step)
{
  chain *app = user;
  double error = 0;
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++) {
    const gab_block *block = gab_forest_block(app->forest, i);
    const int64_t first = gab_block_cells(app->forest, block).lo[0];
    for (int32_t x = 0; x < CELLS; x++)
      error = fmax(error, fabs(gab_field_get(gab_block_data(block, app->now), x, 0, 0, 0) -
                               answer(app, step, first + x)));
  }
  GAB_TRY(gab_world_max_f64(app->world, &error, 1));
  app->error = error;
  return gab_summary_gather(app->loop, &app->summary);
}

static void put_error(void *user, gab_json *json)
{
  gab_json_real(json, "largest_error", ((const chain *)user)->error);
}

/* ---------------------------------------------------------------- putting it together */

static gab_status read_words(chain *app, int argc, char **argv)
{
  app->folder = "out/chain";
  for (int i = 1; i < argc; i++) {
    const bool has_value = i + 1 < argc;
    if (strcmp(argv[i], "--out") == 0 && has_value) app->folder = argv[++i];
    else if (strcmp(argv[i], "--set") == 0 && has_value) GAB_TRY(gab_config_override(app->config, argv[++i]));
    else if (argv[i][0] == '-' || app->injection_count == MOST_WORDS)
      GAB_FAIL(GAB_ERR_INPUT, "'%s': usage: chain [--out FOLDER] [--set KEY=VALUE]... [FAULT]...", argv[i]);
    else app->injections[app->injection_count++] = argv[i];
  }
  return gab_config_check(app->config);
}

static gab_status prepare_folder(const chain *app)
{
  char path[4096];
  GAB_TRY(gab_output_folder_prepare(app->folder));
  snprintf(path, sizeof path, "%s/times", app->folder);
  if (mkdir(path, 0777) != 0 && errno != EEXIST) GAB_FAIL(GAB_ERR_IO, "cannot make %s", path);
  return GAB_OK;
}

static gab_status build(chain *app)
{
  const gab_forest_options rod = {
      .grid = {.dimension = 2, .roots = {(int32_t)gab_config_int(app->config, "chain.blocks"), 1, 1}},
      .cells = {CELLS, 1, 1},
      .dx = 1};
  const gab_block_data_kind now = gab_block_field_data(&rod_field, "temperature");
  const gab_block_data_kind next = gab_block_field_scratch(&rod_field, "scratch");
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&rod_field);
  GAB_TRY(gab_forest_create(app->world, &rod, &app->forest));
  GAB_TRY(gab_forest_add_data(app->forest, &now, &app->now));
  GAB_TRY(gab_forest_add_data(app->forest, &next, &app->next));
  GAB_TRY(gab_exchange_create(app->forest, app->now, &ghosts, &app->exchange));
  GAB_TRY(gab_balance_initial(app->forest, NULL, NULL));
  set_initial(app);
  return GAB_OK;
}

static gab_status run(chain *app, int argc, char **argv)
{
  GAB_TRY(gab_config_create(&app->config));
  GAB_TRY(gab_config_declare(app->config, &section));
  GAB_TRY(gab_resilience_declare(app->config));
  GAB_TRY(read_words(app, argc, argv));
  GAB_TRY(build(app));
  const gab_status ready = gab_world_is_root(app->world) ? prepare_folder(app) : GAB_OK;
  GAB_TRY(gab_world_reduce_status(app->world, ready));
  GAB_TRY(gab_timeloop_create(app->forest, gab_config_int(app->config, "chain.steps"), &app->loop));
  GAB_TRY(gab_timeloop_add_task(app->loop, "rod", step_rod, app));
  GAB_TRY(gab_timeloop_add_finish(app->loop, "judge", judge, app));
  GAB_TRY(gab_resilience_protect(app->loop, app->config,
                                 &(gab_resilience_context){.folder = app->folder,
                                                           .inject = app->injections,
                                                           .inject_count = app->injection_count}));
  GAB_TRY(gab_timeloop_run(app->loop));
  return gab_summary_write(&app->summary, app->loop, GAB_OK, app->folder,
                           (gab_summary_extra){put_error, app});
}

int main(int argc, char **argv)
{
  chain app = {0};
  if (gab_world_create(&argc, &argv, &app.world) != GAB_OK) return 1;
  const gab_status status = run(&app, argc, argv);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s: %s", gab_status_name(status), gab_error_message());
  if (app.times) fclose(app.times);
  gab_timeloop_destroy(&app.loop);
  gab_exchange_destroy(&app.exchange);
  gab_forest_destroy(&app.forest);
  gab_config_destroy(&app.config);
  const int code = gab_report_completion(app.world, gab_status_exit_code(status));
  gab_world_destroy(&app.world);
  return code;
}
