/* SPDX-License-Identifier: Apache-2.0 */
/** @file kernel_cell_impl.h
 *  @brief The one definition of the arithmetic of a collision, used by all kernel families.
 *
 *  TRT with Guo's force, written by pairs of opposite directions. With f = w + (deviation stored), the
 *  deviations' sum is rho - 1, and a pair (q, opposite) of sum s and difference d loses
 *    even: omega_even / 2 * (s - 2 w (drho + 9/2 rho (c·u)^2 - 3/2 rho u^2)) - force_even
 *    odd:  omega_odd / 2 * (d - 6 w rho c·u) - force_odd
 *  f_q loses even + odd, f_o loses even - odd. The force parts (Guo, Zheng & Shi 2002, eq. 20, split by
 *  parity) are force_even = (1 - omega_even / 2) w (9 (c·u)(c·F) - 3 u·F),  force_odd = (1 - omega_odd / 2) 3
 *  w c·F. They are taken into the parentheses: with j = rho u, g = (1 - omega_even / 2) / (omega_even / 2)
 *  and h half of the same of the odd rate, even: omega_even / 2 * (s - 2 w (drho - 3/2 (rho u^2 + g u·F) + 9/2
 *  (c·j) (c·(j + g F)) / rho)) odd:  omega_odd / 2 * (d - 6 w c·(j + h F)) so that a force costs a second and
 *  a third momentum, not another sum per direction.
 *
 *  MRT (d'Humieres et al. 2002; in the plane Lallemand & Luo 2000) relaxes the moments of their orthogonal
 *  basis with rates of their own. It stands here as TRT plus what the rates differ by: with n = f - f_eq +
 *  force/2 (its parts by pairs: g = -1 and h = -1/2 in the parentheses above), moment k adds M_kq a_k to the
 *  loss of f_q, a_k = (s_k - s) / |M_k|^2 sum M_kq n_q with s the even or odd rate of TRT. Only moments that
 *  may differ are written out: energy, energy square and (3D) the two stress-like ones of fourth order, and
 *  (3D) the three of third order with norm 8. Even moments do not tell the two pairs of a plane from each
 *  other: their sums are made by groups of pairs. Equilibria of the moments are those of the second-order
 *  equilibrium, so with equal rates it is TRT. D3Q27 has another basis, which is not written here.
 *
 *  Every sum of a product is one fused operation, written out: rounded once, on every machine, whatever the
 *  compiler makes of the loop around it. A processor without such an instruction gets it from the C library,
 *  slowly.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_KERNEL_CELL_IMPL_H
#define GABION_LBM_KERNEL_CELL_IMPL_H
#ifndef GAB_DEVICE_TEXT /* kernels of devices define GAB_FMA in core/device/head.inc */
#include <math.h>
/* a * b + c, rounded once. The type of `a` decides: it must be that of the arithmetic. */
#define GAB_FMA(a, b, c) _Generic((a), float : fmaf, default : fma)((a), (b), (c))
#endif

/* c·v for a direction whose first non-zero component is positive. */
#define GAB_ALONG(cx, cy, cz, x, y, z)                                                                       \
  ((cx) != 0   ? ((cy) > 0   ? GAB_ADD_SIGNED(cz, (x) + (y), z)                                              \
                  : (cy) < 0 ? GAB_ADD_SIGNED(cz, (x) - (y), z)                                              \
                             : GAB_ADD_SIGNED(cz, x, z))                                                     \
   : (cy) != 0 ? GAB_ADD_SIGNED(cz, y, z)                                                                    \
               : (z))

/* sum + sign(c) * value */
#define GAB_ADD_SIGNED(c, sum, value) ((c) > 0 ? (sum) + (value) : (c) < 0 ? (sum) - (value) : (sum))

/* a·b; `deep`: in space, else in the plane. */
#define GAB_DOT(deep, ax, ay, az, bx, by, bz)                                                                \
  ((deep) ? GAB_FMA((az), (bz), GAB_FMA((ay), (by), (ax) * (bx))) : GAB_FMA((ay), (by), (ax) * (bx)))

/* Entries of the even moments of MRT in the direction c; `deep`: D3Q19, else D2Q9. */
#define GAB_SQUARE(cx, cy, cz) ((cx) * (cx) + (cy) * (cy) + (cz) * (cz))
#define GAB_M_ENERGY(deep, cx, cy, cz)                                                                       \
  ((deep) ? 19 * GAB_SQUARE(cx, cy, cz) - 30 : 3 * GAB_SQUARE(cx, cy, cz) - 4)
#define GAB_M_ENERGY_SQUARE(deep, cx, cy, cz)                                                                \
  ((deep) ? (21 * GAB_SQUARE(cx, cy, cz) * GAB_SQUARE(cx, cy, cz) - 53 * GAB_SQUARE(cx, cy, cz) + 24) / 2    \
          : (9 * GAB_SQUARE(cx, cy, cz) * GAB_SQUARE(cx, cy, cz) - 21 * GAB_SQUARE(cx, cy, cz) + 8) / 2)
#define GAB_M_STRESS_XX(deep, cx, cy, cz)                                                                    \
  ((deep) ? (3 * GAB_SQUARE(cx, cy, cz) - 5) * (3 * (cx) * (cx)-GAB_SQUARE(cx, cy, cz)) : 0)
#define GAB_M_STRESS_WW(deep, cx, cy, cz)                                                                    \
  ((deep) ? (3 * GAB_SQUARE(cx, cy, cz) - 5) * ((cy) * (cy) - (cz) * (cz)) : 0)
/* Those of the odd ones, of third order; not zero for the diagonals of D3Q19 alone. */
#define GAB_HAS_THIRD(deep, cx, cy, cz) ((deep) && GAB_SQUARE(cx, cy, cz) == 2)
#define GAB_M_THIRD_X(cx, cy, cz)       (((cy) * (cy) - (cz) * (cz)) * (cx))
#define GAB_M_THIRD_Y(cx, cy, cz)       (((cz) * (cz) - (cx) * (cx)) * (cy))
#define GAB_M_THIRD_Z(cx, cy, cz)       (((cx) * (cx) - (cy) * (cy)) * (cz))

/* sum + m * value for a small integer m */
#define GAB_ADD_TIMES(real, m, sum, value)                                                                   \
  ((m) == 0    ? (sum)                                                                                       \
   : (m) == 1  ? (sum) + (value)                                                                             \
   : (m) == -1 ? (sum) - (value)                                                                             \
               : GAB_FMA((real)(m), (value), (sum)))

/* Contribution of the third-order moments to the odd loss of a diagonal: the two moments with nonzero entries. */
#define GAB_OF_THIRD(cx, cy, cz, x, y, z)                                                                    \
  ((cz) == 0   ? ((cy) > 0 ? (x) - (y) : (x) + (y))                                                          \
   : (cy) == 0 ? ((cz) > 0 ? (z) - (x) : -(z) - (x))                                                         \
               : ((cz) > 0 ? (y) - (z) : (y) + (z)))

/* The one of six values that belongs to the group of c: along an axis, or in a plane. */
#define GAB_OF_GROUP(cx, cy, cz, x, y, z, xy, xz, yz)                                                        \
  ((cx) == 0 ? ((cy) == 0 ? (z) : (cz) == 0 ? (y) : (yz)) : ((cy) != 0 ? (xy) : (cz) != 0 ? (xz) : (x)))

#endif
