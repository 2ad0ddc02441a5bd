/* SPDX-License-Identifier: Apache-2.0 */
/* The criteria of refinement that a program has registered, by name. */
#include "lbm/levels/refinement/cell_criterion.h"

#include <string.h>

static const gab_lbm_criterion *registered[GAB_LBM_MOST_OWN_CRITERIA];

/* By gab_criterion_kind. */
static const char *const kind_names[GAB_CRITERION_OWN] = {"bodies", "box", "vorticity", "gradient"};

const gab_lbm_criterion *gab_lbm_criterion_at(int index)
{
  return index >= 0 && index < GAB_LBM_MOST_OWN_CRITERIA ? registered[index] : NULL;
}

const char *gab_lbm_criterion_name(int index)
{
  if (index >= 0 && index < GAB_CRITERION_OWN) return kind_names[index];
  const gab_lbm_criterion *own = gab_lbm_criterion_at(index - GAB_CRITERION_OWN);
  return own ? own->name : NULL;
}

gab_status gab_lbm_criterion_register(const gab_lbm_criterion *criterion)
{
  if (!criterion->name || !criterion->doc || !criterion->value)
    GAB_FAIL(GAB_ERR_ARGUMENT, "criterion '%s' lacks a name, a text or its value",
             criterion->name ? criterion->name : "?");
  if (!criterion->name[0] || strpbrk(criterion->name, "|/ "))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the name of a criterion", criterion->name);
  for (int i = 0; gab_lbm_criterion_name(i); i++)
    if (strcmp(gab_lbm_criterion_name(i), criterion->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a criterion '%s'", criterion->name);
  for (int i = 0; i < GAB_LBM_MOST_OWN_CRITERIA; i++)
    if (!registered[i]) {
      registered[i] = criterion;
      return GAB_OK;
    }
  GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add criterion '%s': there are %d already", criterion->name,
           (int)GAB_LBM_MOST_OWN_CRITERIA);
}
