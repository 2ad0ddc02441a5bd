/* SPDX-License-Identifier: Apache-2.0 */
/** @file apply_regrid.h
 *  @brief The forest becomes what its proxies say.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_APPLY_REGRID_H
#define GABION_BLOCKFOREST_APPLY_REGRID_H

#include "blockforest/adaptation/proxy.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Makes the forest what the proxies say: data is sent, split and merged (gab_block_data_kind.split and
 * merge), blocks without origin are created and initialised. Children are split on the side that sends less,
 *  which is one packed parent for each rank that gets some of them; merging happens where the parent will be.
 *  Blocks that stay are not touched; if all do, the forest's revision stays too. Memory beyond the blocks: as
 *  gab_forest_migrate(), and one source for each thread. Collective.
 *  @param[in,out] proxies  consumed: destroyed and set to NULL, whatever the outcome
 *  @return on all ranks, nothing having been done: ::GAB_ERR_STATE that names the data which cannot split or
 *  merge, ::GAB_ERR_INPUT if cells per block are odd along a dimension. After any other failure the world is
 *  broken and the forest has to be restored */
gab_status gab_forest_apply_regrid(gab_forest *forest, gab_proxies **proxies);

#ifdef __cplusplus
}
#endif
#endif
