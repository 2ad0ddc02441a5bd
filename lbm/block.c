/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/links/link_template_impl.h"
#include "lbm/levels/level_interface_impl.h"
#include "lbm/porous/drag_impl.h"
#include "lbm/step/fused/fused_impl.h"
#include "lbm/sparse/sparse_impl.h"

#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packed populations are little-endian; this host needs a byte swap here"
#endif

static gab_flag_bits flag_of(int what)
{
  return what == GAB_CELL_FLUID     ? GAB_CELL_IS_FLUID
         : what == GAB_CELL_OUTSIDE ? GAB_CELL_IS_OUTSIDE
                                    : GAB_CELL_IS_SOLID;
}

/* Flag of a cell or ghost: by geometry, at the level of its place. A place without a block is not fluid, even if it
 * contains fluid at a finer level. */
gab_flag_bits gab_lbm_flag_of(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t at[3])
{
  const int level = block->at->level;
  int offset[3];
  int64_t cell[3], parent[3];
  for (int axis = 0; axis < 3; axis++) {
    offset[axis] = at[axis] < 0 ? -1 : at[axis] >= model->cells[axis] ? 1 : 0;
    cell[axis] = block->first[axis] + at[axis];
    parent[axis] = axis < model->lattice->dimension ? cell[axis] >> 1 : cell[axis];
  }
  const int direction = gab_direction_of(offset[0], offset[1], offset[2]);
  const gab_flag_bits flag = flag_of(gab_geometry_cell(model->geometry, level, cell));
  if (direction == GAB_DIRECTION_CENTRE || flag == GAB_CELL_IS_OUTSIDE) return flag;
  switch (block->beside.kind[direction]) {
  case GAB_BESIDE_SAME:
    return flag;
  case GAB_BESIDE_COARSER:
    return flag_of(gab_geometry_cell(model->geometry, level - 1, parent));
  case GAB_BESIDE_FINER:
    return gab_is_in_finer(model, block, at, direction) ? GAB_CELL_IS_FINER : GAB_CELL_IS_SOLID;
  default:
    return GAB_CELL_IS_SOLID;
  }
}

/* Flags of all cells and ghosts: by geometry and the surrounding levels, without communication. */
static gab_status make_flags(const gab_lbm_model *model, gab_lbm_block *block)
{
  const int32_t *size = model->cells, *ghosts = model->shape.ghosts;
  GAB_TRY(gab_flags_create(size, ghosts, &block->flags));
  for (int32_t z = -ghosts[2]; z < size[2] + ghosts[2]; z++)
    for (int32_t y = -ghosts[1]; y < size[1] + ghosts[1]; y++)
      for (int32_t x = -ghosts[0]; x < size[0] + ghosts[0]; x++) {
        const int32_t at[3] = {x, y, z};
        block->flags->data[gab_flags_index(block->flags, x, y, z)] = gab_lbm_flag_of(model, block, at);
      }
  return GAB_OK;
}

/* Lists the runs of fluid cells, or only counts them and their cells if there is no list yet. */
static size_t list_runs(gab_lbm_block *block)
{
  const gab_flags *flags = block->flags;
  size_t count = 0;
  block->fluid_cells = 0;
  for (int32_t z = 0; z < flags->cells[2]; z++)
    for (int32_t y = 0; y < flags->cells[1]; y++)
      for (int32_t x = 0; x < flags->cells[0]; x++) {
        if (!gab_flags_are_on(flags, x, y, z, GAB_CELL_IS_FLUID)) continue;
        int32_t end = x + 1;
        while (end < flags->cells[0] && gab_flags_are_on(flags, end, y, z, GAB_CELL_IS_FLUID)) end++;
        if (block->runs) block->runs[count] = (gab_run){.length = end - x, .x = x, .y = y, .z = z};
        block->fluid_cells += (uint64_t)(end - x);
        count++;
        x = end;
      }
  return count;
}

/* The runs, and the first run of each slab. */
static gab_status make_runs(const gab_lbm_model *model, gab_lbm_block *block)
{
  block->run_count = list_runs(block);
  GAB_TRY(GAB_NEW_ARRAY(&block->runs, block->run_count, GAB_MEMORY_OTHER));
  list_runs(block);
  GAB_TRY(GAB_NEW_ARRAY(&block->run_start, (size_t)model->slabs + 1, GAB_MEMORY_OTHER));
  size_t k = 0;
  for (int32_t slab = 0; slab <= model->slabs; slab++) {
    int32_t first = slab * model->slab_layers;
    while (k < block->run_count && (model->slab_axis == 2 ? block->runs[k].z : block->runs[k].y) < first) k++;
    block->run_start[slab] = slab == model->slabs ? block->run_count : k;
  }
  return GAB_OK;
}

/* Next to other levels blocks store all cells. */
static bool is_sparse(const gab_lbm_model *model, const gab_lbm_block *block)
{
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++)
    if (block->beside.kind[direction] >= GAB_BESIDE_COARSER) return false;
  const double cells = (double)model->cells[0] * (double)model->cells[1] * (double)model->cells[2];
  return (double)block->fluid_cells < model->sparse_below * cells;
}

/* The links of a block that stores all cells. */
static gab_status make_links(const gab_lbm_model *model, gab_lbm_block *block)
{
  for (size_t k = 0; k < block->run_count; k++) {
    gab_run *run = &block->runs[k];
    run->start = (uint32_t)gab_field_index(&model->map, run->x, run->y, run->z, 0);
  }
  return gab_links_build(model, block, NULL);
}

/* Paths across a border of levels reach two coarse cells into a finer block. */
static gab_status check_level(const gab_lbm_model *model, int level, const gab_block *place)
{
  if (level == 0) return GAB_OK;
  if (level >= GAB_LBM_LEVELS)
    GAB_FAIL(GAB_ERR_INPUT, "block " GAB_PRI_BLOCK " is of level %d: a flow has levels 0 to %d",
             gab_block_get_id(place), level, GAB_LBM_LEVELS - 1);
  for (int axis = 0; axis < model->lattice->dimension; axis++)
    if (model->cells[axis] < 4 || model->cells[axis] % 2 != 0)
      GAB_FAIL(GAB_ERR_INPUT,
               "refined blocks need an even number of cells along each axis, at least 4; there are %" PRId32
               " in %c",
               model->cells[axis], "xyz"[axis]);
  return GAB_OK;
}

/* Makes the lists of a block, shared with others or its own. For a sparse block only the runs; its numbers and links are
 * made with its places. */
static gab_status make_lists(const gab_lbm_model *model, const gab_forest *forest, const gab_block *place,
                             gab_lbm_block *block)
{
  const int level = gab_block_level(forest, place);
  gab_link_template_key key;
  GAB_TRY(check_level(model, level, place));
  gab_box cells = gab_block_cells(forest, place);
  block->id = gab_block_get_id(place);
  block->at = &model->level[level];
  block->beside = gab_beside_of(forest, place);
  memcpy(block->first, cells.lo, sizeof block->first);
  const bool is_alike = gab_link_template_key_of(model, block, &key);
  if (is_alike && gab_link_template_find(model->link_templates, &key, block)) return GAB_OK;
  GAB_TRY(make_flags(model, block));
  GAB_TRY(make_runs(model, block));
  if (is_sparse(model, block)) return GAB_OK;
  GAB_TRY(make_links(model, block));
  return is_alike ? gab_link_template_share(model->link_templates, &key, block) : GAB_OK;
}

/* The creator of a block sets the state of all fluid cells, so cells are cleared only if some are solid. */
static gab_status make_fields(const gab_lbm_model *model, gab_lbm_block *block)
{
  if (is_sparse(model, block)) return gab_sparse_build(model, block);
  if (model->fused_fields) return gab_fused_take(model, block);
  block->now = &model->storage[0];
  const bool all_fluid = block->fluid_cells == gab_lbm_cells_of(model) && model->kernel->in_place;
  GAB_TRY(all_fluid ? gab_field_create_unset(&model->shape, &block->src)
                    : gab_field_create(&model->shape, &block->src));
  return model->kernel->in_place ? GAB_OK : gab_field_create(&model->shape, &block->dst);
}

static gab_status initialise_block(void *user, const gab_forest *forest, const gab_block *place, void *data)
{
  gab_lbm_initialise(user, forest, place, data);
  return GAB_OK;
}

static void destroy_block(void *user, void *data)
{
  (void)user;
  gab_lbm_block *block = data;
  if (!block) return;
  gab_fused_leave(block);
  gab_field_destroy(&block->src);
  gab_field_destroy(&block->dst);
  gab_flags_destroy(&block->flags); /* of a block that could not be made */
  gab_sparse_release(block);
  gab_level_interface_destroy(&block->interface);
  gab_link_template_leave(block);
  gab_free(&block->porous);
  gab_free(&block);
}

static void expect_blocks(void *user, const gab_forest *forest, const gab_block_id *ids, size_t count)
{
  gab_fused_fields_expect(user, &gab_forest_get_options(forest)->grid, ids, count);
}

static gab_status create_block(void *user, const gab_forest *forest, const gab_block *place, void **data)
{
  *data = NULL;
  gab_lbm_block *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  gab_status status = make_lists(user, forest, place, made);
  if (status == GAB_OK) status = gab_porous_mark(user, made);
  if (status == GAB_OK) status = make_fields(user, made);
  gab_flags_destroy(&made->flags); /* runs and links contain the same information */
  if (status != GAB_OK) destroy_block(user, made);
  else *data = made;
  return status;
}

static void clear(gab_field *field)
{
  if (field) memset(field->data, 0, field->map.elements * gab_precision_bytes(field->shape.precision));
}

/* Sparse blocks send zeros for solid cells; blocks without solid cells need nothing. */
gab_status gab_lbm_clear_solid_of(const gab_lbm_model *model, gab_lbm_block *block)
{
  gab_buffer state;
  if (block->sparse || block->fluid_cells == gab_lbm_cells_of(model)) return GAB_OK;
  if (block->in_fused) {
    gab_fused_clear_solid(model, block);
    return GAB_OK;
  }
  gab_buffer_init(&state, GAB_MEMORY_OTHER);
  gab_status status = gab_lbm_pack(model, block, &state);
  if (status == GAB_OK) {
    gab_reader reader = gab_reader_of_buffer(&state);
    clear(block->src);
    clear(block->dst);
    block->now = &model->storage[0];
    status = gab_lbm_unpack(model, block, &reader);
  }
  gab_buffer_release(&state);
  return status;
}

/* A block that remains dense keeps its fields: they contain the populations sent by fluid cells, and all others are written
 * before they are read. */
static gab_status move_state(gab_lbm_model *model, gab_lbm_block *from, gab_lbm_block *to)
{
  if (!from->sparse && !is_sparse(model, to)) {
    to->src = from->src;
    to->dst = from->dst;
    to->now = from->now;
    to->in_fused = from->in_fused;
    from->src = from->dst = NULL;
    from->in_fused = NULL;
    return GAB_OK;
  }
  gab_buffer state;
  gab_buffer_init(&state, GAB_MEMORY_OTHER);
  gab_status status = make_fields(model, to);
  if (status == GAB_OK) status = gab_lbm_pack(model, from, &state);
  if (status == GAB_OK) {
    gab_reader reader = gab_reader_of_buffer(&state);
    status = gab_lbm_unpack(model, to, &reader);
  }
  gab_buffer_release(&state);
  return status;
}

gab_status gab_lbm_remake(gab_lbm_model *model, const gab_forest *forest, const gab_block *place,
                          gab_lbm_block *block)
{
  const gab_beside beside = gab_beside_of(forest, place);
  if (memcmp(&block->beside, &beside, sizeof beside) == 0) return GAB_OK;
  gab_lbm_block *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  gab_status status = make_lists(model, forest, place, made);
  if (status == GAB_OK) status = gab_porous_mark(model, made);
  if (status == GAB_OK) status = move_state(model, block, made);
  gab_flags_destroy(&made->flags);
  if (status == GAB_OK) { /* other blocks refer to it by its address */
    gab_lbm_block old = *block;
    *block = *made;
    *made = old;
  }
  destroy_block(model, made);
  return status;
}

static size_t packed_size(void *user, const void *data) { return gab_lbm_packed_size(user, data); }
static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  return gab_lbm_pack(user, data, out);
}
static gab_status unpack(void *user, void *data, gab_reader *in) { return gab_lbm_unpack(user, data, in); }
static gab_data_place place_of(void *user, const void *data)
{
  (void)user;
  return gab_fused_place_of(data);
}
static gab_status pack_together(void *user, const void *const *data, size_t count, gab_buffer *const *out)
{
  return gab_lbm_pack_together(user, (const gab_lbm_block *const *)data, count, out);
}
static gab_status unpack_together(void *user, void *const *data, size_t count, gab_reader *const *in)
{
  return gab_lbm_unpack_together(user, (gab_lbm_block *const *)data, count, in);
}

gab_block_data_kind gab_lbm_block_kind(gab_lbm_model *model)
{
  return (gab_block_data_kind){.name = "lbm.populations",
                               .user = model,
                               .create = create_block,
                               .expect = expect_blocks,
                               .destroy = destroy_block,
                               .initialise = initialise_block,
                               .packed_size = packed_size,
                               .work = gab_lbm_block_work,
                               .pack = pack,
                               .unpack = unpack,
                               .place = place_of,
                               .pack_together = pack_together,
                               .unpack_together = unpack_together,
                               .split = gab_lbm_split,
                               .merge = gab_lbm_merge};
}
