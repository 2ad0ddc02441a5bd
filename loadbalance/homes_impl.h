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
  gab_slot owner;  /* who has it now, GAB_NO_SLOT at the start */
  gab_slot target; /* who is to have it */
} gab_home_entry;

typedef struct gab_homes {
  const gab_forest *forest;
  gab_world *world;
  gab_order order;
  gab_home_entry *entries; /* of this home, ascending by key */
  size_t count, capacity;
  uint64_t blocks, weight; /* of all homes; set by gab_homes_cut() */
} gab_homes;

void gab_homes_init(gab_homes *homes, const gab_forest *forest, const gab_curve *curve);
void gab_homes_release(gab_homes *homes);

/** Fills this home with the root blocks that exist. Local. */
gab_status gab_homes_survey(gab_homes *homes);
/** Sends the local blocks of the forest to their homes. Collective. */
gab_status gab_homes_register(gab_homes *homes, const uint64_t *weights);
/** Decides who is to have what (balance.c says how). Collective. */
gab_status gab_homes_cut(gab_homes *homes);

/** The blocks that this slot is to have, as the homes say. Collective.
 *  @param[out] ids  gab_free() */
gab_status gab_homes_claim(gab_homes *homes, gab_block_id **ids, size_t *count);
/** Where the homes want the local blocks of the forest. Collective. @param[out] targets  one per local block
 */
gab_status gab_homes_ask_targets(gab_homes *homes, gab_slot *targets);
/** A gab_owner_lookup; owner means target. @param[in] context  gab_homes */
gab_status gab_homes_lookup(void *context, const gab_block_id *ids, size_t count, gab_slot *owners);
/** Weight that this slot is to have. Collective. */
gab_status gab_homes_my_weight(gab_homes *homes, uint64_t *weight);

#endif
