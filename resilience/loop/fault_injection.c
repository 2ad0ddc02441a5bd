/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/loop/fault_injection_impl.h"

#include "blockforest/migration/flip.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "resilience/reports/completion.h"
#include "resilience/reports/events_impl.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct gab_fault_injector {
  gab_world *world;
  gab_events *events;
  gab_forest *forest; /* NULL: unknown */
  gab_fault_injection *injections;
  int *visits; /* per fault injection: visits of its fault point since its step */
  size_t count;
  gab_members before; /* members at the last computed step */
  gab_epoch noted_in; /* its epoch */
};

/* ---------------------------------------------------------------- reading */

#define INJECTION_FORM                                                                                                    \
  "a fault injection looks like rank=2,step=500,phase=exchange or random=2,seed=1,step=500,phase=snapshot,visit=2; with " \
  "stopped=5 the process is stopped for 5 s instead of killed, with flip=12345 that bit of its state flips"

static gab_status parse_number(const char *key, const char *text, int64_t min, int64_t max, int64_t *number)
{
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end || errno || value < min || value > max)
    GAB_FAIL(GAB_ERR_INPUT,
             "'%s=%s' in a fault injection is not a number from %" PRId64 " to %" PRId64 "; " INJECTION_FORM,
             key, text, min, max);
  *number = value;
  return GAB_OK;
}

static gab_status parse_ranks(char *text, gab_fault_injection *injection)
{
  char *rest = NULL;
  for (char *one = strtok_r(text, "+", &rest); one; one = strtok_r(NULL, "+", &rest)) {
    int64_t rank = 0;
    GAB_TRY(parse_number("rank", one, 0, INT32_MAX, &rank));
    if (injection->rank_count == GAB_INJECTION_RANKS)
      GAB_FAIL(GAB_ERR_INPUT, "a fault injection kills at most %d ranks", GAB_INJECTION_RANKS);
    for (int i = 0; i < injection->rank_count; i++)
      if (injection->ranks[i] == rank)
        GAB_FAIL(GAB_ERR_INPUT, "rank %" PRId64 " is there twice in a fault injection; " INJECTION_FORM,
                 rank);
    injection->ranks[injection->rank_count++] = (gab_rank)rank;
  }
  return GAB_OK;
}

static gab_status parse_phase(const char *text, gab_fault_injection *injection)
{
  injection->point = gab_fault_point_from_name(text);
  if (injection->point != GAB_FAULT_POINT_COUNT) return GAB_OK;
  char names[256] = "";
  for (int i = 0; i < GAB_FAULT_POINT_COUNT; i++) {
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
             gab_fault_point_name((gab_fault_point)i));
  }
  GAB_FAIL(GAB_ERR_INPUT, "no fault point '%s' for a fault injection (there are: %s)", text, names);
}

static gab_status parse_pair(const char *key, char *value, gab_fault_injection *injection)
{
  int64_t number = 0;
  if (strcmp(key, "rank") == 0) return parse_ranks(value, injection);
  if (strcmp(key, "phase") == 0) return parse_phase(value, injection);
  if (strcmp(key, "step") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT64_MAX, &injection->step));
  } else if (strcmp(key, "visit") == 0) {
    GAB_TRY(parse_number(key, value, 1, INT32_MAX, &number));
    injection->visit = (int)number;
  } else if (strcmp(key, "incarnation") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT32_MAX, &number));
    injection->incarnation = (gab_incarnation)number;
  } else if (strcmp(key, "attempt") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT32_MAX, &number));
    injection->once = true;
    injection->attempt = (int)number;
  } else if (strcmp(key, "random") == 0) {
    GAB_TRY(parse_number(key, value, 1, GAB_INJECTION_RANKS, &number));
    injection->random = (int)number;
  } else if (strcmp(key, "seed") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT64_MAX, &number));
    injection->seed = (uint64_t)number;
  } else if (strcmp(key, "flip") == 0) {
    GAB_TRY(parse_number(key, value, 0, INT64_MAX, &number));
    injection->flips = true;
    injection->bit = (uint64_t)number;
  } else if (strcmp(key, "stopped") == 0) {
    char *end;
    injection->stopped = strtod(value, &end);
    if (end == value || *end || !(injection->stopped > 0 && injection->stopped <= 1e6))
      GAB_FAIL(GAB_ERR_INPUT,
               "'stopped=%s' in a fault injection is not a time in seconds up to 1e6; " INJECTION_FORM,
               value);
  } else {
    GAB_FAIL(GAB_ERR_INPUT, "unknown '%s=' in a fault injection; " INJECTION_FORM, key);
  }
  return GAB_OK;
}

gab_status gab_fault_injection_parse(const char *text, gab_fault_injection *injection)
{
  gab_fault_injection read = {.step = -1, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .seed = 1};
  char copy[512];
  if (strlen(text) >= sizeof copy) GAB_FAIL(GAB_ERR_INPUT, "fault injection '%.40s…' is too long", text);
  strcpy(copy, text);
  char *rest = NULL;
  for (char *pair = strtok_r(copy, ",", &rest); pair; pair = strtok_r(NULL, ",", &rest)) {
    char *equals = strchr(pair, '=');
    if (!equals) GAB_FAIL(GAB_ERR_INPUT, "'%s' in a fault injection has no '='; " INJECTION_FORM, pair);
    *equals = '\0';
    GAB_TRY(parse_pair(pair, equals + 1, &read));
  }
  if (read.step < 0) GAB_FAIL(GAB_ERR_INPUT, "fault injection '%s' names no step; " INJECTION_FORM, text);
  if (read.flips && read.stopped > 0)
    GAB_FAIL(GAB_ERR_INPUT, "fault injection '%s' either stops a process or flips a bit; " INJECTION_FORM,
             text);
  if ((read.rank_count == 0) == (read.random == 0))
    GAB_FAIL(GAB_ERR_INPUT, "fault injection '%s' has to name either ranks or random; " INJECTION_FORM, text);
  *injection = read;
  return GAB_OK;
}

/* ---------------------------------------------------------------- killing */

static bool names_rank(const gab_fault_injection *injection, gab_rank rank)
{
  for (int i = 0; i < injection->rank_count; i++)
    if (injection->ranks[i] == rank) return true;
  return false;
}

static void draw_ranks(gab_fault_injection *injection, gab_rank ranks)
{
  for (uint64_t counter = 0; injection->rank_count < injection->random; counter++) {
    gab_rank drawn =
        (gab_rank)(gab_hash_counter(injection->seed, (uint64_t)injection->step, counter) % (uint64_t)ranks);
    if (!names_rank(injection, drawn)) injection->ranks[injection->rank_count++] = drawn;
  }
}

static gab_json *begin_event(gab_fault_injector *injector, gab_fault_point point)
{
  gab_json *event = gab_event_begin(injector->events, "fault injection");
  gab_json_text(event, "phase", gab_fault_point_name(point));
  return event;
}

static void die(gab_fault_injector *injector, gab_fault_point point)
{
  gab_json *event = begin_event(injector, point);
  gab_event_end(injector->events, &event);
  gab_log_all(GAB_LOG_WARNING,
              "fault injection: rank %" GAB_PRI_RANK " kills itself at step %" GAB_PRI_STEP
              ", fault point %s",
              gab_world_rank(injector->world), gab_world_step(injector->world), gab_fault_point_name(point));
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* A stopped process cannot continue itself, so another program does. */
static void be_stopped(gab_fault_injector *injector, gab_fault_point point, double seconds)
{
  char command[128];
  const long self = (long)getpid();
  snprintf(command, sizeof command, "kill -STOP %ld; sleep %g; kill -CONT %ld", self, seconds, self);
  gab_json *event = begin_event(injector, point);
  gab_json_real(event, "stopped", seconds);
  gab_event_end(injector->events, &event);
  gab_log_all(
      GAB_LOG_WARNING,
      "fault injection: rank %" GAB_PRI_RANK " is stopped for %g s at step %" GAB_PRI_STEP ", fault point %s",
      gab_world_rank(injector->world), seconds, gab_world_step(injector->world), gab_fault_point_name(point));
  pid_t waker;
  char *words[] = {"sh", "-c", command, NULL};
  if (posix_spawnp(&waker, words[0], NULL, NULL, words, environ) == 0) waitpid(waker, NULL, 0);
}

static void flip(gab_fault_injector *injector, gab_fault_point point, uint64_t bit)
{
  gab_block_id block = 0;
  if (!injector->forest || gab_forest_flip_bit(injector->forest, bit, &block) != GAB_OK || block == 0) return;
  gab_json *event = begin_event(injector, point);
  gab_json_uint(event, "flipped", bit);
  gab_event_end(injector->events, &event);
  gab_log_all(GAB_LOG_WARNING,
              "fault injection: a bit of block " GAB_PRI_BLOCK " of rank %" GAB_PRI_RANK
              " flips at step %" GAB_PRI_STEP ", fault point %s",
              block, gab_world_rank(injector->world), gab_world_step(injector->world),
              gab_fault_point_name(point));
}

static bool kills(const gab_fault_injection *injection)
{
  return !injection->flips && injection->stopped <= 0;
}

/* Whether another rank of the fault injection is lost in this recovery. */
static bool has_begun(const gab_fault_injector *injector, const gab_fault_injection *injection)
{
  const gab_members *now = gab_world_members(injector->world);
  for (int i = 0; i < injection->rank_count; i++)
    if (gab_members_has(&injector->before, injection->ranks[i]) &&
        !gab_members_has_survived(&injector->before, now, injection->ranks[i]))
      return true;
  return false;
}

/* Ranks of one fault injection are lost together, but a rank may not have reached its fault point when the first of
 * them died. It is behind by at most as many steps as there are ranks. */
static void die_with_the_others(gab_fault_injector *injector)
{
  const gab_rank me = gab_world_rank(injector->world);
  const gab_step furthest = gab_world_step(injector->world) + gab_world_members(injector->world)->ranks;
  for (size_t i = 0; i < injector->count; i++) {
    const gab_fault_injection *injection = &injector->injections[i];
    if (kills(injection) && names_rank(injection, me) &&
        injection->incarnation == gab_world_incarnation(injector->world, me) && furthest >= injection->step &&
        has_begun(injector, injection))
      die(injector, GAB_FAULT_POINT_RECOVERY);
  }
}

static void note_members(gab_fault_injector *injector)
{
  const gab_members *now = gab_world_members(injector->world);
  const gab_epoch epoch = gab_world_epoch(injector->world);
  if (injector->noted_in == epoch) return;
  injector->noted_in = epoch;
  if (gab_members_copy(&injector->before, now) != GAB_OK)
    gab_log_all(GAB_LOG_WARNING, "fault injection: %s", gab_error_message());
}

static void watch(void *user, gab_world *world, gab_fault_point point)
{
  gab_fault_injector *injector = user;
  const gab_incarnation incarnation = gab_world_incarnation(world, gab_world_rank(world));
  if (point == GAB_FAULT_POINT_RECOVERY) die_with_the_others(injector);
  else if (point == GAB_FAULT_POINT_COMPUTE) note_members(injector);
  for (size_t i = 0; i < injector->count; i++) {
    const gab_fault_injection *injection = &injector->injections[i];
    if (injection->incarnation != incarnation)
      continue; /* a replacement process survives, unless the injection names its incarnation */
    if (injection->point != point || gab_world_step(world) < injection->step) continue;
    if (++injector->visits[i] == injection->visit && names_rank(injection, gab_world_rank(world))) {
      if (injection->flips) flip(injector, point, injection->bit);
      else if (injection->stopped > 0) be_stopped(injector, point, injection->stopped);
      else die(injector, point);
    }
  }
}

gab_step gab_fault_injector_next(const gab_fault_injector *injector)
{
  const gab_incarnation mine = gab_world_incarnation(injector->world, gab_world_rank(injector->world));
  gab_step next = -1;
  for (size_t i = 0; i < injector->count; i++) {
    const gab_fault_injection *injection = &injector->injections[i];
    if (injection->incarnation != mine || injector->visits[i] >= injection->visit) continue;
    if (next < 0 || injection->step < next) next = injection->step;
  }
  return next;
}

bool gab_fault_injection_is_over(const gab_fault_injection *injection)
{
  return injection->once && injection->attempt < gab_launch_attempt();
}

static bool is_of_this_attempt(const gab_fault_injection *injection)
{
  return !injection->once || injection->attempt == gab_launch_attempt();
}

gab_status gab_fault_injection_check(const gab_fault_injection *injection, gab_rank ranks)
{
  if (injection->rank_count < 0 || injection->rank_count > GAB_INJECTION_RANKS ||
      injection->random > GAB_INJECTION_RANKS)
    GAB_FAIL(GAB_ERR_INPUT, "a fault injection kills at most %d ranks", GAB_INJECTION_RANKS);
  if (injection->random > ranks)
    GAB_FAIL(GAB_ERR_INPUT, "random=%d in a fault injection: the run has only %" GAB_PRI_RANK " ranks",
             injection->random, ranks);
  for (int i = 0; i < injection->rank_count; i++)
    if (injection->ranks[i] < 0 || injection->ranks[i] >= ranks)
      GAB_FAIL(GAB_ERR_INPUT, "a fault injection names rank %" GAB_PRI_RANK ": ranks are 0 to %" GAB_PRI_RANK,
               injection->ranks[i], ranks - 1);
  return GAB_OK;
}

gab_status gab_fault_injector_create(gab_world *world, const gab_fault_injection *injections, size_t count,
                                     gab_events *events, gab_fault_injector **made)
{
  *made = NULL;
  gab_rank ranks = gab_world_members(world)->ranks;
  for (size_t i = 0; i < count; i++)
    if (!gab_fault_injection_is_over(&injections[i]))
      GAB_TRY(gab_fault_injection_check(&injections[i], ranks));
  gab_fault_injector *result;
  GAB_TRY(GAB_NEW(&result, GAB_MEMORY_OTHER));
  *result = (gab_fault_injector){.world = world, .events = events};
  gab_members_init(&result->before, 0);
  gab_status status;
  GAB_TRY_GOTO(status, failed, gab_members_copy(&result->before, gab_world_members(world)));
  GAB_TRY_GOTO(status, failed, GAB_NEW_ARRAY(&result->injections, count, GAB_MEMORY_OTHER));
  GAB_TRY_GOTO(status, failed, GAB_NEW_ARRAY(&result->visits, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    if (!is_of_this_attempt(&injections[i])) continue;
    gab_fault_injection *kept = &result->injections[result->count++];
    *kept = injections[i];
    if (kept->random > 0) draw_ranks(kept, ranks);
  }
  gab_world_set_fault_point_hook(world, watch, result);
  *made = result;
  return GAB_OK;
failed:
  gab_fault_injector_destroy(&result);
  return status;
}

void gab_fault_injector_set_forest(gab_fault_injector *injector, gab_forest *forest)
{
  injector->forest = forest;
}

void gab_fault_injector_destroy(gab_fault_injector **injector)
{
  gab_fault_injector *gone = *injector;
  if (!gone) return;
  gab_world_set_fault_point_hook(gone->world, NULL, NULL);
  gab_members_release(&gone->before);
  gab_free(&gone->injections);
  gab_free(&gone->visits);
  gab_free(injector);
}
