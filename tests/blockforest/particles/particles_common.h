/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of particles and tracers. */
#ifndef GABION_TEST_PARTICLES_COMMON_H
#define GABION_TEST_PARTICLES_COMMON_H

#include "tests/blockforest/adapt/adapting.h"

/* Two levels of refinement around the middle of x and y. @param user  int32_t, cells of level 0 along each */
static gab_mark around_the_middle(void *user, int level, const gab_box *cells)
{
  const int32_t *all = user;
  for (int axis = 0; axis < 2; axis++) {
    const int64_t half = (int64_t)*all / 2 << level;
    if (cells->hi[axis] < half - 2 || cells->lo[axis] > half + 2) return GAB_MARK_KEEP;
  }
  return level < 2 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

#endif
