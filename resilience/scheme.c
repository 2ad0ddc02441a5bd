#include "resilience/scheme.h"

#include <stdio.h>
#include <string.h>

static int all_others(int32_t count) { return count - 1; }
static int nobody(int32_t count)
{
  (void)count;
  return 0;
}

/* Skips the member itself when N/2 + k wraps around to it. */
static int32_t shifted_by_half(int32_t index, int32_t count, int copy, int copies)
{
  (void)copies;
  if (count < 2) return index;
  int32_t shift = (count / 2 + copy) % count;
  if (count / 2 + copy >= count) shift = (shift + 1) % count;
  return (int32_t)(((int64_t)index + shift) % count);
}

static int32_t next_ones(int32_t index, int32_t count, int copy, int copies)
{
  (void)copies;
  return (int32_t)(((int64_t)index + 1 + copy) % count);
}

const gab_scheme gab_scheme_pairwise = {
    .name = "pairwise",
    .doc = "one copy at the slot half the members away (more copies: those behind it)",
    .holder = shifted_by_half,
    .most_copies = all_others,
};
const gab_scheme gab_scheme_ring = {
    .name = "ring",
    .doc = "copies at the next slots, in a ring",
    .holder = next_ones,
    .most_copies = all_others,
};
const gab_scheme gab_scheme_none = {
    .name = "none",
    .doc = "no copies: no death is survived",
    .holder = next_ones,
    .most_copies = nobody,
};

enum { MOST_SCHEMES = 32 };
static const gab_scheme *schemes[MOST_SCHEMES] = {&gab_scheme_pairwise, &gab_scheme_ring, &gab_scheme_none};

const gab_scheme *gab_scheme_at(int index)
{
  return index >= 0 && index < MOST_SCHEMES ? schemes[index] : NULL;
}

gab_status gab_scheme_register(const gab_scheme *scheme)
{
  for (int i = 0; i < MOST_SCHEMES; i++) {
    if (!schemes[i]) {
      schemes[i] = scheme;
      return GAB_OK;
    }
    if (strcmp(schemes[i]->name, scheme->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a redundancy scheme '%s'", scheme->name);
  }
  GAB_FAIL(GAB_ERR_ARGUMENT, "no room for redundancy scheme '%s': there are %d already", scheme->name,
           MOST_SCHEMES);
}

const gab_scheme *gab_scheme_by_name(const char *name)
{
  char known[256] = "";
  for (int i = 0; gab_scheme_at(i); i++) {
    if (strcmp(schemes[i]->name, name) == 0) return schemes[i];
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", schemes[i]->name);
  }
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no redundancy scheme '%s' (there are: %s)", name, known);
  return NULL;
}

int gab_scheme_copies(const gab_scheme *scheme, int32_t count, int copies)
{
  int most = scheme->most_copies(count);
  return copies < most ? copies : most;
}

gab_slot gab_scheme_restorer(const gab_scheme *scheme, int copies, const gab_members *then,
                             const gab_members *now, gab_slot slot)
{
  if (gab_members_has(now, slot)) return slot;
  int32_t count = gab_members_count(then), index = gab_members_index(then, slot);
  if (index < 0) return GAB_NO_SLOT;
  int made = gab_scheme_copies(scheme, count, copies);
  for (int k = 0; k < made; k++) {
    gab_slot holder = gab_members_slot(then, scheme->holder(index, count, k, made));
    if (gab_members_has(now, holder)) return holder;
  }
  return GAB_NO_SLOT;
}
