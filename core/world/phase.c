/** @file phase.c
 *  @brief Names of the phases. */
#include "core/world/phase.h"

#include <string.h>

static const char *const phase_names[GAB_PHASE_COUNT] = {
#define GAB_PHASE_NAME(id, name, doc) name,
    GAB_PHASES(GAB_PHASE_NAME)
#undef GAB_PHASE_NAME
};

const char *gab_phase_name(gab_phase phase)
{
  if ((int)phase < 0 || phase >= GAB_PHASE_COUNT) return "?";
  return phase_names[phase];
}

gab_phase gab_phase_from_name(const char *name)
{
  for (int i = 0; i < GAB_PHASE_COUNT; i++)
    if (name && strcmp(name, phase_names[i]) == 0) return (gab_phase)i;
  return GAB_PHASE_COUNT;
}
