/* gabion run of a phase field: model, window, output, protection. */
#include "apps/driver/phase.h"

#include "core/log.h"
#include "loadbalance/balance.h"
#include "resilience/resilience_config.h"
#include "resilience/summary.h"

#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  SERIES_COLUMNS = 5,
  MOST_COLUMNS = SERIES_COLUMNS + GAB_MOST_PHASES + 2 * GAB_MOST_INDEPENDENTS,
  MOST_PICKED = 16
};

typedef struct growth {
  const phase_case *which; /* borrowed, as the rest of this group */
  const driver_options *options;
  const char *folder;
  gab_world *world;

  gab_forest *forest;
  gab_phasefield *model;
  gab_balance_report balance;
  gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES];
  gab_quantity_list quantities;
  gab_output *output;
  gab_timeloop *loop;
  gab_summary summary;
} growth;

static double time_of(const growth *it, gab_step step) { return (double)step * it->which->setup.options.dt; }

/* ---------------------------------------------------------------- a step */

static gab_status sweep_phi(void *user, gab_step step)
{
  (void)step;
  growth *it = user;
  GAB_TRY(gab_phasefield_exchange_mu_start(it->model));
  GAB_TRY(gab_phasefield_sweep_phi(it->model));
  GAB_TRY(gab_phasefield_exchange_phi_start(it->model));
  return gab_phasefield_exchange_mu_finish(it->model);
}

static gab_status sweep_mu(void *user, gab_step step)
{
  (void)step;
  growth *it = user;
  GAB_TRY(gab_phasefield_exchange_phi_finish(it->model));
  return gab_phasefield_sweep_mu(it->model);
}

/* ---------------------------------------------------------------- duties */

static bool window_due(const void *user, gab_step step)
{
  const growth *it = user;
  const gab_phasefield_setup *setup = &it->which->setup;
  return setup->window_row >= 0 && step % setup->window_every == 0;
}

static gab_status move_window(void *user, gab_step step)
{
  (void)step;
  growth *it = user;
  int64_t front;
  GAB_TRY(gab_phasefield_front(it->model, &front));
  const int64_t rows = front - it->which->setup.window_row;
  return rows > 0 ? gab_phasefield_shift(it->model, rows) : GAB_OK;
}

static bool check_due(const void *user, gab_step step)
{
  const growth *it = user;
  const gab_step every = it->which->check_every;
  return every > 0 && (step % every == 0 || step == it->which->steps);
}

static gab_status check(void *user, gab_step step)
{
  (void)step;
  const growth *it = user;
  return gab_output_settle(it->world, gab_phasefield_check_finite(it->model));
}

static bool output_due(const void *user, gab_step step)
{
  return gab_output_due(((const growth *)user)->output, step);
}

static gab_status write_output(void *user, gab_step step)
{
  growth *it = user;
  return gab_output_write(it->output, step, time_of(it, step));
}

/* ---------------------------------------------------------------- series and pictures */

/* Height of the front and of the mean solid with the window's shift, undercooling at the front, fractions of
 * the solids. */
static gab_status series_row(void *user, gab_step step, double time, double *values)
{
  (void)step, (void)time;
  growth *it = user;
  const gab_phasefield_setup *setup = &it->which->setup;
  const int melt = setup->options.thermo.phases - 1, axis = it->which->forest.grid.dimension - 1;
  const double rows = (double)it->which->forest.grid.roots[axis] * it->which->forest.cells[axis];
  const double shift = (double)gab_phasefield_get_shift(it->model), dx = it->which->forest.dx;
  gab_phasefield_integrals sums;
  int64_t front;
  GAB_TRY(gab_phasefield_front(it->model, &front));
  GAB_TRY(gab_phasefield_integrate(it->model, &sums));
  const double warm = gab_phasefield_temperature_at(it->model, front);
  values[0] = ((double)front + 1 + shift) * dx;
  values[1] = (rows * (1 - sums.fraction[melt] / sums.cells) + shift) * dx;
  values[2] = warm;
  values[3] = setup->has_eutectic ? setup->eutectic_temperature - warm : NAN;
  values[4] = shift;
  for (int a = 0; a < melt; a++)
    values[SERIES_COLUMNS + a] = sums.fraction[a] / (sums.cells - sums.fraction[melt]);
  double gained[GAB_MOST_INDEPENDENTS];
  GAB_TRY(gab_phasefield_ledger(it->model, gained));
  values += SERIES_COLUMNS + melt;
  for (int i = 0; i < setup->options.thermo.independents; i++) {
    *values++ = sums.content[i];
    *values++ = gained[i];
  }
  return GAB_OK;
}

static gab_status add_series(growth *it)
{
  const gab_thermo *thermo = &it->which->setup.options.thermo;
  static const char *const ledger[] = {"content_1", "gained_1",  "content_2",
                                       "gained_2",  "content_3", "gained_3"};
  const char *columns[MOST_COLUMNS] = {"front", "height", "temperature", "undercooling", "shift"};
  size_t count = SERIES_COLUMNS;
  for (int a = 0; a < thermo->phases - 1; a++) columns[count++] = thermo->phase[a].name;
  for (int i = 0; i < 2 * thermo->independents; i++) columns[count++] = ledger[i];
  if (it->which->series_every == 0) return GAB_OK;
  return gab_output_add_series(it->output, (gab_schedule){.every = it->which->series_every}, "front", columns,
                               count, series_row, it, NULL);
}

static gab_status add_slice(growth *it, size_t index)
{
  const gab_config *config = it->which->config;
  const gab_forest_options *forest = &it->which->forest;
  char item[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  gab_schedule schedule;
  gab_config_path(item, "output.slices.%zu", index);
  GAB_TRY(output_schedule_read(config, item, it->which->setup.options.dt, &schedule));
  gab_slice_options options = {.axis = gab_config_choice(config, gab_config_path(path, "%s.axis", item)),
                               .outlines =
                                   gab_config_bool(config, gab_config_path(path, "%s.outlines", item))};
  gab_config_path(path, "%s.quantity", item);
  const char *name = gab_config_is_set(config, path) ? gab_config_string(config, path) : "phase";
  if (gab_quantity_find_scalar(it->quantities, name, &options.quantity, &options.component) != GAB_OK)
    return gab_config_fail(config, path, "%s", gab_error_message());
  const double cells = (double)forest->grid.roots[options.axis] * forest->cells[options.axis];
  options.position = forest->origin[options.axis] + 0.5 * cells * forest->dx;
  gab_config_path(path, "%s.position", item);
  if (gab_config_is_set(config, path)) options.position = gab_config_real(config, path);
  gab_config_path(path, "%s.name", item);
  if (gab_config_is_set(config, path)) options.name = gab_config_string(config, path);
  size_t count;
  gab_config_path(path, "%s.range", item);
  const double *range = gab_config_reals(config, path, &count);
  for (size_t i = 0; i < count; i++) options.range[i] = range[i];
  options.fixed_range = count == 2;
  if (strcmp(name, "phase") == 0 &&
      !options.fixed_range) { /* the same colours from the first to the last picture */
    options.fixed_range = true;
    options.range[1] = it->which->setup.options.thermo.phases - 1;
  }
  return gab_output_add_slice(it->output, schedule, &options);
}

static gab_status add_fields(growth *it)
{
  const gab_config *config = it->which->config;
  if (!gab_config_is_set(config, "output.fields")) return GAB_OK;
  static const char *const usual[] = {"phase", "solid"};
  const char *const *names = usual;
  size_t count = 2;
  gab_schedule schedule;
  gab_quantity picked[MOST_PICKED];
  if (gab_config_is_set(config, "output.fields.quantities"))
    names = gab_config_strings(config, "output.fields.quantities", &count);
  for (size_t i = 0; i < count; i++) {
    const gab_quantity *found;
    if (gab_quantity_find(it->quantities, names[i], &found) != GAB_OK)
      return gab_config_fail(config, "output.fields.quantities", "%s", gab_error_message());
    picked[i] = *found;
  }
  GAB_TRY(output_schedule_read(config, "output.fields", it->which->setup.options.dt, &schedule));
  const gab_volume_options options = {
      .quantities = picked,
      .quantity_count = count,
      .precision =
          gab_config_choice(config, "output.fields.precision") == 0 ? GAB_OUTPUT_FLOAT : GAB_OUTPUT_DOUBLE,
      .compression = (int)gab_config_int(config, "output.fields.compression")};
  return gab_output_add_volume(it->output, schedule, &options);
}

static gab_status add_writers(growth *it)
{
  const size_t slices = gab_config_count(it->which->config, "output.slices");
  GAB_TRY(add_fields(it));
  for (size_t i = 0; i < slices; i++) GAB_TRY(add_slice(it, i));
  return add_series(it);
}

/* ---------------------------------------------------------------- entities and the end */

static gab_status pack_output(void *user, gab_buffer *out)
{
  return gab_output_pack(((growth *)user)->output, out);
}
static gab_status unpack_output(void *user, gab_reader *in)
{
  return gab_output_unpack(((growth *)user)->output, in);
}

static gab_status finish(void *user, gab_step step)
{
  growth *it = user;
  GAB_TRY(gab_output_write_now(it->output, GAB_OUTPUT_VOLUME | GAB_OUTPUT_SLICE, step, time_of(it, step)));
  GAB_TRY(gab_output_flush(it->output));
  GAB_TRY(gab_summary_gather(it->loop, &it->summary));
  return gab_output_settle(it->world, gab_summary_write(&it->summary, it->loop, GAB_OK, it->folder, NULL));
}

static gab_status add_duties(growth *it)
{
  const gab_entity place = {.name = "phasefield",
                            .kind = GAB_ENTITY_REPLICATED,
                            .user = it->model,
                            .pack = gab_phasefield_pack,
                            .unpack = gab_phasefield_unpack};
  const gab_entity output = {.name = "output",
                             .kind = GAB_ENTITY_REPLICATED,
                             .user = it,
                             .pack = pack_output,
                             .unpack = unpack_output};
  const gab_entity ledger = {.name = "ledger",
                             .kind = GAB_ENTITY_PER_SLOT,
                             .user = it->model,
                             .pack = gab_phasefield_ledger_pack,
                             .unpack = gab_phasefield_ledger_unpack,
                             .adopt = gab_phasefield_ledger_adopt};
  GAB_TRY(gab_timeloop_add_entity(it->loop, &place));
  GAB_TRY(gab_timeloop_add_entity(it->loop, &ledger));
  GAB_TRY(gab_timeloop_add_entity(it->loop, &output));
  GAB_TRY(gab_timeloop_add_task(it->loop, "phi", sweep_phi, it));
  GAB_TRY(gab_timeloop_add_task(it->loop, "mu", sweep_mu, it));
  GAB_TRY(gab_timeloop_add_duty(it->loop, "check", check_due, check, it));
  GAB_TRY(gab_timeloop_add_duty(it->loop, "window", window_due, move_window, it));
  GAB_TRY(gab_timeloop_add_duty(it->loop, "output", output_due, write_output, it));
  return gab_timeloop_add_finish(it->loop, "finish", finish, it);
}

/* ---------------------------------------------------------------- all of it */

static gab_status rebalance(void *user, gab_forest *forest)
{
  return gab_balance_forest(forest, &((const growth *)user)->which->balance, NULL);
}

static void log_start(const growth *it)
{
  int threads = 1;
#ifdef _OPENMP
  threads = omp_get_max_threads();
#endif
  gab_log(GAB_LOG_INFO, "Gabion %s, %s", GAB_VERSION, gab_config_name(it->which->config));
  for (size_t i = 0; i < it->options->setting_count; i++)
    gab_log(GAB_LOG_INFO, "  --set %s", it->options->settings[i]);
  for (size_t i = 0; i < it->options->drill_count; i++)
    gab_log(GAB_LOG_INFO, "  --inject %s", it->options->drills[i]);
  phase_case_describe(it->which);
  const int processes = (int)gab_members_count(gab_world_members(it->world));
  gab_log(GAB_LOG_INFO, "  %" PRIu64 " blocks on %d process%s of %d thread%s, imbalance %.3f, kernel %s",
          it->balance.blocks, processes, processes == 1 ? "" : "es", threads, threads == 1 ? "" : "s",
          it->balance.imbalance, gab_phasefield_kernel_name(it->model));
  gab_log(GAB_LOG_INFO, "  results go to %s", it->folder);
}

static gab_status build(growth *it)
{
  const phase_case *which = it->which;
  GAB_TRY(gab_forest_create(it->world, &which->forest, &it->forest));
  GAB_TRY(gab_phasefield_create(it->forest, &which->setup.options, &it->model));
  it->quantities = gab_phasefield_quantities(it->model, it->items);
  GAB_TRY(gab_balance_initial(it->forest, &which->balance, &it->balance));
  GAB_TRY(gab_output_create(it->forest, it->folder, &it->output));
  GAB_TRY(add_writers(it));
  GAB_TRY(driver_folder_open(it->world, which->config, it->folder));
  log_start(it);
  GAB_TRY(gab_timeloop_create(it->forest, which->steps, &it->loop));
  GAB_TRY(add_duties(it));
  return gab_resilience_protect(it->loop, which->config, rebalance, it, it->folder, it->options->drills,
                                it->options->drill_count);
}

static void release(growth *it)
{
  gab_timeloop_destroy(&it->loop);
  gab_output_destroy(&it->output);
  if (it->model) gab_phasefield_destroy(&it->model);
  if (it->forest) gab_forest_destroy(&it->forest);
}

static gab_status grow(growth *it)
{
  gab_status status = driver_end_of_setup(it->world, build(it));
  if (status == GAB_OK) status = gab_timeloop_run(it->loop);
  if (status == GAB_OK) gab_summary_log(&it->summary, it->loop, it->folder);
  else if (gab_world_check(it->world) == GAB_OK)
    gab_log(GAB_LOG_ERROR, "%s: %s", gab_status_name(status), gab_error_message());
  else if (status != GAB_ERR_FAULT) /* nobody else will say it */
    gab_log_all(GAB_LOG_ERROR, "%s: %s", gab_status_name(status), gab_error_message());
  release(it);
  return status;
}

gab_status phase_run(gab_world *world, gab_config *config, const driver_options *options)
{
  char folder[GAB_PATH_LENGTH];
  void *memory;
  driver_default_folder(options->word, folder, sizeof folder);
  GAB_TRY(gab_alloc(sizeof(phase_case) + sizeof(growth), GAB_MEMORY_OTHER, &memory));
  phase_case *which = memory;
  growth *it = (growth *)(which + 1);
  gab_status status = gab_output_settle(world, phase_case_read(config, options, which));
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  else {
    *it = (growth){
        .which = which, .options = options, .folder = options->out ? options->out : folder, .world = world};
    status = grow(it);
  }
  phase_case_release(which);
  gab_free(&memory);
  return status;
}
