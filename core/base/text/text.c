/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "core/base/text/text_impl.h"

#include <errno.h>
#include <libfyaml.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers, the same in every locale ---- */

static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t plain_locale;

static void make_locale(void) { plain_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); }

/* Switches this thread to "." as decimal point; the result goes back to uselocale(). */
static locale_t enter_plain_locale(void)
{
  pthread_once(&locale_once, make_locale);
  return uselocale(plain_locale);
}

static const char *skip_digits(const char *text)
{
  while (*text >= '0' && *text <= '9') text++;
  return text;
}

static const char *skip_sign(const char *text) { return *text == '+' || *text == '-' ? text + 1 : text; }

/* [sign] digits [. digits] [e [sign] digits], with a digit before or after the point. */
static bool is_real(const char *text)
{
  const char *first = skip_sign(text), *at = skip_digits(first);
  ptrdiff_t digits = at - first;
  if (*at == '.') {
    const char *fraction = at + 1;
    at = skip_digits(fraction);
    digits += at - fraction;
  }
  if (digits == 0) return false;
  if (*at == 'e' || *at == 'E') {
    const char *exponent = skip_sign(at + 1);
    at = skip_digits(exponent);
    if (at == exponent) return false;
  }
  return *at == '\0';
}

bool gab_text_parse_int(const char *text, int64_t *value)
{
  const char *first = skip_sign(text), *end = skip_digits(first);
  if (end == first || *end != '\0') return false;
  errno = 0;
  long long number = strtoll(text, NULL, 10);
  if (errno == ERANGE) return false;
  *value = (int64_t)number;
  return true;
}

bool gab_text_parse_real(const char *text, double *value)
{
  if (!is_real(text)) return false;
  locale_t before = enter_plain_locale();
  errno = 0;
  *value = strtod(text, NULL);
  bool vanished = errno == ERANGE && *value == 0.0; /* 1e-400 is not 0 */
  uselocale(before);
  return isfinite(*value) && !vanished;
}

void gab_text_format_real(double value, int fewest, char *text, size_t capacity)
{
  locale_t before = enter_plain_locale();
  for (int digits = fewest; digits <= 17; digits++) {
    snprintf(text, capacity, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  uselocale(before);
}

void gab_text_format_place(const double at[3], int dimension, char text[GAB_TEXT_PLACE_CAPACITY])
{
  const size_t capacity = GAB_TEXT_PLACE_CAPACITY;
  if (dimension == 3) snprintf(text, capacity, "(%g, %g, %g)", at[0], at[1], at[2]);
  else snprintf(text, capacity, "(%g, %g)", at[0], at[1]);
}

/* ---- characters ---- */

size_t gab_text_decode(const unsigned char *text, size_t left, uint32_t *code)
{
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char c = text[0];
  size_t length = c < 0x80                ? 1
                  : c >= 0xF0 && c < 0xF8 ? 4
                  : c >= 0xE0 && c < 0xF0 ? 3
                  : c >= 0xC0 && c < 0xE0 ? 2
                                          : 0;
  if (length == 0 || length > left) return 0;
  *code = length == 1 ? c : c & (0x7FU >> length);
  for (size_t i = 1; i < length; i++) {
    if ((text[i] & 0xC0) != 0x80) return 0;
    *code = *code << 6 | (text[i] & 0x3FU);
  }
  bool surrogate = *code >= 0xD800 && *code < 0xE000;
  return *code < least[length] || *code > 0x10FFFF || surrogate ? 0 : length;
}

/* ---- quoted texts, through the emitter of the YAML library ---- */

/* A text that went through the parser, which has to live until the emitter is done. */
struct gab_text_kept {
  struct gab_text_kept *next;
  struct fy_parser *parser;
  char quoted[];
};

void gab_text_kept_release(gab_text_kept **kept)
{
  for (gab_text_kept *next, *old = *kept; old; old = next) {
    next = old->next;
    if (old->parser) fy_parser_destroy(old->parser);
    free(old);
  }
  *kept = NULL;
}

static bool has_blank_ends(const char *text, size_t length)
{
  if (length == 0 || (text[0] != ' ' && text[length - 1] != ' ')) return false;
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F) return false;
  return true;
}

/* libfyaml 0.7.12 drops blanks at the ends of a text that it is given without quotes: so the library reads
 * such a text in quotes first. Single ones, within which nothing is special but themselves (and ends of
 * lines, in a text with which blanks are kept anyway). */
static bool emit_with_blanks(struct fy_emitter *emitter, gab_text_kept **kept, const char *text,
                             size_t length)
{
  size_t used = 0;
  gab_text_kept *made = malloc(sizeof *made + 2 * length + 3);
  if (!made) return false;
  made->quoted[used++] = '\'';
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\'') made->quoted[used++] = '\'';
    made->quoted[used++] = text[i];
  }
  made->quoted[used++] = '\'';
  const struct fy_parse_cfg quiet = {.flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2};
  made->parser = fy_parser_create(&quiet);
  made->next = *kept;
  *kept = made;
  struct fy_event *event = NULL;
  if (made->parser && fy_parser_set_string(made->parser, made->quoted, used) == 0)
    while ((event = fy_parser_parse(made->parser)) && event->type != FYET_SCALAR)
      fy_parser_event_free(made->parser, event);
  return event && fy_emit_event_from_parser(emitter, made->parser, event) == 0;
}

bool gab_text_emit_quoted(struct fy_emitter *emitter, gab_text_kept **kept, const char *text, size_t length)
{
  if (has_blank_ends(text, length)) return emit_with_blanks(emitter, kept, text, length);
  struct fy_event *event =
      fy_emit_event_create(emitter, FYET_SCALAR, FYSS_DOUBLE_QUOTED, text, length, NULL, NULL);
  return event && fy_emit_event(emitter, event) == 0;
}
