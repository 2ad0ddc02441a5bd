/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/hash.h"
#include "resilience/persist/persist_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_CAPACITY = PERSIST_FOLDER_CAPACITY, PREFIX = 8 }; /* of "persist_" */

/* Parses a list of choices separated by commas and blanks. @return false for an unknown choice */
static bool read_words(const char *value, const char *const *words, int count, unsigned *found)
{
  char copy[VALUE_CAPACITY], *rest = copy;
  *found = 0;
  snprintf(copy, sizeof copy, "%s", value);
  for (char *word; (word = strtok_r(rest, ", ", &rest)) != NULL;) {
    int i = 0;
    while (i < count && strcmp(word, words[i]) != 0) i++;
    if (i == count) return false;
    *found |= 1u << i;
  }
  return *found != 0;
}

/* Parses one of two choices. */
static gab_status read_choice(const char *key, const char *value, const char *no, const char *yes,
                              bool *chosen)
{
  *chosen = strcmp(value, yes) == 0;
  if (*chosen || strcmp(value, no) == 0) return GAB_OK;
  GAB_FAIL(GAB_ERR_INPUT, "info %s: `%s' is neither %s nor %s", key, value, no, yes);
}

static gab_status read_number(const char *key, const char *value, uint64_t least, uint64_t most,
                              uint64_t *number)
{
  char *end = NULL;
  errno = 0;
  const unsigned long long read = strtoull(value, &end, 10);
  if (end == value || *end || errno != 0 || *value == '-' || read < least || read > most)
    GAB_FAIL(GAB_ERR_INPUT, "info %s: `%s' is not a number from %" PRIu64 " to %" PRIu64, key, value, least,
             most);
  *number = read;
  return GAB_OK;
}

static gab_status read_folder(const char *key, const char *value, char folder[PERSIST_FOLDER_CAPACITY])
{
  if (!*value || strlen(value) >= PERSIST_FOLDER_CAPACITY)
    GAB_FAIL(GAB_ERR_INPUT, "info %s: the path has %zu characters instead of 1 to %d", key, strlen(value),
             PERSIST_FOLDER_CAPACITY - 1);
  snprintf(folder, PERSIST_FOLDER_CAPACITY, "%s", value);
  return GAB_OK;
}

static gab_status read_key(const char *key, const char *value, int size, persist_settings *set)
{
  static const char *const stores[] = {"file", "node", "neighbour"};
  const char *name = key + PREFIX;
  uint64_t number = 0;
  unsigned found = 0;
  if (strcmp(name, "store") == 0) {
    if (!read_words(value, stores, 3, &found))
      GAB_FAIL(GAB_ERR_INPUT, "info %s: `%s' is not a list of file, node, neighbour", key, value);
    set->in_file = found & 1u;
    set->in_node = found & 2u;
    set->in_neighbour = found & 4u;
    return GAB_OK;
  }
  if (strcmp(name, "folder") == 0) return read_folder(key, value, set->folder);
  if (strcmp(name, "node_folder") == 0) return read_folder(key, value, set->node_folder);
  if (strcmp(name, "mode") == 0) return read_choice(key, value, "store", "transparent", &set->transparent);
  if (strcmp(name, "order") == 0) return read_choice(key, value, "fifo", "lifo", &set->lifo);
  if (strcmp(name, "sync") == 0) return read_choice(key, value, "no", "yes", &set->sync);
  if (strcmp(name, "scheme") == 0) return read_choice(key, value, "spread", "ring", &set->ring);
  if (strcmp(name, "bytes") == 0) return read_number(key, value, 1, UINT64_MAX, &set->bytes);
  if (strcmp(name, "copies") == 0) {
    GAB_TRY(read_number(key, value, 1, size > 1 ? (uint64_t)size - 1 : 1, &number));
    set->copies = (int)number;
    return GAB_OK;
  }
  if (strcmp(name, "depth") == 0) {
    set->depth = UINT64_MAX;
    return strcmp(value, "all") == 0 ? GAB_OK : read_number(key, value, 1, UINT64_MAX - 1, &set->depth);
  }
  if (strcmp(name, "commit") == 0) {
    static const char *const kinds[] = {"self", "together", "each"};
    for (int i = 0; i < 3; i++)
      if (strcmp(value, kinds[i]) == 0) {
        set->commit = (persist_commit_kind)i;
        return GAB_OK;
      }
    GAB_FAIL(GAB_ERR_INPUT, "info %s: `%s' is none of self, together, each", key, value);
  }
  GAB_FAIL(
      GAB_ERR_INPUT,
      "info %s is unknown; there are persist_store, _folder, _node_folder, _mode, _commit, _depth, _order, _copies, "
      "_scheme, _sync, _bytes",
      key);
}

static gab_status check(const persist_settings *set, int size)
{
  if (set->in_neighbour && size < 2)
    GAB_FAIL(GAB_ERR_INPUT, "info persist_store: a single process has no neighbour");
  if (set->in_neighbour && set->commit != PERSIST_COMMIT_TOGETHER)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "info persist_store: neighbour: copies travel in a commit that all make: persist_commit = together");
  if (set->transparent && set->commit == PERSIST_COMMIT_EACH)
    GAB_FAIL(GAB_ERR_INPUT,
             "info persist_commit: each: in transparent mode a commit says what has been received, too");
  if (set->transparent && set->lifo)
    GAB_FAIL(GAB_ERR_INPUT,
             "info persist_order: lifo: in transparent mode messages come in the order of sending");
  return GAB_OK;
}

gab_status gab_persist_settings_read(MPI_Info info, int size, persist_settings *set)
{
  *set = (persist_settings){.copies = 1, .folder = ".", .node_folder = "/dev/shm"};
  int keys = 0;
  if (info != MPI_INFO_NULL) PMPI_Info_get_nkeys(info, &keys);
  for (int i = 0; i < keys; i++) {
    char key[MPI_MAX_INFO_KEY + 1] = "", value[VALUE_CAPACITY + 1] = "";
    int there = 0, length = 0;
    PMPI_Info_get_nthkey(info, i, key);
    if (strncmp(key, "persist_", PREFIX) != 0) continue;
    PMPI_Info_get_valuelen(info, key, &length, &there);
    if (!there || length > VALUE_CAPACITY) GAB_FAIL(GAB_ERR_INPUT, "info %s: the value is too long", key);
    PMPI_Info_get(info, key, VALUE_CAPACITY, value, &there);
    GAB_TRY(read_key(key, value, size, set));
  }
  if (!set->in_file && !set->in_node && !set->in_neighbour) set->in_file = true;
  if (set->depth == 0) set->depth = set->transparent ? UINT64_MAX : 1;
  return check(set, size);
}

uint64_t gab_persist_settings_of_file(const persist_settings *set)
{
  return (uint64_t)set->transparent | (uint64_t)(set->commit == PERSIST_COMMIT_TOGETHER) << 1;
}

uint64_t gab_persist_settings_hash(const persist_settings *set)
{
  char text[2 * PERSIST_FOLDER_CAPACITY + 200];
  const int length = snprintf(text, sizeof text, "%d%d%d%d%d%d%d %d %d %" PRIu64 " %s %s", set->transparent,
                              set->lifo, set->sync, set->in_file, set->in_node, set->in_neighbour, set->ring,
                              set->copies, (int)set->commit, set->depth, set->folder, set->node_folder);
  return gab_hash64(text, (size_t)length, 0);
}
