#include "resilience/loop/drill.h"

#include "blockforest/migration/flip.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "resilience/reports/completion.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct gab_drills {
  gab_world *world;
  gab_events *events;
  gab_forest *forest; /* NULL: not known */
  gab_drill *drills;
  int *visits; /* of each drill's fault point since its step */
  size_t count;
  gab_members before; /* members when a step was computed last */
  gab_epoch noted_in; /* epoch of that */
};

/* ---------------------------------------------------------------- reading */

#define DRILL_FORM                                                                                              \
  "a drill looks like slot=2,step=500,phase=exchange or random=2,seed=1,step=500,phase=snapshot,visit=2; with " \
  "stopped=5 the process is stopped for 5 s instead of killed, with flip=12345 that bit of its state flips"

static gab_status parse_number(const char *key, const char *text, int64_t min, int64_t max, int64_t *number)
{
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end || errno || value < min || value > max)
    GAB_FAIL(GAB_ERR_INPUT, "'%s=%s' in a drill is no number from %" PRId64 " to %" PRId64 "; " DRILL_FORM,
             key, text, min, max);
  *number = value;
  return GAB_OK;
}

static gab_status parse_slots(char *text, gab_drill *drill)
{
  char *rest = NULL;
  for (char *one = strtok_r(text, "+", &rest); one; one = strtok_r(NULL, "+", &rest)) {
    int64_t slot = 0;
    GAB_TRY(parse_number("slot", one, 0, INT32_MAX, &slot));
    if (drill->slot_count == GAB_DRILL_SLOTS)
      GAB_FAIL(GAB_ERR_INPUT, "a drill kills at most %d slots", GAB_DRILL_SLOTS);
    for (int i = 0; i < drill->slot_count; i++)
      if (drill->slots[i] == slot)
        GAB_FAIL(GAB_ERR_INPUT, "slot %" PRId64 " is there twice in a drill; " DRILL_FORM, slot);
    drill->slots[drill->slot_count++] = (gab_slot)slot;
  }
  return GAB_OK;
}

static gab_status parse_phase(const char *text, gab_drill *drill)
{
  drill->point = gab_fault_point_from_name(text);
  if (drill->point != GAB_FAULT_POINT_COUNT) return GAB_OK;
  char names[256] = "";
  for (int i = 0; i < GAB_FAULT_POINT_COUNT; i++) {
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
             gab_fault_point_name((gab_fault_point)i));
  }
  GAB_FAIL(GAB_ERR_INPUT, "no fault point '%s' for a drill (there are: %s)", text, names);
}

static gab_status parse_pair(const char *key, char *value, gab_drill *drill)
{
  int64_t number = 0;
  if (strcmp(key, "slot") == 0) return parse_slots(value, drill);
  if (strcmp(key, "phase") == 0) return parse_phase(value, drill);
  if (strcmp(key, "step") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT64_MAX, &drill->step));
  } else if (strcmp(key, "visit") == 0) {
    GAB_TRY(parse_number(key, value, 1, INT32_MAX, &number));
    drill->visit = (int)number;
  } else if (strcmp(key, "incarnation") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT32_MAX, &number));
    drill->incarnation = (gab_incarnation)number;
  } else if (strcmp(key, "attempt") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT32_MAX, &number));
    drill->once = true;
    drill->attempt = (int)number;
  } else if (strcmp(key, "random") == 0) {
    GAB_TRY(parse_number(key, value, 1, GAB_DRILL_SLOTS, &number));
    drill->random = (int)number;
  } else if (strcmp(key, "seed") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT64_MAX, &number));
    drill->seed = (uint64_t)number;
  } else if (strcmp(key, "flip") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT64_MAX, &number));
    drill->flips = true;
    drill->bit = (uint64_t)number;
  } else if (strcmp(key, "stopped") == 0) {
    char *end;
    drill->stopped = strtod(value, &end);
    if (end == value || *end || !(drill->stopped > 0 && drill->stopped <= 1e6))
      GAB_FAIL(GAB_ERR_INPUT, "'stopped=%s' in a drill is no time in seconds up to 1e6; " DRILL_FORM, value);
  } else {
    GAB_FAIL(GAB_ERR_INPUT, "unknown '%s=' in a drill; " DRILL_FORM, key);
  }
  return GAB_OK;
}

gab_status gab_drill_parse(const char *text, gab_drill *drill)
{
  gab_drill read = {.step = -1, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .seed = 1};
  char copy[512];
  if (strlen(text) >= sizeof copy) GAB_FAIL(GAB_ERR_INPUT, "drill '%.40s…' is too long", text);
  strcpy(copy, text);
  char *rest = NULL;
  for (char *pair = strtok_r(copy, ",", &rest); pair; pair = strtok_r(NULL, ",", &rest)) {
    char *equals = strchr(pair, '=');
    if (!equals) GAB_FAIL(GAB_ERR_INPUT, "'%s' in a drill has no '='; " DRILL_FORM, pair);
    *equals = '\0';
    GAB_TRY(parse_pair(pair, equals + 1, &read));
  }
  if (read.step < 0) GAB_FAIL(GAB_ERR_INPUT, "drill '%s' names no step; " DRILL_FORM, text);
  if (read.flips && read.stopped > 0)
    GAB_FAIL(GAB_ERR_INPUT, "drill '%s' either stops a process or flips a bit; " DRILL_FORM, text);
  if ((read.slot_count == 0) == (read.random == 0))
    GAB_FAIL(GAB_ERR_INPUT, "drill '%s' has to name either slots or random; " DRILL_FORM, text);
  *drill = read;
  return GAB_OK;
}

/* ---------------------------------------------------------------- killing */

static bool names_slot(const gab_drill *drill, gab_slot slot)
{
  for (int i = 0; i < drill->slot_count; i++)
    if (drill->slots[i] == slot) return true;
  return false;
}

static void draw_slots(gab_drill *drill, gab_slot slots)
{
  for (uint64_t counter = 0; drill->slot_count < drill->random; counter++) {
    gab_slot drawn =
        (gab_slot)(gab_hash_counter(drill->seed, (uint64_t)drill->step, counter) % (uint64_t)slots);
    if (!names_slot(drill, drawn)) drill->slots[drill->slot_count++] = drawn;
  }
}

static gab_json *begin_event(gab_drills *drills, gab_fault_point point)
{
  gab_json *event = gab_event_begin(drills->events, "drill");
  gab_json_text(event, "phase", gab_fault_point_name(point));
  return event;
}

static void die(gab_drills *drills, gab_fault_point point)
{
  gab_json *event = begin_event(drills, point);
  gab_event_end(drills->events, &event);
  gab_log_all(GAB_LOG_WARNING,
              "drill: slot %" GAB_PRI_SLOT " kills itself at step %" GAB_PRI_STEP ", fault point %s",
              gab_world_slot(drills->world), gab_world_step(drills->world), gab_fault_point_name(point));
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* A process that is stopped cannot wake itself: another program does. */
static void be_stopped(gab_drills *drills, gab_fault_point point, double seconds)
{
  char command[128];
  const long self = (long)getpid();
  snprintf(command, sizeof command, "kill -STOP %ld; sleep %g; kill -CONT %ld", self, seconds, self);
  gab_json *event = begin_event(drills, point);
  gab_json_real(event, "stopped", seconds);
  gab_event_end(drills->events, &event);
  gab_log_all(GAB_LOG_WARNING,
              "drill: slot %" GAB_PRI_SLOT " is stopped for %g s at step %" GAB_PRI_STEP ", fault point %s",
              gab_world_slot(drills->world), seconds, gab_world_step(drills->world),
              gab_fault_point_name(point));
  pid_t waker;
  char *words[] = {"sh", "-c", command, NULL};
  if (posix_spawnp(&waker, words[0], NULL, NULL, words, environ) == 0) waitpid(waker, NULL, 0);
}

static void flip(gab_drills *drills, gab_fault_point point, uint64_t bit)
{
  gab_block_id block = 0;
  if (!drills->forest || gab_forest_flip_bit(drills->forest, bit, &block) != GAB_OK || block == 0) return;
  gab_json *event = begin_event(drills, point);
  gab_json_uint(event, "flipped", bit);
  gab_event_end(drills->events, &event);
  gab_log_all(GAB_LOG_WARNING,
              "drill: a bit of block " GAB_PRI_BLOCK " of slot %" GAB_PRI_SLOT " flips at step %" GAB_PRI_STEP
              ", fault point %s",
              block, gab_world_slot(drills->world), gab_world_step(drills->world),
              gab_fault_point_name(point));
}

static bool kills(const gab_drill *drill) { return !drill->flips && drill->stopped <= 0; }

/* Whether another slot of the drill is among those that this recovery is about. */
static bool has_begun(const gab_drills *drills, const gab_drill *drill)
{
  const gab_members *now = gab_world_members(drills->world);
  for (int i = 0; i < drill->slot_count; i++)
    if (gab_members_has(&drills->before, drill->slots[i]) &&
        !gab_members_has_survived(&drills->before, now, drill->slots[i]))
      return true;
  return false;
}

/* Slots of one drill are to be lost together, but one that was behind when the first of them died has noticed that
 * and has not come to the place where it was to die. It cannot be further behind than in steps there are slots. */
static void die_with_the_others(gab_drills *drills)
{
  const gab_slot me = gab_world_slot(drills->world);
  const gab_step furthest = gab_world_step(drills->world) + gab_world_members(drills->world)->slots;
  for (size_t i = 0; i < drills->count; i++) {
    const gab_drill *drill = &drills->drills[i];
    if (kills(drill) && names_slot(drill, me) &&
        drill->incarnation == gab_world_incarnation(drills->world, me) && furthest >= drill->step &&
        has_begun(drills, drill))
      die(drills, GAB_FAULT_POINT_RECOVERY);
  }
}

static void note_members(gab_drills *drills)
{
  const gab_members *now = gab_world_members(drills->world);
  const gab_epoch epoch = gab_world_epoch(drills->world);
  if (drills->noted_in == epoch) return;
  drills->noted_in = epoch;
  if (gab_members_copy(&drills->before, now) != GAB_OK)
    gab_log_all(GAB_LOG_WARNING, "drills: %s", gab_error_message());
}

static void watch(void *user, gab_world *world, gab_fault_point point)
{
  gab_drills *drills = user;
  const gab_incarnation incarnation = gab_world_incarnation(world, gab_world_slot(world));
  if (point == GAB_FAULT_POINT_RECOVERY) die_with_the_others(drills);
  else if (point == GAB_FAULT_POINT_COMPUTE) note_members(drills);
  for (size_t i = 0; i < drills->count; i++) {
    const gab_drill *drill = &drills->drills[i];
    if (drill->incarnation != incarnation) continue; /* who took over lives on, unless the drill means it */
    if (drill->point != point || gab_world_step(world) < drill->step) continue;
    if (++drills->visits[i] == drill->visit && names_slot(drill, gab_world_slot(world))) {
      if (drill->flips) flip(drills, point, drill->bit);
      else if (drill->stopped > 0) be_stopped(drills, point, drill->stopped);
      else die(drills, point);
    }
  }
}

gab_step gab_drills_next(const gab_drills *drills)
{
  const gab_incarnation mine = gab_world_incarnation(drills->world, gab_world_slot(drills->world));
  gab_step next = -1;
  for (size_t i = 0; i < drills->count; i++) {
    const gab_drill *drill = &drills->drills[i];
    if (drill->incarnation != mine || drills->visits[i] >= drill->visit) continue;
    if (next < 0 || drill->step < next) next = drill->step;
  }
  return next;
}

bool gab_drill_is_over(const gab_drill *drill)
{
  return drill->once && drill->attempt < gab_launch_attempt();
}

static bool is_of_this_attempt(const gab_drill *drill)
{
  return !drill->once || drill->attempt == gab_launch_attempt();
}

gab_status gab_drill_check(const gab_drill *drill, gab_slot slots)
{
  if (drill->slot_count < 0 || drill->slot_count > GAB_DRILL_SLOTS || drill->random > GAB_DRILL_SLOTS)
    GAB_FAIL(GAB_ERR_INPUT, "a drill kills at most %d slots", GAB_DRILL_SLOTS);
  if (drill->random > slots)
    GAB_FAIL(GAB_ERR_INPUT, "a drill is to kill %d slots, there are only %" GAB_PRI_SLOT, drill->random,
             slots);
  for (int i = 0; i < drill->slot_count; i++)
    if (drill->slots[i] < 0 || drill->slots[i] >= slots)
      GAB_FAIL(GAB_ERR_INPUT,
               "a drill is to kill slot %" GAB_PRI_SLOT ", there are slots 0 to %" GAB_PRI_SLOT " only",
               drill->slots[i], slots - 1);
  return GAB_OK;
}

gab_status gab_drills_create(gab_world *world, const gab_drill *drills, size_t count, gab_events *events,
                             gab_drills **made)
{
  *made = NULL;
  gab_slot slots = gab_world_members(world)->slots;
  for (size_t i = 0; i < count; i++)
    if (!gab_drill_is_over(&drills[i])) GAB_TRY(gab_drill_check(&drills[i], slots));
  void *memory, *copies, *visits;
  GAB_TRY(gab_alloc(sizeof(gab_drills), GAB_MEMORY_OTHER, &memory));
  gab_drills *result = memory;
  *result = (gab_drills){.world = world, .events = events};
  gab_members_init(&result->before, 0);
  gab_status status;
  GAB_TRY_GOTO(status, failed, gab_members_copy(&result->before, gab_world_members(world)));
  GAB_TRY_GOTO(status, failed, gab_alloc(count * sizeof(gab_drill), GAB_MEMORY_OTHER, &copies));
  result->drills = copies;
  GAB_TRY_GOTO(status, failed, gab_alloc(count * sizeof(int), GAB_MEMORY_OTHER, &visits));
  result->visits = visits;
  for (size_t i = 0; i < count; i++) {
    if (!is_of_this_attempt(&drills[i])) continue;
    gab_drill *kept = &result->drills[result->count++];
    *kept = drills[i];
    if (kept->random > 0) draw_slots(kept, slots);
  }
  gab_world_set_fault_point_hook(world, watch, result);
  *made = result;
  return GAB_OK;
failed:
  gab_drills_destroy(&result);
  return status;
}

void gab_drills_set_forest(gab_drills *drills, gab_forest *forest) { drills->forest = forest; }

void gab_drills_destroy(gab_drills **drills)
{
  gab_drills *gone = *drills;
  if (!gone) return;
  gab_world_set_fault_point_hook(gone->world, NULL, NULL);
  gab_members_release(&gone->before);
  gab_free(&gone->drills);
  gab_free(&gone->visits);
  gab_free(drills);
}
