/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/time_series.h"
#include "core/base/buffer.h"
#include "core/base/lower_bound_impl.h"
#include "core/base/text/text_impl.h"
#include "core/memory/memory.h"
#include "core/system/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct sample {
  double time, value;
} sample;

struct gab_time_series {
  sample *samples;
  size_t count;
  bool repeats;
};

static const size_t largest_file = (size_t)64 << 20; /* bytes */

/* ---------------------------------------------------------------- reading */

/* The next word of a line. @return false if there is none, or it is too long */
static bool next_word(const char **at, char *word, size_t capacity)
{
  static const char between[] = ",; \t\r";
  *at += strspn(*at, between);
  const size_t length = strcspn(*at, between);
  if (length == 0 || length >= capacity) return false;
  memcpy(word, *at, length);
  word[length] = '\0';
  *at += length;
  return true;
}

static gab_status add_sample(gab_time_series *series, const char *path, size_t line, sample made)
{
  if (!isfinite(made.time) || !isfinite(made.value))
    GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: time and value must be finite", path, line);
  if (series->count > 0 && !(made.time > series->samples[series->count - 1].time))
    GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: time %g does not come after %g; times must ascend", path, line,
             made.time, series->samples[series->count - 1].time);
  GAB_TRY(gab_list_reserve(&series->samples, series->count, sizeof *series->samples));
  series->samples[series->count++] = made;
  return GAB_OK;
}

static gab_status read_line(gab_time_series *series, const char *path, size_t line, const char *text,
                            bool *may_be_head)
{
  char words[2][64], more[64];
  sample made;
  const char *at = text;
  if (text[strspn(text, " \t\r")] == '\0' || text[0] == '#') return GAB_OK;
  const bool two = next_word(&at, words[0], sizeof words[0]) && next_word(&at, words[1], sizeof words[1]);
  if (two && !next_word(&at, more, sizeof more) && gab_text_parse_real(words[0], &made.time) &&
      gab_text_parse_real(words[1], &made.value)) {
    *may_be_head = false;
    return add_sample(series, path, line, made);
  }
  if (!*may_be_head)
    GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: expected a time and a value, not '%.60s'", path, line, text);
  *may_be_head = false;
  return GAB_OK;
}

static gab_status read_lines(gab_time_series *series, const char *name, char *text)
{
  bool may_be_head = true;
  size_t line = 1;
  for (char *at = text; *at; line++) {
    char *end = at + strcspn(at, "\n");
    const bool is_last = *end == '\0';
    *end = '\0';
    GAB_TRY(read_line(series, name, line, at, &may_be_head));
    at = is_last ? end : end + 1;
  }
  if (series->count < 2)
    GAB_FAIL(GAB_ERR_INPUT, "%s: a series needs two lines or more with a time and a value", name);
  return GAB_OK;
}

gab_status gab_time_series_parse(const char *name, const char *text, size_t length, bool repeats,
                                 gab_time_series **series)
{
  gab_buffer copy = {0};
  *series = NULL;
  if (memchr(text, '\0', length)) GAB_FAIL(GAB_ERR_INPUT, "%s: not a text file", name);
  GAB_TRY(GAB_NEW(series, GAB_MEMORY_OTHER));
  (*series)->repeats = repeats;
  gab_status status = gab_put_bytes(&copy, text, length);
  if (status == GAB_OK) status = gab_put_u8(&copy, 0);
  if (status == GAB_OK) status = read_lines(*series, name, (char *)copy.data);
  gab_buffer_release(&copy);
  if (status != GAB_OK) gab_time_series_destroy(series);
  return status;
}

gab_status gab_time_series_read(const char *path, bool repeats, gab_time_series **series)
{
  gab_buffer text = {0};
  *series = NULL;
  gab_status status = gab_file_read(path, largest_file, &text);
  if (status == GAB_OK)
    status =
        gab_time_series_parse(path, text.size ? (const char *)text.data : "", text.size, repeats, series);
  gab_buffer_release(&text);
  return status;
}

void gab_time_series_destroy(gab_time_series **series)
{
  if (!*series) return;
  gab_free(&(*series)->samples);
  gab_free(series);
}

/* ---------------------------------------------------------------- values */

void gab_time_series_range(const gab_time_series *series, double *first, double *last)
{
  *first = series->samples[0].time;
  *last = series->samples[series->count - 1].time;
}

double gab_time_series_at(const gab_time_series *series, double time)
{
  double first, last;
  gab_time_series_range(series, &first, &last);
  if (series->repeats && time > last) time = first + fmod(time - first, last - first);
  size_t low = 0; /* the first sample after `time` */
  GAB_LOWER_BOUND(size_t, low, series->count, i, series->samples[i].time <= time);
  if (low == 0) return series->samples[0].value;
  const sample *before = &series->samples[low - 1];
  if (low == series->count) return before->value;
  const double share = (time - before->time) / (before[1].time - before->time);
  return before->value + share * (before[1].value - before->value);
}

double gab_time_series_largest(const gab_time_series *series)
{
  double most = 0;
  for (size_t i = 0; i < series->count; i++) most = fmax(most, fabs(series->samples[i].value));
  return most;
}

bool gab_time_series_equal(const gab_time_series *a, const gab_time_series *b)
{
  if (!a || !b) return a == b;
  bool equal = a->count == b->count && a->repeats == b->repeats;
  for (size_t i = 0; equal && i < a->count; i++)
    equal = a->samples[i].time == b->samples[i].time && a->samples[i].value == b->samples[i].value;
  return equal;
}
