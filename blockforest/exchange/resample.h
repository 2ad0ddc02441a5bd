/* SPDX-License-Identifier: Apache-2.0 */
/** @file resample.h
 *  @brief Values of one forest in the cells of another: other blocks, widths, levels and owners.
 *
 *  Both forests live in one world. A field on the first one (the source) is filled by the caller, then evaluated at the
 *  centres of the cells of the other:
 *  @code
 *    GAB_TRY(gab_resampler_create(source, 4, &resampler));       // before the source has blocks
 *    ... populate the source
 *    gab_resampler_clear(resampler);
 *    ... for each block set the values of gab_resampler_field()
 *    GAB_TRY(gab_resampler_spread(resampler));
 *    GAB_TRY(gab_resampler_evaluate(resampler, target, NULL, take, user));
 *  @endcode
 *  Within a cell a value is a polynomial of second degree along each axis, by the cell and its two neighbours (next to
 *  walls and other levels the next two on one side, if the block has them; else linear): of second order, and of third
 *  order along the axes. Periodic axes of the source continue periodically. Positions are rounded to 2^-32 cells, so that
 *  nested grids meet exactly and all processes agree on the cell.
 *
 *  Messages: cells are evaluated by the owner of the source block; a process asks for some blocks at a time, and no process
 *  stores more than its own blocks and these. Results do not depend on the owners.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_RESAMPLE_H
#define GABION_BLOCKFOREST_RESAMPLE_H

#include "blockforest/forest/forest.h"
#include "field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_resampler gab_resampler;

/** Source of a value. */
typedef enum gab_resampled {
  GAB_RESAMPLED_OUTSIDE = 0,  /**< the centre is outside of the domain of the source: no value */
  GAB_RESAMPLED_NOTHING,      /**< no block, or a block without a value: no value */
  GAB_RESAMPLED_FILLED,       /**< a cell without its own value: that of the nearest cells with one */
  GAB_RESAMPLED_INTERPOLATED, /**< within a cell */
  GAB_RESAMPLED_SAME          /**< same centre and width as a cell of the source: its value */
} gab_resampled;

/** Registers a field with one layer of ghosts on the source, before it has blocks. Collective (opens ports). @param[in]
 * values  per cell @param[out] resampler  owned by the caller */
gab_status gab_resampler_create(gab_forest *source, int values, gab_resampler **resampler);
/** Call it before the source is destroyed. */
void gab_resampler_destroy(gab_resampler **resampler);

/** Removes the values of all cells; call it when the source has its blocks. Local. */
void gab_resampler_clear(gab_resampler *resampler);
/** The field of a local block of the source: component 0 is 0 where a cell has values (NaN: none), the values follow. */
gab_field *gab_resampler_field(const gab_resampler *resampler, const gab_block *block);
/** Once they are set: exchanges ghosts, and gives cells without a value the mean of their neighbours with one, layer by layer, across
 *  blocks of one level. Collective. */
gab_status gab_resampler_spread(gab_resampler *resampler);

/** Further values that are copied where the target has a cell of the source (::GAB_RESAMPLED_SAME). */
typedef struct gab_resampler_copy {
  int values; /**< per cell */
  /** Reads them in a cell with a value. Local; called block by block. */
  gab_status (*read)(void *user, const gab_block *block, const int32_t at[3], double *values);
  void *user;
} gab_resampler_copy;

/** Takes the values of a local block of the target, all cells, x fastest. Local.
 *  @param[in] kinds  gab_resampled of each cell @param[in] values  of cells that have some; else undefined
 *  @param[in] copied  of cells of the kind ::GAB_RESAMPLED_SAME; NULL without gab_resampler_copy */
typedef gab_status gab_resampled_fn(void *user, const gab_block *block, const uint8_t *kinds,
                                    const double *values, const double *copied);
/** Evaluates in all cells of a target. Collective. @param[in] copy  NULL: nothing is copied
 *  @return ::GAB_ERR_ARGUMENT if the dimensions differ; what `take` and `read` return */
gab_status gab_resampler_evaluate(gab_resampler *resampler, gab_forest *target,
                                  const gab_resampler_copy *copy, gab_resampled_fn *take, void *user);

#ifdef __cplusplus
}
#endif
#endif
