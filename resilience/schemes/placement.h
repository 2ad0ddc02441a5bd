/* SPDX-License-Identifier: Apache-2.0 */
/** @file placement.h
 *  @brief Placement of the redundant data of a snapshot: holders of copies, coded groups, restorers of lost ranks,
 *  costs.
 *
 *  A placement derives from a scheme, its parameters, the members of a snapshot and the failure domains. Domains belong
 *  to processes: a rank is in the domain of the process that runs it. All ranks derive the same placement without
 *  communication. Its memory grows with the number of deaths, of spare processes, and the irregularity of the domains,
 *  not with the number of processes. All queries are pure functions of it.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_PLACEMENT_H
#define GABION_RESILIENCE_PLACEMENT_H

#include "resilience/schemes/scheme.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_MOST_GROUP = 64, GAB_MOST_LOSSES = 8, GAB_MOST_COPIES = 16 };

/** Redundancy of images. Zero-initialise; every zero has a meaning. */
typedef struct gab_redundancy {
  const gab_scheme *scheme; /**< NULL: pairwise */
  int copies;               /**< copies of each image, for schemes with copies; 0: one */
  int group;                /**< maximum members of a coded group; 0: 8. A group too small to
                   survive its losses is merged with the others */
  int losses;               /**< losses per group that Reed-Solomon survives; 0: 2 */
  gab_domain_kind separate; /**< domains over which data is separated; unset: nodes if it costs nothing */
  gab_domain_kind within;   /**< kind of domain that contains all data of a rank; unset or none: anywhere */
  const char *domains_file; /**< for gab_domains_find(); borrowed while a checkpoint is created */
} gab_redundancy;

typedef struct gab_placement {
  const gab_scheme *scheme;
  int copies, group, losses;
  gab_domain_kind separate, within; /**< effective values; a separation that is impossible is reduced */
  bool strict;                      /**< the separation was requested: it may cost memory */
  bool given_up_separate, given_up_within;
  const gab_domains *domains; /**< borrowed; NULL: each rank is a domain */
  gab_members members;        /**< of the snapshot */
  gab_members
      places; /**< places that members occupy, in the order of the domains; all others count as lost */
} gab_placement;

/** Initialises an empty placement; always release it. */
void gab_placement_init(gab_placement *placement);
void gab_placement_release(gab_placement *placement);
/** Derives a placement. Local; equal on all ranks. Time: number of deaths.
 *  @param[in,out] placement  initialised; replaced
 *  @param[in] domains of all ranks, followed by spares; borrowed during the life of the placement.
 *  NULL, or a member on a process unknown to them (respawned): each rank is a domain
 *  @return ::GAB_ERR_ARGUMENT for numbers out of range or a group that cannot survive its
 *  losses */
gab_status gab_placement_make(gab_placement *placement, const gab_redundancy *redundancy,
                              const gab_members *members, const gab_domains *domains);

/** @return number of copies of each image; 0 for groups */
int gab_placement_copies(const gab_placement *placement);
/** @return the holder of copy number `copy` of the image of `rank`; GAB_NO_RANK if there is no further holder */
gab_rank gab_placement_holder(const gab_placement *placement, gab_rank rank, int copy);
/** Called for each copy that a rank stores, in ascending order of copy numbers. */
typedef gab_status (*gab_kept_fn)(void *user, gab_rank rank, int copy);

/** The coded group of a rank. It has one stripe per member. Stripe s has its parities at the members s, s + 1, … s +
 * parities - 1 (mod count), and a piece of each of the others. */
typedef struct gab_group {
  int count;    /**< number of members; 1: no redundancy */
  int parities; /**< less than count */
  int index;    /**< index of the queried rank */
  gab_rank ranks[GAB_MOST_GROUP];
} gab_group;
/** @return false if the scheme has no groups or `rank` is not a member */
bool gab_placement_group(const gab_placement *placement, gab_rank rank, gab_group *group);
/** @return number of pieces of an image: count - parities */
int gab_group_pieces(const gab_group *group);
/** @return bytes of messages of a member in transit, both ways, while parities are computed: the size of small
 * images, at most 24 MiB plus heads. Pure */
size_t gab_group_messages(const gab_group *group, size_t piece_bytes);

/** @return the restorer of `rank` with the survivors `now`: the rank itself if it is alive, else its first live holder or a
 *   live member of its group; GAB_NO_RANK if too little data is left. Pure, equal on all */
gab_rank gab_placement_restorer(const gab_placement *placement, const gab_members *now, gab_rank rank);

/** Costs of a rank per snapshot, per byte of image. */
typedef struct gab_placement_costs {
  double kept;     /**< bytes stored for others, maximum over ranks (an
                        upper bound for several copies); for a scheme with a
                        holder function: the mean */
  double sent;     /**< bytes that a rank sends, maximum over ranks */
  int any_losses;  /**< number of arbitrary ranks that can be lost at once */
  bool any_domain; /**< any one domain (of the separated kind) can be lost completely */
} gab_placement_costs;
gab_placement_costs gab_placement_get_costs(const gab_placement *placement, double image);

/** Describes placement, costs and survived losses in one sentence for the log. */
const char *gab_placement_describe(const gab_placement *placement, char *text, size_t capacity);
/** Reports a part of the requested redundancy that is impossible, the reason and the replacement; NULL if all is possible. */
const char *gab_placement_warning(const gab_placement *placement, const gab_redundancy *asked, char *text,
                                  size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
