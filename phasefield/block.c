/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a block: creation, packing, exchange, and ghosts beyond the sides of the domain. */
#include "blockforest/forest/direction.h"
#include "phasefield/levels/levels_impl.h"

#include <string.h>

static gab_status make_field(const gab_phasefield_model *model, int components, gab_field **field)
{
  gab_field_shape shape = {.components = components};
  for (int axis = 0; axis < 3; axis++) {
    shape.cells[axis] = model->cells[axis];
    shape.ghosts[axis] = axis < model->dimension ? 1 : 0;
  }
  return gab_field_create(&shape, field);
}

static void destroy_block(void *user, void *data)
{
  (void)user;
  gab_phasefield_block *block = data;
  if (!block) return;
  gab_field_destroy(&block->phi);
  gab_field_destroy(&block->phi_new);
  gab_field_destroy(&block->c);
  gab_field_destroy(&block->mu);
  gab_field_destroy(&block->mu_new);
  gab_free(&block);
}

static gab_status fill_block(const gab_phasefield *phasefield, const gab_forest *forest,
                             const gab_block *place, gab_phasefield_block *block)
{
  const gab_phasefield_model *model = &phasefield->model;
  if (gab_block_level(forest, place) > model->options.levels)
    GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK " is of level %d: the finest of this phase field is %d",
             gab_block_get_id(place), gab_block_level(forest, place), model->options.levels);
  block->model = gab_phasefield_model_of(phasefield, gab_block_level(forest, place));
  gab_box cells = gab_block_cells(forest, place);
  memcpy(block->first, cells.lo, sizeof block->first);
  GAB_TRY(make_field(model, model->phases, &block->phi));
  GAB_TRY(make_field(model, model->phases, &block->phi_new));
  GAB_TRY(make_field(model, model->independents, &block->c));
  GAB_TRY(make_field(model, model->independents, &block->mu));
  return make_field(model, model->independents, &block->mu_new);
}

static gab_status create_block(void *user, const gab_forest *forest, const gab_block *place, void **data)
{
  *data = NULL;
  void *memory;
  GAB_TRY(gab_alloc(sizeof(gab_phasefield_block), GAB_MEMORY_OTHER, &memory));
  gab_status status = fill_block(user, forest, place, memory);
  if (status != GAB_OK) destroy_block(user, memory);
  else *data = memory;
  return status;
}

/* ------------------------------------------------------------------------------------------ packing */

static size_t packed_size(void *user, const void *data)
{
  (void)user;
  const gab_phasefield_block *block = data;
  gab_box box = gab_field_interior(block->phi);
  return gab_field_box_bytes(block->phi, &box, block->phi->shape.components) +
         gab_field_box_bytes(block->c, &box, block->c->shape.components);
}

static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  (void)user;
  const gab_phasefield_block *block = data;
  GAB_TRY(gab_field_put(block->phi, out));
  return gab_field_put(block->c, out);
}

static gab_status unpack(void *user, void *data, gab_reader *in)
{
  (void)user;
  gab_phasefield_block *block = data;
  GAB_TRY(gab_field_take(block->phi, in));
  return gab_field_take(block->c, in);
}

static uint64_t block_work(void *user, void *data, bool forget)
{
  (void)user;
  gab_phasefield_block *block = data;
  const uint64_t work = block->work;
  if (forget) block->work = 0;
  return work;
}

gab_block_data_kind gab_phasefield_block_kind(gab_phasefield *phasefield)
{
  /* Approximated blocks may violate the distance of interfaces to wider cells. */
  const bool one_level = phasefield->model.options.levels == 0;
  return (gab_block_data_kind){.name = "phasefield",
                               .user = phasefield,
                               .create = create_block,
                               .destroy = destroy_block,
                               .initialise = gab_phasefield_initialise,
                               .packed_size = packed_size,
                               .pack = pack,
                               .unpack = unpack,
                               .work = block_work,
                               .split = gab_phasefield_split,
                               .merge = gab_phasefield_merge,
                               .gather = one_level ? gab_phasefield_gather : NULL,
                               .reconstruct = one_level ? gab_phasefield_approximate : NULL};
}

/* ------------------------------------------------------------------------------------------ ghosts */

static bool crosses(const gab_phasefield_ghosts *ghosts, int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  int axes = (offset[0] != 0) + (offset[1] != 0) + (offset[2] != 0);
  return axes == 1 || (axes == 2 && ghosts->edges);
}

static size_t ghost_size(void *user, int direction)
{
  const gab_phasefield_ghosts *ghosts = user;
  if (!crosses(ghosts, direction)) return 0;
  gab_box box = gab_direction_send_box(direction, ghosts->cells, 1);
  return gab_box_count(&box) * (size_t)ghosts->components * sizeof(double);
}

static void pack_ghosts(void *user, const void *data, int direction, void *bytes)
{
  const gab_phasefield_ghosts *ghosts = user;
  gab_box box = gab_direction_send_box(direction, ghosts->cells, 1);
  gab_field_pack_box(gab_phasefield_field(data, ghosts->which), &box, NULL, ghosts->components, bytes);
}

static gab_box receive_box(const gab_phasefield_ghosts *ghosts, int direction)
{
  return gab_direction_receive_box(gab_direction_opposite(direction), ghosts->cells, 1);
}

static void unpack_ghosts(void *user, void *data, int direction, const void *bytes)
{
  const gab_phasefield_ghosts *ghosts = user;
  gab_box box = receive_box(ghosts, direction);
  gab_field_unpack_box(gab_phasefield_field(data, ghosts->which), &box, NULL, ghosts->components, bytes);
}

static void copy_ghosts(void *user, const void *from, void *to, int direction)
{
  const gab_phasefield_ghosts *ghosts = user;
  if (ghosts->which == WHICH_PHI_NEW && gab_phasefield_bulk_is_copied(from))
    return; /* already equal in both fields */
  gab_box source = gab_direction_send_box(direction, ghosts->cells, 1),
          target = receive_box(ghosts, direction);
  gab_field_copy_box(gab_phasefield_field(to, ghosts->which), &target,
                     gab_phasefield_field(from, ghosts->which), &source, NULL, ghosts->components);
}

gab_ghost_kind gab_phasefield_ghost_kind(gab_phasefield_ghosts *ghosts, const char *name)
{
  return (gab_ghost_kind){.name = name,
                          .user = ghosts,
                          .size = ghost_size,
                          .pack = pack_ghosts,
                          .unpack = unpack_ghosts,
                          .copy = copy_ghosts};
}

/* ------------------------------------------------------------------------------------------ sides */

/* Fills the ghosts of one side from the layer inside it: a copy, or mirrored at the value of a reservoir. The whole layer
 * including ghosts of the previous axes: axis by axis, this fills all edges correctly. */
static void fill_side(const gab_phasefield_model *model, gab_field *field, int side, const double *reservoir)
{
  const int axis = side / 2;
  gab_box outside = gab_field_whole(field), inside;
  if (side % 2 == 0) outside.hi[axis] = 0;
  else outside.lo[axis] = model->cells[axis];
  inside = outside;
  inside.lo[axis] = side % 2 == 0 ? 0 : model->cells[axis] - 1;
  inside.hi[axis] = inside.lo[axis] + 1;
  gab_field_copy_box(field, &outside, field, &inside, NULL, field->shape.components);
  for (int i = 0; reservoir && i < field->shape.components; i++)
    for (int64_t z = outside.lo[2]; z < outside.hi[2]; z++)
      for (int64_t y = outside.lo[1]; y < outside.hi[1]; y++)
        for (int64_t x = outside.lo[0]; x < outside.hi[0]; x++)
          gab_field_set(field, (int32_t)x, (int32_t)y, (int32_t)z, i,
                        2 * reservoir[i] - gab_field_get(field, (int32_t)x, (int32_t)y, (int32_t)z, i));
}

void gab_phasefield_fill_sides(const gab_phasefield_model *model, const gab_phasefield_block *block,
                               gab_phasefield_which which)
{
  gab_field *field = gab_phasefield_field(block, which);
  for (int side = 0; side < 2 * model->dimension; side++) {
    const gab_phasefield_side *what = &model->options.sides[side];
    if (what->kind == GAB_PHASEFIELD_PERIODIC || !gab_phasefield_is_at_side(model, block, side)) continue;
    fill_side(model, field, side,
              which == WHICH_MU && what->kind == GAB_PHASEFIELD_RESERVOIR ? what->mu : NULL);
  }
}
