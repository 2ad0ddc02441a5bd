/* SPDX-License-Identifier: Apache-2.0 */
/** @file apply_regrid.h
 *  @brief Applies the grid of proxies to the forest.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_APPLY_REGRID_H
#define GABION_BLOCKFOREST_APPLY_REGRID_H

#include "blockforest/adaptation/proxy.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rebuilds the forest according to the proxies: data is sent, split and merged (gab_block_data_kind.split and merge);
 *  blocks without origin are created and initialised. A packed parent is sent once to each rank with some of its
 *  children and split there; merging happens on the rank of the parent. Blocks that stay are not touched; if all stay,
 *  so does the forest's revision. Memory besides the blocks: as gab_forest_migrate(), plus one source per thread.
 *  Collective.
 *  @param[in,out] proxies destroyed and set to NULL, also after an error
 *  @return on all ranks, with an unchanged forest: ::GAB_ERR_STATE with the kind of data that cannot be split or
 *  merged, ::GAB_ERR_INPUT if cells per block are odd along a dimension. After any other error the world is broken
 *  and the forest must be restored */
gab_status gab_forest_apply_regrid(gab_forest *forest, gab_proxies **proxies);

#ifdef __cplusplus
}
#endif
#endif
