/* SPDX-License-Identifier: Apache-2.0 */
/** @file text_impl.h
 *  @brief Numbers, characters and quoted texts as JSON and parameter files have them.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_TEXT_IMPL_H
#define GABION_CORE_TEXT_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Locale-free conversions; the whole text has to be the number. */
bool gab_text_parse_int(const char *text, int64_t *value);
bool gab_text_parse_real(const char *text, double *value);
/* Shortest text that reads back as the same double. @param[in] fewest  digits to begin with, 1 or more: with 6 numbers are plain
 * as far as they are readable, 10 and 100000, not 1e+01 and 1e+05 */
void gab_text_format_real(double value, int fewest, char *text, size_t capacity);

/* "(1.5, 2)" of the place of a message, with as many coordinates as the domain has dimensions. */
enum { GAB_TEXT_PLACE_CAPACITY = 48 };
void gab_text_format_place(const double at[3], int dimension, char text[GAB_TEXT_PLACE_CAPACITY]);

/* Length of the UTF-8 sequence at `text` and its code point; 0 if it is none (cut off, overlong, surrogate).
 */
size_t gab_text_decode(const unsigned char *text, size_t left, uint32_t *code);

struct fy_emitter;
/* What has to live as long as an emitter; NULL at first. */
typedef struct gab_text_kept gab_text_kept;
void gab_text_kept_release(gab_text_kept **kept);
/* A text in quotes, exactly as it is. @return false without memory */
bool gab_text_emit_quoted(struct fy_emitter *emitter, gab_text_kept **kept, const char *text, size_t length);

#endif
