/* SPDX-License-Identifier: Apache-2.0 */
/* Borders between levels: see levels_impl.h. */
#include "phasefield/levels/levels_impl.h"

#include "blockforest/exchange/level_border.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------ models of levels
 */

void gab_phasefield_levels_sync(gab_phasefield *phasefield)
{
  for (int level = 0; phasefield->levels && level < phasefield->levels->finest; level++) {
    gab_phasefield_model *model = &phasefield->levels->coarse[level];
    *model = phasefield->model;
    model->coarser = phasefield->levels->finest - level;
    model->slices = &phasefield->slices[model->coarser];
    model->dx = ldexp(phasefield->model.dx, model->coarser);
    model->shift >>= model->coarser;
    for (int axis = 0; axis < model->dimension; axis++) model->domain[axis] >>= model->coarser;
  }
}

/* ------------------------------------------------------------------------------------------ phi */

uint32_t gab_phasefield_beside(const gab_forest *forest, const gab_block *place)
{
  const gab_root_grid *grid = &gab_forest_get_options(forest)->grid;
  const gab_neighbour *rows = gab_block_neighbours(place);
  const int level = gab_block_level(forest, place);
  uint32_t beside = 0;
  for (size_t r = 0; r < gab_block_neighbour_count(place); r++)
    if (gab_block_id_level(grid, rows[r].id) != level) beside |= 1U << rows[r].direction;
  return beside;
}

/* Corners have no contact. */
static bool is_read(int direction)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  return (offset[0] != 0) + (offset[1] != 0) + (offset[2] != 0) < 3;
}

void gab_phasefield_fill_beside(const gab_phasefield_block *block, gab_phasefield_which which)
{
  gab_field *field = gab_phasefield_field(block, which);
  const uint32_t wanted = gab_phasefield_is_coarse(block) ? ~UINT32_C(0) : block->beside;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    if (!(wanted >> direction & 1) || !is_read(direction) || direction == GAB_DIRECTION_CENTRE) continue;
    if (block->model->dimension == 2 && (direction < 9 || direction >= 18)) continue;
    const gab_box ghosts = gab_direction_receive_box(direction, field->shape.cells, 1);
    int32_t at[3], from[3];
    for (at[2] = (int32_t)ghosts.lo[2]; at[2] < ghosts.hi[2]; at[2]++)
      for (at[1] = (int32_t)ghosts.lo[1]; at[1] < ghosts.hi[1]; at[1]++)
        for (at[0] = (int32_t)ghosts.lo[0]; at[0] < ghosts.hi[0]; at[0]++) {
          for (int axis = 0; axis < 3; axis++) {
            const int32_t last = field->shape.cells[axis] - 1;
            from[axis] = at[axis] < 0 ? 0 : at[axis] > last ? last : at[axis];
          }
          for (int k = 0; k < field->shape.components; k++)
            gab_field_set(field, at[0], at[1], at[2], k, gab_field_get(field, from[0], from[1], from[2], k));
        }
  }
}

/* ------------------------------------------------------------------------------------------ mu */

/* The phase of the layer of cells at a border, -1 if it is not of one. */
static int phase_of_layer(const gab_phasefield_block *block, const gab_contact *contact, bool finer)
{
  const gab_level_border at =
      gab_level_border_of(block->model->cells, block->model->dimension, contact, finer);
  int phase = -1;
  for (int32_t j = 0; j < at.count[1]; j++)
    for (int32_t i = 0; i < at.count[0]; i++) {
      int32_t cell[3];
      gab_level_border_cell(&at, at.first, finer ? i : gab_level_border_opposite(&at, 0, i),
                            finer ? j : gab_level_border_opposite(&at, 1, j), cell);
      const int pure = gab_phasefield_pure(block->phi, cell);
      if (pure < 0 || (i + j > 0 && pure != phase)) return -1;
      phase = pure;
    }
  return phase;
}

static void mark_astray(gab_phasefield_block *block)
{
#pragma omp atomic write
  block->astray = 1;
}

/* ------------------------------------------------------------------------------------------ messages */

static size_t border_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                          bool sends)
{
  (void)user, (void)sends;
  const gab_phasefield_block *block = data;
  const size_t values = gab_level_border_count(&block->mu->shape, block->model->dimension, contact, way);
  return (values + (values > 0 && way == GAB_COUPLING_DOWN)) * sizeof(double);
}

/* Down: the phase of the coarse layer, then mu'. Ghosts within levels are there by now. */
static void border_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                        void *bytes)
{
  (void)user;
  const gab_phasefield_block *block = data;
  const int dimension = block->model->dimension;
  double *out = bytes;
  if (way == GAB_COUPLING_DOWN) {
    *out++ = phase_of_layer(block, contact, false);
    gab_level_border_pack_down(block->mu, dimension, contact, block->beside, out);
  } else gab_level_border_pack_up(block->mu, NULL, dimension, contact, out);
}

static void border_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                          const void *bytes)
{
  (void)user;
  gab_phasefield_block *block = data;
  const int dimension = block->model->dimension;
  const double *in = bytes;
  if (way == GAB_COUPLING_DOWN) {
    const int phase = (int)*in++;
    if (phase < 0 || phase_of_layer(block, contact, true) != phase) mark_astray(block);
    gab_level_border_unpack_down(block->mu, dimension, contact, in);
  } else gab_level_border_unpack_up(block->mu, NULL, dimension, contact, in);
}

gab_coupling_kind gab_phasefield_border_coupling(void)
{
  return (gab_coupling_kind){
      .name = "mu between levels", .size = border_size, .pack = border_pack, .unpack = border_unpack};
}

gab_status gab_phasefield_levels_check(gab_phasefield *phasefield)
{
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++) {
    gab_phasefield_block *block = gab_phasefield_block_of(phasefield, i);
    if (!block->astray) continue;
    block->astray = 0;
    const gab_status status = gab_error_set(
        GAB_ERR_STATE, __FILE__, __LINE__,
        "step %" GAB_PRI_STEP ": an interface has come to coarser cells, at the block from cell (%" PRId64
        ", %" PRId64 ", %" PRId64 ") of width %g on: the grid has to adapt more often, or with a larger "
        "margin",
        phasefield->model.step, block->first[0], block->first[1], block->first[2], block->model->dx);
    return gab_world_raise(gab_forest_world(phasefield->forest), status);
  }
  return GAB_OK;
}

/* All levels at once: ghosts of finer cells follow from the coarser side alone, fluxes upwards from these ghosts. */
gab_status gab_phasefield_levels_exchange(gab_phasefield *phasefield)
{
  const gab_phasefield_levels *levels = phasefield->levels;
  if (!levels) return GAB_OK;
  for (int way = GAB_COUPLING_DOWN; way <= GAB_COUPLING_UP; way++) {
    for (int level = 0; level < levels->finest; level++)
      GAB_TRY(gab_coupling_start(levels->borders[level], (gab_coupling_way)way, level));
    for (int level = 0; level < levels->finest; level++) GAB_TRY(gab_coupling_finish(levels->borders[level]));
  }
  return GAB_OK;
}
