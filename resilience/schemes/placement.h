/* SPDX-License-Identifier: Apache-2.0 */
/** @file placement.h
 *  @brief A redundancy scheme at work on a snapshot: who keeps what of whom, who restores whom, at what cost.
 *
 *  A placement is made from a scheme, its parameters, the members of a snapshot and the failure domains.
 *  Domains are of processes: a rank that is run by another process than at the start lies where that one sits.
 *  Everyone makes the same one, without communication; its memory grows with the number of deaths, of spare
 * processes, and the irregularity of the domains, not with the number of processes. All questions are pure
 * functions of it.
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

/** What is to be kept of the images beside the own ones. Zero-initialise; every zero has a meaning. */
typedef struct gab_redundancy {
  const gab_scheme *scheme; /**< NULL: pairwise */
  int copies;               /**< of each image beside the own, of schemes that copy; 0: one */
  int group;  /**< members of a coded group at most; 0: 8. A group that would be too small to survive
                   its losses is joined to the others */
  int losses; /**< per group that Reed-Solomon survives; 0: 2 */
  gab_domain_kind separate; /**< never all in one of these; unset: nodes where it costs nothing, silently */
  gab_domain_kind within;   /**< everything in one of these; unset or none: anywhere */
  const char *domains_file; /**< for gab_domains_find(); borrowed while a checkpoint is created */
} gab_redundancy;

typedef struct gab_placement {
  const gab_scheme *scheme;
  int copies, group, losses;
  gab_domain_kind separate, within; /**< in force; where separation was given up, as far as it can be had */
  bool strict;                      /**< the separation was asked for: it may cost memory */
  bool given_up_separate, given_up_within;
  const gab_domains *domains; /**< borrowed; NULL: every rank is a domain of its own */
  gab_members members;        /**< of the snapshot */
  gab_members
      places; /**< those that are taken by members, in the order of the domains; others count as gone */
} gab_placement;

/** An empty placement, to be released in any case. */
void gab_placement_init(gab_placement *placement);
void gab_placement_release(gab_placement *placement);
/** Local; the same on all ranks. Costs time for the deaths so far only.
 *  @param[in,out] placement  initialised; replaced
 *  @param[in] domains  of all ranks, and of the spares behind them that may run one; borrowed as long as the
 * placement lives; NULL, or a member runs on a process that they do not know yet (a respawned process): every rank
 * is a domain of its own
 *  @return ::GAB_ERR_ARGUMENT if numbers are out of range or a group could not survive its losses */
gab_status gab_placement_make(gab_placement *placement, const gab_redundancy *redundancy,
                              const gab_members *members, const gab_domains *domains);

/** Copies that are made of each image; 0 for groups. */
int gab_placement_copies(const gab_placement *placement);
/** Who keeps copy number `copy` of the image of `rank`; GAB_NO_RANK if the scheme names nobody new for it. */
gab_rank gab_placement_holder(const gab_placement *placement, gab_rank rank, int copy);
/** Whose copies a rank keeps: called for each with its number, in ascending order of numbers. */
typedef gab_status (*gab_kept_fn)(void *user, gab_rank rank, int copy);

/** The coded group of a rank. Stripe s, of as many as there are members, has its parities at the members s, s
 * + 1, … s + parities - 1 (mod count), and a piece of each of the others. */
typedef struct gab_group {
  int count;    /**< of members; 1: nobody to share with */
  int parities; /**< less than count */
  int index;    /**< of the rank that was asked for */
  gab_rank ranks[GAB_MOST_GROUP];
} gab_group;
/** @return false if the scheme has no groups or `rank` is no member */
bool gab_placement_group(const gab_placement *placement, gab_rank rank, gab_group *group);
/** Pieces that an image is cut into: count - parities. */
int gab_group_pieces(const gab_group *group);
/** Bytes of messages that a member has under way at once, both ways, while parities of pieces of that size are made: as much
 *  as small images take, never more than 24 MiB and what heads the messages have. Pure. */
size_t gab_group_messages(const gab_group *group, size_t piece_bytes);

/** Who restores the part of `rank`, now that only `now` are left: the rank itself if it lives, else its first
 *  living holder, or a living member of its group. Pure; everyone gets the same answer.
 *  @return GAB_NO_RANK if what is left is too little */
gab_rank gab_placement_restorer(const gab_placement *placement, const gab_members *now, gab_rank rank);

/** What a rank pays per snapshot if all images have `image` bytes. */
typedef struct gab_placement_costs {
  double kept;     /**< byte kept beside the own image, of the rank that keeps most (where several
                        copies are dealt out: at most); of a scheme with a holder
                        function: of the mean rank */
  double sent;     /**< byte that a rank puts on the network, most */
  int any_losses;  /**< so many ranks, whichever they are, can be lost at once */
  bool any_domain; /**< any one domain (of the kind to be separated) can be lost as a whole */
} gab_placement_costs;
gab_placement_costs gab_placement_get_costs(const gab_placement *placement, double image);

/** One sentence for the log: what is kept where, what that costs, which losses it survives. */
const char *gab_placement_describe(const gab_placement *placement, char *text, size_t capacity);
/** What was asked for and cannot be, why, and what is done instead; NULL if there is nothing of that. */
const char *gab_placement_warning(const gab_placement *placement, const gab_redundancy *asked, char *text,
                                  size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
