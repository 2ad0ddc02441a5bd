/* SPDX-License-Identifier: Apache-2.0 */
/* A lattice of a program's own: the rest, the axes and the corners of a cube (Qian, d'Humieres & Lallemand 1992). With REORDERED two
 * pairs have changed places: the same lattice by name and by its flows, but what a population is called is another. */
#ifndef D3Q15_H
#define D3Q15_H

#include "lbm/kernels/lattice.h"

#define REST_15   2. / 9
#define AXIS_15   1. / 9, 1. / 9
#define CORNER_15 1. / 72, 1. / 72
#ifdef REORDERED
#define TWO_PAIRS                                                                                            \
  {0, 0, 1}, {0, 0, -1}, {0, 1, 0}, { 0, -1, 0 }
#else
#define TWO_PAIRS                                                                                            \
  {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, { 0, 0, -1 }
#endif

/* clang-format off */
static const gab_lattice d3q15 = {
    .name = "D3Q15",
    .doc = "axes and corners",
    .dimension = 3,
    .q = 15,
    .c = {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, TWO_PAIRS,
          {1, 1, 1}, {-1, -1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, 1, 1}},
    .weight = {REST_15, AXIS_15, AXIS_15, AXIS_15, CORNER_15, CORNER_15, CORNER_15, CORNER_15}};
/* clang-format on */

#endif
