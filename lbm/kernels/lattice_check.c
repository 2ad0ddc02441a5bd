/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements on a lattice for flows, and its numbers. With components up to 1, c_s^2 = 1/3 and isotropy to fourth order, the
 * only weights in 2D are those of D2Q9; in 3D those of D3Q15, D3Q19, and of all 27 directions with any weight of the corners
 * below 1/72. So there is always a direction along each axis. */
#include "core/base/hash.h"
#include "lbm/kernels/lattice.h"

#include <math.h>
#include <string.h>

#define LATTICE "lattice '%s': "

static const double sound = 1.0 / 3.0; /* c_s^2 */
/* Of sums of at most 27 weights that are the nearest numbers to those meant. */
static const double rounding = 1e-14;

static gab_status check_directions(const gab_lattice *lattice)
{
  const int most = lattice->dimension == 3 ? 27 : 9;
  if (lattice->dimension != 2 && lattice->dimension != 3)
    GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "its dimension is 2 or 3, not %d", lattice->name, lattice->dimension);
  if (lattice->q < 3 || lattice->q > most || lattice->q % 2 == 0)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             LATTICE "it has %d directions, not an odd number up to %d: the rest, and pairs with components "
                     "of at most 1",
             lattice->name, lattice->q, most);
  for (int q = 0; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    for (int axis = 0; axis < 3; axis++)
      if (c[axis] < -1 || c[axis] > 1)
        GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "direction %d has the component %d: they are at most 1",
                 lattice->name, q, c[axis]);
    if (lattice->dimension == 2 && c[2] != 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "direction %d has a z component in 2D", lattice->name, q);
  }
  return GAB_OK;
}

static gab_status check_pairs(const gab_lattice *lattice)
{
  const int8_t *rest = lattice->c[0];
  if (rest[0] != 0 || rest[1] != 0 || rest[2] != 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "direction 0 moves: it is the rest", lattice->name);
  for (int q = 1; q < lattice->q; q += 2) {
    const int8_t *c = lattice->c[q], *back = lattice->c[q + 1];
    const int first = c[0] != 0 ? c[0] : c[1] != 0 ? c[1] : c[2];
    for (int axis = 0; axis < 3; axis++)
      if (back[axis] != -c[axis])
        GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "directions %d and %d are not opposite", lattice->name, q, q + 1);
    if (first != 1)
      GAB_FAIL(GAB_ERR_ARGUMENT,
               LATTICE "the first component of direction %d that is not zero is not 1: of a pair the odd one "
                       "comes first",
               lattice->name, q);
    for (int before = 1; before < q; before += 2)
      if (memcmp(lattice->c[before], c, sizeof lattice->c[q]) == 0)
        GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "directions %d and %d are the same", lattice->name, before, q);
  }
  return GAB_OK;
}

/* Equal to the last bit: bounce-back and free slip hand deviations from the weights on to other directions. */
static gab_status check_weights(const gab_lattice *lattice)
{
  for (int q = 0; q < lattice->q; q++) {
    const double w = lattice->weight[q];
    if (!(w > 0 && isfinite(w)))
      GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "the weight of direction %d is %g: they are positive", lattice->name,
               q, w);
    if (lattice->weight[gab_lattice_opposite(q)] != w)
      GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "directions %d and %d are opposite, but have other weights",
               lattice->name, q, gab_lattice_opposite(q));
  }
  return GAB_OK;
}

static gab_status check_mirror(const gab_lattice *lattice, int axis)
{
  for (int q = 1; q < lattice->q; q++) {
    int8_t c[3];
    int image = 0;
    memcpy(c, lattice->c[q], sizeof c);
    c[axis] = (int8_t)-c[axis];
    while (image < lattice->q && memcmp(lattice->c[image], c, sizeof c) != 0) image++;
    if (image == lattice->q || lattice->weight[image] != lattice->weight[q])
      GAB_FAIL(GAB_ERR_ARGUMENT,
               LATTICE "it is not its own mirror image along %c: there is no direction (%d, %d, %d) with the "
                       "weight of direction %d",
               lattice->name, "xyz"[axis], c[0], c[1], c[2], q);
  }
  return GAB_OK;
}

/* sum w c_i c_j c_k c_l. Moments of odd order are zero since the weights of a pair are equal. */
static double moment(const gab_lattice *lattice, const int *axes, int order)
{
  double sum = 0;
  for (int q = 0; q < lattice->q; q++) {
    double term = lattice->weight[q];
    for (int k = 0; k < order; k++) term *= lattice->c[q][axes[k]];
    sum += term;
  }
  return sum;
}

static int same(int i, int j) { return i == j ? 1 : 0; }

static gab_status check_moment(const gab_lattice *lattice, const int axes[4], int order, double expected)
{
  static const char *const names[] = {"0", "", "second", "", "fourth"};
  const double found = moment(lattice, axes, order);
  char which[5] = "";
  if (fabs(found - expected) <= rounding) return GAB_OK;
  for (int k = 0; k < order; k++) which[k] = "xyz"[axes[k]];
  GAB_FAIL(GAB_ERR_ARGUMENT,
           LATTICE "its moment %s of %s order is %.17g, not %.17g: it is not isotropic to fourth order with "
                   "c_s^2 = 1/3",
           lattice->name, which, names[order], found, expected);
}

static gab_status check_isotropy(const gab_lattice *lattice)
{
  int a[4];
  const double all = moment(lattice, NULL, 0);
  if (!(fabs(all - 1) <= rounding))
    GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "the sum of its weights is %.17g, not 1", lattice->name, all);
  for (a[0] = 0; a[0] < lattice->dimension; a[0]++)
    for (a[1] = a[0]; a[1] < lattice->dimension; a[1]++)
      GAB_TRY(check_moment(lattice, a, 2, sound * same(a[0], a[1])));
  for (a[0] = 0; a[0] < lattice->dimension; a[0]++)
    for (a[1] = a[0]; a[1] < lattice->dimension; a[1]++)
      for (a[2] = a[1]; a[2] < lattice->dimension; a[2]++)
        for (a[3] = a[2]; a[3] < lattice->dimension; a[3]++) {
          const int pairings = same(a[0], a[1]) * same(a[2], a[3]) + same(a[0], a[2]) * same(a[1], a[3]) +
                               same(a[0], a[3]) * same(a[1], a[2]);
          GAB_TRY(check_moment(lattice, a, 4, sound * sound * pairings));
        }
  return GAB_OK;
}

gab_status gab_lattice_check(const gab_lattice *lattice)
{
  GAB_TRY(check_directions(lattice));
  GAB_TRY(check_pairs(lattice));
  GAB_TRY(check_weights(lattice));
  for (int axis = 0; axis < lattice->dimension; axis++) GAB_TRY(check_mirror(lattice, axis));
  GAB_TRY(check_isotropy(lattice));
  const bool is_full = lattice->q == (lattice->dimension == 3 ? 27 : 9);
  if (lattice->is_full != is_full)
    GAB_FAIL(GAB_ERR_ARGUMENT, LATTICE "is_full must be %s: it has %d directions", lattice->name,
             is_full ? "true" : "false", lattice->q);
  return GAB_OK;
}

uint64_t gab_lattice_numbers(const gab_lattice *lattice)
{
  gab_hash64_stream stream;
  gab_hash64_begin(&stream, (uint64_t)lattice->dimension);
  for (int q = 0; q < lattice->q; q++) {
    gab_hash64_add(&stream, lattice->c[q], sizeof lattice->c[q]);
    gab_hash64_add(&stream, &lattice->weight[q], sizeof lattice->weight[q]);
  }
  return gab_hash64_of(&stream);
}
