/* SPDX-License-Identifier: Apache-2.0 */
/** @file reconstruct.h
 * @brief Approximate reconstruction of blocks without any copy (contract 6; Kohl et al. 2017, section 5.1).
 *
 * The positions and neighbours of the blocks must be known: their metadata image (gab_forest_pack_metadata()). The
 * callbacks of each kind of data approximate their state from that of the blocks around them, in rounds from the rim
 * inwards: always the blocks with the most known faces, so that the others can use them. The result is a function of
 * the known and the lost blocks: it does not depend on owners, processes and threads.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_RECONSTRUCT_H
#define GABION_BLOCKFOREST_RECONSTRUCT_H

#include "blockforest/forest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @return the name of a stored kind of data that nobody can approximate, NULL if there is none. Local. */
const char *gab_forest_irreplaceable(const gab_forest *forest);

typedef struct gab_reconstruction {
  uint64_t blocks; /**< that were approximated, of all ranks */
  uint64_t
      blind;  /**< of these, with nothing known across any face: no chain of blocks led to one that lives */
  int rounds; /**< that it took */
} gab_reconstruction;

/** Approximates the state of all blocks from metadata images; blocks without a chain of faces to a known one come last. Collective.
 * Announces ::GAB_FAULT_POINT_RECOVERY with every round.
 * @return ::GAB_ERR_FAULT if the world broke: the forest must then be restored again; ::GAB_ERR_STATE if some stored
 * kind of data cannot be approximated */
gab_status gab_forest_reconstruct(gab_forest *forest, gab_reconstruction *report);

#ifdef __cplusplus
}
#endif
#endif
