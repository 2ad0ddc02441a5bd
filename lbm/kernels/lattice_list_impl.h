/* SPDX-License-Identifier: Apache-2.0 */
/** @file lattice_list_impl.h
 *  @brief List of the lattices, and pairs of opposite directions of each, for the preprocessor to unroll.
 *
 *  A new lattice (components up to 1, c_s^2 = 1/3) needs its part of this file, named in GAB_LATTICES; its lines in
 *  kernel_lattices.inc; its name in lattice.h. Macros here:
 *  LATTICE: the variable in lattice.h;
 *  DOC: a clause;
 *  REST: the weight of direction 0;
 *  PAIRS: X(q, cx, cy, cz, weight): direction q moves with c, direction q + 1 against it;
 *  DEEP: 1 in 3D, 0 in 2D;
 *  FULL: 1 if all directions with components -1, 0 and 1 exist, so that it carries the Hermite moments of the product of
 *  lattices along the axes, up to order 2 of each;
 *  HERMITE: 1 if kernel_cell_recursive.inc has its Hermite moments;
 *  MRT: 1 if there is an orthogonal basis of moments for it (kernel_cell_impl.h). Only then
 *  AXES: X(group, cx, cy, cz, pair), PLANES: X(group, cx, cy, cz, pair, pair): the pairs that even moments do not
 *  distinguish.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_LATTICE_LIST_IMPL_H
#define GABION_LBM_LATTICE_LIST_IMPL_H

/* The first of a dimension is its default. */
#define GAB_LATTICES(X)                                                                                      \
  X(D2Q9)                                                                                                    \
  X(D3Q19)                                                                                                   \
  X(D3Q27)

#define GAB_COUNT_LATTICE(id) +1
enum { GAB_LATTICE_COUNT = 0 GAB_LATTICES(GAB_COUNT_LATTICE) };
#undef GAB_COUNT_LATTICE

/* GAB_id_what, also if id is a macro that names it. */
#define GAB_OF_NAMED(id, what)   GAB_##id##what
#define GAB_OF_LATTICE(id, what) GAB_OF_NAMED(id, what)

#define GAB_D2Q9_LATTICE gab_lattice_d2q9
#define GAB_D2Q9_DOC     "the usual one in 2D"
#define GAB_D2Q9_DEEP    0
#define GAB_D2Q9_FULL    1
#define GAB_D2Q9_HERMITE 1
#define GAB_D2Q9_MRT     1
#define GAB_D2Q9_REST    (4.0 / 9.0)
#define GAB_D2Q9_PAIRS(X)                                                                                    \
  X(1, 1, 0, 0, 1.0 / 9.0)                                                                                   \
  X(3, 0, 1, 0, 1.0 / 9.0)                                                                                   \
  X(5, 1, 1, 0, 1.0 / 36.0)                                                                                  \
  X(7, 1, -1, 0, 1.0 / 36.0)
#define GAB_D2Q9_AXES(X)                                                                                     \
  X(x, 1, 0, 0, 1)                                                                                           \
  X(y, 0, 1, 0, 3)
#define GAB_D2Q9_PLANES(X) X(xy, 1, 1, 0, 5, 7)

#define GAB_D3Q19_LATTICE gab_lattice_d3q19
#define GAB_D3Q19_DOC     "the usual one in 3D"
#define GAB_D3Q19_DEEP    1
#define GAB_D3Q19_FULL    0
#define GAB_D3Q19_HERMITE 1
#define GAB_D3Q19_MRT     1
#define GAB_D3Q19_REST    (1.0 / 3.0)
#define GAB_D3Q19_PAIRS(X)                                                                                   \
  X(1, 1, 0, 0, 1.0 / 18.0)                                                                                  \
  X(3, 0, 1, 0, 1.0 / 18.0)                                                                                  \
  X(5, 0, 0, 1, 1.0 / 18.0)                                                                                  \
  X(7, 1, 1, 0, 1.0 / 36.0)                                                                                  \
  X(9, 1, -1, 0, 1.0 / 36.0)                                                                                 \
  X(11, 1, 0, 1, 1.0 / 36.0)                                                                                 \
  X(13, 1, 0, -1, 1.0 / 36.0)                                                                                \
  X(15, 0, 1, 1, 1.0 / 36.0)                                                                                 \
  X(17, 0, 1, -1, 1.0 / 36.0)
#define GAB_D3Q19_AXES(X)                                                                                    \
  X(x, 1, 0, 0, 1)                                                                                           \
  X(y, 0, 1, 0, 3)                                                                                           \
  X(z, 0, 0, 1, 5)
#define GAB_D3Q19_PLANES(X)                                                                                  \
  X(xy, 1, 1, 0, 7, 9)                                                                                       \
  X(xz, 1, 0, 1, 11, 13)                                                                                     \
  X(yz, 0, 1, 1, 15, 17)

#define GAB_D3Q27_LATTICE gab_lattice_d3q27
#define GAB_D3Q27_DOC                                                                                        \
  "27/19 of the memory of d3q19, without the secondary flow that d3q19 adds to fast flows along an axis"
#define GAB_D3Q27_DEEP    1
#define GAB_D3Q27_FULL    1
#define GAB_D3Q27_HERMITE 1
#define GAB_D3Q27_MRT     0
#define GAB_D3Q27_REST    (8.0 / 27.0)
#define GAB_D3Q27_PAIRS(X)                                                                                   \
  X(1, 1, 0, 0, 2.0 / 27.0)                                                                                  \
  X(3, 0, 1, 0, 2.0 / 27.0)                                                                                  \
  X(5, 0, 0, 1, 2.0 / 27.0)                                                                                  \
  X(7, 1, 1, 0, 1.0 / 54.0)                                                                                  \
  X(9, 1, -1, 0, 1.0 / 54.0)                                                                                 \
  X(11, 1, 0, 1, 1.0 / 54.0)                                                                                 \
  X(13, 1, 0, -1, 1.0 / 54.0)                                                                                \
  X(15, 0, 1, 1, 1.0 / 54.0)                                                                                 \
  X(17, 0, 1, -1, 1.0 / 54.0)                                                                                \
  X(19, 1, 1, 1, 1.0 / 216.0)                                                                                \
  X(21, 1, 1, -1, 1.0 / 216.0)                                                                               \
  X(23, 1, -1, 1, 1.0 / 216.0)                                                                               \
  X(25, 1, -1, -1, 1.0 / 216.0)

#endif
