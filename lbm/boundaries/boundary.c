/* SPDX-License-Identifier: Apache-2.0 */
/* The boundary conditions that can be chosen by name. */
#include "lbm/boundaries/boundary.h"

#include <string.h>

static const gab_boundary *boundaries[GAB_MOST_BOUNDARIES];

/* By gab_side_kind; those behind are a program's own. */
static const char *const side_kinds[GAB_SIDE_OWN] = {"periodic", "wall",    "velocity",
                                                     "pressure", "outflow", "free_slip"};

const gab_boundary *gab_boundary_at(int index)
{
  return index >= 0 && index < GAB_MOST_BOUNDARIES ? boundaries[index] : NULL;
}

const char *gab_boundary_name(int index)
{
  if (index >= 0 && index < GAB_SIDE_OWN) return side_kinds[index];
  const gab_boundary *own = gab_boundary_at(index - GAB_SIDE_OWN);
  return own ? own->name : NULL;
}

gab_status gab_boundary_register(const gab_boundary *boundary)
{
  if (!boundary->name || !boundary->doc || !boundary->arrives)
    GAB_FAIL(GAB_ERR_ARGUMENT, "boundary condition '%s' lacks a name, a text or what arrives",
             boundary->name ? boundary->name : "?");
  if (!boundary->name[0] || strpbrk(boundary->name, "|/ "))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the name of a boundary condition", boundary->name);
  if ((boundary->keys != NULL) != (boundary->key_count > 0) || (boundary->keys && !boundary->read))
    GAB_FAIL(GAB_ERR_ARGUMENT, "boundary condition '%s' has keys without a number or without read()",
             boundary->name);
  for (int i = 0; gab_boundary_name(i); i++)
    if (strcmp(gab_boundary_name(i), boundary->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a boundary condition '%s'", boundary->name);
  for (int i = 0; i < GAB_MOST_BOUNDARIES; i++)
    if (!boundaries[i]) {
      boundaries[i] = boundary;
      return GAB_OK;
    }
  GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add boundary condition '%s': there are %d already", boundary->name,
           GAB_MOST_BOUNDARIES);
}
