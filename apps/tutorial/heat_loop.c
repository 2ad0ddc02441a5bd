/* SPDX-License-Identifier: Apache-2.0 */
/* Heat in a plate: a whole application, from the equation to a run that survives the death of processes.
 *
 *   gabion-launch -n 4 build/bin/heat_loop
 *   gabion-launch -n 4 build/bin/heat_loop apps/tutorial/heat_loop.yaml
 *   gabion-launch -n 4 build/bin/heat_loop rank=2,step=700,phase=exchange      kills a process on the way
 *
 * A burner runs round a plate whose opposite edges meet: du/dt = k Laplace(u) + q(x, t). In the end there has
 * to be as much heat in the plate as the burner has released, no matter who died. */
#include "gabion/gabion.h"

#include <math.h>
#include <string.h>

/* ---- 1. Parameters. Files are checked against this table; what they leave out has its default. */

/* clang-format off */
static const gab_config_key keys[] = {
    {.name = "steps",  .type = GAB_CONFIG_INT,  .min = 1, .max = 1e9,  .default_text = "2000", .doc = "time steps"},
    {.name = "blocks", .type = GAB_CONFIG_INT,  .min = 1, .max = 64,   .default_text = "8",    .doc = "along an edge"},
    {.name = "k",      .type = GAB_CONFIG_REAL, .min = 0, .max = 0.25, .default_text = "0.2",  .doc = "conductivity"},
};
static const gab_config_section section = {.path = "heat", .doc = "A heated plate.", .keys = keys, .count = 3};
/* clang-format on */

typedef struct heat {
  gab_config *config;
  gab_forest *forest;     /* the blocks of the plate that live on this process */
  gab_data_id now, next;  /* temperature on each block; the second one is scratch */
  gab_exchange *exchange; /* of ghost layers between blocks */
  gab_exact_sum released; /* heat from the burner in this process's blocks: a sum without rounding */
  gab_slice *picture;
  gab_timeloop *loop;
} heat;

/* ---- 2. Block data: one number per cell, and a layer of ghost cells around each block. */

enum { CELLS = 32 };
static const gab_box interior = {{0, 0, 0}, {CELLS, CELLS, 1}};
static const gab_block_field plate_field = {
    .shape = {.cells = {CELLS, CELLS, 1}, .ghosts = {1, 1, 0}, .components = 1}, .faces_only = true};

/* ---- 3. A time step: ghost layers, then every block. */

static gab_status heat_block(heat *app, gab_step step, const gab_block *block)
{
  gab_field *u = gab_block_data(block, app->now), *next = gab_block_data(block, app->next);
  const double k = gab_config_real(app->config, "heat.k");
  const double edge = (double)gab_config_int(app->config, "heat.blocks") * CELLS, radius = edge / 40;
  const double angle = (double)step / 240; /* of the burner on its way round */
  const double burner[2] = {edge * (0.5 + 0.3 * cos(angle)), edge * (0.5 + 0.3 * sin(angle))};
  for (int32_t y = 0; y < CELLS; y++)
    for (int32_t x = 0; x < CELLS; x++) {
      double at[3];
      gab_block_cell_centre(app->forest, block, x, y, 0, at);
      const double here = gab_field_get(u, x, y, 0, 0);
      const double around = gab_field_get(u, x - 1, y, 0, 0) + gab_field_get(u, x + 1, y, 0, 0) +
                            gab_field_get(u, x, y - 1, 0, 0) + gab_field_get(u, x, y + 1, 0, 0);
      const double dx = at[0] - burner[0], dy = at[1] - burner[1];
      const double q = dx * dx + dy * dy < radius * radius ? 1 : 0;
      gab_field_set(next, x, y, 0, 0, here + k * (around - 4 * here) + q);
      if (q > 0) gab_exact_add(&app->released, q);
    }
  return gab_field_swap(u, next);
}

static gab_status heat_plate(void *user, gab_step step)
{
  heat *app = user;
  GAB_TRY(gab_exchange_start(app->exchange));
  GAB_TRY(gab_exchange_finish(app->exchange));
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++)
    GAB_TRY(heat_block(app, step, gab_forest_block(app->forest, i)));
  return GAB_OK;
}

/* ---- 4. An entity: what has to survive besides the blocks. Whoever takes over the blocks of a dead process
 *         takes over its account of released heat as well. */

static gab_status pack_account(void *user, gab_buffer *out)
{
  return gab_put_bytes(out, &((heat *)user)->released, sizeof(gab_exact_sum));
}

static gab_status unpack_account(void *user, gab_reader *in)
{
  return gab_get_bytes(in, &((heat *)user)->released, sizeof(gab_exact_sum));
}

static gab_status adopt_account(void *user, gab_rank dead, gab_reader *in)
{
  (void)dead;
  gab_exact_sum theirs;
  GAB_TRY(gab_get_bytes(in, &theirs, sizeof theirs));
  gab_exact_merge(&((heat *)user)->released, &theirs);
  return GAB_OK;
}

/* ---- 5. At the end: a picture, and the account. */

static gab_status temperature(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  (void)forest;
  gab_field_pack_box(gab_block_data(block, ((heat *)user)->now), &interior, NULL, 1, values);
  return GAB_OK;
}

static gab_status close_account(void *user, gab_step step)
{
  heat *app = user;
  uint64_t checksum;
  gab_exact_sum sums[2] = {app->released};
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++) {
    const gab_field *u = gab_block_data(gab_forest_block(app->forest, i), app->now);
    for (int32_t y = 0; y < CELLS; y++)
      for (int32_t x = 0; x < CELLS; x++) gab_exact_add(&sums[1], gab_field_get(u, x, y, 0, 0));
  }
  GAB_TRY(gab_slice_write(app->picture, step, (double)step));
  GAB_TRY(gab_world_sum_exact(gab_forest_world(app->forest), sums, 2));
  GAB_TRY(gab_forest_checksum(app->forest, &checksum));
  gab_log(GAB_LOG_INFO, "heat released %.10g, heat in the plate %.10g, checksum %016" PRIx64,
          gab_exact_value(&sums[0]), gab_exact_value(&sums[1]), checksum);
  return GAB_OK;
}

/* ---- 6. Putting it together. */

static gab_status read_parameters(heat *app, const char *file)
{
  GAB_TRY(gab_config_create(&app->config));
  GAB_TRY(gab_config_declare(app->config, &section));
  GAB_TRY(gab_resilience_declare(app->config));
  if (file) GAB_TRY(gab_config_load(app->config, file));
  return gab_config_check(app->config);
}

static gab_status build(gab_world *world, heat *app, const char *folder)
{
  const int32_t blocks = (int32_t)gab_config_int(app->config, "heat.blocks");
  const gab_forest_options plate = {.grid = {.dimension = 2, .roots = {blocks, blocks, 1}},
                                    .cells = {CELLS, CELLS, 1},
                                    .periodic = {true, true, false},
                                    .dx = 1};
  const gab_block_data_kind now = gab_block_field_data(&plate_field, "temperature");
  const gab_block_data_kind next = gab_block_field_scratch(&plate_field, "scratch");
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&plate_field);
  const gab_quantity quantity = {
      .name = "temperature", .components = 1, .evaluate = temperature, .user = app};
  const gab_slice_options slice = {.folder = folder, .quantity = &quantity, .axis = 2, .outlines = true};
  GAB_TRY(gab_forest_create(world, &plate, &app->forest));
  GAB_TRY(gab_forest_add_data(app->forest, &now, &app->now));
  GAB_TRY(gab_forest_add_data(app->forest, &next, &app->next));
  GAB_TRY(gab_exchange_create(app->forest, app->now, &ghosts, &app->exchange));
  GAB_TRY(gab_balance_initial(app->forest, NULL, NULL));
  GAB_TRY(gab_output_folder_make(world, folder)); /* all succeed, or all fail */
  return gab_slice_create(app->forest, &slice, &app->picture);
}

static gab_status rebalance(void *user, gab_forest *forest)
{
  (void)user;
  return gab_balance_forest(forest, NULL, NULL);
}

static gab_status run(gab_world *world, heat *app, const char *file, char **injections,
                      size_t injection_count)
{
  const gab_entity account = {.name = "released heat",
                              .kind = GAB_ENTITY_PER_RANK,
                              .user = app,
                              .pack = pack_account,
                              .unpack = unpack_account,
                              .adopt = adopt_account};
  GAB_TRY(read_parameters(app, file));
  GAB_TRY(build(world, app, "out/heat_loop"));
  GAB_TRY(gab_timeloop_create(app->forest, gab_config_int(app->config, "heat.steps"), &app->loop));
  GAB_TRY(gab_timeloop_add_task(app->loop, "heat", heat_plate, app));
  GAB_TRY(gab_timeloop_add_entity(app->loop, &account));
  GAB_TRY(gab_timeloop_add_finish(app->loop, "account", close_account, app));
  /* The line that makes it survive: */
  GAB_TRY(gab_resilience_protect(app->loop, app->config,
                                 &(gab_resilience_context){.rebalance = rebalance,
                                                           .rebalance_user = app,
                                                           .folder = "out/heat_loop",
                                                           .inject = (const char *const *)injections,
                                                           .inject_count = injection_count}));
  return gab_timeloop_run(app->loop);
}

int main(int argc, char **argv)
{
  gab_world *world;
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  const bool has_file = argc > 1 && strstr(argv[1], ".yaml");
  const int first = has_file ? 2 : 1; /* of the fault injections */
  heat app = {0};
  gab_status status = run(world, &app, has_file ? argv[1] : NULL, argv + first, (size_t)(argc - first));
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s: %s", gab_status_name(status), gab_error_message());
  gab_timeloop_destroy(&app.loop);
  gab_slice_destroy(&app.picture);
  gab_exchange_destroy(&app.exchange);
  gab_forest_destroy(&app.forest);
  gab_config_destroy(&app.config);
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}
