/** @file kernel_cell_impl.h
 *  @brief The one definition of the arithmetic of a collision; both kernel families are made of it.
 *
 *  TRT with Guo's force, written by pairs of opposite directions. With f = w + (deviation stored), the
 *  deviations' sum is rho - 1, and for a pair (q, opposite)
 *    even: omega_even / 2 * (f_q + f_o - 2 w (drho + 9/2 rho (c·u)^2 - 3/2 rho u^2)) - force_even
 *    odd:  omega_odd / 2 * (f_q - f_o - 6 w rho c·u) - force_odd
 *  f_q loses even + odd, f_o loses even - odd. The force parts (Guo, Zheng & Shi 2002, eq. 20, split by
 * parity) are force_even = (1 - omega_even / 2) w (9 (c·u)(c·F) - 3 u·F),  force_odd = (1 - omega_odd / 2) 3
 * w c·F. Every expression stands here once, so all kernels round alike.
 *
 *  MRT (d'Humieres et al. 2002; in the plane Lallemand & Luo 2000) relaxes the moments of their orthogonal
 *  basis with rates of their own. It stands here as TRT plus what the rates differ by: with n = f - f_eq +
 *  force/2 (its parts by pairs), moment k adds M_kq a_k to the loss of f_q, a_k = (s_k - s) / |M_k|^2 sum
 * M_kq n_q with s the even or odd rate of TRT. Only moments that may differ are written out: energy, energy
 * square and (3D) the two stress-like ones of fourth order, and (3D) the three of third order with norm 8.
 * Equilibria of the moments are those of the second-order equilibrium, so with equal rates it is TRT.
 *
 *  Tier: internal.
 */
#ifndef GABION_LBM_KERNEL_CELL_IMPL_H
#define GABION_LBM_KERNEL_CELL_IMPL_H

/* c·v for a direction with at most two non-zero components, the first of them positive. */
#define GAB_ALONG(cx, cy, cz, x, y, z)                                                                       \
  ((cx) != 0   ? ((cy) > 0   ? (x) + (y)                                                                     \
                  : (cy) < 0 ? (x) - (y)                                                                     \
                  : (cz) > 0 ? (x) + (z)                                                                     \
                  : (cz) < 0 ? (x) - (z)                                                                     \
                             : (x))                                                                          \
   : (cy) != 0 ? ((cz) > 0   ? (y) + (z)                                                                     \
                  : (cz) < 0 ? (y) - (z)                                                                     \
                             : (y))                                                                          \
               : (z))

/* sum + sign(c) * value */
#define GAB_ADD_SIGNED(c, sum, value) ((c) > 0 ? (sum) + (value) : (c) < 0 ? (sum) - (value) : (sum))

/* Entries of the moments in the direction c; `deep`: D3Q19, else D2Q9. */
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
#define GAB_M_THIRD_X(deep, cx, cy, cz) ((deep) ? ((cy) * (cy) - (cz) * (cz)) * (cx) : 0)
#define GAB_M_THIRD_Y(deep, cx, cy, cz) ((deep) ? ((cz) * (cz) - (cx) * (cx)) * (cy) : 0)
#define GAB_M_THIRD_Z(deep, cx, cy, cz) ((deep) ? ((cx) * (cx) - (cy) * (cy)) * (cz) : 0)

/* sum + m * value for a small integer m */
#define GAB_ADD_TIMES(real, m, sum, value)                                                                   \
  ((m) == 0 ? (sum) : (m) == 1 ? (sum) + (value) : (m) == -1 ? (sum) - (value) : (sum) + (real)(m) * (value))

#define GAB_DOT(ax, ay, az, bx, by, bz) ((ax) * (bx) + (ay) * (by) + (az) * (bz))

#endif
