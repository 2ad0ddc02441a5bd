/* SPDX-License-Identifier: Apache-2.0 */
/* Failure domains of a run: sources of the names, and their distribution to all ranks. */
#include "resilience/schemes/domains_impl.h"

#include "core/messages/collective.h"
#include "core/system/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef GAB_HAVE_HWLOC
#include <hwloc.h>
#endif

enum { NAME_CAPACITY = 512 };

/* ---------------------------------------------------------------- names of ranks */

/* A list of names: one text for each name that differs from its predecessor. */
typedef struct names {
  const char **of; /* per rank, then per spare; NULL: not named yet */
  int32_t ranks;   /* including spares */
  int32_t spares;
  int64_t largest; /* largest rank in the file; only counted if `of` is NULL */
  char **texts;
  size_t text_count;
} names;

static gab_status names_create(names *list, int32_t ranks)
{
  *list = (names){.ranks = ranks};
  GAB_TRY(GAB_NEW_ARRAY(&list->of, (size_t)ranks, GAB_MEMORY_OTHER));
  return GAB_OK;
}

static void names_release(names *list)
{
  for (size_t i = 0; i < list->text_count; i++) gab_free(&list->texts[i]);
  gab_free(&list->texts);
  gab_free(&list->of);
}

static gab_status names_add(names *list, const char *name, size_t length, const char **kept)
{
  const char *last = list->text_count ? list->texts[list->text_count - 1] : NULL;
  *kept = last;
  if (last && strlen(last) == length && memcmp(last, name, length) == 0) return GAB_OK;
  void *text;
  GAB_TRY(gab_list_reserve(&list->texts, list->text_count, sizeof(char *)));
  GAB_TRY(gab_alloc(length + 1, GAB_MEMORY_OTHER, &text));
  memcpy(text, name, length);
  list->texts[list->text_count++] = text;
  *kept = text;
  return GAB_OK;
}

/* ---------------------------------------------------------------- the user's file */

typedef struct place_in_text {
  const char *source;
  int line;
} place_in_text;

static gab_status name_rank(names *list, const place_in_text *at, int64_t rank, const char *name)
{
  if (rank < 0 || rank >= list->ranks)
    GAB_FAIL(GAB_ERR_INPUT, "%s:%d: there is no rank %" PRId64 ", the run has %" PRId32 "%s", at->source,
             at->line, rank, list->ranks, list->spares ? ", spares included" : "");
  if (list->of[rank])
    GAB_FAIL(GAB_ERR_INPUT, "%s:%d: rank %" PRId64 " was placed in %s before", at->source, at->line, rank,
             list->of[rank]);
  list->of[rank] = name;
  return GAB_OK;
}

static bool read_number(const char **text, int64_t *number)
{
  if (**text < '0' || **text > '9') return false;
  char *end;
  errno = 0;
  *number = strtoll(*text, &end, 10);
  *text = end;
  return errno == 0 && *number <= INT32_MAX;
}

/* "4", "4-7", "4-12:2" */
static gab_status read_ranks(names *list, const place_in_text *at, const char **text, const char *name)
{
  int64_t first, last, step = 1;
  const char *begin = *text;
  bool good = read_number(text, &first);
  last = first;
  if (good && **text == '-') {
    ++*text;
    good = read_number(text, &last);
    if (good && **text == ':') {
      ++*text;
      good = read_number(text, &step);
    }
  }
  if (!good || last < first || step < 1 || (**text && !strchr(" \t,]\r\n#", **text)))
    GAB_FAIL(GAB_ERR_INPUT, "%s:%d: `%.*s' are not ranks; expected e.g. 3, 0-7 or 0-14:2", at->source,
             at->line, (int)strcspn(begin, " \t,]\r\n#"), begin);
  if (last > list->largest) list->largest = last;
  for (int64_t rank = first; list->of && rank <= last; rank += step) GAB_TRY(name_rank(list, at, rank, name));
  return GAB_OK;
}

static gab_status read_line(names *list, const place_in_text *at, const char *line)
{
  static const char *const blanks = " \t,[]\r";
  line += strspn(line, " \t\r");
  size_t length = strcspn(line, " \t\r\n#");
  const char *name;
  if (length == 0) return GAB_OK;
  bool colon = line[length - 1] == ':';
  if (length == colon || length >= NAME_CAPACITY)
    GAB_FAIL(GAB_ERR_INPUT, "%s:%d: a line is a name, then ranks", at->source, at->line);
  GAB_TRY(names_add(list, line, length - colon, &name));
  for (line += length + strspn(line + length, blanks); *line && *line != '\n' && *line != '#';
       line += strspn(line, blanks))
    GAB_TRY(read_ranks(list, at, &line, name));
  return GAB_OK;
}

static gab_status read_lines(names *list, const char *source, const char *text)
{
  place_in_text at = {source, 1};
  for (const char *line = text; *line; at.line++) {
    GAB_TRY(read_line(list, &at, line));
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  return GAB_OK;
}

static gab_status read_text(names *list, const char *source, const char *text)
{
  GAB_TRY(read_lines(list, source, text));
  const int32_t ranks = list->ranks - list->spares;
  for (int32_t i = 0; i < ranks; i++)
    if (!list->of[i])
      GAB_FAIL(GAB_ERR_INPUT, "%s: rank %" PRId32 " of %" PRId32 " has no place in it", source, i, ranks);
  return GAB_OK;
}

gab_status gab_domains_parse(const char *source, const char *text, int32_t ranks, int32_t spares,
                             gab_domains **domains)
{
  names list;
  *domains = NULL;
  GAB_TRY(names_create(&list, ranks + spares));
  list.spares = spares;
  gab_status status = read_text(&list, source, text);
  if (status == GAB_OK) status = gab_domains_from_names(list.of, list.ranks, domains);
  names_release(&list);
  return status;
}

/* Reads a text; refuses zero bytes, which would hide the rest. */
static gab_status read_file(const char *path, gab_buffer *text)
{
  const size_t largest = (size_t)1 << 30;
  GAB_TRY(gab_file_read(path, largest, text));
  if (text->size > 0 && memchr(text->data, '\0', text->size))
    GAB_FAIL(GAB_ERR_INPUT, "%s: has a zero byte: not a text file", path);
  return gab_put_u8(text, 0);
}

/* All ranks below the largest one must be named, so a file fits only one number of ranks. */
static gab_status count_ranks(const char *source, const char *text, int32_t *ranks)
{
  const int64_t most = (int64_t)1 << 24;
  names counting = {.largest = -1};
  gab_domains *domains = NULL;
  gab_status status = read_lines(&counting, source, text);
  names_release(&counting);
  GAB_TRY(status);
  if (counting.largest < 0) GAB_FAIL(GAB_ERR_INPUT, "%s: names no ranks", source);
  if (counting.largest >= most)
    GAB_FAIL(GAB_ERR_INPUT, "%s: rank %" PRId64 " is more than a run has: %" PRId64, source, counting.largest,
             most);
  *ranks = (int32_t)counting.largest + 1;
  status = gab_domains_parse(source, text, *ranks, 0, &domains);
  gab_domains_destroy(&domains);
  return status;
}

gab_status gab_domains_count(const char *path, int32_t *ranks)
{
  gab_buffer text;
  gab_buffer_init(&text, GAB_MEMORY_OTHER);
  gab_status status = read_file(path, &text);
  if (status == GAB_OK) status = count_ranks(path, (const char *)text.data, ranks);
  gab_buffer_release(&text);
  return status;
}

gab_status gab_domains_load(const char *path, int32_t ranks, int32_t spares, gab_domains **domains)
{
  gab_buffer text;
  gab_buffer_init(&text, GAB_MEMORY_OTHER);
  gab_status status = read_file(path, &text);
  if (status == GAB_OK) status = gab_domains_parse(path, (const char *)text.data, ranks, spares, domains);
  gab_buffer_release(&text);
  return status;
}

/* ---------------------------------------------------------------- this machine */

#ifdef GAB_HAVE_HWLOC
/* False for the meaningless serial numbers that some firmware has. */
static bool is_a_serial(const char *text)
{
  static const char *const blank[] = {
      "none",      "not specified",        "default string",         "unknown",
      "0",         "system serial number", "to be filled by o.e.m.", "chassis serial number",
      "0123456789"};
  for (size_t i = 0; i < sizeof blank / sizeof blank[0]; i++)
    if (strcasecmp(text, blank[i]) == 0) return false;
  return text[0] != '\0' && !strchr(text, '/');
}

static void find_chassis(char *text, size_t capacity)
{
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return;
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(topology) == 0) {
    const char *serial = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "DMIChassisSerial");
    if (serial && is_a_serial(serial)) snprintf(text, capacity, "%s", serial);
  }
  hwloc_topology_destroy(topology);
}
#else
static void find_chassis(char *text, size_t capacity) { (void)text, (void)capacity; }
#endif

static void name_of_this_process(gab_domain_kind wanted, char name[NAME_CAPACITY])
{
  const char *given = getenv("GABION_NODE");
  char host[200] = "", chassis[200] = "";
  if (given && given[0]) {
    snprintf(name, NAME_CAPACITY, "%s", given);
    return;
  }
  gethostname(host, sizeof host - 1);
  if (wanted == GAB_DOMAIN_CHASSIS) find_chassis(chassis, sizeof chassis);
  snprintf(name, NAME_CAPACITY, "%s%s%s", chassis, chassis[0] ? "/" : "", host);
}

/* ---------------------------------------------------------------- of all */

static gab_status visit_name(void *user, gab_rank from, gab_reader bytes)
{
  names *list = user;
  const char *name;
  if (!list->of) return GAB_OK; /* out of memory; reported below */
  GAB_TRY(names_add(list, (const char *)bytes.at, gab_reader_left(&bytes), &name));
  list->of[from] = name;
  return GAB_OK;
}

/* Gives the domains to the root, NULL to the others. Collective. */
static gab_status gather(gab_world *world, gab_domain_kind wanted, gab_domains **domains)
{
  names list = {0};
  char name[NAME_CAPACITY];
  gab_status status = GAB_OK;
  name_of_this_process(wanted, name);
  gab_buffer mine = gab_buffer_over(name, strlen(name));
  mine.size = mine.capacity;
  if (gab_world_is_root(world)) status = names_create(&list, gab_world_processes(world));
  gab_status gathered = gab_world_gather(world, &mine, visit_name, &list);
  if (gathered != GAB_OK) status = gathered;
  if (status == GAB_OK && gab_world_is_root(world))
    status = gab_domains_from_names(list.of, list.ranks, domains);
  names_release(&list);
  return status;
}

/* Packs the status of the root first: the other ranks take part even if it failed. */
static gab_status put_outcome(gab_status status, const gab_domains *domains, gab_buffer *out)
{
  GAB_TRY(gab_put_u32(out, (uint32_t)status));
  if (status != GAB_OK) return gab_put_string(out, gab_error_message());
  return gab_domains_pack(domains, out);
}

static gab_status get_outcome(gab_reader *in, gab_domains **domains)
{
  uint32_t status;
  char message[1024];
  GAB_TRY(gab_get_u32(in, &status));
  if (status == GAB_OK) return gab_domains_unpack(in, domains);
  GAB_TRY(gab_get_string(in, message, sizeof message));
  GAB_FAIL((gab_status)status, "%s", message);
}

static gab_status load_for(const gab_world *world, const char *file, gab_domains **domains)
{
  const gab_rank ranks = gab_world_members(world)->ranks;
  return gab_domains_load(file, ranks, gab_world_processes(world) - ranks, domains);
}

gab_status gab_domains_find(gab_world *world, const char *file, gab_domain_kind wanted, gab_domains **domains)
{
  bool root = gab_world_is_root(world), has_file = file && file[0];
  gab_status status = GAB_OK;
  *domains = NULL;
  if (!has_file) status = gather(world, wanted, domains);
  else if (root) status = load_for(world, file, domains);
  if (status == GAB_ERR_FAULT) return status;
  gab_buffer outcome;
  gab_buffer_init(&outcome, GAB_MEMORY_OTHER);
  gab_status sent = root ? put_outcome(status, *domains, &outcome) : GAB_OK;
  if (sent == GAB_OK) sent = gab_world_broadcast(world, gab_world_root(world), &outcome);
  gab_reader in = gab_reader_of_buffer(&outcome);
  if (sent == GAB_OK && !root) status = get_outcome(&in, domains);
  gab_buffer_release(&outcome);
  if (sent != GAB_OK) status = sent;
  if (status != GAB_OK) gab_domains_destroy(domains);
  return status;
}
