/* SPDX-License-Identifier: Apache-2.0 */
/* Hilbert's curve in 2 and 3 dimensions, after C. H. Hamilton, "Compact Hilbert Indices", Dalhousie
 * University CS-2006-07, section 2: on every scale the sub-cubes are visited in the order of a Gray code,
 * which is reflected and rotated so that it begins at corner `entry` and ends one step along axis `along`
 * from there. Working from the coarsest scale down, the position of a cube is the leading part of the
 * positions of all cubes in it. */
#include "loadbalance/curve.h"

typedef struct state {
  uint32_t entry; /* corner at which the curve enters the present cube, one bit per axis */
  int along;      /* axis along which it leaves */
} state;

static uint32_t gray(uint32_t i) { return i ^ i >> 1; }

static uint32_t gray_inverse(uint32_t code) { return (code ^ code >> 1 ^ code >> 2) & 7; }

static uint32_t rotate_left(uint32_t bits, int by, int dimension)
{
  by %= dimension;
  return (bits << by | bits >> (dimension - by)) & ((1u << dimension) - 1);
}

static int trailing_ones(uint32_t bits)
{
  int count = 0;
  for (; bits & 1; bits >>= 1) count++;
  return count;
}

/* Corner at which the curve enters the step-th sub-cube of a cube in standard position, and axis along which it leaves. */
static uint32_t entry_of_step(uint32_t step) { return step == 0 ? 0 : gray((step - 1) & ~1u); }

static int along_of_step(uint32_t step, int dimension)
{
  if (step == 0) return 0;
  return trailing_ones(step & 1 ? step : step - 1) % dimension;
}

static state descend(state now, uint32_t step, int dimension)
{
  now.entry ^= rotate_left(entry_of_step(step), now.along + 1, dimension);
  now.along = (now.along + along_of_step(step, dimension) + 1) % dimension;
  return now;
}

/* The last axis is halved first, x last: rows of blocks along x stay together on 2 and 4 processes, so that exchanges
 * between processes consist of rows, not of single values. */
static state start(int dimension) { return (state){0, dimension - 1}; }

static uint64_t hilbert_encode(int dimension, int bits, const uint32_t at[3])
{
  state now = start(dimension);
  uint64_t position = 0;
  for (int bit = bits - 1; bit >= 0; bit--) {
    uint32_t corner = 0;
    for (int axis = 0; axis < dimension; axis++) corner |= (at[axis] >> bit & 1) << axis;
    uint32_t turned = rotate_left(corner ^ now.entry, dimension - (now.along + 1) % dimension, dimension);
    uint32_t step = gray_inverse(turned);
    position = position << dimension | step;
    now = descend(now, step, dimension);
  }
  return position;
}

static void hilbert_decode(int dimension, int bits, uint64_t position, uint32_t at[3])
{
  state now = start(dimension);
  at[0] = at[1] = at[2] = 0;
  for (int bit = bits - 1; bit >= 0; bit--) {
    uint32_t step = (uint32_t)(position >> (bit * dimension)) & ((1u << dimension) - 1);
    uint32_t corner = rotate_left(gray(step), now.along + 1, dimension) ^ now.entry;
    for (int axis = 0; axis < dimension; axis++) at[axis] = at[axis] << 1 | (corner >> axis & 1);
    now = descend(now, step, dimension);
  }
}

const gab_curve gab_curve_hilbert = {
    .name = "hilbert",
    .doc = "consecutive blocks share a face: compact pieces, less to exchange",
    .encode = hilbert_encode,
    .decode = hilbert_decode,
};
