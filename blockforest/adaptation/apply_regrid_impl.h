/* SPDX-License-Identifier: Apache-2.0 */
/** @file apply_regrid_impl.h
 *  @brief gab_forest_apply_regrid() with statistics.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_BLOCKFOREST_FOLLOW_IMPL_H
#define GABION_BLOCKFOREST_FOLLOW_IMPL_H

#include "blockforest/adaptation/apply_regrid.h"

typedef struct gab_regrid_report {
  uint64_t sent_bytes; /* packed blocks that left this process */
  size_t peak_bytes;   /* maximum memory besides its blocks */
} gab_regrid_report;

/** As gab_forest_apply_regrid(). @param[out] report  local */
gab_status gab_forest_apply_regrid_counted(gab_forest *forest, gab_proxies **proxies,
                                           gab_regrid_report *report);

#endif
