/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/schemes/scheme.h"

#include "core/base/registry_impl.h"

static int all_others(int32_t count) { return count - 1; }
static int nobody(int32_t count)
{
  (void)count;
  return 0;
}

/* Own image and copies can all be in different domains if these shifts are at least a largest domain apart. */
static bool has_capacity(const gab_scheme_places *places, int copies)
{
  return (int64_t)(copies + 1) * places->largest <= places->count;
}

/* `first` and the places after it, around the ring, without the member itself. */
static int32_t from_here_on(const gab_scheme_places *places, int32_t first, int copy)
{
  int32_t shift = first + copy;
  return shift < places->count ? shift : shift - places->count + 1;
}

static int32_t far_away(const gab_scheme_places *places, int copy, int copies)
{
  if (!has_capacity(places, copies)) return from_here_on(places, places->count / 2, copy);
  return (int32_t)((int64_t)(copy + 1) * places->count / (copies + 1));
}

static int32_t next_ones(const gab_scheme_places *places, int copy, int copies)
{
  if (!has_capacity(places, copies)) return from_here_on(places, places->largest, copy);
  return (copy + 1) * places->largest;
}

static int one_parity(int losses)
{
  (void)losses;
  return 1;
}
static int as_many(int losses) { return losses; }

const gab_scheme gab_scheme_pairwise = {
    .name = "pairwise",
    .doc = "one copy at the rank half the members away (more copies: evenly spread)",
    .most_copies = all_others,
    .shift = far_away,
};
const gab_scheme gab_scheme_ring = {
    .name = "ring",
    .doc = "copies at the next ranks, in a ring",
    .most_copies = all_others,
    .shift = next_ones,
};
const gab_scheme gab_scheme_parity = {
    .name = "parity",
    .doc = "groups with one parity: any one process of each group can be lost, at a fraction of a "
           "copy",
    .kind = GAB_SCHEME_GROUPS,
    .parities = one_parity,
};
const gab_scheme gab_scheme_reed_solomon = {
    .name = "reed-solomon",
    .doc = "groups with several parities: as many arbitrary processes of each group can be lost",
    .kind = GAB_SCHEME_GROUPS,
    .parities = as_many,
};
const gab_scheme gab_scheme_none = {
    .name = "none",
    .doc = "no copies; no death is survived",
    .most_copies = nobody,
    .shift = next_ones,
};

static gab_registry schemes = {.kind = "redundancy scheme",
                               .most = GAB_REGISTRY_MOST,
                               .entries = {&gab_scheme_pairwise, &gab_scheme_ring, &gab_scheme_parity,
                                           &gab_scheme_reed_solomon, &gab_scheme_none}};

const gab_scheme *gab_scheme_at(int index) { return gab_registry_at(&schemes, index); }

static gab_status check_table(const gab_scheme *scheme)
{
  bool good = scheme->name && scheme->doc;
  if (scheme->kind == GAB_SCHEME_GROUPS) good = good && scheme->parities;
  else good = good && scheme->most_copies && (scheme->shift != NULL) != (scheme->holder != NULL);
  if (good) return GAB_OK;
  GAB_FAIL(GAB_ERR_ARGUMENT, "redundancy scheme '%s' lacks a callback or has too many",
           scheme->name ? scheme->name : "?");
}

gab_status gab_scheme_register(const gab_scheme *scheme)
{
  GAB_TRY(check_table(scheme));
  return gab_registry_add(&schemes, scheme);
}

const gab_scheme *gab_scheme_by_name(const char *name) { return gab_registry_require(&schemes, name); }
