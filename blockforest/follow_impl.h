/** @file follow_impl.h
 *  @brief gab_forest_follow() with figures.
 *
 *  Tier: internal, never installed.
 */
#ifndef GABION_BLOCKFOREST_FOLLOW_IMPL_H
#define GABION_BLOCKFOREST_FOLLOW_IMPL_H

#include "blockforest/adapt.h"

typedef struct gab_follow_report {
  uint64_t sent_bytes; /* packed blocks that left this process */
  size_t peak_bytes;   /* most memory that it held beyond its blocks */
} gab_follow_report;

/** As gab_forest_follow(). @param[out] report  local */
gab_status gab_forest_follow_counted(gab_forest *forest, gab_proxies **proxies, gab_follow_report *report);

#endif
