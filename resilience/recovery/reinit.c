/* SPDX-License-Identifier: Apache-2.0 */
/* Global restart. One call at a time; its state is here. */
#include "resilience/recovery/reinit_impl.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "resilience/reports/completion.h"

typedef struct cleanup_handler {
  void (*call)(void *user);
  void *user;
} cleanup_handler;

static struct {
  gab_world *world; /* NULL: not in gab_reinit() */
  cleanup_handler *handlers;
  size_t count, capacity;
} running;

static bool has_returned;               /* an earlier gab_reinit() of this program */
static bool keeps_state, has_saved_any; /* of this process, as gab_state reports */

void gab_reinit_keeps_state(void) { keeps_state = true; }
void gab_reinit_has_saved(void) { has_saved_any = true; }

static gab_world *shrinking; /* the world that may continue without its dead processes */

void gab_reinit_allow_shrinking(gab_world *world, bool allow)
{
  if (allow) shrinking = world;
  else if (shrinking == world) shrinking = NULL;
}

static gab_world *respawning; /* the world that starts replacements of dead processes */

gab_status gab_reinit_allow_respawning(gab_world *world, bool allow)
{
  const char *why_not = gab_world_why_no_respawn(world);
  if (!allow && respawning == world) respawning = NULL;
  if (!allow) return GAB_OK;
  if (why_not) GAB_FAIL(GAB_ERR_STATE, "processes cannot be respawned: %s", why_not);
  respawning = world;
  return GAB_OK;
}

/* Reports progress to the launcher, also for programs that do not count steps. */
static void give_sign_of_life(const gab_world *world)
{
  const gab_step step = gab_world_step(world);
  gab_report_progress(world, step > 0 ? step : 0, 0);
}

gab_status gab_reinit_test(gab_world *world)
{
  if (running.world == world) give_sign_of_life(world);
  return gab_world_check(world);
}

gab_status gab_reinit_add_cleanup(gab_world *world, void (*cleanup)(void *user), void *user)
{
  if (!running.world || running.world != world)
    GAB_FAIL(GAB_ERR_STATE, "a cleanup handler can be added within gab_reinit() only");
  if (running.count == running.capacity) {
    const size_t capacity = running.capacity ? 2 * running.capacity : 8;
    GAB_TRY(GAB_RESIZE_ARRAY(&running.handlers, capacity, GAB_MEMORY_OTHER));
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

/* A replacement process does not know what was saved before. Collective. */
static gab_status ask_whether_nothing_is_lost(gab_world *world, bool is_new, bool *nothing)
{
  enum { KNOWS, MAY_HAVE_SAVED };
  uint64_t facts[] = {
      [KNOWS] = !is_new, [MAY_HAVE_SAVED] = has_saved_any || has_returned || (!is_new && !keeps_state)};
  GAB_TRY(gab_world_max_u64(world, facts, 2));
  *nothing = facts[KNOWS] && !facts[MAY_HAVE_SAVED];
  return GAB_OK;
}

/* Called by all live active processes. @return GAB_OK: call the function again */
static gab_status check_size(gab_world *world, bool is_new)
{
  const gab_members *members = gab_world_members(world);
  bool nothing;
  if (members->gone_count == 0 || shrinking == world) return GAB_OK;
  GAB_TRY(ask_whether_nothing_is_lost(world, is_new, &nothing));
  if (nothing)
    GAB_FAIL(GAB_ERR_AGAIN,
             "no spare process is left for rank %" GAB_PRI_RANK
             "%s, and no state had been saved: nothing is lost",
             members->gone[0], members->gone_count > 1 ? " and others" : "");
  GAB_FAIL(GAB_ERR_LOST, "no spare process is left for rank %" GAB_PRI_RANK "%s", members->gone[0],
           members->gone_count > 1 ? " and others" : "");
}

/* By the lowest rank that was active before. @param[in] since  when it left the function, s */
static gab_status log_deaths(const gab_world *world, const gab_members *before, double since)
{
  const gab_members *now = gab_world_members(world);
  const gab_repair_times times = gab_world_repair_times(world);
  gab_members survivors = {0};
  GAB_TRY(gab_members_survivors(before, now, &survivors));
  const int32_t lost = gab_members_count(before) - gab_members_count(&survivors);
  if (lost > 0 && gab_world_rank(world) == gab_members_rank(&survivors, 0))
    gab_log_all(GAB_LOG_INFO,
                "%" PRId32 " process%s died; going back with %" PRId32 " of %" PRId32
                " ranks after %.3f s; the longest wait for the last to come was %.3f s",
                lost, lost > 1 ? "es" : "", gab_members_count(now), now->ranks, gab_seconds() - since,
                times.waited);
  gab_members_release(&survivors);
  return GAB_OK;
}

static gab_status repair(gab_world *world, const gab_members *before, double since)
{
  gab_status abort_request;
  GAB_TRY(gab_world_repair(world, &abort_request));
  if (abort_request != GAB_OK) return abort_request;
  GAB_TRY(check_size(world, false));
  if (log_deaths(world, before, since) != GAB_OK) gab_error_clear(); /* the message was for the log only */
  return GAB_OK;
}

static gab_status go_back(gab_world *world, gab_status why)
{
  const double since = gab_seconds();
  gab_members before = {0};
  if (why != GAB_ERR_FAULT) gab_world_raise(world, why);
  (void)gab_world_check(world); /* drops messages of ports, whose memory handlers may release */
  clean_up();
  if (gab_members_copy(&before, gab_world_members(world)) != GAB_OK) gab_error_clear();
  const gab_status status = repair(world, &before, since);
  gab_members_release(&before);
  return status;
}

/* From the first call of the function to the last one, on an active process. @param[in] status  not GAB_OK: the function
 * will not be called again */
static gab_status call_until_done(gab_world *world, int argc, char **argv, gab_restart_point point,
                                  void *user, gab_reinit_state state, gab_status status)
{
  while (status == GAB_OK) {
    uint32_t flags = 0;
    give_sign_of_life(world);
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

/* All processes must arrive before a restart is possible: one agreement; with spares, of the remaining ones. A process that
 * dies before is not replaced, and nothing is lost. @param[out] rests  spares wait, and must be released */
static gab_status begin(gab_world *world, gab_status *abort_request, bool *rests)
{
  uint32_t flags = 0;
  *abort_request = GAB_OK;
  *rests = true;
  const bool respawns = respawning == world;
  const char *why_not = respawns ? gab_world_why_no_respawn(world) : NULL;
  if (why_not) GAB_FAIL(GAB_ERR_STATE, "processes cannot be respawned: %s", why_not);
  gab_world_set_replacement(world, respawns ? GAB_REPLACEMENT_SPARES | GAB_REPLACEMENT_RESPAWN
                                            : GAB_REPLACEMENT_SPARES);
  const gab_status status = gab_world_spares(world) > 0 || respawns ? gab_world_rest(world, abort_request)
                                                                    : gab_world_agree(world, &flags);
  if (status != GAB_ERR_FAULT) return status;
  *rests = false;
  GAB_TRY(gab_world_repair(world, abort_request));
  if (*abort_request != GAB_OK) return *abort_request;
  if (has_returned) GAB_FAIL(GAB_ERR_LOST, "a process died before all had called gab_reinit() again");
  GAB_FAIL(GAB_ERR_AGAIN, "a process died before all had called gab_reinit(): nothing is lost");
}

static gab_status run(gab_world *world, int argc, char **argv, gab_restart_point point, void *user,
                      bool *rests)
{
  gab_status abort_request;
  const bool was_spare = gab_world_is_spare(world);
  gab_status status =
      begin(world, &abort_request, rests); /* a spare stays here until it runs a rank, or the run ends */
  if (status != GAB_OK || gab_world_is_spare(world)) return status;
  if (was_spare) status = abort_request != GAB_OK ? abort_request : check_size(world, true);
  return call_until_done(world, argc, argv, point, user, was_spare ? GAB_REINIT_RESTARTED : GAB_REINIT_NEW,
                         status);
}

gab_status gab_reinit(gab_world *world, int argc, char **argv, gab_restart_point point, void *user)
{
  if (running.world) GAB_FAIL(GAB_ERR_STATE, "gab_reinit() cannot be called from within itself");
  running.world = world;
  bool rests;
  gab_status status = run(world, argc, argv, point, user, &rests);
  if (rests) status = gab_world_dismiss(world, status);
  gab_free(&running.handlers);
  running.count = running.capacity = 0;
  running.world = NULL;
  has_returned = true;
  return status;
}
