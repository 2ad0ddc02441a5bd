/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/registry_impl.h"

#include <stdio.h>
#include <string.h>

static const char *name_of(const void *entry) { return *(const char *const *)entry; }

const void *gab_registry_at(const gab_registry *registry, int index)
{
  return index >= 0 && index < registry->most ? registry->entries[index] : NULL;
}

const void *gab_registry_find(const gab_registry *registry, const char *name)
{
  for (int i = 0; gab_registry_at(registry, i); i++)
    if (strcmp(name_of(registry->entries[i]), name) == 0) return registry->entries[i];
  return NULL;
}

const void *gab_registry_require(const gab_registry *registry, const char *name)
{
  const void *found = gab_registry_find(registry, name);
  char known[512] = "";
  size_t used = 0;
  if (found) return found;
  for (int i = 0; gab_registry_at(registry, i) && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                             name_of(registry->entries[i]));
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no %s '%s' (there are: %s)", registry->kind, name, known);
  return NULL;
}

gab_status gab_registry_add(gab_registry *registry, const void *entry)
{
  const char *name = name_of(entry);
  int count = 0;
  if (!name) GAB_FAIL(GAB_ERR_ARGUMENT, "a %s lacks a name", registry->kind);
  if (!name[0] || strpbrk(name, "|/, "))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the name of a %s", name, registry->kind);
  bool is_taken = gab_registry_find(registry, name) != NULL;
  for (int i = 0; registry->taken && registry->taken(i); i++)
    is_taken = is_taken || strcmp(registry->taken(i), name) == 0;
  if (is_taken) GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a %s '%s'", registry->kind, name);
  while (gab_registry_at(registry, count)) count++;
  if (count == registry->most)
    GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add %s '%s': there are %d already", registry->kind, name, count);
  registry->entries[count] = entry;
  return GAB_OK;
}
