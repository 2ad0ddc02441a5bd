/* SPDX-License-Identifier: Apache-2.0 */
/* Entities that own their buffers (create, restore, swap; Kohl et al. 2017, section 5.2.1): they go back with
 * the blocks, whatever moment a fault or a death chooses. On three processes one of them is a spare, which takes the place of
 * a dead one and has no buffers; where that could happen, entities without pack and unpack are refused. */
/* gabion-test: np=2,3,4,7 quick=4 timeout=100 needs=ulfm */
/* gabion-test: np=2 env=GABION_RESPAWN=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "resilience/checkpoint/checkpoint.h"

#include <stdlib.h>

/* A chain of numbers, one link per step: another step, or a part of another rank, has another end. */
enum { LINKS = 1000 };
typedef struct chain {
  gab_step step;
  uint64_t link[LINKS];
} chain;

typedef struct own_buffers {
  chain now, buffer[2];
  int valid, created, swapped, restored, unpacked;
  gab_world *world;
} own_buffers;

static void advance(chain *c)
{
  c->step++;
  for (int k = 0; k < LINKS; k++) c->link[k] = gab_hash_counter(c->link[k], (uint64_t)k, (uint64_t)c->step);
}

static bool is_right(const chain *c, gab_step step)
{
  static chain due;
  due = (chain){0};
  while (due.step < step) advance(&due);
  return memcmp(c, &due, sizeof due) == 0;
}

static gab_status create(void *user)
{
  own_buffers *own = user;
  own->buffer[!own->valid] = own->now;
  own->created++;
  return GAB_OK;
}

static gab_status restore(void *user)
{
  own_buffers *own = user;
  own->now = own->buffer[own->valid];
  own->restored++;
  return GAB_OK;
}

static void swap_buffers(void *user)
{
  own_buffers *own = user;
  own->valid = !own->valid;
  own->swapped++;
}

static gab_status pack_chain(void *user, gab_buffer *out)
{
  own_buffers *own = user;
  return gab_put_bytes(out, &own->now, sizeof own->now);
}

static gab_status unpack_chain(void *user, gab_reader *in)
{
  own_buffers *own = user;
  own->unpacked++;
  return gab_get_bytes(in, &own->now, sizeof own->now);
}

static gab_entity entity_of(own_buffers *own, const char *name, gab_entity_kind kind)
{
  return (gab_entity){
      .name = name, .kind = kind, .user = own, .create = create, .restore = restore, .swap = swap_buffers};
}

/* ---------------------------------------------------------------- one snapshot after another */

static gab_status step_both(automaton *app, own_buffers *own)
{
  GAB_TRY(automaton_step(app, own->now.step));
  advance(&own->now);
  return automaton_sum_due(app, own->now.step) ? automaton_sum(app, own->now.step) : GAB_OK;
}

static bool raises;
static gab_rank who_raises;

/* All have the complete snapshot but none is informed: some detect the fault before the commit, some after it. */
static void raise_in_commit(void *user, gab_world *world, gab_fault_point phase)
{
  (void)user;
  if (!raises || phase != GAB_FAULT_POINT_COMMIT || gab_world_rank(world) != who_raises) return;
  (void)gab_error_set(GAB_ERR_SUSPECT, __FILE__, __LINE__, "a try");
  gab_world_raise(world, GAB_ERR_SUSPECT);
}

static void comes_back(automaton *app, gab_checkpoint *checkpoint, own_buffers *own, gab_step least)
{
  gab_status abort_request;
  gab_restore_report report;
  REQUIRE_OK(gab_world_repair(app->world, &abort_request));
  const int restored = own->restored;
  REQUIRE_OK(gab_checkpoint_restore(checkpoint, &report));
  REQUIRE(own->restored == restored + 1);
  REQUIRE(report.step >= least && is_right(&own->now, report.step));
  REQUIRE(automaton_is_right(app, report.step));
}

/* One rank raises an abort request, in the step after a checkpoint or in the commit of the next one; the others detect it
 * anywhere. */
static void break_off(automaton *app, gab_checkpoint *checkpoint, own_buffers *own)
{
  gab_status status = step_both(app, own);
  if (raises && status == GAB_OK) status = gab_checkpoint_take(checkpoint, own->now.step);
  if (!raises && status == GAB_OK && gab_world_rank(app->world) == who_raises)
    gab_world_raise(app->world, gab_error_set(GAB_ERR_SUSPECT, __FILE__, __LINE__, "a try"));
  while (status == GAB_OK) status = step_both(app, own);
  REQUIRE(status == GAB_ERR_FAULT);
}

static void goes_back_with_the_blocks(automaton *app)
{
  static own_buffers own;
  gab_checkpoint *checkpoint;
  const gab_redundancy pairs = {.copies = 1};
  const gab_entity entity = entity_of(&own, "own", GAB_ENTITY_REPLICATED);
  own = (own_buffers){0};
  REQUIRE_OK(gab_checkpoint_create(app->forest, &pairs, &checkpoint));
  REQUIRE_OK(gab_checkpoint_add_entity(checkpoint, &entity));
  const gab_entity sum = automaton_entity(app);
  REQUIRE_OK(gab_checkpoint_add_entity(checkpoint, &sum));
  REQUIRE_OK(automaton_sum(app, 0));
  for (int round = 0; round < 6; round++) {
    const gab_step before = own.now.step;
    REQUIRE_OK(gab_checkpoint_take(checkpoint, before));
    who_raises = round % gab_world_members(app->world)->ranks;
    raises = round % 2;
    break_off(app, checkpoint, &own);
    raises = false;
    comes_back(app, checkpoint, &own, before);
    for (int k = 0; k < 3; k++) REQUIRE_OK(step_both(app, &own));
  }
  gab_checkpoint_destroy(&checkpoint);
}

static void what_is_half_given_is_refused(automaton *app)
{
  static own_buffers own;
  gab_checkpoint *checkpoint;
  const gab_redundancy none = {.scheme = &gab_scheme_none};
  REQUIRE_OK(gab_checkpoint_create(app->forest, &none, &checkpoint));
  gab_entity entity = entity_of(&own, "own", GAB_ENTITY_REPLICATED);
  entity.swap = NULL;
  REQUIRE(gab_checkpoint_add_entity(checkpoint, &entity) == GAB_ERR_ARGUMENT);
  entity = entity_of(&own, "own", GAB_ENTITY_REPLICATED);
  entity.pack = pack_chain;
  REQUIRE(gab_checkpoint_add_entity(checkpoint, &entity) == GAB_ERR_ARGUMENT);
  entity = (gab_entity){.name = "own", .user = &own};
  REQUIRE(gab_checkpoint_add_entity(checkpoint, &entity) == GAB_ERR_ARGUMENT);
  gab_checkpoint_destroy(&checkpoint);
}

/* ---------------------------------------------------------------- a run with deaths */

typedef struct run_state {
  automaton app;
  own_buffers all, mine; /* replicated; of this rank, also packed */
} run_state;

static gab_status step_all(void *user, gab_step step)
{
  run_state *run = user;
  if (!is_right(&run->all.now, step) || !is_right(&run->mine.now, step))
    GAB_FAIL(GAB_ERR_STATE, "the entities are not those of step %" GAB_PRI_STEP, step);
  GAB_TRY(automaton_step(&run->app, step));
  advance(&run->all.now);
  advance(&run->mine.now);
  return GAB_OK;
}

static gab_status adopt(void *user, gab_rank dead, gab_reader *in)
{
  own_buffers *own = user;
  static chain left;
  (void)dead;
  GAB_TRY(gab_get_bytes(in, &left, sizeof left));
  return memcmp(&left, &own->now, sizeof left) == 0 ? GAB_OK : GAB_ERR_CORRUPT; /* here equal on all ranks */
}

static bool all_is_packed;

static gab_status protected_run(run_state *run, const gab_protection *protection)
{
  gab_timeloop *loop;
  gab_entity all = entity_of(&run->all, "all", GAB_ENTITY_REPLICATED);
  if (all_is_packed) all.pack = pack_chain;
  if (all_is_packed) all.unpack = unpack_chain;
  gab_entity mine = entity_of(&run->mine, "mine", GAB_ENTITY_PER_RANK);
  mine.pack = pack_chain;
  mine.unpack = unpack_chain;
  mine.adopt = adopt;
  GAB_TRY(gab_timeloop_create(run->app.forest, 40, &loop));
  gab_status status = gab_timeloop_add_task(loop, "step", step_all, run);
  const gab_entity sum = automaton_entity(&run->app);
  if (status == GAB_OK)
    status = gab_timeloop_add_action(loop, "sum", automaton_sum_due, automaton_sum, &run->app);
  if (status == GAB_OK) status = gab_timeloop_add_entity(loop, &sum);
  if (status == GAB_OK) status = gab_timeloop_add_entity(loop, &all);
  if (status == GAB_OK) status = gab_timeloop_add_entity(loop, &mine);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, protection);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  gab_timeloop_destroy(&loop);
  return status;
}

static void deaths_take_them_back(gab_world *world, bool overlap)
{
  static run_state run;
  static const char *const texts[] = {"rank=1,step=5,phase=snapshot", "rank=2,step=10,phase=commit",
                                      "rank=4,step=20,phase=swap", "rank=3,step=27,phase=exchange"};
  gab_fault_injection injections[4];
  const size_t count = gab_world_members(world)->ranks > 4 ? 4 : gab_world_members(world)->ranks > 2 ? 2 : 1;
  gab_protection protection = {.every = {.steps = 5},
                               .rebalance = automaton_rebalance,
                               .overlap = overlap,
                               .injections = injections,
                               .injection_count = count};
  run = (run_state){.app = {0}};
  for (size_t k = 0; k < count; k++) {
    REQUIRE_OK(gab_fault_injection_parse(texts[k], &injections[k]));
    test_doom(injections[k].ranks[0]);
  }
  REQUIRE_OK(automaton_create(&run.app, world, (int32_t[]){3, 2, 2}));
  REQUIRE_OK(protected_run(&run, &protection));
  CHECK(gab_world_members(world)->gone_count == (int32_t)count);
  CHECK(automaton_is_right(&run.app, 40));
  CHECK(is_right(&run.all.now, 40) && is_right(&run.mine.now, 40));
  CHECK(run.all.restored >= (int)count && run.mine.restored >= (int)count);
  CHECK(run.mine.unpacked == 0); /* a process with its own buffer uses it */
  automaton_destroy(&run.app);
}

/* An entity that is not packed cannot be restored from a file, nor on a process that takes a rank: refused before the first
 * step. */
static void is_refused(gab_world *world, const gab_protection *protection)
{
  static run_state run;
  run = (run_state){.app = {0}};
  REQUIRE_OK(automaton_create(&run.app, world, (int32_t[]){3, 2, 2}));
  CHECK(protected_run(&run, protection) == GAB_ERR_ARGUMENT);
  CHECK(strstr(gab_error_message(), "'all'") != NULL && run.all.now.step == 0);
  automaton_destroy(&run.app);
}

/* A replacement process has no buffers, and gets the packed state; the others use their own. */
static void who_takes_a_process_unpacks(gab_world *world)
{
  static run_state run;
  gab_fault_injection injection;
  const bool is_spare = gab_world_is_spare(world);
  all_is_packed = true;
  REQUIRE_OK(gab_fault_injection_parse("rank=1,step=13,phase=exchange", &injection));
  test_doom(1);
  const gab_protection protection = {.every = {.steps = 5},
                                     .rebalance = automaton_rebalance,
                                     .injections = &injection,
                                     .injection_count = 1};
  REQUIRE_OK(automaton_create(&run.app, world, (int32_t[]){3, 2, 2}));
  REQUIRE_OK(protected_run(&run, &protection));
  CHECK(gab_world_members(world)->return_count == 1 && gab_world_members(world)->gone_count == 0);
  CHECK(automaton_is_right(&run.app, 40));
  CHECK(is_right(&run.all.now, 40) && is_right(&run.mine.now, 40));
  CHECK(run.all.unpacked == is_spare && run.mine.unpacked == is_spare);
  CHECK(run.all.restored == !is_spare && run.mine.restored == !is_spare);
  automaton_destroy(&run.app);
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  const char *size = getenv("OMPI_COMM_WORLD_SIZE");
  if (size && atoi(size) == 3) setenv("GABION_SPARES", "1", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR); /* the test needs the warnings */
  if (gab_world_processes(world) == 3) {
    is_refused(world, &(gab_protection){.every = {.steps = 5}});
    who_takes_a_process_unpacks(world);
    return test_end(&world);
  }
  gab_world_set_fault_point_hook(world, raise_in_commit, NULL);
  REQUIRE_OK(automaton_create(&app, world, (int32_t[]){3, 2, 2}));
  goes_back_with_the_blocks(&app);
  what_is_half_given_is_refused(&app);
  automaton_destroy(&app);
  gab_world_set_fault_point_hook(world, NULL, NULL);
  is_refused(world, &(gab_protection){.every = {.steps = 5}, .disk = {.folder = "checkpoints"}});
  if (getenv("GABION_RESPAWN"))
    is_refused(world, &(gab_protection){.every = {.steps = 5}, .strategies = {&gab_strategy_respawn}});
  deaths_take_them_back(world, gab_world_members(world)->ranks == 4);
  return test_end(&world);
}
