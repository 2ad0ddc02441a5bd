/* SPDX-License-Identifier: Apache-2.0 */
/** @file rendezvous_impl.h
 *  @brief Division of the curve without storing all of it on one process: the rendezvous of its pieces.
 *
 *  Every member is home to the blocks whose keys lie in its piece of the curve.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_LOADBALANCE_HOMES_IMPL_H
#define GABION_LOADBALANCE_HOMES_IMPL_H

#include "blockforest/adaptation/proxy.h"
#include "loadbalance/order_impl.h"

/** A block in its home. */
typedef struct gab_home_entry {
  uint64_t key;
  uint64_t weight;
  gab_rank owner; /* present owner */
  uint32_t index; /* … index among its blocks */
  int32_t part;   /* new owner: index of a member, or of a part when planning */
  int32_t level;
} gab_home_entry;

typedef struct gab_rendezvous {
  gab_world *world;
  gab_home_entry *entries; /* of this home, ascending by key */
  size_t count;
  uint64_t blocks; /* of all rendezvous; set by gab_rendezvous_cut() */
} gab_rendezvous;

/** Sends the local blocks to their rendezvous. Collective.
 *  @param[out] rendezvous  gab_rendezvous_release(), also after a failure */
gab_status gab_rendezvous_register(gab_rendezvous *rendezvous, gab_proxies *proxies, const gab_curve *curve);
void gab_rendezvous_release(gab_rendezvous *rendezvous);
/** Determines the new owners among `parts` (algorithm: cut.c). Collective. */
gab_status gab_rendezvous_cut(gab_rendezvous *rendezvous, int32_t parts, bool per_level);
/** New owners of the blocks that this process has registered. Collective. @param[out] parts  one each */
gab_status gab_rendezvous_ask(gab_rendezvous *rendezvous, int32_t *parts, size_t count);

#endif
