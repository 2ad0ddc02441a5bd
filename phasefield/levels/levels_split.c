/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that split and merge: see levels_impl.h. */
#include "phasefield/levels/levels_impl.h"

/* Position of a parent's cell in child number `which`. */
typedef struct family {
  int32_t parent[3], child[3]; /* the lowest of the children */
} family;

static family family_of(const gab_phasefield_model *model, int which, const int32_t cell[3])
{
  family of;
  for (int axis = 0; axis < 3; axis++) {
    const bool split = axis < model->dimension;
    of.parent[axis] = cell[axis] + (split && which >> axis & 1 ? model->cells[axis] / 2 : 0);
    of.child[axis] = split ? 2 * cell[axis] : cell[axis];
  }
  return of;
}

static void split_cell(const gab_phasefield_block *parent, gab_phasefield_block *child, const family *of,
                       int dimension)
{
  const gab_field *from[] = {parent->phi, parent->c};
  gab_field *to[] = {child->phi, child->c};
  for (int part = 0; part < 1 << dimension; part++)
    for (int f = 0; f < 2; f++)
      for (int k = 0; k < from[f]->shape.components; k++)
        gab_field_set(to[f], of->child[0] + (part & 1), of->child[1] + (part >> 1 & 1),
                      of->child[2] + (part >> 2 & 1), k,
                      gab_phasefield_child_value(from[f], of->parent, k, part, f == 1, dimension));
}

static gab_status merge_cell(const gab_phasefield_block *child, gab_phasefield_block *parent,
                             const family *of, int dimension)
{
  for (int k = 0; k < child->phi->shape.components; k++)
    gab_field_set(parent->phi, of->parent[0], of->parent[1], of->parent[2], k,
                  gab_phasefield_parent_value(child->phi, of->child, k, dimension));
  for (int k = 0; k < child->c->shape.components; k++)
    gab_field_set(parent->c, of->parent[0], of->parent[1], of->parent[2], k,
                  gab_phasefield_parent_value(child->c, of->child, k, dimension));
  if (gab_phasefield_pure(parent->phi, of->parent) >= 0) return GAB_OK;
  GAB_FAIL(GAB_ERR_STATE,
           "blocks with an interface at cell (%" PRId64 ", %" PRId64 ", %" PRId64
           ") of width %g cannot be merged: interfaces live on the finest level",
           child->first[0] + of->child[0], child->first[1] + of->child[1], child->first[2] + of->child[2],
           child->model->dx);
}

/* Goes through the cells of the parent that child `which` covers. */
static gab_status cross_levels(const gab_phasefield_block *from, gab_phasefield_block *to, int which,
                               bool splits)
{
  const gab_phasefield_model *model = from->model;
  int32_t end[3], cell[3];
  for (int axis = 0; axis < 3; axis++) end[axis] = axis < model->dimension ? model->cells[axis] / 2 : 1;
  for (cell[2] = 0; cell[2] < end[2]; cell[2]++)
    for (cell[1] = 0; cell[1] < end[1]; cell[1]++)
      for (cell[0] = 0; cell[0] < end[0]; cell[0]++) {
        const family of = family_of(model, which, cell);
        if (splits) split_cell(from, to, &of, model->dimension);
        else GAB_TRY(merge_cell(from, to, &of, model->dimension));
      }
  return GAB_OK;
}

gab_status gab_phasefield_split(void *user, const gab_forest *forest, const gab_block *parent,
                                const void *parent_data, const gab_block *const *children,
                                void *const *children_data)
{
  (void)user, (void)parent, (void)children;
  for (int c = 0; c < gab_topology_child_count(gab_forest_topology(forest)); c++)
    if (children_data[c]) GAB_TRY(cross_levels(parent_data, children_data[c], c, true));
  return GAB_OK;
}

gab_status gab_phasefield_merge(void *user, const gab_forest *forest, const gab_block *const *children,
                                const void *const *children_data, const gab_block *parent, void *parent_data)
{
  (void)user, (void)parent, (void)children;
  for (int c = 0; c < gab_topology_child_count(gab_forest_topology(forest)); c++)
    if (children_data[c]) GAB_TRY(cross_levels(children_data[c], parent_data, c, false));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ the start */
