/* SPDX-License-Identifier: Apache-2.0 */
/** @file checked_access.h
 *  @brief Accesses to fields with checked indices.
 *
 *  With GABION_CHECKED defined, field.h makes macros of gab_field_get(), gab_field_set() and gab_field_index(), which call the functions
 *  below. A program gets that from the target gabion::checked, from `pkg-config --cflags gabion-checked`, or by a definition before the
 *  first include; the libraries are the same. An access outside of cells and ghosts, or to a component that does not exist, reads NaN
 *  or writes nothing. The first one of a process is kept with file, line, cell, component and block. A stencil ends with it before its
 *  first step, a time loop after the task. A program without a time loop calls gab_field_check(); its log has the access at once.
 *  gab_field_index() knows no cells: an index outside of the memory becomes 0. Not checked: whether ghosts are filled, and
 *  pointers into gab_field.data.
 *
 *  Stability: extender; stable where marked.
 */
#ifndef GABION_FIELD_CHECKED_ACCESS_H
#define GABION_FIELD_CHECKED_ACCESS_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_field;
struct gab_field_map;

/** gab_field_get(), gab_field_set() and gab_field_index() called at a line of a file. */
double gab_field_get_checked(const struct gab_field *field, int32_t x, int32_t y, int32_t z, int component,
                             const char *file, int line);
void gab_field_set_checked(struct gab_field *field, int32_t x, int32_t y, int32_t z, int component,
                           double value, const char *file, int line);
size_t gab_field_index_checked(const struct gab_field_map *map, int32_t x, int32_t y, int32_t z,
                               int component, const char *file, int line);

/** Reports the first access of this process that was outside of its field since the last call. Local, thread safe.
 *  @return ::GAB_ERR_ARGUMENT with its place in the message; GAB_OK if there was none */
GAB_STABLE gab_status gab_field_check(void);

/** Says what the calling thread computes, for messages: a block. The access is then not logged at once, since whoever says this calls
 *  gab_field_check(). @param[in] describe  writes it into `text`; called within an access. NULL: nothing @param[in] what  borrowed */
void gab_field_computes(void (*describe)(const void *what, char *text, size_t capacity), const void *what);

#ifdef __cplusplus
}
#endif

#endif
