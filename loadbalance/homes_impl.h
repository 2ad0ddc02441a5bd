/** @file homes_impl.h
 *  @brief The distributed directory of blocks: who is where on the curve, who owns it.
 *
 *  Every member is home to the blocks whose keys lie in its piece of the curve.
 *
 *  Tier: internal, never installed.
 */
#ifndef GABION_LOADBALANCE_HOMES_IMPL_H
#define GABION_LOADBALANCE_HOMES_IMPL_H

#include "blockforest/forest.h"
#include "loadbalance/order_impl.h"

/** A block in its home. */
typedef struct gab_home_entry {
  uint64_t key;
  gab_block_id id;
  uint64_t weight;
  gab_slot owner; /* who has it now, GAB_NO_SLOT at the start */
  int32_t part;   /* who is to have it: index of a member, or of a part when planning */
  int32_t level;
} gab_home_entry;

typedef struct gab_homes {
  gab_world *world;
  const gab_forest_options *options; /* borrowed */
  gab_order order;
  gab_home_entry *entries; /* of this home, ascending by key */
  size_t count, capacity;
  uint64_t blocks, weight; /* of all homes; set by gab_homes_cut() */
} gab_homes;

void gab_homes_init(gab_homes *homes, gab_world *world, const gab_forest_options *options,
                    const gab_curve *curve);
void gab_homes_release(gab_homes *homes);

/** Fills this home with the root blocks that exist. Local. */
gab_status gab_homes_survey(gab_homes *homes);
/** Sends blocks to their homes. Collective. @param[in] ids,weights  the local ones; 0 counts as 1 */
gab_status gab_homes_register(gab_homes *homes, const gab_block_id *ids, const uint64_t *weights,
                              size_t count);
/** Decides who is to have what among `parts` (cut.c says how). Collective. */
gab_status gab_homes_cut(gab_homes *homes, int32_t parts, bool per_level);

/** The blocks that this slot is to have, as the homes say. Collective.
 *  @param[out] ids  gab_free() */
gab_status gab_homes_claim(gab_homes *homes, gab_block_id **ids, size_t *count);
/** Where the homes want the blocks that this process has registered. Collective.
 *  @param[in] ids  those blocks, ascending @param[out] parts  one each */
gab_status gab_homes_ask(gab_homes *homes, const gab_block_id *ids, size_t count, int32_t *parts);
/** A gab_owner_lookup; owner means who is to have it. @param[in] context  gab_homes */
gab_status gab_homes_lookup(void *context, const gab_block_id *ids, size_t count, gab_slot *owners);
/** Weight that this slot is to have, if all levels were cut together. Collective. */
gab_status gab_homes_my_weight(gab_homes *homes, uint64_t *weight);

#endif
