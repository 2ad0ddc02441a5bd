/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of local recovery that need a fixed order of events: ranks signal events to each other by files, not by
 * messages. The program is the automaton on four ranks, with two spares (or ORDER_ACTIVE and ORDER_SPARES, defined before),
 * and only strategy `local`. Included once, after tests/mpi_test.h. */
#ifndef GABION_TESTS_LOCAL_ORDER_H
#define GABION_TESTS_LOCAL_ORDER_H

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "core/world/world_impl.h"
#include "resilience/reports/completion.h"
#include "resilience/local/protocol/local_impl.h"
#include "resilience/local/local_run_impl.h"
#include "tests/faults/automaton.h"

#ifndef ORDER_ACTIVE
#define ORDER_ACTIVE 4
#define ORDER_SPARES 2
#endif

enum { ORDER_EVERY = 10, ORDER_STEPS = 40 };

typedef struct local_order {
  gab_timeloop *loop;
  char folder[64];
  automaton app;
  bool was_spare;
  gab_step computed;  /* last step that this process computed; -1: none */
  int computed_again; /* steps */
  bool is_right;      /* on all ranks, at the end */
  double commit_wait; /* as in gab_protection, and the next one */
  gab_rank commit_children;
  const char *clusters;                                         /* as in gab_protection */
  gab_step at;                                                  /* step at which `part` is called */
  gab_status (*part)(struct local_order *order, gab_rank rank); /* of a process that started as a rank */
} local_order;

/* Makes one shared folder, on rank 0. Collective. */
static inline gab_status order_make_folder(local_order *order, gab_world *world)
{
  gab_buffer name;
  gab_buffer_init(&name, GAB_MEMORY_OTHER);
  snprintf(order->folder, sizeof order->folder, "/tmp/gabion-order.XXXXXX");
  gab_status status = GAB_OK;
  if (gab_world_is_root(world)) {
    if (!mkdtemp(order->folder)) status = GAB_ERR_IO;
    if (status == GAB_OK) status = gab_put_bytes(&name, order->folder, strlen(order->folder) + 1);
  }
  if (status == GAB_OK) status = gab_world_broadcast(world, gab_world_root(world), &name);
  if (status == GAB_OK) snprintf(order->folder, sizeof order->folder, "%s", (const char *)name.data);
  gab_buffer_release(&name);
  return status;
}

static inline void order_name(const local_order *order, const char *event, char *path, size_t capacity)
{
  snprintf(path, capacity, "%s/%s", order->folder, event);
}

/* Removes the folder; called by one process when no other waits any more. @param[in] events  signalled or not, ends with
 * NULL */
static inline void order_remove(const local_order *order, const char *const *events)
{
  char path[96];
  for (; *events; events++) {
    order_name(order, *events, path, sizeof path);
    unlink(path);
  }
  rmdir(order->folder);
}

static inline void order_tell(const local_order *order, const char *event)
{
  char path[96];
  order_name(order, event, path, sizeof path);
  FILE *file = fopen(path, "w");
  if (!file || fclose(file)) fprintf(stderr, "cannot write %s\n", path);
}

static inline bool order_has(const local_order *order, const char *event)
{
  char path[96];
  order_name(order, event, path, sizeof path);
  return access(path, F_OK) == 0;
}

/* Waits for an event and handles no message meanwhile. Calls MPI, so that earlier messages leave: MPI delays a message
 * while the queue of the receiver is full. */
static inline void order_wait(const local_order *order, const char *event)
{
  for (; !order_has(order, event); usleep(1000)) gab_mpi_progress();
}

static inline void order_die(const local_order *order, const char *event)
{
  order_tell(order, event);
  raise(SIGKILL);
}

/* Waits for an event and serves other ranks meanwhile. */
static inline gab_status order_serve_for(const local_order *order, const char *event)
{
  const gab_local_run *run = order->loop->protection->local;
  for (int looks = 0; !order_has(order, event); gab_world_pause(run->world, &looks))
    GAB_TRY(gab_loop_local(order->loop)->help(order->loop));
  return GAB_OK;
}

/* The same for a condition. */
static inline gab_status order_serve(const local_order *order, bool (*happened)(const gab_local *local))
{
  const gab_local_run *run = order->loop->protection->local;
  for (int looks = 0; !happened(run->machine); gab_world_pause(run->world, &looks))
    GAB_TRY(gab_loop_local(order->loop)->help(order->loop));
  return GAB_OK;
}

/* ---------------------------------------------------------------- the program */

static inline gab_status order_compute(void *user, gab_step step)
{
  local_order *order = user;
  automaton *app = &order->app;
  if (step == 0) GAB_TRY(automaton_sum(app, 0));
  if (step == order->at && !order->was_spare) GAB_TRY(order->part(order, gab_world_rank(app->world)));
  GAB_TRY(automaton_step(app, step));
  order->computed_again += step <= order->computed;
  order->computed = step;
  return automaton_sum_due(app, step + 1) ? automaton_sum(app, step + 1) : GAB_OK;
}

static inline gab_status order_judge(void *user, gab_step step)
{
  local_order *order = user;
  uint64_t wrong = automaton_is_right(&order->app, ORDER_STEPS) && step == ORDER_STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(order->app.world, &wrong, 1));
  order->is_right = wrong == 0;
  return GAB_OK;
}

/* World, automaton, folder, time loop. Called first in each test; collective over all processes. */
static inline gab_status order_create(local_order *order, int argc, char **argv)
{
  const gab_protection protection = {.every = {.steps = ORDER_EVERY},
                                     .commit_wait = order->commit_wait,
                                     .commit_children = order->commit_children,
                                     .local_clusters = order->clusters,
                                     .strategies = {&gab_strategy_local}};
  gab_world *world;
  char spares[16];
  snprintf(spares, sizeof spares, "%d", ORDER_SPARES);
  setenv("GABION_SPARES", spares, 1);
  GAB_TRY(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  if (gab_world_members(world)->ranks != ORDER_ACTIVE || gab_world_spares(world) != ORDER_SPARES)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%d ranks and %d spares", gab_world_members(world)->ranks,
             gab_world_spares(world));
  order->was_spare = gab_world_is_spare(world);
  order->computed = -1;
  GAB_TRY(automaton_create(&order->app, world, (int32_t[]){8, 4, 4}));
  const gab_entity total = automaton_entity(&order->app);
  GAB_TRY(order_make_folder(order, world));
  GAB_TRY(gab_timeloop_create(order->app.forest, ORDER_STEPS, &order->loop));
  GAB_TRY(gab_timeloop_add_task(order->loop, "automaton", order_compute, order));
  GAB_TRY(gab_timeloop_add_finish(order->loop, "judge", order_judge, order));
  GAB_TRY(gab_timeloop_add_entity(order->loop, &total));
  return gab_timeloop_protect(order->loop, &protection);
}

/* Checks that as many processes as spares died, that each rank recovered locally, and that the result is right. Frees
 * everything but the world. Collective. */
static inline gab_world *order_end(local_order *order, gab_run_stats *stats, const char *const *events)
{
  gab_world *world = order->app.world;
  if (gab_world_rank(world) == 0) order_remove(order, events);
  REQUIRE(order->is_right);
  *stats = gab_timeloop_get_stats(order->loop);
  CHECK(gab_members_count(gab_world_members(world)) == ORDER_ACTIVE);
  CHECK(stats->fault_count == ORDER_SPARES && stats->local.faults == ORDER_SPARES);
  CHECK(stats->local.meetings == 0);
  if (!order->was_spare) CHECK(order->computed_again == 0 && stats->local.steps_again == 0);
  gab_timeloop_destroy(&order->loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&order->app);
  return world;
}

#endif
