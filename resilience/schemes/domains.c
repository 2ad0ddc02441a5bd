/* SPDX-License-Identifier: Apache-2.0 */
/* Failure domains as compressed runs: construction from names, and queries. */
#include "resilience/schemes/domains_impl.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS = 3, OPEN = INT32_MAX }; /* nodes, chassis, islands; a run with a row of unknown length */

/* Part of a sequence: from index `at` on, rows of `inner` values that increase by `step`; each row begins `leap` after the
 * one before. */
typedef struct run {
  int32_t at, value, inner, step, leap;
} run;

typedef struct sequence {
  run *runs;
  int32_t count;  /* of runs */
  int32_t length; /* of the sequence */
} sequence;

/* `count` ranges of `size` places each, from place `at` on; numbers of the ranges begin with `number`. */
typedef struct sizes_run {
  int32_t at, number, size, count;
} sizes_run;

typedef struct sizes {
  sizes_run *runs;
  int32_t count;
} sizes;

struct gab_domains {
  int32_t ranks;
  sequence rank_at;  /* place -> rank */
  sequence place_of; /* rank -> place */
  sizes levels[LEVELS];
};

const char *gab_domain_name(gab_domain_kind kind)
{
  static const char *const names[] = {"", "none", "node", "chassis", "island"};
  return kind < GAB_DOMAIN_COUNT ? names[kind] : "";
}

/* ---------------------------------------------------------------- sequences */

static int32_t run_value(const run *r, int32_t index)
{
  int32_t k = index - r->at;
  return r->value + k % r->inner * r->step + k / r->inner * r->leap;
}

/* Returns true if the run can continue with this value; sets the members of the run that the value determines. */
static bool run_takes(run *r, int32_t index, int32_t value)
{
  int32_t k = index - r->at;
  if (k == 1) r->step = value - r->value;
  if (r->inner == OPEN && value != r->value + k * r->step) {
    r->inner = k;
    r->leap = value - r->value;
  }
  return run_value(r, index) == value;
}

static gab_status sequence_add(sequence *list, int32_t value)
{
  if (list->count == 0 || !run_takes(&list->runs[list->count - 1], list->length, value)) {
    GAB_TRY(gab_list_reserve(&list->runs, (size_t)list->count, sizeof(run)));
    list->runs[list->count++] = (run){.at = list->length, .value = value, .inner = OPEN};
  }
  list->length++;
  return GAB_OK;
}

static int32_t sequence_at(const sequence *list, int32_t index)
{
  int32_t lo = 0, hi = list->count - 1;
  while (lo < hi) {
    int32_t mid = hi - (hi - lo) / 2;
    if (list->runs[mid].at <= index) lo = mid;
    else hi = mid - 1;
  }
  return run_value(&list->runs[lo], index);
}

/* ---------------------------------------------------------------- sizes */

static gab_status sizes_add(sizes *list, int32_t at, int32_t size, int32_t count)
{
  sizes_run *last = list->count > 0 ? &list->runs[list->count - 1] : NULL;
  if (last && last->size == size) {
    last->count += count;
    return GAB_OK;
  }
  int32_t number = last ? last->number + last->count : 0;
  GAB_TRY(gab_list_reserve(&list->runs, (size_t)list->count, sizeof(sizes_run)));
  list->runs[list->count++] = (sizes_run){at, number, size, count};
  return GAB_OK;
}

static const sizes_run *sizes_find(const sizes *list, int32_t place)
{
  int32_t lo = 0, hi = list->count - 1;
  while (lo < hi) {
    int32_t mid = hi - (hi - lo) / 2;
    if (list->runs[mid].at <= place) lo = mid;
    else hi = mid - 1;
  }
  return &list->runs[lo];
}

/* ---------------------------------------------------------------- from names, or from what they said */

/* A rank with its name; `first` are the lowest ranks with the same node, chassis, island. */
typedef struct named {
  const char *name;
  size_t length; /* of the compared prefix */
  gab_rank rank;
  int32_t first[LEVELS];
} named;

static int by_name(const void *a, const void *b)
{
  const named *left = a, *right = b;
  size_t shared = left->length < right->length ? left->length : right->length;
  int order = shared ? memcmp(left->name, right->name, shared) : 0;
  if (order == 0) order = (left->length > right->length) - (left->length < right->length);
  return order ? order : (left->rank > right->rank) - (left->rank < right->rank);
}

static int by_place(const void *a, const void *b)
{
  const named *left = a, *right = b;
  for (int level = LEVELS - 1; level >= 0; level--)
    if (left->first[level] != right->first[level]) return left->first[level] > right->first[level] ? 1 : -1;
  return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Length of the part of "island/chassis/node" that names the domain of a level; 0 for an omitted level. */
static size_t prefix_length(const char *name, int level)
{
  size_t length = name ? strlen(name) : 0;
  for (; level > 0; level--) {
    while (length > 0 && name[length - 1] != '/') length--;
    if (length > 0) length--;
  }
  return length;
}

static void find_first(named *items, int32_t count, int level)
{
  for (int32_t i = 0; i < count; i++) items[i].length = prefix_length(items[i].name, level);
  qsort(items, (size_t)count, sizeof *items, by_name);
  for (int32_t i = 0; i < count; i++) {
    bool same = i > 0 && items[i].length == items[i - 1].length &&
                (items[i].length == 0 || memcmp(items[i].name, items[i - 1].name, items[i].length) == 0);
    bool alone = level == 0 && !items[i].name;
    items[i].first[level] = same && !alone ? items[i - 1].first[level] : items[i].rank;
  }
}

static gab_status compress_sizes(gab_domains *made, const named *items, int level)
{
  int32_t begin = 0;
  for (int32_t i = 1; i <= made->ranks; i++) {
    if (i < made->ranks && items[i].first[level] == items[begin].first[level]) continue;
    GAB_TRY(sizes_add(&made->levels[level], begin, i - begin, 1));
    begin = i;
  }
  return GAB_OK;
}

/* @param[in,out] places  capacity for one number per rank */
static gab_status compress(gab_domains *made, const named *items, int32_t *places)
{
  for (int32_t i = 0; i < made->ranks; i++) {
    GAB_TRY(sequence_add(&made->rank_at, items[i].rank));
    places[items[i].rank] = i;
  }
  for (int32_t i = 0; i < made->ranks; i++) GAB_TRY(sequence_add(&made->place_of, places[i]));
  for (int level = 0; level < LEVELS; level++) GAB_TRY(compress_sizes(made, items, level));
  return GAB_OK;
}

static gab_status create(int32_t ranks, gab_domains **domains)
{
  *domains = NULL;
  if (ranks < 1) GAB_FAIL(GAB_ERR_ARGUMENT, "domains of %" PRId32 " ranks", ranks);
  GAB_TRY(GAB_NEW(domains, GAB_MEMORY_OTHER));
  (*domains)->ranks = ranks;
  return GAB_OK;
}

/* Compresses ranks whose domains are known. @param[in,out] items  sorted into the order of places */
static gab_status compress_items(named *items, int32_t count, gab_domains **domains)
{
  int32_t *places = NULL;
  GAB_TRY(create(count, domains));
  gab_status status = GAB_NEW_ARRAY(&places, (size_t)count, GAB_MEMORY_OTHER);
  qsort(items, (size_t)count, sizeof *items, by_place);
  if (status == GAB_OK) status = compress(*domains, items, places);
  gab_free(&places);
  if (status != GAB_OK) gab_domains_destroy(domains);
  return status;
}

gab_status gab_domains_from_names(const char *const *names, int32_t count, gab_domains **domains)
{
  *domains = NULL;
  named *items = NULL;
  if (count > 0) GAB_TRY(GAB_NEW_ARRAY(&items, (size_t)count, GAB_MEMORY_OTHER));
  for (int32_t i = 0; i < count; i++) items[i] = (named){.name = names[i], .rank = i};
  for (int level = 0; level < LEVELS; level++) find_first(items, count, level);
  const gab_status status = compress_items(items, count, domains);
  gab_free(&items);
  return status;
}

/* ---------------------------------------------------------------- with those who came later */

/* The lowest rank of a domain has its first place. */
static named item_of(const gab_domains *domains, gab_rank rank)
{
  named item = {.rank = rank};
  for (int level = 0; level < LEVELS; level++) {
    const gab_domain_kind kind = (gab_domain_kind)(GAB_DOMAIN_NODE + level);
    const gab_places range = gab_domains_range(domains, kind, gab_domains_place(domains, rank));
    item.first[level] = gab_domains_rank(domains, range.first);
  }
  return item;
}

gab_status gab_domains_extend(const gab_domains *domains, const gab_process *origins, int32_t count,
                              gab_domains **extended)
{
  const int32_t before = domains->ranks;
  *extended = NULL;
  named *items;
  GAB_TRY(GAB_NEW_ARRAY(&items, (size_t)(before + count), GAB_MEMORY_OTHER));
  for (gab_rank rank = 0; rank < before; rank++) items[rank] = item_of(domains, rank);
  for (int32_t i = 0; i < count; i++) {
    const bool is_known = origins[i] >= 0 && origins[i] < before;
    named *item = &items[before + i];
    if (is_known) *item = items[origins[i]];
    item->rank = before + i;
    for (int level = 0; level < LEVELS && !is_known; level++) item->first[level] = item->rank;
  }
  const gab_status status = compress_items(items, before + count, extended);
  gab_free(&items);
  return status;
}

/* ---------------------------------------------------------------- regular ones */

static gab_status regular_sizes(sizes *list, int32_t ranks, int32_t size)
{
  if (ranks >= size) GAB_TRY(sizes_add(list, 0, size, ranks / size));
  if (ranks % size) GAB_TRY(sizes_add(list, ranks - ranks % size, ranks % size, 1));
  return GAB_OK;
}

static gab_status fill_regular(gab_domains *made, int32_t per_node, int32_t per_island)
{
  const int32_t ranks = made->ranks;
  int64_t island = per_island > 0 ? (int64_t)per_node * per_island : ranks;
  if (island > ranks) island = ranks;
  const int32_t of_level[LEVELS] = {per_node, (int32_t)island, (int32_t)island};
  for (int32_t i = 0; i < 2 && i < ranks; i++) { /* two values of each define all */
    GAB_TRY(sequence_add(&made->rank_at, i));
    GAB_TRY(sequence_add(&made->place_of, i));
  }
  made->rank_at.length = made->place_of.length = ranks;
  for (int level = 0; level < LEVELS; level++)
    GAB_TRY(regular_sizes(&made->levels[level], ranks, of_level[level] < ranks ? of_level[level] : ranks));
  return GAB_OK;
}

gab_status gab_domains_regular(int32_t ranks, int32_t per_node, int32_t per_island, gab_domains **domains)
{
  *domains = NULL;
  if (per_node < 1 || per_island < 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%" PRId32 " ranks on each node, %" PRId32 " nodes in each island", per_node,
             per_island);
  GAB_TRY(create(ranks, domains));
  gab_status status = fill_regular(*domains, per_node, per_island);
  if (status != GAB_OK) gab_domains_destroy(domains);
  return status;
}

void gab_domains_destroy(gab_domains **domains)
{
  gab_domains *gone = *domains;
  if (!gone) return;
  gab_free(&gone->rank_at.runs);
  gab_free(&gone->place_of.runs);
  for (int level = 0; level < LEVELS; level++) gab_free(&gone->levels[level].runs);
  gab_free(domains);
}

/* ---------------------------------------------------------------- asking */

int32_t gab_domains_ranks(const gab_domains *domains) { return domains->ranks; }

/* NULL: every rank is a domain. */
static const sizes *sizes_of(const gab_domains *domains, gab_domain_kind kind)
{
  return kind >= GAB_DOMAIN_NODE && kind <= GAB_DOMAIN_ISLAND ? &domains->levels[kind - GAB_DOMAIN_NODE]
                                                              : NULL;
}

int32_t gab_domains_number(const gab_domains *domains, gab_domain_kind kind)
{
  const sizes *list = sizes_of(domains, kind);
  if (!list) return domains->ranks;
  const sizes_run *last = &list->runs[list->count - 1];
  return last->number + last->count;
}

int32_t gab_domains_place(const gab_domains *domains, gab_rank rank)
{
  return sequence_at(&domains->place_of, rank);
}

gab_rank gab_domains_rank(const gab_domains *domains, int32_t place)
{
  return sequence_at(&domains->rank_at, place);
}

gab_places gab_domains_range(const gab_domains *domains, gab_domain_kind kind, int32_t place)
{
  const sizes *list = sizes_of(domains, kind);
  if (!list) return (gab_places){place, 1};
  const sizes_run *r = sizes_find(list, place);
  return (gab_places){place - (place - r->at) % r->size, r->size};
}

bool gab_domains_together(const gab_domains *domains, gab_domain_kind kind, gab_rank a, gab_rank b)
{
  return gab_domains_range(domains, kind, gab_domains_place(domains, a)).first ==
         gab_domains_range(domains, kind, gab_domains_place(domains, b)).first;
}

size_t gab_domains_bytes(const gab_domains *domains)
{
  size_t runs = (size_t)domains->rank_at.count + (size_t)domains->place_of.count, ranges = 0;
  for (int level = 0; level < LEVELS; level++) ranges += (size_t)domains->levels[level].count;
  return sizeof *domains + runs * sizeof(run) + ranges * sizeof(sizes_run);
}

void gab_domains_each_size(const gab_domains *domains, gab_domain_kind kind, gab_domains_fn call, void *user)
{
  const sizes *list = sizes_of(domains, kind);
  if (!list) call(user, 0, 1, domains->ranks);
  for (int32_t i = 0; list && i < list->count; i++)
    call(user, list->runs[i].at, list->runs[i].size, list->runs[i].count);
}

/* ---------------------------------------------------------------- as bytes */

static gab_status put_numbers(gab_buffer *out, const void *numbers, int32_t rows, int32_t each)
{
  const int32_t *values = numbers;
  GAB_TRY(gab_put_u64(out, (uint64_t)rows));
  for (int32_t i = 0; i < rows * each; i++) GAB_TRY(gab_put_i32(out, values[i]));
  return GAB_OK;
}

static gab_status get_numbers(gab_reader *in, void **numbers, int32_t *rows, int32_t each)
{
  size_t count;
  GAB_TRY(gab_get_count(in, (size_t)each * sizeof(int32_t), &count));
  GAB_TRY(gab_alloc((count + 1) * (size_t)each * sizeof(int32_t), GAB_MEMORY_OTHER, numbers));
  *rows = (int32_t)count;
  for (int32_t i = 0; i < *rows * each; i++) GAB_TRY(gab_get_i32(in, (int32_t *)*numbers + i));
  return GAB_OK;
}

enum { RUN = sizeof(run) / sizeof(int32_t), SIZES_RUN = sizeof(sizes_run) / sizeof(int32_t) };

gab_status gab_domains_pack(const gab_domains *domains, gab_buffer *out)
{
  GAB_TRY(gab_put_i32(out, domains->ranks));
  GAB_TRY(put_numbers(out, domains->rank_at.runs, domains->rank_at.count, RUN));
  GAB_TRY(put_numbers(out, domains->place_of.runs, domains->place_of.count, RUN));
  for (int level = 0; level < LEVELS; level++)
    GAB_TRY(put_numbers(out, domains->levels[level].runs, domains->levels[level].count, SIZES_RUN));
  return GAB_OK;
}

static gab_status get_sequence(gab_reader *in, int32_t length, sequence *list)
{
  void *memory = NULL;
  gab_status status = get_numbers(in, &memory, &list->count, RUN);
  list->runs = memory;
  list->length = length;
  return status;
}

static gab_status unpack(gab_reader *in, gab_domains *made)
{
  GAB_TRY(get_sequence(in, made->ranks, &made->rank_at));
  GAB_TRY(get_sequence(in, made->ranks, &made->place_of));
  for (int level = 0; level < LEVELS; level++) {
    void *memory = NULL;
    gab_status status = get_numbers(in, &memory, &made->levels[level].count, SIZES_RUN);
    made->levels[level].runs = memory;
    GAB_TRY(status);
  }
  return GAB_OK;
}

gab_status gab_domains_unpack(gab_reader *in, gab_domains **domains)
{
  int32_t ranks;
  *domains = NULL;
  GAB_TRY(gab_get_i32(in, &ranks));
  GAB_TRY(create(ranks, domains));
  gab_status status = unpack(in, *domains);
  if (status != GAB_OK) gab_domains_destroy(domains);
  return status;
}
