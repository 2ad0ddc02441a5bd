/* SPDX-License-Identifier: Apache-2.0 */
/* A third solver for the driver, du/dt = k Laplace(u) in a periodic 2D box: an example with all commands, output,
 * protection and checkpoints on disk. */
#include "apps/driver/run/run.h"
#include "blockforest/adaptation/adapt.h"
#include "blockforest/exchange/block_field.h"
#include "core/base/exact_sum.h"
#include "core/base/log.h"
#include "core/messages/collective.h"

/* ---- parameters */

static const gab_config_key keys[] = {
    {.name = "k", .type = GAB_CONFIG_REAL, .min = 0, .max = 1, .doc = "Conductivity; stable up to 0.25."}};
static const gab_config_section section = {
    .path = "heat", .doc = "A heated plate.", .keys = keys, .count = 1};

static gab_status declare(gab_config *config) { return gab_app_declare(config, &section, 1); }

static gab_status read_case(gab_app_case *which)
{
  GAB_TRY(gab_app_case_refuse_others(which));
  GAB_TRY(gab_app_domain_read(which->config, &which->domain));
  which->domain.periodic[0] = which->domain.periodic[1] = true;
  which->grid = which->domain;
  which->dt = 1;
  GAB_TRY(gab_app_balance_read(which->config, &which->balance, &which->rebalance));
  return gab_app_case_settle(which);
}

static void describe(const gab_app_case *which)
{
  gab_log(GAB_LOG_INFO, "  heat, conductivity %g", gab_config_real(which->config, "heat.k"));
}

/* ---- a run */

typedef struct heat {
  gab_app_run base;
  gab_block_field field;
  gab_data_id now, next;
  gab_exchange *exchange;
  gab_quantity temperature;
} heat;

static gab_status evaluate(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const heat *app = user;
  const int32_t *cells = app->field.shape.cells;
  (void)forest;
  gab_field_pack_box(gab_block_data(block, app->now), &(gab_box){{0, 0, 0}, {cells[0], cells[1], 1}}, NULL, 1,
                     values);
  return GAB_OK;
}

static gab_status prepare(gab_app_run *it)
{
  heat *app = (heat *)it;
  const int32_t *cells = it->parameters->grid.cells;
  app->field = (gab_block_field){
      .shape = {.cells = {cells[0], cells[1], 1}, .ghosts = {1, 1, 0}, .components = 1}, .faces_only = true};
  app->temperature =
      (gab_quantity){.name = "temperature", .components = 1, .evaluate = evaluate, .user = app};
  it->quantities = (gab_quantity_list){&app->temperature, 1};
  const gab_block_data_kind now = gab_block_field_data(&app->field, "temperature");
  const gab_block_data_kind next = gab_block_field_scratch(&app->field, "scratch");
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&app->field);
  GAB_TRY(gab_forest_create(it->world, &it->parameters->grid, &it->forest));
  GAB_TRY(gab_forest_add_data(it->forest, &now, &app->now));
  GAB_TRY(gab_forest_add_data(it->forest, &next, &app->next));
  return gab_exchange_create(it->forest, app->now, &ghosts, &app->exchange);
}

static void release_run(gab_app_run *it)
{
  gab_exchange_destroy(&((heat *)it)->exchange);
  if (it->forest) gab_forest_destroy(&it->forest);
}

/* Hot where x + y is a multiple of 7. */
static gab_status build(gab_app_run *it)
{
  const heat *app = (const heat *)it;
  GAB_TRY(gab_forest_build(it->forest, NULL, NULL, 0, gab_app_run_distribute_first, it, NULL));
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_block *block = gab_forest_block(it->forest, i);
    for (int32_t y = 0; y < app->field.shape.cells[1]; y++)
      for (int32_t x = 0; x < app->field.shape.cells[0]; x++) {
        double at[3];
        gab_block_cell_centre(it->forest, block, x, y, 0, at);
        gab_field_set(gab_block_data(block, app->now), x, y, 0, 0, (int)(at[0] + at[1]) % 7 == 0);
      }
  }
  return GAB_OK;
}

static gab_status diffuse(void *user, gab_step step)
{
  const heat *app = user;
  const gab_forest *forest = app->base.forest;
  const double k = gab_config_real(app->base.parameters->config, "heat.k");
  (void)step;
  GAB_TRY(gab_exchange_start(app->exchange));
  GAB_TRY(gab_exchange_finish(app->exchange));
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    gab_field *u = gab_block_data(block, app->now), *next = gab_block_data(block, app->next);
    for (int32_t y = 0; y < app->field.shape.cells[1]; y++)
      for (int32_t x = 0; x < app->field.shape.cells[0]; x++) {
        const double here = gab_field_get(u, x, y, 0, 0);
        const double around = gab_field_get(u, x - 1, y, 0, 0) + gab_field_get(u, x + 1, y, 0, 0) +
                              gab_field_get(u, x, y - 1, 0, 0) + gab_field_get(u, x, y + 1, 0, 0);
        gab_field_set(next, x, y, 0, 0, here + k * (around - 4 * here));
      }
    GAB_TRY(gab_field_swap(u, next));
  }
  return GAB_OK;
}

static gab_status add(gab_app_run *it)
{
  GAB_TRY(gab_timeloop_add_task(it->loop, "heat", diffuse, it));
  GAB_TRY(gab_app_run_add_balance(it));
  return gab_app_run_add_output(it);
}

/* ---- a series */

static gab_status total_row(void *user, gab_step step, double time, double *values)
{
  const heat *app = user;
  const int32_t *cells = app->field.shape.cells;
  gab_exact_sum sum = {0};
  (void)step;
  (void)time;
  for (size_t i = 0; i < gab_forest_block_count(app->base.forest); i++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++)
        gab_exact_add(
            &sum, gab_field_get(gab_block_data(gab_forest_block(app->base.forest, i), app->now), x, y, 0, 0));
  GAB_TRY(gab_world_sum_exact(app->base.world, &sum, 1));
  values[0] = gab_exact_value(&sum);
  return GAB_OK;
}

static gab_status add_writers(gab_app_run *it)
{
  static const char *const columns[] = {"total"};
  return gab_output_add_series(it->output, (gab_schedule){.every = 5}, "heat", columns, 1, total_row, it,
                               NULL);
}

/* ---- the table */

static const char *const own[] = {"heat", NULL};
static const char *const usual_fields[] = {"temperature", NULL};
static const gab_solver solver = {.name = "heat",
                                  .title = "conduction of heat",
                                  .section = "heat",
                                  .own = own,
                                  .case_bytes = sizeof(gab_app_case),
                                  .declare = declare,
                                  .read = read_case,
                                  .describe = describe,
                                  .run_bytes = sizeof(heat),
                                  .prepare = prepare,
                                  .add_writers = add_writers,
                                  .build = build,
                                  .add = add,
                                  .usual_fields = usual_fields,
                                  .usual_slice = "temperature",
                                  .release_run = release_run};

int main(int argc, char **argv)
{
  static const gab_solver *const all[] = {&solver};
  return gab_app_main(argc, argv, all, 1);
}
