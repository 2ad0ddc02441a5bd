/* For tests of local recovery in which things have to happen in one order: the slots tell each other by files how far they are, which
 * no machine hears of. Included once, behind tests/mpi_test.h. */
#ifndef GABION_TESTS_LOCAL_ORDER_H
#define GABION_TESTS_LOCAL_ORDER_H

#include "core/collective.h"
#include "resilience/local_impl.h"
#include "resilience/local_run_impl.h"

typedef struct local_order {
  gab_timeloop *loop;
  char folder[64];
} local_order;

/* One folder for all, made by slot 0. Collective. */
static inline gab_status order_create(local_order *order, gab_world *world)
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

static inline void order_name(const local_order *order, const char *event, char *path, size_t room)
{
  snprintf(path, room, "%s/%s", order->folder, event);
}

/* Of one process, when nobody waits any more. @param[in] events  that were told, or not; up to NULL */
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

/* Hears nothing from the others meanwhile. */
static inline void order_wait(const local_order *order, const char *event)
{
  while (!order_has(order, event)) usleep(1000);
}

static inline void order_die(const local_order *order, const char *event)
{
  order_tell(order, event);
  raise(SIGKILL);
}

/* Looks after others meanwhile. */
static inline gab_status order_serve_for(const local_order *order, const char *event)
{
  const gab_local_run *run = order->loop->guard->local;
  for (int looks = 0; !order_has(order, event); gab_world_pause(run->world, &looks))
    GAB_TRY(gab_local_help(order->loop));
  return GAB_OK;
}

/* Looks after others until then. */
static inline gab_status order_serve(const local_order *order, bool (*happened)(const gab_local *local))
{
  const gab_local_run *run = order->loop->guard->local;
  for (int looks = 0; !happened(run->machine); gab_world_pause(run->world, &looks))
    GAB_TRY(gab_local_help(order->loop));
  return GAB_OK;
}

#endif
