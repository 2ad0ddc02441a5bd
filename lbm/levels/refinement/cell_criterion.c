/* SPDX-License-Identifier: Apache-2.0 */
/* The criteria of refinement that a program has registered, by name. */
#include "lbm/levels/refinement/cell_criterion.h"

#include "core/base/registry_impl.h"

/* By gab_criterion_kind. */
static const char *const kind_names[GAB_CRITERION_OWN] = {"bodies", "box", "curvature", "vorticity",
                                                          "gradient"};
static const char *library_name(int index)
{
  return index >= 0 && index < GAB_CRITERION_OWN ? kind_names[index] : NULL;
}
static gab_registry registered = {
    .kind = "criterion", .most = GAB_LBM_MOST_OWN_CRITERIA, .taken = library_name};

const gab_lbm_criterion *gab_lbm_criterion_at(int index) { return gab_registry_at(&registered, index); }

const char *gab_lbm_criterion_name(int index)
{
  if (library_name(index)) return library_name(index);
  const gab_lbm_criterion *own = gab_lbm_criterion_at(index - GAB_CRITERION_OWN);
  return own ? own->name : NULL;
}

gab_status gab_lbm_criterion_register(const gab_lbm_criterion *criterion)
{
  if (!criterion->name || !criterion->doc || !criterion->value)
    GAB_FAIL(GAB_ERR_ARGUMENT, "criterion '%s' lacks a name, a text or its value",
             criterion->name ? criterion->name : "?");
  return gab_registry_add(&registered, criterion);
}
