/* SPDX-License-Identifier: Apache-2.0 */
/** @file fault_point.c
 *  @brief Names of the fault points. */
#include "core/world/fault_point.h"

#include <string.h>

static const char *const names[GAB_FAULT_POINT_COUNT] = {
#define GAB_PHASE_NAME(id, name, doc) name,
    GAB_FAULT_POINTS(GAB_PHASE_NAME)
#undef GAB_PHASE_NAME
};

const char *gab_fault_point_name(gab_fault_point point)
{
  if ((int)point < 0 || point >= GAB_FAULT_POINT_COUNT) return "?";
  return names[point];
}

gab_fault_point gab_fault_point_from_name(const char *name)
{
  for (int i = 0; i < GAB_FAULT_POINT_COUNT; i++)
    if (name && strcmp(name, names[i]) == 0) return (gab_fault_point)i;
  return GAB_FAULT_POINT_COUNT;
}
