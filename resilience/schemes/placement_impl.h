/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of placements that only checkpoints need. Stability: internal. */
#ifndef GABION_RESILIENCE_SCHEMES_PLACEMENT_IMPL_H
#define GABION_RESILIENCE_SCHEMES_PLACEMENT_IMPL_H

#include "resilience/schemes/placement.h"

gab_status gab_placement_each_kept(const gab_placement *placement, gab_rank keeper, gab_kept_fn call,
                                   void *user);

/** Which piece of member `index` takes part in a stripe, or -1 - r if its parity number r lies there. */
int gab_group_piece(const gab_group *group, int index, int stripe);

/** The stripe of parity number `parity` that lies at a member, and that of its piece number `piece`. */
int gab_group_parity_stripe(const gab_group *group, int index, int parity);
int gab_group_piece_stripe(const gab_group *group, int index, int piece);

/** Who restores the image of the member `index`, which is not living; -1 if nobody can. Those that fall to
 *  the living are spread over them. */
int gab_group_restorer(const gab_group *group, const bool *living, int index);

/** Whether everything can be restored. Time grows with the number of deaths. */
bool gab_placement_survives(const gab_placement *placement, const gab_members *now);

#endif
