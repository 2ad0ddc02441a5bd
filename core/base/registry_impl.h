/* SPDX-License-Identifier: Apache-2.0 */
/** @file registry_impl.h
 *  @brief Entries chosen by name: of the library and of the program.
 *
 *  Not thread safe: programs register before a configuration is declared.
 *
 *  Stability: internal, of modules that have a registry.
 */
#ifndef GABION_CORE_REGISTRY_IMPL_H
#define GABION_CORE_REGISTRY_IMPL_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Capacity of a registry, with the entries of the library. */
#define GAB_REGISTRY_MOST 32

typedef struct gab_registry {
  const char *kind; /**< in messages: "collision model" */
  int most;         /**< entries in all, up to #GAB_REGISTRY_MOST */
  const char *(*taken)(
      int index); /**< reserved names besides those of entries; NULL after the last. NULL: none */
  const void
      *entries[GAB_REGISTRY_MOST]; /**< structures whose first member is `const char *name`; borrowed */
} gab_registry;

/** Appends an entry. @return ::GAB_ERR_ARGUMENT if its name is missing, taken or not a valid choice, or the registry is
 * full */
gab_status gab_registry_add(gab_registry *registry, const void *entry);
/** @return entry number `index`, NULL after the last */
const void *gab_registry_at(const gab_registry *registry, int index);
/** @return the entry with that name, NULL if there is none */
const void *gab_registry_find(const gab_registry *registry, const char *name);
/** As gab_registry_find(), with an error message that lists the names if there is none: "no collision model 'x' (there are: ...)". */
const void *gab_registry_require(const gab_registry *registry, const char *name);

#ifdef __cplusplus
}
#endif
#endif
