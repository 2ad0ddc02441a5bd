/* Blocks that split and merge, and the initial state of coarse ones: see levels_impl.h. */
#include "phasefield/levels/levels_impl.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------ cells */

int gab_phasefield_pure(const gab_field *phi, const int32_t at[3])
{
  for (int a = 0; a < phi->shape.components; a++)
    if (gab_field_get(phi, at[0], at[1], at[2], a) == 1) return a;
  return -1;
}

double gab_phasefield_child_value(const gab_field *field, const int32_t at[3], int component, int part,
                                  bool linear, int dimension)
{
  double value = gab_field_get(field, at[0], at[1], at[2], component), shift = 0;
  for (int axis = 0; axis < dimension && linear; axis++) {
    int32_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
    if (low[axis] > 0) low[axis]--;
    if (high[axis] + 1 < field->shape.cells[axis]) high[axis]++;
    const double quarter = 0.25 *
                           (gab_field_get(field, high[0], high[1], high[2], component) -
                            gab_field_get(field, low[0], low[1], low[2], component)) /
                           (high[axis] - low[axis]);
    shift += part >> axis & 1 ? quarter : -quarter;
  }
  return value + shift;
}

/* The mean of 2^dimension values, in pairs: equal values give that value. */
static double mean_of(double *values, int dimension)
{
  const int parts = 1 << dimension;
  for (int pairs = parts / 2; pairs > 0; pairs /= 2)
    for (int i = 0; i < pairs; i++) values[i] = values[2 * i] + values[2 * i + 1];
  return values[0] / parts;
}

double gab_phasefield_parent_value(const gab_field *field, const int32_t at[3], int component, int dimension)
{
  double values[8];
  for (int part = 0; part < 1 << dimension; part++)
    values[part] =
        gab_field_get(field, at[0] + (part & 1), at[1] + (part >> 1 & 1), at[2] + (part >> 2 & 1), component);
  return mean_of(values, dimension);
}

/* ------------------------------------------------------------------------------------------ blocks */

/* What a cell of a parent is called in child number `which`, whose lower corner it may share. */
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

bool gab_phasefield_initial_mean(const gab_phasefield *phasefield, const int64_t cell[3], int coarser,
                                 double *phi, double *c)
{
  const gab_phasefield_model *model = &phasefield->model;
  if (coarser == 0) {
    const gab_phasefield_slice slice = gab_phasefield_slice_at(model, cell[model->axis], model->step);
    gab_phasefield_initial_cell(model, &slice, cell, phi, c);
    return true;
  }
  const int parts = 1 << model->dimension;
  double all[GAB_MOST_INDEPENDENTS][8];
  for (int part = 0; part < parts; part++) {
    int64_t at[3];
    double of_phi[GAB_MOST_PHASES], of_c[GAB_MOST_INDEPENDENTS];
    for (int axis = 0; axis < 3; axis++)
      at[axis] = axis < model->dimension ? 2 * cell[axis] + (part >> axis & 1) : cell[axis];
    if (!gab_phasefield_initial_mean(phasefield, at, coarser - 1, of_phi, of_c)) return false;
    for (int a = 0; a < model->phases; a++)
      if ((of_phi[a] != 0 && of_phi[a] != 1) || (part > 0 && of_phi[a] != phi[a])) return false;
    memcpy(phi, of_phi, (size_t)model->phases * sizeof *phi);
    for (int i = 0; i < model->independents; i++) all[i][part] = of_c[i];
  }
  for (int i = 0; i < model->independents; i++) c[i] = mean_of(all[i], model->dimension);
  return true;
}
