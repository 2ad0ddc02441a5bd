/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose per-rank entity a spare cannot pack before it runs a rank. The run rolls back to a checkpoint on disk of
 * fewer ranks, of which the rank of the spare gets no part. For script_spare_needs.sh:
 *
 *   helper_spare_needs write   writes the checkpoint: 20 steps by one process
 *   helper_spare_needs packs   resumes with four ranks and a spare that can pack; rank 3 dies, then 0 and 2 together
 *   helper_spare_needs lacks   the same, but the spare cannot pack */
#include "tests/faults/automaton.c"

#include "core/base/log.h"
#include "resilience/reports/completion.h"

#include <stdio.h>

typedef struct counter {
  bool can_pack;
  uint64_t steps;
} counter;

static gab_status pack_steps(void *user, gab_buffer *out)
{
  const counter *it = user;
  if (!it->can_pack) GAB_FAIL(GAB_ERR_STATE, "there is nothing to pack on a spare");
  return gab_put_u64(out, it->steps);
}

static gab_status unpack_steps(void *user, gab_reader *in)
{
  counter *it = user;
  it->can_pack = true;
  return gab_get_u64(in, &it->steps);
}

static gab_status run(gab_world *world, automaton *app, const char *what, bool *right)
{
  const bool writes = strcmp(what, "write") == 0;
  const gab_step steps = writes ? 20 : 40;
  const gab_fault_injection deaths[] = {
      {.step = 25, .point = GAB_FAULT_POINT_EXCHANGE, .visit = 1, .rank_count = 1, .ranks = {3}},
      {.step = 35, .point = GAB_FAULT_POINT_EXCHANGE, .visit = 1, .rank_count = 2, .ranks = {0, 2}}};
  const gab_protection protection = {
      .every = {.steps = 10},
      .injections = deaths,
      .injection_count = writes ? 0 : 2,
      .disk = {.folder = "checkpoints"},
      .disk_every = {.steps = writes ? 20 : 1000},
      .strategies = {&gab_strategy_spare, &gab_strategy_shrink, &gab_strategy_disk}};
  counter counted = {.can_pack = strcmp(what, "lacks") != 0 || !gab_world_is_spare(world)};
  const gab_entity entity = {.name = "steps",
                             .kind = GAB_ENTITY_PER_RANK,
                             .user = &counted,
                             .pack = pack_steps,
                             .unpack = unpack_steps};
  gab_restart *restart;
  gab_timeloop *loop;
  GAB_TRY(gab_restart_find(world, "checkpoints", false, &restart));
  GAB_TRY(gab_timeloop_create(app->forest, steps, &loop));
  gab_status status = gab_timeloop_continue(loop, restart);
  if (status == GAB_OK) status = automaton_add(app, loop);
  if (status == GAB_OK) status = gab_timeloop_add_entity(loop, &entity);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, &protection);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  *right = status == GAB_OK && automaton_is_right(app, steps);
  gab_timeloop_destroy(&loop);
  return status;
}

int main(int argc, char **argv)
{
  automaton app;
  gab_world *world;
  bool right;
  if (argc < 2 || gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  if (automaton_create(&app, world, (int32_t[]){8, 4, 4}) != GAB_OK) return 1;
  const gab_status status = run(world, &app, argv[1], &right);
  if (status != GAB_OK) printf("error: %s\n", gab_error_message());
  if (right) puts("right");
  const int code = gab_report_completion(world, status == GAB_OK ? 0 : 1);
  automaton_destroy(&app);
  gab_world_destroy(&world);
  return code;
}
