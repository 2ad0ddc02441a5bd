/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/faults/automaton.h"

#include "core/messages/collective.h"
#include "core/base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t first_value(int64_t x, int64_t y, int64_t z)
{
  return gab_hash_counter(17, (uint64_t)(x + 1000 * y), (uint64_t)z);
}

/* The rule. The sum of all cells of an earlier step takes part. */
static uint64_t next_value(uint64_t self, const uint64_t neighbours[6], uint64_t total)
{
  uint64_t mixed = self * UINT64_C(0x9e3779b97f4a7c15) + total;
  for (int i = 0; i < 6; i++) mixed = (mixed ^ neighbours[i]) * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)i;
  return mixed ^ (mixed >> 29);
}

/* ---------------------------------------------------------------- block data */

static gab_status create_block(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)user;
  GAB_TRY(gab_alloc(sizeof(automaton_block), GAB_MEMORY_FIELD, data));
  automaton_block *cells = *data;
  gab_box box = gab_block_cells(forest, block);
  for (int z = 0; z < AUTOMATON_CELLS; z++)
    for (int y = 0; y < AUTOMATON_CELLS; y++)
      for (int x = 0; x < AUTOMATON_CELLS; x++)
        cells->now[z + 1][y + 1][x + 1] = first_value(box.lo[0] + x, box.lo[1] + y, box.lo[2] + z);
  return GAB_OK;
}

static void destroy_block(void *user, void *data)
{
  (void)user;
  gab_free(&data);
}

static size_t packed_size(void *user, const void *data)
{
  (void)user, (void)data;
  return sizeof(uint64_t) * AUTOMATON_CELLS * AUTOMATON_CELLS * AUTOMATON_CELLS;
}

static gab_status pack_block(void *user, const void *data, gab_buffer *out)
{
  (void)user;
  const automaton_block *cells = data;
  for (int z = 1; z <= AUTOMATON_CELLS; z++)
    for (int y = 1; y <= AUTOMATON_CELLS; y++)
      for (int x = 1; x <= AUTOMATON_CELLS; x++) GAB_TRY(gab_put_u64(out, cells->now[z][y][x]));
  return GAB_OK;
}

static gab_status unpack_block(void *user, void *data, gab_reader *in)
{
  (void)user;
  automaton_block *cells = data;
  for (int z = 1; z <= AUTOMATON_CELLS; z++)
    for (int y = 1; y <= AUTOMATON_CELLS; y++)
      for (int x = 1; x <= AUTOMATON_CELLS; x++) GAB_TRY(gab_get_u64(in, &cells->now[z][y][x]));
  return GAB_OK;
}

/* ---------------------------------------------------------------- ghosts: faces only */

static bool is_face(int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  return abs(offset[0]) + abs(offset[1]) + abs(offset[2]) == 1;
}

static size_t ghost_size(void *user, int direction)
{
  (void)user;
  return is_face(direction) ? sizeof(uint64_t) * AUTOMATON_CELLS * AUTOMATON_CELLS : 0;
}

static void copy_box(automaton_block *cells, const gab_box *box, unsigned char *bytes, bool out)
{
  for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
    for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
      for (int64_t x = box->lo[0]; x < box->hi[0]; x++, bytes += sizeof(uint64_t)) {
        uint64_t *cell = &cells->now[z + 1][y + 1][x + 1];
        if (out) memcpy(bytes, cell, sizeof *cell);
        else memcpy(cell, bytes, sizeof *cell);
      }
}

static const int32_t block_cells[3] = {AUTOMATON_CELLS, AUTOMATON_CELLS, AUTOMATON_CELLS};

static void pack_ghosts(void *user, const void *data, int direction, void *bytes)
{
  (void)user;
  gab_box box = gab_direction_send_box(direction, block_cells, 1);
  copy_box((automaton_block *)(uintptr_t)data, &box, bytes, true);
}

static void unpack_ghosts(void *user, void *data, int direction, const void *bytes)
{
  (void)user;
  gab_box box = gab_direction_receive_box(gab_direction_opposite(direction), block_cells, 1);
  copy_box(data, &box, (unsigned char *)(uintptr_t)bytes, false);
}

/* ---------------------------------------------------------------- the application */

gab_status automaton_create(automaton *app, gab_world *world, const int32_t roots[3])
{
  *app = (automaton){.world = world};
  gab_forest_options options = {.grid = {.dimension = 3}, .dx = 1};
  for (int i = 0; i < 3; i++) {
    app->roots[i] = options.grid.roots[i] = roots[i];
    options.cells[i] = AUTOMATON_CELLS;
    options.periodic[i] = true;
  }
  GAB_TRY(gab_forest_create(world, &options, &app->forest));
  gab_block_data_kind kind = {.name = "automaton",
                              .create = create_block,
                              .destroy = destroy_block,
                              .packed_size = packed_size,
                              .pack = pack_block,
                              .unpack = unpack_block};
  GAB_TRY(gab_forest_add_data(app->forest, &kind, &app->data));
  gab_ghost_kind ghost = {
      .name = "automaton", .size = ghost_size, .pack = pack_ghosts, .unpack = unpack_ghosts};
  GAB_TRY(gab_exchange_create(app->forest, app->data, &ghost, &app->exchange));
  return gab_balance_initial(app->forest, NULL, NULL);
}

void automaton_destroy(automaton *app)
{
  gab_exchange_destroy(&app->exchange);
  gab_forest_destroy(&app->forest);
}

static void step_block(automaton_block *cells, uint64_t total)
{
  for (int z = 1; z <= AUTOMATON_CELLS; z++)
    for (int y = 1; y <= AUTOMATON_CELLS; y++)
      for (int x = 1; x <= AUTOMATON_CELLS; x++) {
        uint64_t neighbours[6] = {cells->now[z][y][x - 1], cells->now[z][y][x + 1], cells->now[z][y - 1][x],
                                  cells->now[z][y + 1][x], cells->now[z - 1][y][x], cells->now[z + 1][y][x]};
        cells->next[z][y][x] = next_value(cells->now[z][y][x], neighbours, total);
      }
  memcpy(cells->now, cells->next, sizeof cells->now);
}

gab_status automaton_step(void *user, gab_step step)
{
  (void)step;
  automaton *app = user;
  GAB_TRY(gab_exchange_start(app->exchange));
  GAB_TRY(gab_exchange_finish(app->exchange));
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++)
    step_block(gab_block_data(gab_forest_block(app->forest, i), app->data), app->total);
  return GAB_OK;
}

bool automaton_sum_due(const void *user, gab_step step)
{
  (void)user;
  return step % 7 == 0;
}

gab_status automaton_sum(void *user, gab_step step)
{
  (void)step;
  automaton *app = user;
  uint64_t total = 0;
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++) {
    const automaton_block *cells = gab_block_data(gab_forest_block(app->forest, i), app->data);
    for (int z = 1; z <= AUTOMATON_CELLS; z++)
      for (int y = 1; y <= AUTOMATON_CELLS; y++)
        for (int x = 1; x <= AUTOMATON_CELLS; x++) total += cells->now[z][y][x];
  }
  GAB_TRY(gab_world_sum_u64(app->world, &total, 1));
  app->total = total;
  return GAB_OK;
}

static gab_status pack_total(void *user, gab_buffer *out)
{
  const automaton *app = user;
  return gab_put_u64(out, app->total);
}

static gab_status unpack_total(void *user, gab_reader *in)
{
  automaton *app = user;
  return gab_get_u64(in, &app->total);
}

gab_entity automaton_entity(automaton *app)
{
  return (gab_entity){.name = "total",
                      .kind = GAB_ENTITY_REPLICATED,
                      .user = app,
                      .pack = pack_total,
                      .unpack = unpack_total};
}

gab_status automaton_add(automaton *app, gab_timeloop *loop)
{
  const gab_entity total = automaton_entity(app);
  GAB_TRY(gab_timeloop_add_task(loop, "automaton", automaton_step, app));
  GAB_TRY(gab_timeloop_add_action(loop, "sum", automaton_sum_due, automaton_sum, app));
  return gab_timeloop_add_entity(loop, &total);
}

gab_status automaton_rebalance(void *user, gab_forest *forest)
{
  (void)user;
  return gab_balance_forest(forest, NULL, NULL);
}

/* ---------------------------------------------------------------- the answer */

/* The whole periodic domain as one array. */
typedef struct answer {
  int64_t size[3];
  uint64_t *now, *next;
} answer;

static size_t place(const answer *a, int64_t x, int64_t y, int64_t z)
{
  int64_t wrapped[3] = {(x + a->size[0]) % a->size[0], (y + a->size[1]) % a->size[1],
                        (z + a->size[2]) % a->size[2]};
  return (size_t)(wrapped[0] + a->size[0] * (wrapped[1] + a->size[1] * wrapped[2]));
}

static void answer_step(answer *a, uint64_t total)
{
  for (int64_t z = 0; z < a->size[2]; z++)
    for (int64_t y = 0; y < a->size[1]; y++)
      for (int64_t x = 0; x < a->size[0]; x++) {
        uint64_t neighbours[6] = {a->now[place(a, x - 1, y, z)], a->now[place(a, x + 1, y, z)],
                                  a->now[place(a, x, y - 1, z)], a->now[place(a, x, y + 1, z)],
                                  a->now[place(a, x, y, z - 1)], a->now[place(a, x, y, z + 1)]};
        a->next[place(a, x, y, z)] = next_value(a->now[place(a, x, y, z)], neighbours, total);
      }
  uint64_t *swapped = a->now;
  a->now = a->next;
  a->next = swapped;
}

static void answer_compute(answer *a, gab_step steps)
{
  size_t count = (size_t)(a->size[0] * a->size[1] * a->size[2]);
  for (int64_t z = 0; z < a->size[2]; z++)
    for (int64_t y = 0; y < a->size[1]; y++)
      for (int64_t x = 0; x < a->size[0]; x++) a->now[place(a, x, y, z)] = first_value(x, y, z);
  uint64_t total = 0;
  for (gab_step step = 0; step <= steps; step++) {
    if (automaton_sum_due(NULL, step)) {
      total = 0;
      for (size_t i = 0; i < count; i++) total += a->now[i];
    }
    if (step < steps) answer_step(a, total);
  }
}

static bool block_is_right(const automaton *app, const gab_block *block, const answer *a)
{
  const automaton_block *cells = gab_block_data(block, app->data);
  gab_box box = gab_block_cells(app->forest, block);
  for (int z = 0; z < AUTOMATON_CELLS; z++)
    for (int y = 0; y < AUTOMATON_CELLS; y++)
      for (int x = 0; x < AUTOMATON_CELLS; x++)
        if (cells->now[z + 1][y + 1][x + 1] !=
            a->now[place(a, box.lo[0] + x, box.lo[1] + y, box.lo[2] + z)]) {
          printf("rank %" GAB_PRI_RANK ": block " GAB_PRI_BLOCK " is wrong at cell %d %d %d\n",
                 gab_world_rank(app->world), gab_block_get_id(block), x, y, z);
          return false;
        }
  return true;
}

bool automaton_is_right(const automaton *app, gab_step steps)
{
  answer a;
  size_t count = 1;
  for (int i = 0; i < 3; i++) {
    a.size[i] = (int64_t)app->roots[i] * AUTOMATON_CELLS;
    count *= (size_t)a.size[i];
  }
  a.now = calloc(count, sizeof *a.now);
  a.next = calloc(count, sizeof *a.next);
  bool right = a.now && a.next;
  if (right) answer_compute(&a, steps);
  for (size_t i = 0; right && i < gab_forest_block_count(app->forest); i++)
    right = block_is_right(app, gab_forest_block(app->forest, i), &a);
  free(a.now);
  free(a.next);
  return right;
}
