/* SPDX-License-Identifier: Apache-2.0 */
/** @file level_border.h
 *  @brief A face between blocks of two levels: its cells, and their ghost values.
 *
 *  Let a border be at s = 0, fine cells of width h at s = -h/2 and -3h/2 with values u_1 and u_2, coarse cells of width H =
 *  2h at s = h. The coarse side sends its value at s = h opposite to each fine cell,
 *  @code
 *    u' = u_c + sum over axes t along the border of (+-1/4) d_t u,
 *  @endcode
 *  d_t the central difference over cells, one-sided where a neighbour must not be read. The ghost of the fine block at s =
 *  h/2 lies on the parabola through the three (Martin & Colella 2000, J. Comput. Phys. 163, 271):
 *  @code
 *    u_g = -1/5 u_2 + 2/3 u_1 + 8/15 u' = u_1 + 8/15 (u' - u_1) + 1/5 (u_1 - u_2)
 *  @endcode
 *  in the second form, which keeps a uniform value exactly. The ghost of a coarse cell with u_c is such that its difference
 *  across the border is the mean of those of the opposite fine cells,
 *  @code
 *    u_G = u_c + (H / h) mean(u_1 - u_g),   hence   (u_G - u_c) / H = mean of (u_1 - u_g) / h.
 *  @endcode
 *  If fluxes are w times the difference, with weights w of fine faces and W of the wide one, the second line is that of
 *  fluxes:
 *  @code
 *    u_G = u_c + (H / h) mean(w (u_1 - u_g)) / W,   hence   W (u_G - u_c) / H = mean of w (u_1 - u_g) / h.
 *  @endcode
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_LEVEL_BORDER_H
#define GABION_BLOCKFOREST_LEVEL_BORDER_H

#include "blockforest/exchange/coupling.h"
#include "field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The border from one of its two blocks: layers and cells are counted in that block. */
typedef struct gab_level_border {
  int axis, lateral[2];         /**< across and along; in 2D the second one has one cell */
  int32_t ghost, first, second; /**< along the axis: the layer of ghosts, and the first two inside */
  int32_t count[2];             /**< cells of the finer block along the border */
  int32_t start[2]; /**< of the finer block, in its cells from the lower corner of the coarser one */
  int32_t step[2];  /**< cells of the finer block to one of the coarser: 2, along z in 2D 1 */
} gab_level_border;

/** @param[in] cells  of a block @param[in] contact  with an axis @param[in] finer  for the finer block */
gab_level_border gab_level_border_of(const int32_t cells[3], int dimension, const gab_contact *contact,
                                     bool finer);

/** A cell of the block in a layer. */
static inline void gab_level_border_cell(const gab_level_border *at, int32_t layer, int32_t i, int32_t j,
                                         int32_t cell[3])
{
  cell[at->axis] = layer;
  cell[at->lateral[0]] = i;
  cell[at->lateral[1]] = j;
}
/** The index in the coarser block, along the lateral axis 0 or 1, of the cell opposite to a fine one. */
static inline int32_t gab_level_border_opposite(const gab_level_border *at, int lateral, int32_t fine)
{
  return at->step[lateral] == 2 ? (at->start[lateral] + fine) / 2 : 0;
}

/** Number of values that a block sends or receives that way: all components of a cell, for each fine cell at the border
 * down, for each coarse one up. 0 across, and where blocks touch at an edge or a corner. */
size_t gab_level_border_count(const gab_field_shape *shape, int dimension, const gab_contact *contact,
                              gab_coupling_way way);

/** Values from the coarser block: u' opposite to each fine cell. @param[in] unread  bits of the directions in which ghosts
 * must not be read: slopes along the border are one-sided there @param[out] out  gab_level_border_count() */
void gab_level_border_pack_down(const gab_field *field, int dimension, const gab_contact *contact,
                                uint32_t unread, double *out);
/** Sets u_g in the finer block. */
void gab_level_border_unpack_down(gab_field *field, int dimension, const gab_contact *contact,
                                  const double *in);

/** Values from the finer block after its ghosts are set: mean(w (u_1 - u_g)) for each coarse cell. @param[in] weights  w of
 * faces, in component 0 of the ghosts beyond them; NULL: all are 1 */
void gab_level_border_pack_up(const gab_field *field, const gab_field *weights, int dimension,
                              const gab_contact *contact, double *out);
/** Sets u_G in the coarser block. @param[in] weights  W likewise; where one is 0, so is the difference */
void gab_level_border_unpack_up(gab_field *field, const gab_field *weights, int dimension,
                                const gab_contact *contact, const double *in);

#ifdef __cplusplus
}
#endif
#endif
