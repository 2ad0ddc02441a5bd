/* SPDX-License-Identifier: Apache-2.0 */
/* Links that copy what a cell has sent. */
#include "lbm/boundaries/links/links_impl.h"

/* In a sparse block nothing has to be copied: both places are made one. */
static gab_status add_same_place(const gab_link *at, const int32_t from_cell[3], int from_q)
{
  const uint32_t other = gab_sparse_number(at->draft, from_cell);
  if (other == UINT32_MAX) return gab_sparse_add_way(at->draft, at->cell, at->q, from_cell, from_q);
  gab_sparse_redirect(at->draft, at->cell, at->q, other, gab_lattice_opposite(from_q));
  return GAB_OK;
}

/* Links of cells side by side, made one after another, become one. */
gab_status gab_link_add_copy(const gab_link *at, const int32_t from_cell[3], int from_q)
{
  gab_links *links = &at->block->links;
  links->copied_cells++;
  if (at->draft) return add_same_place(at, from_cell, from_q);
  uint32_t to = gab_link_index(at, at->b), from = gab_link_index(at, from_cell);
  if (links->copy_count > 0) {
    gab_copy_link *last = &links->copies[links->copy_count - 1];
    uint32_t length = (uint32_t)last->length;
    if (last->q == at->q && last->from_q == from_q && last->to + length == to &&
        last->from + length == from) {
      last->length++;
      return GAB_OK;
    }
  }
  GAB_LINK_APPEND(
      links->copies, links->copy_count,
      (gab_copy_link){.to = to, .from = from, .length = 1, .q = (int16_t)at->q, .from_q = (int16_t)from_q});
  return GAB_OK;
}
