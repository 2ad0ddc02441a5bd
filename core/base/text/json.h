/* SPDX-License-Identifier: Apache-2.0 */
/** @file json.h
 *  @brief JSON, written and read by the YAML library: strings are escaped, numbers keep their value.
 *
 *  @code
 *    gab_json *json = gab_json_begin(GAB_JSON_LINE);
 *    gab_json_text(json, "event", "recovery");
 *    gab_json_list(json, "lost");
 *    gab_json_int(json, NULL, 3);
 *    gab_json_close(json);
 *    gab_json_real(json, "seconds", 0.25);
 *    GAB_TRY(gab_json_end(&json, &text));   // {"event": "recovery", "lost": [3], "seconds": 0.25}
 *  @endcode
 *
 *  The outermost object opens and closes by itself. Errors are kept and returned at the end, so members need no checks; all
 *  functions accept NULL and then do nothing. Within a list keys are NULL. Invalid UTF-8 becomes U+FFFD, a number that is not
 *  finite becomes null. Local; one thread per object.
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_JSON_H
#define GABION_CORE_JSON_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_json gab_json;

typedef enum gab_json_form {
  GAB_JSON_LINE, /**< all in one line */
  GAB_JSON_PAGE  /**< a line for each member of the outermost object, and for each object of a list in it */
} gab_json_form;

/** Begins a text; end it by gab_json_end(). @return NULL without memory, which gab_json_end() reports */
gab_json *gab_json_begin(gab_json_form form);
/** Appends the text, a newline at its end, and releases the object. @return ::GAB_ERR_MEMORY,
 * ::GAB_ERR_ARGUMENT if something was left open */
gab_status gab_json_end(gab_json **json, gab_buffer *text);

void gab_json_text(gab_json *json, const char *key, const char *value);
/** A text of `count` bytes. */
void gab_json_bytes(gab_json *json, const char *key, const void *bytes, size_t count);
/** printf-like. */
void gab_json_format(gab_json *json, const char *key, const char *format, ...) GAB_PRINTF(3, 4);
void gab_json_int(gab_json *json, const char *key, int64_t value);
void gab_json_uint(gab_json *json, const char *key, uint64_t value);
/** The shortest text that reads back as the same number. */
void gab_json_real(gab_json *json, const char *key, double value);
/** Rounded to `digits` decimal places; for measured values. */
void gab_json_rounded(gab_json *json, const char *key, double value, int digits);
void gab_json_bool(gab_json *json, const char *key, bool value);
void gab_json_null(gab_json *json, const char *key);
/** Opens an object; gab_json_close() closes it. */
void gab_json_object(gab_json *json, const char *key);
/** Opens a list; gab_json_close() closes it. */
void gab_json_list(gab_json *json, const char *key);
void gab_json_close(gab_json *json);

/** A parsed text. */
typedef struct gab_json_document gab_json_document;

/** @return NULL if the text is neither JSON nor YAML; released by gab_json_forget() */
gab_json_document *gab_json_read(const char *text, size_t length);
/** The same for a file; NULL also if it does not exist. */
gab_json_document *gab_json_read_file(const char *path);
void gab_json_forget(gab_json_document **document);
/** A value by its path, such as "/lost" or "/grid/adaptations", as text. @return `text`, "" if there is none
 */
const char *gab_json_get_text(gab_json_document *document, const char *path, char *text, size_t capacity);
/** @return 0 if there is none */
double gab_json_get_real(gab_json_document *document, const char *path);
int64_t gab_json_get_int(gab_json_document *document, const char *path);
/** The values of a list, with commas: [2, 5] as "2, 5". @return `text` */
const char *gab_json_get_list(gab_json_document *document, const char *path, char *text, size_t capacity);
/** @return whether the value is a whole number >= 0 in range @param[in] base 10, or 16 for a text without prefix
 *  @param[out] value else 0 */
bool gab_json_find_uint(gab_json_document *document, const char *path, int base, uint64_t *value);
/** Appends a text of any length. @return ::GAB_ERR_CORRUPT if there is none; ::GAB_ERR_MEMORY */
gab_status gab_json_find_text(gab_json_document *document, const char *path, gab_buffer *out);
/** Calls `visit` for each item of a list, in order, until it fails. An item is read like a document: its own value has the path
 *  "", its members "/name". @param[in] item  borrowed @return status of the last call; ::GAB_ERR_CORRUPT if there is no list */
gab_status gab_json_each(gab_json_document *document, const char *path,
                         gab_status (*visit)(void *user, gab_json_document *item), void *user);

/** Calls `visit` for each number below `path`, in order, until it fails. @param[in] visit  its `name` has the members' names with dots
 *  between them, "bodies.cylinder.force.0": of an item of a list its member `name` if it has one, else its number from 0
 *  @return status of the last call; ::GAB_OK if nothing has that path */
gab_status gab_json_each_number(gab_json_document *document, const char *path,
                                gab_status (*visit)(void *user, const char *name, double value), void *user);

#ifdef __cplusplus
}
#endif
#endif
