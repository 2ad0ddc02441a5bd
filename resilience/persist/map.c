/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/hash.h"
#include "resilience/persist/persist_msglog_impl.h"

#include <string.h>

typedef struct persist_map_entry map_entry;

void gab_persist_map_release(persist_map *map)
{
  gab_free(&map->entries);
  *map = (persist_map){0};
}

/* Entry of a key, or the free entry for it; there is always a free one. */
static map_entry *place_of(map_entry *entries, size_t capacity, int32_t peer, int32_t tag)
{
  size_t at = gab_hash_counter(0, (uint32_t)peer, (uint32_t)tag) & (capacity - 1);
  while (entries[at].used && (entries[at].peer != peer || entries[at].tag != tag))
    at = (at + 1) & (capacity - 1);
  return &entries[at];
}

uint64_t *gab_persist_map_find(const persist_map *map, int32_t peer, int32_t tag)
{
  if (map->capacity == 0) return NULL;
  map_entry *entry = place_of(map->entries, map->capacity, peer, tag);
  return entry->used ? &entry->value : NULL;
}

uint64_t gab_persist_map_get(const persist_map *map, int32_t peer, int32_t tag)
{
  const uint64_t *value = gab_persist_map_find(map, peer, tag);
  return value ? *value : 0;
}

static gab_status grow(persist_map *map)
{
  const size_t capacity = map->capacity > 0 ? 2 * map->capacity : 16;
  map_entry *entries;
  GAB_TRY(GAB_NEW_ARRAY(&entries, capacity, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < map->capacity; i++)
    if (map->entries[i].used)
      *place_of(entries, capacity, map->entries[i].peer, map->entries[i].tag) = map->entries[i];
  gab_free(&map->entries);
  map->entries = entries;
  map->capacity = capacity;
  return GAB_OK;
}

gab_status gab_persist_map_put(persist_map *map, int32_t peer, int32_t tag, uint64_t value)
{
  if (2 * (map->count + 1) > map->capacity) GAB_TRY(grow(map));
  map_entry *entry = place_of(map->entries, map->capacity, peer, tag);
  if (!entry->used) map->count++;
  *entry = (map_entry){peer, tag, value, true};
  return GAB_OK;
}

gab_status gab_persist_map_copy(persist_map *to, const persist_map *from)
{
  persist_map copy = {.capacity = from->capacity, .count = from->count};
  if (from->capacity > 0) {
    GAB_TRY(GAB_NEW_ARRAY(&copy.entries, from->capacity, GAB_MEMORY_OTHER));
    memcpy(copy.entries, from->entries, from->capacity * sizeof(map_entry));
  }
  gab_persist_map_release(to);
  *to = copy;
  return GAB_OK;
}
