/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of links to a sparse block under construction: extra places, directions to ghosts. */
#include "lbm/sparse/sparse_impl.h"

void gab_sparse_redirect(gab_sparse_draft *draft, uint32_t cell, int q, uint32_t other, int from_q)
{
  *gab_sparse_arrives(draft, cell, q) = gab_sparse_own(draft->block->sparse, other, from_q);
}

gab_status gab_sparse_take_place(gab_sparse_draft *draft, uint32_t *place)
{
  if (draft->places >= INT32_MAX - 1)
    GAB_FAIL(GAB_ERR_INPUT, "a block of %" PRIu32 " fluid cells is too large: make blocks smaller",
             draft->block->sparse->cells);
  *place = (uint32_t)draft->places++;
  return GAB_OK;
}

gab_status gab_sparse_add_place(gab_sparse_draft *draft, uint32_t cell, int q, uint32_t *place)
{
  GAB_TRY(gab_sparse_take_place(draft, place));
  *gab_sparse_arrives(draft, cell, q) = *place;
  return GAB_OK;
}

gab_status gab_sparse_add_open(gab_sparse_draft *draft, uint32_t cell, uint32_t *number)
{
  gab_sparse *sparse = draft->block->sparse;
  if (draft->open[cell] == 0) {
    const size_t each = (size_t)draft->model->lattice->q * sizeof(uint32_t);
    GAB_TRY(gab_list_reserve(&sparse->open_cells, sparse->open_count, each));
    sparse->open_cells[sparse->open_count++ * (size_t)draft->model->lattice->q] = cell;
    draft->open[cell] = (uint32_t)sparse->open_count;
  }
  *number = draft->open[cell] - 1;
  return GAB_OK;
}

/* The neighbour that a ghost cell belongs to. */
static int direction_to(const gab_lbm_model *model, const int32_t ghost[3])
{
  int offset[3];
  for (int axis = 0; axis < 3; axis++)
    offset[axis] = ghost[axis] < 0 ? -1 : ghost[axis] >= model->cells[axis] ? 1 : 0;
  return gab_direction_of(offset[0], offset[1], offset[2]);
}

static uint32_t position_in(const gab_box *box, const int32_t cell[3])
{
  const int64_t width = box->hi[0] - box->lo[0], height = box->hi[1] - box->lo[1];
  return (uint32_t)(((cell[2] - box->lo[2]) * height + (cell[1] - box->lo[1])) * width +
                    (cell[0] - box->lo[0]));
}

gab_status gab_sparse_add_way(gab_sparse_draft *draft, uint32_t cell, int q, const int32_t ghost[3], int in)
{
  const gab_lbm_model *model = draft->model;
  const int out = gab_lattice_opposite(q), direction = direction_to(model, ghost);
  /* Where the cell is, from where the ghost is: the way out and the way in differ by it twice. */
  int32_t place[3];
  for (int axis = 0; axis < 3; axis++)
    place[axis] = ghost[axis] - (model->lattice->c[out][axis] - model->lattice->c[in][axis]) / 2;
  gab_box send = gab_direction_send_box(direction, model->cells, 1);
  GAB_TRY(gab_list_reserve(&draft->records, draft->record_count, sizeof *draft->records));
  draft->records[draft->record_count++] =
      (gab_sparse_record){.kind = (uint32_t)((direction * GAB_LATTICE_MAX_Q + out) * GAB_LATTICE_MAX_Q + in),
                          .position = position_in(&send, place),
                          .cell = cell};
  return GAB_OK;
}
