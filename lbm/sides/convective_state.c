/* SPDX-License-Identifier: Apache-2.0 */
/* Block data of the state of convective sides. */
#include "lbm/lbm_impl.h"

#include <string.h>

unsigned gab_side_state_sides(const gab_lbm_model *model)
{
  unsigned sides = 0;
  for (int k = 0; k < gab_lbm_condition_count(&model->options); k++)
    if (gab_side_of(gab_lbm_condition(&model->options, k))->keeps_state)
      sides |= 1U << gab_lbm_condition_side(&model->options, k);
  return sides;
}

/* ------------------------------------------------------------------------------------------ layout */

static bool enters(const gab_lattice *lattice, int q, int side)
{
  return lattice->c[q][side / 2] == (side % 2 ? -1 : 1);
}

static size_t faces_of(const gab_lbm_model *model, int side)
{
  size_t faces = 1;
  for (int axis = 0; axis < 3; axis++)
    if (axis != side / 2) faces *= (size_t)model->cells[axis];
  return faces;
}

static void lay_out(const gab_lbm_model *model, int level, const int64_t first[3],
                    size_t start[GAB_SIDE_COUNT + 1])
{
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  start[0] = 0;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    const int axis = side / 2;
    const int64_t end = domain->cells[axis] << (axis < domain->dimension ? level : 0);
    const bool is_at = side % 2 ? first[axis] + model->cells[axis] == end : first[axis] == 0;
    size_t directions = 0;
    for (int q = 0; q < model->lattice->q; q++) directions += enters(model->lattice, q, side);
    start[side + 1] =
        start[side] + (is_at && (model->state_sides >> side & 1) ? directions * faces_of(model, side) : 0);
  }
}

/* Of a cell at the side. */
static size_t face_of(const gab_lbm_model *model, int side, const int32_t cell[3])
{
  size_t face = 0;
  for (int axis = 2; axis >= 0; axis--)
    if (axis != side / 2) face = face * (size_t)model->cells[axis] + (size_t)cell[axis];
  return face;
}

uint32_t gab_side_state_place(const gab_lbm_model *model, int level, const int64_t first[3],
                              const int32_t cell[3], int side, int q)
{
  size_t start[GAB_SIDE_COUNT + 1], directions = 0;
  lay_out(model, level, first, start);
  for (int other = 0; other < q; other++) directions += enters(model->lattice, other, side);
  return (uint32_t)(1 + start[side] + directions * faces_of(model, side) + face_of(model, side, cell));
}

/* ------------------------------------------------------------------------------------------ block data */

static void destroy(void *user, void *data)
{
  gab_side_state *gone = data;
  (void)user;
  if (!gone) return;
  gab_free(&gone->now);
  gab_free(&gone->next);
  gab_free(&gone);
}

static gab_status create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  const gab_lbm_model *model = user;
  const gab_box cells = gab_block_cells(forest, block);
  gab_side_state *made;
  *data = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  lay_out(model, gab_block_level(forest, block), cells.lo, made->start);
  const size_t count = made->start[GAB_SIDE_COUNT];
  gab_status status = GAB_NEW_ARRAY(&made->now, count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&made->next, count, GAB_MEMORY_OTHER);
  for (size_t i = 0; status == GAB_OK && i < count; i++) made->now[i] = made->next[i] = NAN;
  if (status != GAB_OK) destroy(user, made);
  else *data = made;
  return status;
}

static size_t packed_size(void *user, const void *data)
{
  (void)user;
  return ((const gab_side_state *)data)->start[GAB_SIDE_COUNT] * sizeof(double);
}

static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  const size_t bytes = packed_size(user, data);
  return bytes == 0 ? GAB_OK : gab_put_bytes(out, ((const gab_side_state *)data)->now, bytes);
}

static gab_status unpack(void *user, void *data, gab_reader *in)
{
  gab_side_state *state = data;
  const size_t bytes = packed_size(user, data);
  return bytes == 0 ? GAB_OK : gab_get_bytes(in, state->now, bytes);
}

/* ------------------------------------------------------------------------------------------ levels */

/* A child, and its part of its parent. */
typedef struct family {
  const gab_lbm_model *model;
  const gab_side_state *parent, *child;
  int32_t corner[3];
} family;

static family family_of(const gab_lbm_model *model, int child, const gab_side_state *parent,
                        const gab_side_state *state)
{
  family made = {.model = model, .parent = parent, .child = state};
  for (int axis = 0; axis < model->lattice->dimension; axis++)
    made.corner[axis] = (child >> axis & 1) * model->cells[axis] / 2;
  return made;
}

/* Visits the cells of the child at each of its sides. @param[in] visit  gets the numbers of both, for the first direction; those of the
 * others follow in steps of `step` */
static void walk(const family *of,
                 void (*visit)(const family *of, size_t mine, size_t theirs, size_t step, size_t end))
{
  const gab_lbm_model *model = of->model;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    const size_t first = of->child->start[side], end = of->child->start[side + 1];
    int32_t size[3], at[3];
    for (int axis = 0; axis < 3; axis++) size[axis] = axis == side / 2 ? 1 : model->cells[axis];
    for (at[2] = 0; at[2] < size[2] && end > first; at[2]++)
      for (at[1] = 0; at[1] < size[1]; at[1]++)
        for (at[0] = 0; at[0] < size[0]; at[0]++) {
          int32_t coarse[3];
          for (int axis = 0; axis < 3; axis++)
            coarse[axis] = axis < model->lattice->dimension ? of->corner[axis] + at[axis] / 2 : at[axis];
          visit(of, first + face_of(model, side, at), of->parent->start[side] + face_of(model, side, coarse),
                faces_of(model, side), end);
        }
  }
}

static void take_down(const family *of, size_t mine, size_t theirs, size_t step, size_t end)
{
  for (; mine < end; mine += step, theirs += step) of->child->now[mine] = of->parent->now[theirs];
}

static gab_status split(void *user, const gab_forest *forest, const gab_block *parent,
                        const void *parent_data, const gab_block *const *children, void *const *children_data)
{
  const gab_lbm_model *model = user;
  (void)forest;
  (void)parent;
  (void)children;
  for (int child = 0; child < 1 << model->lattice->dimension; child++) {
    if (!children_data[child]) continue;
    const family of = family_of(model, child, parent_data, children_data[child]);
    walk(&of, take_down);
  }
  return GAB_OK;
}

/* The numbers of the new parent are NaN; its `next` counts. */
static void take_up(const family *of, size_t mine, size_t theirs, size_t step, size_t end)
{
  for (; mine < end; mine += step, theirs += step) {
    const double value = of->child->now[mine];
    double *sum = &of->parent->now[theirs], *count = &of->parent->next[theirs];
    if (isnan(value)) continue;
    if (isnan(*sum)) *sum = *count = 0;
    *sum += value;
    (*count)++;
  }
}

static void divide(const family *of, size_t mine, size_t theirs, size_t step, size_t end)
{
  for (; mine < end; mine += step, theirs += step) {
    double *sum = &of->parent->now[theirs], *count = &of->parent->next[theirs];
    if (isnan(*sum) || isnan(*count)) continue;
    *sum /= *count;
    *count = NAN; /* done */
  }
}

static gab_status merge(void *user, const gab_forest *forest, const gab_block *const *children,
                        const void *const *children_data, const gab_block *parent, void *parent_data)
{
  const gab_lbm_model *model = user;
  (void)forest;
  (void)parent;
  (void)children;
  for (int child = 0; child < 1 << model->lattice->dimension; child++) {
    if (!children_data[child]) continue;
    const family of = family_of(model, child, parent_data, children_data[child]);
    walk(&of, take_up);
    walk(&of, divide);
  }
  return GAB_OK;
}

gab_block_data_kind gab_side_state_kind(gab_lbm_model *model)
{
  return (gab_block_data_kind){.name = "lbm.sides",
                               .user = model,
                               .create = create,
                               .destroy = destroy,
                               .packed_size = packed_size,
                               .pack = pack,
                               .unpack = unpack,
                               .split = split,
                               .merge = merge};
}
