/** @file lattice_list_impl.h
 *  @brief The pairs of opposite directions of each lattice, to be unrolled by the preprocessor.
 *
 *  PAIRS: X(q, cx, cy, cz, weight): direction q moves with c, direction q + 1 against it.
 *  AXES: X(group, cx, cy, cz, pair), PLANES: X(group, cx, cy, cz, pair, pair): the pairs that even moments
 *  do not tell from each other.
 *
 *  Tier: internal.
 */
#ifndef GABION_LBM_LATTICE_LIST_IMPL_H
#define GABION_LBM_LATTICE_LIST_IMPL_H

#define GAB_D2Q9_REST (4.0 / 9.0)
#define GAB_D2Q9_PAIRS(X)                                                                                    \
  X(1, 1, 0, 0, 1.0 / 9.0)                                                                                   \
  X(3, 0, 1, 0, 1.0 / 9.0)                                                                                   \
  X(5, 1, 1, 0, 1.0 / 36.0)                                                                                  \
  X(7, 1, -1, 0, 1.0 / 36.0)
#define GAB_D2Q9_AXES(X)                                                                                     \
  X(x, 1, 0, 0, 1)                                                                                           \
  X(y, 0, 1, 0, 3)
#define GAB_D2Q9_PLANES(X) X(xy, 1, 1, 0, 5, 7)

#define GAB_D3Q19_REST (1.0 / 3.0)
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

#endif
