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

#define GAB_DOT(ax, ay, az, bx, by, bz) ((ax) * (bx) + (ay) * (by) + (az) * (bz))

#endif
