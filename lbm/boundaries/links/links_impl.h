/* SPDX-License-Identifier: Apache-2.0 */
/** @file links_impl.h
 *  @brief A link on its way into the lists of a block, for the sources that make links.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_LINKS_IMPL_H
#define GABION_LBM_LINKS_IMPL_H

#include "lbm/sparse/sparse_impl.h"

#define GAB_LINK_APPEND(list, count, ...)                                                                    \
  do {                                                                                                       \
    GAB_TRY(gab_list_reserve(&(list), (count), sizeof *(list)));                                             \
    (list)[(count)++] = __VA_ARGS__;                                                                         \
  } while (0)

/** A link on its way into a list: population q of boundary cell b is pulled into fluid cell x = b + c_q. */
typedef struct gab_link {
  const gab_lbm_model *model;
  gab_lbm_block *block;
  gab_sparse_draft *draft; /**< of a sparse block, else NULL */
  uint32_t cell;           /**< index or number of x */
  int q;
  const int8_t *c;
  int32_t b[3], x[3]; /**< cells of the block */
} gab_link;

static inline int64_t gab_link_cell(const gab_link *at, const int32_t cell[3], int axis)
{
  return at->block->first[axis] + cell[axis];
}

static inline int64_t gab_link_size(const gab_link *at, int axis)
{
  const gab_domain *domain = gab_geometry_domain(at->model->geometry);
  return domain->cells[axis] << (axis < domain->dimension ? at->block->at->level : 0);
}

static inline uint32_t gab_link_index(const gab_link *at, const int32_t cell[3])
{
  return (uint32_t)gab_field_index(&at->model->map, cell[0], cell[1], cell[2], 0);
}

static inline bool gab_link_is_fluid(const gab_link *at, const int32_t cell[3])
{
  return gab_flags_are_on(at->block->flags, cell[0], cell[1], cell[2], GAB_CELL_IS_FLUID);
}

static inline bool gab_link_is_inside(const gab_link *at, const int32_t cell[3])
{
  bool inside = true;
  for (int axis = 0; axis < 3; axis++) inside &= cell[axis] >= 0 && cell[axis] < at->model->cells[axis];
  return inside;
}

/** Where the link writes: in a dense block the boundary cell, in a sparse one an extra place. */
static inline gab_status gab_link_target(const gab_link *at, uint32_t *to)
{
  if (at->draft) return gab_sparse_add_place(at->draft, at->cell, at->q, to);
  *to = gab_link_index(at, at->b);
  return GAB_OK;
}

/** The fluid cell; in a sparse block the place where it sends to the boundary cell in the even state. */
static inline uint32_t gab_link_origin(const gab_link *at)
{
  return at->draft ? (uint32_t)at->q * at->block->sparse->stride + at->cell : at->cell;
}

/** The boundary cell sends what cell `from` has sent in direction from_q: link_copies.c. */
gab_status gab_link_add_copy(const gab_link *at, const int32_t from_cell[3], int from_q);
/** What the fluid cell sent towards the boundary cell comes back. */
static inline gab_status gab_link_add_bounce(const gab_link *at)
{
  return gab_link_add_copy(at, at->x, gab_lattice_opposite(at->q));
}

/** Of a link from a solid cell: links_bodies.c. */
gab_status gab_link_add_body(const gab_link *at);
/** What a body that moves gives to what it throws back, and the condition of the patch that it comes from.
 *  @param[in] solid  cell of the domain @param[out] terms  `body`, or a term of a condition, is appended */
void gab_link_body_terms(const gab_lbm_model *model, int level, const int64_t solid[3], int body, int q,
                         gab_wall_terms *terms);

#endif
