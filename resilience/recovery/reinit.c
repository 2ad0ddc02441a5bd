/* Global restart. One call at a time: what belongs to it lies here. */
#include "resilience/recovery/reinit.h"

typedef struct cleanup_handler {
  void (*call)(void *user);
  void *user;
} cleanup_handler;

static struct {
  gab_world *world; /* NULL: not in gab_reinit() */
  cleanup_handler *handlers;
  size_t count, capacity;
} running;

static gab_world *shrinking; /* the world that may go on without its dead */

void gab_reinit_allow_shrinking(gab_world *world, bool allow)
{
  if (allow) shrinking = world;
  else if (shrinking == world) shrinking = NULL;
}

static gab_world *respawning; /* the world in which processes are started for the dead */

gab_status gab_reinit_allow_respawning(gab_world *world, bool allow)
{
  const char *why_not = gab_world_why_no_respawn(world);
  if (!allow && respawning == world) respawning = NULL;
  if (!allow) return GAB_OK;
  if (why_not) GAB_FAIL(GAB_ERR_STATE, "processes cannot be respawned: %s", why_not);
  respawning = world;
  return GAB_OK;
}

gab_status gab_reinit_test(gab_world *world) { return gab_world_check(world); }

gab_status gab_reinit_add_cleanup(gab_world *world, void (*cleanup)(void *user), void *user)
{
  if (!running.world || running.world != world)
    GAB_FAIL(GAB_ERR_STATE, "a cleanup handler can be added within gab_reinit() only");
  if (running.count == running.capacity) {
    const size_t capacity = running.capacity ? 2 * running.capacity : 8;
    void *handlers = running.handlers;
    GAB_TRY(gab_realloc(capacity * sizeof *running.handlers, GAB_MEMORY_OTHER, &handlers));
    running.handlers = handlers;
    running.capacity = capacity;
  }
  running.handlers[running.count++] = (cleanup_handler){cleanup, user};
  return GAB_OK;
}

static void clean_up(void)
{
  while (running.count > 0) {
    const cleanup_handler last = running.handlers[--running.count];
    last.call(last.user);
  }
}

/* All the living that play a slot stand here. @return GAB_OK: the function is to be called again */
static gab_status check_size(gab_world *world)
{
  const gab_members *members = gab_world_members(world);
  if (members->gone_count == 0 || shrinking == world) return GAB_OK;
  GAB_FAIL(GAB_ERR_LOST, "no spare process is left for slot %" GAB_PRI_SLOT "%s", members->gone[0],
           members->gone_count > 1 ? " and others" : "");
}

static gab_status go_back(gab_world *world, gab_status why)
{
  gab_status intent;
  if (why != GAB_ERR_FAULT) gab_world_raise(world, why);
  (void)gab_world_check(world); /* takes messages of ports off the memory that handlers may give back */
  clean_up();
  GAB_TRY(gab_world_repair(world, &intent));
  if (intent != GAB_OK) return intent;
  return check_size(world);
}

/* From the first call of the function to the end, on one that plays a slot. @param[in] status  not GAB_OK:
 * there will be no call any more */
static gab_status call_until_done(gab_world *world, int argc, char **argv, gab_restart_point point,
                                  void *user, gab_reinit_state state, gab_status status)
{
  while (status == GAB_OK) {
    uint32_t flags = 0;
    status = point(world, argc, argv, state, user);
    if (status == GAB_OK) status = gab_world_agree(world, &flags);
    if (status == GAB_OK) {
      running.count = 0;
      return GAB_OK;
    }
    status = go_back(world, status);
    state = GAB_REINIT_REINITED;
  }
  return status;
}

/* All have to have come before anybody may be restarted: one agreement, that of the rest if there are spares.
 */
static gab_status begin(gab_world *world, gab_status *intent)
{
  uint32_t flags = 0;
  *intent = GAB_OK;
  const bool respawns = respawning == world;
  const char *why_not = respawns ? gab_world_why_no_respawn(world) : NULL;
  if (why_not) GAB_FAIL(GAB_ERR_STATE, "processes cannot be respawned: %s", why_not);
  gab_world_set_seating(world, respawns ? GAB_SEATING_SPARES | GAB_SEATING_RESPAWN : GAB_SEATING_SPARES);
  const gab_status status = gab_world_spares(world) > 0 || respawns ? gab_world_rest(world, intent)
                                                                    : gab_world_agree(world, &flags);
  if (status != GAB_ERR_FAULT) return status;
  GAB_TRY(gab_world_repair(world, intent));
  if (*intent != GAB_OK) return *intent;
  GAB_FAIL(GAB_ERR_LOST, "a process died before all had called gab_reinit()");
}

static gab_status run(gab_world *world, int argc, char **argv, gab_restart_point point, void *user)
{
  gab_status intent;
  const bool was_spare = gab_world_is_spare(world);
  gab_status status = begin(world, &intent); /* a spare stays here until it is called, or all is over */
  if (status != GAB_OK || gab_world_is_spare(world)) return status;
  if (was_spare) status = intent != GAB_OK ? intent : check_size(world);
  return call_until_done(world, argc, argv, point, user, was_spare ? GAB_REINIT_RESTARTED : GAB_REINIT_NEW,
                         status);
}

gab_status gab_reinit(gab_world *world, int argc, char **argv, gab_restart_point point, void *user)
{
  if (running.world) GAB_FAIL(GAB_ERR_STATE, "gab_reinit() cannot be called from within itself");
  running.world = world;
  gab_status status = run(world, argc, argv, point, user);
  status = gab_world_dismiss(world, status);
  gab_free(&running.handlers);
  running.count = running.capacity = 0;
  running.world = NULL;
  return status;
}
