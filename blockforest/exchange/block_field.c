/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/exchange/block_field.h"

#include <math.h>

static bool is_face(int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  return (offset[0] != 0) + (offset[1] != 0) + (offset[2] != 0) == 1;
}

static gab_box send_box(const gab_block_field *field, int direction)
{
  return gab_direction_send_box(direction, field->shape.cells, field->shape.ghosts[0]);
}

static gab_box receive_box(const gab_block_field *field, int direction)
{
  return gab_direction_receive_box(gab_direction_opposite(direction), field->shape.cells,
                                   field->shape.ghosts[0]);
}

static size_t ghost_size(void *user, int direction)
{
  const gab_block_field *field = user;
  if (field->faces_only && !is_face(direction)) return 0;
  gab_box box = send_box(field, direction);
  return gab_box_count(&box) * (size_t)field->shape.components * gab_precision_bytes(field->shape.precision);
}

static void pack_ghosts(void *user, const void *data, int direction, void *bytes)
{
  const gab_block_field *field = user;
  gab_box box = send_box(field, direction);
  gab_field_pack_box(data, &box, NULL, field->shape.components, bytes);
}

static void unpack_ghosts(void *user, void *data, int direction, const void *bytes)
{
  const gab_block_field *field = user;
  gab_box box = receive_box(field, direction);
  gab_field_unpack_box(data, &box, NULL, field->shape.components, bytes);
}

static void copy_ghosts(void *user, const void *from, void *to, int direction)
{
  const gab_block_field *field = user;
  gab_box source = send_box(field, direction), target = receive_box(field, direction);
  gab_field_copy_box(to, &target, from, &source, NULL, field->shape.components);
}

/* The data may be of another kind, made by any callback. */
static gab_status check_ghosts(void *user, const void *data)
{
  const gab_field_shape *expected = &((const gab_block_field *)user)->shape,
                        *found = &((const gab_field *)data)->shape;
  for (int axis = 0; axis < 3; axis++)
    if (expected->cells[axis] != found->cells[axis] || expected->ghosts[axis] != found->ghosts[axis])
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "ghosts of fields of %" PRId32 " cells and %" PRId32
               " ghost layers in %c, but those on blocks have %" PRId32 " and %" PRId32,
               expected->cells[axis], expected->ghosts[axis], "xyz"[axis], found -> cells[axis],
               found -> ghosts[axis]);
  if (expected->components != found->components || expected->precision != found->precision)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "ghosts of fields of %d components of %zu bytes, but those on blocks have %d of %zu",
             expected->components, gab_precision_bytes(expected->precision), found->components,
             gab_precision_bytes(found->precision));
  return GAB_OK;
}

static const void *place_of(void *user, const void *data)
{
  (void)user;
  return ((const gab_field *)data)->data;
}

gab_ghost_kind gab_block_field_ghosts(const gab_block_field *field)
{
  return (gab_ghost_kind){.name = "field",
                          .user = (void *)(uintptr_t)field, /* the callbacks only read it */
                          .check = check_ghosts,
                          .place = place_of,
                          .size = ghost_size,
                          .pack = pack_ghosts,
                          .unpack = unpack_ghosts,
                          .copy = copy_ghosts};
}

/* -------------------------------------------------------------------------------------------- block data */

static gab_box interior(const gab_block_field *field)
{
  const int32_t *cells = field->shape.cells;
  return (gab_box){.hi = {cells[0], cells[1], cells[2]}};
}

/* A field that does not cover the whole block would leave cells that are never computed. */
static gab_status check_shape(void *user, const gab_forest *forest)
{
  gab_field_map map;
  const gab_field_shape *shape = &((const gab_block_field *)user)->shape;
  const gab_forest_options *options = gab_forest_get_options(forest);
  const int32_t *cells = options->cells;
  GAB_TRY(gab_field_map_of(shape, &map));
  for (int axis = 0; axis < 3; axis++)
    if (shape->cells[axis] != cells[axis])
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "a field of %" PRId32 " x %" PRId32 " x %" PRId32 " cells is not for blocks of %" PRId32
               " x %" PRId32 " x %" PRId32,
               shape->cells[0], shape->cells[1], shape->cells[2], cells[0], cells[1], cells[2]);
  for (int axis = 0; axis < 3; axis++) {
    const int32_t wide = axis < options->grid.dimension ? shape->ghosts[0] : 0;
    if (shape->ghosts[axis] != wide)
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "%" PRId32 " ghost layers in %c, %" PRId32 " in x: the exchange fills %" PRId32 " there",
               shape->ghosts[axis], "xyz"[axis], shape -> ghosts[0], wide);
    if (wide > cells[axis])
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "%" PRId32 " ghost layers, but a neighbour has %" PRId32 " cells in %c to fill them from",
               wide, cells[axis], "xyz"[axis]);
  }
  return GAB_OK;
}

static gab_status create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)forest, (void)block;
  const gab_block_field *field = user;
  gab_field *made = NULL;
  gab_status status = gab_field_create(&field->shape, &made);
  *data = made;
  return status;
}

static void destroy(void *user, void *data)
{
  (void)user;
  gab_field *gone = data;
  gab_field_destroy(&gone);
}

static size_t packed_size(void *user, const void *data)
{
  const gab_block_field *field = user;
  gab_box box = interior(field);
  return gab_field_box_bytes(data, &box, field->shape.components);
}

static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  (void)user;
  return gab_field_put(data, out);
}

static gab_status unpack(void *user, void *data, gab_reader *in)
{
  (void)user;
  return gab_field_take(data, in);
}

/* -------------------------------------------------------------------------------------------- levels */

/* The limited slope along one axis, per cell; zero where a neighbour is not in the block. */
static double slope(const gab_field *field, const int32_t at[3], int axis, int component)
{
  int32_t below[3] = {at[0], at[1], at[2]}, above[3] = {at[0], at[1], at[2]};
  if (--below[axis] < 0 || ++above[axis] >= field->shape.cells[axis]) return 0;
  double here = gab_field_get(field, at[0], at[1], at[2], component);
  double down = here - gab_field_get(field, below[0], below[1], below[2], component);
  double up = gab_field_get(field, above[0], above[1], above[2], component) - here;
  if (!(down * up > 0)) return 0;
  return fabs(down) < fabs(up) ? down : up;
}

/* One cell of the parent becomes the cells of the child that it contains. */
static void split_cell(const gab_field *parent, const int32_t from[3], gab_field *child, const int32_t to[3],
                       int dimension, bool linear)
{
  for (int c = 0; c < parent->shape.components; c++) {
    double value = gab_field_get(parent, from[0], from[1], from[2], c), quarter[3] = {0, 0, 0};
    for (int axis = 0; axis < dimension && linear; axis++)
      quarter[axis] = 0.25 * slope(parent, from, axis, c);
    for (int part = 0; part < 1 << dimension; part++) {
      double shift = 0;
      for (int axis = 0; axis < dimension; axis++) shift += part >> axis & 1 ? quarter[axis] : -quarter[axis];
      gab_field_set(child, to[0] + (part & 1), to[1] + (part >> 1 & 1), to[2] + (part >> 2 & 1), c,
                    value + shift);
    }
  }
}

/* The mean; summed in pairs, so that equal values give that value. */
static void merge_cells(const gab_field *child, const int32_t from[3], gab_field *parent, const int32_t to[3],
                        int dimension)
{
  for (int c = 0; c < parent->shape.components; c++) {
    double sum[8];
    int parts = 1 << dimension;
    for (int part = 0; part < parts; part++)
      sum[part] =
          gab_field_get(child, from[0] + (part & 1), from[1] + (part >> 1 & 1), from[2] + (part >> 2 & 1), c);
    for (int pairs = parts / 2; pairs > 0; pairs /= 2)
      for (int i = 0; i < pairs; i++) sum[i] = sum[2 * i] + sum[2 * i + 1];
    gab_field_set(parent, to[0], to[1], to[2], c, sum[0] / parts);
  }
}

/* Visits the cells of the parent that child number `which` covers. */
static void cross_levels(const gab_field *from, gab_field *to, int which, int dimension, bool down,
                         bool linear)
{
  int32_t half[3] = {1, 1, 1}, cell[3], coarse[3], fine[3] = {0, 0, 0};
  for (int axis = 0; axis < dimension; axis++) half[axis] = from->shape.cells[axis] / 2;
  for (cell[2] = 0; cell[2] < half[2]; cell[2]++)
    for (cell[1] = 0; cell[1] < half[1]; cell[1]++)
      for (cell[0] = 0; cell[0] < half[0]; cell[0]++) {
        for (int axis = 0; axis < 3; axis++) coarse[axis] = cell[axis] + (which >> axis & 1) * half[axis];
        for (int axis = 0; axis < dimension; axis++) fine[axis] = 2 * cell[axis];
        if (down) split_cell(from, coarse, to, fine, dimension, linear);
        else merge_cells(from, fine, to, coarse, dimension);
      }
}

static gab_status split(void *user, const gab_forest *forest, const gab_block *parent,
                        const void *parent_data, const gab_block *const *children, void *const *children_data)
{
  const gab_block_field *field = user;
  const gab_topology *topology = gab_forest_topology(forest);
  (void)parent, (void)children;
  for (int c = 0; c < gab_topology_child_count(topology); c++)
    if (children_data[c])
      cross_levels(parent_data, children_data[c], c, topology->grid.dimension, true, field->linear_split);
  return GAB_OK;
}

static gab_status merge(void *user, const gab_forest *forest, const gab_block *const *children,
                        const void *const *children_data, const gab_block *parent, void *parent_data)
{
  const gab_topology *topology = gab_forest_topology(forest);
  (void)user, (void)children, (void)parent;
  for (int c = 0; c < gab_topology_child_count(topology); c++)
    if (children_data[c])
      cross_levels(children_data[c], parent_data, c, topology->grid.dimension, false, false);
  return GAB_OK;
}

gab_block_data_kind gab_block_field_data(const gab_block_field *field, const char *name)
{
  gab_block_data_kind kind = gab_block_field_scratch(field, name);
  kind.packed_size = packed_size;
  kind.pack = pack;
  kind.unpack = unpack;
  kind.split = split;
  kind.merge = merge;
  return kind;
}

gab_block_data_kind gab_block_field_scratch(const gab_block_field *field, const char *name)
{
  return (gab_block_data_kind){.name = name,
                               .user = (void *)(uintptr_t)field, /* the callbacks only read it */
                               .check = check_shape,
                               .create = create,
                               .destroy = destroy};
}
