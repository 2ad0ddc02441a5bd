/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/kernels/lattice.h"
#include "lbm/kernels/lattice_list_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define VELOCITY(q, cx, cy, cz, w)   [q] = {(cx), (cy), (cz)}, [(q) + 1] = {-(cx), -(cy), -(cz)},
#define WEIGHT(q, cx, cy, cz, w)     [q] = (w), [(q) + 1] = (w),
#define COUNT_PAIR(q, cx, cy, cz, w) +2
#define DESCRIPTOR(id)                                                                                       \
  const gab_lattice GAB_##id##_LATTICE = {.name = #id,                                                       \
                                          .dimension = 2 + GAB_##id##_DEEP,                                  \
                                          .q = 1 + GAB_##id##_PAIRS(COUNT_PAIR),                             \
                                          .c = {GAB_##id##_PAIRS(VELOCITY)},                                 \
                                          .weight = {GAB_##id##_PAIRS(WEIGHT)[0] = GAB_##id##_REST},         \
                                          .is_full = GAB_##id##_FULL,                                        \
                                          .doc = GAB_##id##_DOC};                                            \
  _Static_assert(1 + GAB_##id##_PAIRS(COUNT_PAIR) <= GAB_LATTICE_MAX_Q, "too many directions");
GAB_LATTICES(DESCRIPTOR)

#define ADDRESS(id) &(GAB_##id##_LATTICE),
/* User-defined lattices follow those with compiled kernels. */
static const gab_lattice *lattices[GAB_MOST_LATTICES] = {GAB_LATTICES(ADDRESS)};
static int lattice_count = GAB_LATTICE_COUNT;
_Static_assert((int)GAB_LATTICE_COUNT < (int)GAB_MOST_LATTICES, "no capacity for lattices of programs");

const gab_lattice *gab_lattice_at(int index)
{
  return index >= 0 && index < lattice_count ? lattices[index] : NULL;
}

int gab_lattice_number(const gab_lattice *lattice)
{
  for (int i = 0; i < lattice_count; i++)
    if (lattices[i] == lattice) return i;
  return -1;
}

const gab_lattice *gab_lattice_usual(int dimension)
{
  for (int i = 0; i < GAB_LATTICE_COUNT; i++)
    if (lattices[i]->dimension == dimension) return lattices[i];
  return NULL;
}

const gab_lattice *gab_lattice_by_name(const char *name)
{
  char known[GAB_MOST_LATTICES * (GAB_LATTICE_MOST_LETTERS + 2) + 1] = "";
  for (int i = 0; i < lattice_count; i++) {
    if (strcasecmp(name, lattices[i]->name) == 0) return lattices[i];
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", lattices[i]->name);
  }
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "unknown lattice \"%s\"; known are %s", name, known);
  return NULL;
}

/* Parameter files have names in small letters, separated by |; kernels are called after them, separated by /. */
static bool can_be_name(const char *name)
{
  const size_t length = strlen(name);
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') return false;
  return length > 0 && length <= GAB_LATTICE_MOST_LETTERS && strcasecmp(name, "auto") != 0;
}

gab_status gab_lattice_register(const gab_lattice *lattice)
{
  if (!lattice->name || !lattice->doc)
    GAB_FAIL(GAB_ERR_ARGUMENT, "lattice '%s' lacks a name or a text", lattice->name ? lattice->name : "?");
  if (!can_be_name(lattice->name))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the name of a lattice", lattice->name);
  for (int i = 0; i < lattice_count; i++)
    if (strcasecmp(lattices[i]->name, lattice->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a lattice '%s'", lattices[i]->name);
  GAB_TRY(gab_lattice_check(lattice));
  if (lattice_count == GAB_MOST_LATTICES)
    GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add lattice '%s': there are %d already", lattice->name,
             GAB_MOST_LATTICES);
  lattices[lattice_count++] = lattice;
  return GAB_OK;
}

double gab_lattice_equilibrium(const gab_lattice *lattice, int q, double drho, const double u[3])
{
  const int8_t *c = lattice->c[q];
  double cu = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
  double uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  return lattice->weight[q] * (drho + (1 + drho) * (3 * cu + 4.5 * cu * cu - 1.5 * uu));
}
