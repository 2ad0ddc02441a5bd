#include "lbm/kernels/lattice.h"
#include "lbm/kernels/lattice_list_impl.h"

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
                                          .is_full = GAB_##id##_FULL};                                       \
  _Static_assert(1 + GAB_##id##_PAIRS(COUNT_PAIR) <= GAB_LATTICE_MAX_Q, "too many directions");
GAB_LATTICES(DESCRIPTOR)

#define ADDRESS(id) &(GAB_##id##_LATTICE),
static const gab_lattice *const lattices[GAB_LATTICE_COUNT] = {GAB_LATTICES(ADDRESS)};

const gab_lattice *gab_lattice_at(int index)
{
  return index >= 0 && index < GAB_LATTICE_COUNT ? lattices[index] : NULL;
}

int gab_lattice_number(const gab_lattice *lattice)
{
  for (int i = 0; i < GAB_LATTICE_COUNT; i++)
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
  char known[256] = "";
  for (int i = 0; i < GAB_LATTICE_COUNT; i++) {
    if (strcasecmp(name, lattices[i]->name) == 0) return lattices[i];
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", lattices[i]->name);
  }
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "there is no lattice \"%s\"; known are %s", name, known);
  return NULL;
}

double gab_lattice_equilibrium(const gab_lattice *lattice, int q, double drho, const double u[3])
{
  const int8_t *c = lattice->c[q];
  double cu = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
  double uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  return lattice->weight[q] * (drho + (1 + drho) * (3 * cu + 4.5 * cu * cu - 1.5 * uu));
}
