/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/timer.h"

#include "core/base/hash.h"
#include "core/base/log.h"

#include <math.h>
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
  record **records; /* by handle - 1; each of its own, so that names stay where they are */
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
  void *memory;
  *timers = NULL;
  GAB_TRY(gab_alloc(sizeof **timers, GAB_MEMORY_OTHER, &memory));
  *timers = memory;
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

/* Where the name is in the order, or would be. */
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
  void *records = timers->records, *order = timers->order;
  GAB_TRY(gab_realloc(capacity * sizeof *timers->records, GAB_MEMORY_OTHER, &records));
  timers->records = records;
  GAB_TRY(gab_realloc(capacity * sizeof *timers->order, GAB_MEMORY_OTHER, &order));
  timers->order = order;
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
  void *memory;
  GAB_TRY(gab_alloc(sizeof(record), GAB_MEMORY_OTHER, &memory));
  record *made = memory;
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

void gab_timer_cancel(gab_timers *timers, gab_timer timer)
{
  record *one = record_of(timers, timer);
  if (one) one->running = false;
}

static void clear(record *one)
{
  one->calls = 0;
  one->total = one->min = one->max = 0.0;
  one->running = false;
}

void gab_timers_reset(gab_timers *timers)
{
  for (size_t i = 0; i < timers->count; i++) clear(timers->records[i]);
}

size_t gab_timers_count(const gab_timers *timers) { return timers->count; }

gab_status gab_timers_summary(const gab_timers *timers, size_t place, gab_timer_summary *summary)
{
  if (place >= timers->count) GAB_FAIL(GAB_ERR_ARGUMENT, "no timer %zu of %zu", place, timers->count);
  const record *one = record_of(timers, timers->order[place]);
  *summary = (gab_timer_summary){one->name, one->calls, one->total, one->min, one->max};
  return GAB_OK;
}

void gab_timers_totals(const gab_timers *timers, double *totals)
{
  for (size_t i = 0; i < timers->count; i++) totals[i] = record_of(timers, timers->order[i])->total;
}

uint64_t gab_timers_signature(const gab_timers *timers)
{
  uint64_t hash = timers->count;
  for (size_t i = 0; i < timers->count; i++) {
    const char *name = record_of(timers, timers->order[i])->name;
    hash = gab_hash64(name, strlen(name), hash);
  }
  return hash;
}

gab_status gab_timers_pack(const gab_timers *timers, gab_buffer *buffer)
{
  GAB_TRY(gab_put_u64(buffer, timers->count));
  for (size_t i = 0; i < timers->count; i++) {
    const record *one = record_of(timers, timers->order[i]);
    const double seconds[3] = {one->total, one->min, one->max};
    GAB_TRY(gab_put_string(buffer, one->name));
    GAB_TRY(gab_put_u64(buffer, one->calls));
    GAB_TRY(gab_put_f64s(buffer, seconds, 3));
  }
  return GAB_OK;
}

/* Reads one timer, and takes it over if `timers` is not NULL. */
static gab_status unpack_one(gab_timers *timers, gab_reader *reader)
{
  char name[GAB_TIMER_NAME_CAPACITY];
  uint64_t calls;
  double seconds[3];
  GAB_TRY(gab_get_string(reader, name, sizeof name));
  GAB_TRY(gab_get_u64(reader, &calls));
  GAB_TRY(gab_get_f64s(reader, seconds, 3));
  for (int i = 0; i < 3; i++)
    if (!isfinite(seconds[i])) GAB_FAIL(GAB_ERR_CORRUPT, "timer %s holds no time", name);
  if (!name[0]) GAB_FAIL(GAB_ERR_CORRUPT, "a timer without name");
  if (!timers) return GAB_OK;
  gab_timer timer;
  GAB_TRY(gab_timers_find(timers, name, &timer));
  record *one = record_of(timers, timer);
  one->calls = calls;
  one->total = seconds[0];
  one->min = seconds[1];
  one->max = seconds[2];
  return GAB_OK;
}

gab_status gab_timers_unpack(gab_timers *timers, gab_reader *reader)
{
  const size_t least = 4 + 8 + 3 * 8; /* bytes of a timer */
  gab_reader ahead = *reader;
  size_t count;
  GAB_TRY(gab_get_count(&ahead, least, &count));
  gab_reader trial = ahead;
  for (size_t i = 0; i < count; i++) GAB_TRY(unpack_one(NULL, &trial));
  gab_timers_reset(timers);
  for (size_t i = 0; i < count; i++) GAB_TRY(unpack_one(timers, &ahead));
  *reader = ahead;
  return GAB_OK;
}

/* The largest mean that was not written yet; ties in the order given. */
static size_t next_row(size_t count, const double *mean, const bool *written)
{
  size_t best = count;
  for (size_t i = 0; i < count; i++)
    if (!written[i] && (best == count || mean[i] > mean[best])) best = i;
  return best;
}

gab_status gab_timer_write_table(FILE *out, const char *indent, size_t count, const char *const *names,
                                 const double *min, const double *mean, const double *max)
{
  void *memory;
  GAB_TRY(gab_alloc(count * sizeof(bool), GAB_MEMORY_OTHER, &memory));
  bool *written = memory;
  double largest = 0.0;
  for (size_t i = 0; i < count; i++) largest = mean[i] > largest ? mean[i] : largest;
  fprintf(out, "%s%-28s %11s %11s %11s %7s\n", indent, "seconds", "min", "mean", "max", "share");
  for (size_t row = 0; row < count; row++) {
    size_t i = next_row(count, mean, written);
    written[i] = true;
    fprintf(out, "%s%-28s %11.4f %11.4f %11.4f %6.1f%%\n", indent, names[i], min[i], mean[i], max[i],
            largest > 0.0 ? 100.0 * mean[i] / largest : 0.0);
  }
  gab_free(&memory);
  if (ferror(out)) GAB_FAIL(GAB_ERR_IO, "the table of timers could not be written");
  return GAB_OK;
}
