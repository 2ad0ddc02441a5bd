/* SPDX-License-Identifier: Apache-2.0 */
#include "loadbalance/curve.h"

#include <string.h>

/* ---- Morton: the bits of the coordinates interleaved, x lowest */

static uint64_t morton_encode(int dimension, int bits, const uint32_t at[3])
{
  uint64_t position = 0;
  for (int bit = bits - 1; bit >= 0; bit--)
    for (int axis = dimension - 1; axis >= 0; axis--) position = position << 1 | (at[axis] >> bit & 1);
  return position;
}

static void morton_decode(int dimension, int bits, uint64_t position, uint32_t at[3])
{
  at[0] = at[1] = at[2] = 0;
  for (int bit = bits - 1; bit >= 0; bit--)
    for (int axis = dimension - 1; axis >= 0; axis--)
      at[axis] = at[axis] << 1 | (uint32_t)(position >> (bit * dimension + axis) & 1);
}

const gab_curve gab_curve_morton = {
    .name = "morton",
    .doc = "Z-order: cheapest; consecutive pieces may touch at corners only",
    .encode = morton_encode,
    .decode = morton_decode,
};

static const gab_curve *const curves[] = {&gab_curve_morton, &gab_curve_hilbert};

const gab_curve *gab_curve_by_name(const char *name)
{
  for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++)
    if (strcmp(curves[i]->name, name) == 0) return curves[i];
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no space-filling curve `%s'; there are: %s, %s", name,
                curves[0]->name, curves[1]->name);
  return NULL;
}
