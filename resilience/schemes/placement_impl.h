/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of placements that only checkpoints need. Stability: internal. */
#ifndef GABION_RESILIENCE_SCHEMES_PLACEMENT_IMPL_H
#define GABION_RESILIENCE_SCHEMES_PLACEMENT_IMPL_H

#include "resilience/schemes/placement.h"

gab_status gab_placement_each_kept(const gab_placement *placement, gab_rank keeper, gab_kept_fn call,
                                   void *user);

/** Number of the piece of member `index` in a stripe; -1 - r if the member has parity r of that stripe. */
int gab_group_piece(const gab_group *group, int index, int stripe);

/** Number of the stripe whose parity number `parity`, or piece number `piece`, a member has. */
int gab_group_parity_stripe(const gab_group *group, int index, int parity);
int gab_group_piece_stripe(const gab_group *group, int index, int piece);

/** The member that restores the image of the failed member `index`; -1 if impossible. Such images are distributed over the
 * live members. */
int gab_group_restorer(const gab_group *group, const bool *living, int index);

/** Whether all images can be restored. Time grows with the number of deaths. */
bool gab_placement_survives(const gab_placement *placement, const gab_members *now);

#endif
