/* SPDX-License-Identifier: Apache-2.0 */
/** @file level_ghosts.h
 *  @brief Ghosts of a field on blocks, within levels and between them: an object with start and finish.
 *
 *  For a gab_block_field with one layer of ghosts on a forest whose levels may touch (2:1 across faces):
 *  @code
 *    GAB_TRY(gab_level_ghosts_create(forest, id, &temperature, finest, &ghosts));
 *    ...
 *    GAB_TRY(gab_level_ghosts_start(ghosts));
 *    GAB_TRY(gab_level_ghosts_finish(ghosts));   // now every ghost beyond a face may be read
 *  @endcode
 *  Ghosts between levels: blockforest/exchange/level_border.h, u' with a linear correction along the border by differences
 *  within the coarser block (one-sided at its edges). Ghosts of fine cells have an error of second order, which keeps a
 *  conserved diffusing field of second order.
 *
 *  Conservation: if all levels take the same time step, fluxes of the form -D (u_right - u_left) / width with constant D are
 *  equal on both sides of a border, and the volume-weighted sum of u changes by rounding only. Other fluxes (advection,
 *  varying conductivity, limiters) are not; their error at a border is that of the ghosts.
 *
 *  Ghosts beyond edges and corners are exchanged within a level (gab_block_field.faces_only is false); those next to
 *  another level are unchanged and must not be read.
 *
 *  Stability: stable.
 */
#ifndef GABION_BLOCKFOREST_LEVEL_GHOSTS_H
#define GABION_BLOCKFOREST_LEVEL_GHOSTS_H

#include "blockforest/exchange/block_field.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_level_ghosts gab_level_ghosts;

/** Collective (opens one port, and one more for each level except the finest). @param[in] data of a kind made of `field`
 * @param[in] field borrowed @param[in] finest the finest possible level, from 0 @return ::GAB_ERR_ARGUMENT if finest > 0
 * and the field has not one layer of ghosts, or a block an odd number of cells along an axis, or less than 4; as
 * gab_exchange_create() */
gab_status gab_level_ghosts_create(gab_forest *forest, gab_data_id data, const gab_block_field *field,
                                   int finest, gab_level_ghosts **ghosts);
/** Drops messages in transit. Call it before the forest is destroyed. */
void gab_level_ghosts_destroy(gab_level_ghosts **ghosts);

/** Starts sending. Collective among neighbours. The sent data may be changed after the return, except for cells next to a
 * finer block and the two layers next to a coarser one, which gab_level_ghosts_finish() reads. Enters
 * ::GAB_FAULT_POINT_EXCHANGE. After a fault and its repair, start again. @return as gab_exchange_start() and
 * gab_coupling_start() */
gab_status gab_level_ghosts_start(gab_level_ghosts *ghosts);
/** Completes the exchange: all ghosts beyond faces are set. Collective among neighbours: messages to coarser levels are
 * sent only now. */
gab_status gab_level_ghosts_finish(gab_level_ghosts *ghosts);

#ifdef __cplusplus
}
#endif
#endif
