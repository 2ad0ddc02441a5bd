/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/timer.h"

#include "core/base/log.h"

#include <string.h>
#include <time.h>

typedef struct record {
  char name[GAB_TIMER_NAME_CAPACITY];
  uint64_t calls;
  double total, min, max;
  double start;
  bool running;
} record;

struct gab_timers {
  record **records; /* by handle - 1; allocated one by one, so that names do not move */
  gab_timer *order; /* handles by name */
  size_t count, capacity;
};

double gab_seconds_since_1970(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *gab_local_date(double seconds_since_1970, char text[GAB_DATE_CAPACITY])
{
  const time_t seconds = (time_t)seconds_since_1970;
  struct tm parts;
  if (!localtime_r(&seconds, &parts) || strftime(text, GAB_DATE_CAPACITY, "%Y-%m-%d %H:%M:%S", &parts) == 0)
    strcpy(text, "?");
  return text;
}

gab_status gab_timers_create(gab_timers **timers)
{
  *timers = NULL;
  GAB_TRY(GAB_NEW(timers, GAB_MEMORY_OTHER));
  return GAB_OK;
}

void gab_timers_destroy(gab_timers **timers)
{
  if (!*timers) return;
  for (size_t i = 0; i < (*timers)->count; i++) gab_free(&(*timers)->records[i]);
  gab_free(&(*timers)->records);
  gab_free(&(*timers)->order);
  gab_free(timers);
}

static record *record_of(const gab_timers *timers, gab_timer timer)
{
  return timer > 0 && (size_t)timer <= timers->count ? timers->records[timer - 1] : NULL;
}

/* Position of the name in the order, or where to insert it. */
static size_t place_of(const gab_timers *timers, const char *name, bool *found)
{
  size_t low = 0, high = timers->count;
  *found = false;
  while (low < high && !*found) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(record_of(timers, timers->order[middle])->name, name);
    *found = order == 0;
    if (order == 0) low = middle;
    else if (order < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

static gab_status grow(gab_timers *timers)
{
  if (timers->count < timers->capacity) return GAB_OK;
  size_t capacity = timers->capacity < 16 ? 16 : 2 * timers->capacity;
  GAB_TRY(GAB_RESIZE_ARRAY(&timers->records, capacity, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_RESIZE_ARRAY(&timers->order, capacity, GAB_MEMORY_OTHER));
  timers->capacity = capacity;
  return GAB_OK;
}

gab_status gab_timers_find(gab_timers *timers, const char *name, gab_timer *timer)
{
  size_t length = strlen(name);
  if (length == 0 || length >= GAB_TIMER_NAME_CAPACITY)
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' is not a valid name of a timer (1 to %d characters)", name,
             GAB_TIMER_NAME_CAPACITY - 1);
  bool found;
  size_t place = place_of(timers, name, &found);
  if (found) {
    *timer = timers->order[place];
    return GAB_OK;
  }
  GAB_TRY(grow(timers));
  record *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  memcpy(made->name, name, length + 1);
  *timer = (gab_timer)timers->count + 1;
  timers->records[timers->count] = made;
  memmove(timers->order + place + 1, timers->order + place, (timers->count - place) * sizeof *timers->order);
  timers->order[place] = *timer;
  timers->count++;
  return GAB_OK;
}

void gab_timer_start(gab_timers *timers, gab_timer timer)
{
  record *one = record_of(timers, timer);
  if (!one) return;
  one->running = true;
  one->start = gab_seconds();
}

double gab_timer_stop(gab_timers *timers, gab_timer timer)
{
  record *one = record_of(timers, timer);
  if (!one || !one->running) return 0.0;
  double seconds = gab_seconds() - one->start;
  one->running = false;
  gab_timer_add(timers, timer, seconds);
  return seconds;
}

void gab_timer_add(gab_timers *timers, gab_timer timer, double seconds)
{
  record *one = record_of(timers, timer);
  if (!one) return;
  if (one->calls == 0 || seconds < one->min) one->min = seconds;
  if (one->calls == 0 || seconds > one->max) one->max = seconds;
  one->total += seconds;
  one->calls++;
}

size_t gab_timers_count(const gab_timers *timers) { return timers->count; }

gab_status gab_timers_summary(const gab_timers *timers, size_t place, gab_timer_summary *summary)
{
  if (place >= timers->count) GAB_FAIL(GAB_ERR_ARGUMENT, "no timer %zu of %zu", place, timers->count);
  const record *one = record_of(timers, timers->order[place]);
  *summary = (gab_timer_summary){one->name, one->calls, one->total, one->min, one->max};
  return GAB_OK;
}
