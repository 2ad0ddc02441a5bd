/** @file field_ghosts.h
 *  @brief A ghost kind ready for use: block data that is a gab_field, all components of its ghost layers.
 *
 *  @code
 *    static const gab_field_ghosts ghosts = {.shape = {...}, .faces_only = true};
 *    gab_ghost_kind kind = gab_field_ghost_kind(&ghosts);
 *    GAB_TRY(gab_exchange_create(forest, temperature, &kind, &exchange));
 *  @endcode
 *
 *  Tier: user header.
 */
#ifndef GABION_BLOCKFOREST_FIELD_GHOSTS_H
#define GABION_BLOCKFOREST_FIELD_GHOSTS_H

#include "blockforest/exchange.h"
#include "field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is exchanged. The width is the number of ghost layers of the shape along x. */
typedef struct gab_field_ghosts {
  gab_field_shape shape; /**< of the field on every block */
  bool faces_only;       /**< leave edges and corners out: enough for stencils along the axes */
} gab_field_ghosts;

/** @param[in] ghosts  borrowed as long as the kind is in use
 *  @return a ghost kind for block data whose pointer is a `gab_field *` of that shape */
gab_ghost_kind gab_field_ghost_kind(const gab_field_ghosts *ghosts);

#ifdef __cplusplus
}
#endif
#endif
