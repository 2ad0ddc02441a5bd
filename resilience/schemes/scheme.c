/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/schemes/scheme.h"

#include <stdio.h>
#include <string.h>

static int all_others(int32_t count) { return count - 1; }
static int nobody(int32_t count)
{
  (void)count;
  return 0;
}

/* Own image and copies can all lie in different domains if these shifts are a largest domain apart. */
static bool has_capacity(const gab_scheme_places *places, int copies)
{
  return (int64_t)(copies + 1) * places->largest <= places->count;
}

/* `first`, and the places behind it, around the circle and past the member itself. */
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

enum { MOST_SCHEMES = 32 };
static const gab_scheme *schemes[MOST_SCHEMES] = {&gab_scheme_pairwise, &gab_scheme_ring, &gab_scheme_parity,
                                                  &gab_scheme_reed_solomon, &gab_scheme_none};

const gab_scheme *gab_scheme_at(int index)
{
  return index >= 0 && index < MOST_SCHEMES ? schemes[index] : NULL;
}

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
  for (int i = 0; i < MOST_SCHEMES; i++) {
    if (!schemes[i]) {
      schemes[i] = scheme;
      return GAB_OK;
    }
    if (strcmp(schemes[i]->name, scheme->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a redundancy scheme '%s'", scheme->name);
  }
  GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add redundancy scheme '%s': there are %d already", scheme->name,
           MOST_SCHEMES);
}

const gab_scheme *gab_scheme_by_name(const char *name)
{
  char known[512] = "";
  for (int i = 0; gab_scheme_at(i); i++) {
    if (strcmp(schemes[i]->name, name) == 0) return schemes[i];
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", schemes[i]->name);
  }
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no redundancy scheme '%s' (there are: %s)", name, known);
  return NULL;
}
