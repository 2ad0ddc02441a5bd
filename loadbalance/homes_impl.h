/** @file homes_impl.h
 *  @brief Where the curve is cut without anybody seeing all of it: the homes of its pieces.
 *
 *  Every member is home to the blocks whose keys lie in its piece of the curve.
 *
 *  Tier: internal, never installed.
 */
#ifndef GABION_LOADBALANCE_HOMES_IMPL_H
#define GABION_LOADBALANCE_HOMES_IMPL_H

#include "blockforest/proxy.h"
#include "loadbalance/order_impl.h"

/** A block in its home. */
typedef struct gab_home_entry {
  uint64_t key;
  uint64_t weight;
  gab_slot owner; /* who has it now */
  uint32_t index; /* … among its blocks */
  int32_t part;   /* who is to have it: index of a member, or of a part when planning */
  int32_t level;
} gab_home_entry;

typedef struct gab_homes {
  gab_world *world;
  gab_home_entry *entries; /* of this home, ascending by key */
  size_t count;
  uint64_t blocks; /* of all homes; set by gab_homes_cut() */
} gab_homes;

/** Sends the local blocks to their homes. Collective.
 *  @param[out] homes  gab_homes_release(), also after a failure */
gab_status gab_homes_register(gab_homes *homes, gab_proxies *proxies, const gab_curve *curve);
void gab_homes_release(gab_homes *homes);
/** Decides who is to have what among `parts` (cut.c says how). Collective. */
gab_status gab_homes_cut(gab_homes *homes, int32_t parts, bool per_level);
/** Where the homes want the blocks that this process has registered. Collective. @param[out] parts  one each
 */
gab_status gab_homes_ask(gab_homes *homes, int32_t *parts, size_t count);

#endif
