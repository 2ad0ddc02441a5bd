/** @file scheme.h
 *  @brief Redundancy schemes: who keeps copies of whose image, and who restores what.
 *
 *  A scheme is a pure function of member indices. Everyone evaluates it alike, so nobody has to be asked
 *  after a fault, and copies restore without communication (Kohl et al. 2017, section 5).
 *
 *  Tier: extender header.
 */
#ifndef GABION_RESILIENCE_SCHEME_H
#define GABION_RESILIENCE_SCHEME_H

#include "core/members.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_scheme {
  const char *name;
  const char *doc;
  /** The member (index in [0, count)) that keeps copy number `copy` of member `index`, for
   *  copy in [0, copies). Must not be `index` itself unless there is nobody else, and pure. */
  int32_t (*holder)(int32_t index, int32_t count, int copy, int copies);
  /** Most copies that make sense among `count` members; copies asked for beyond are not made. */
  int (*most_copies)(int32_t count);
} gab_scheme;

/** Copy k of member i at i + N/2 + k: with one copy the pairs of Kohl et al. 2017, figure 3. */
extern const gab_scheme gab_scheme_pairwise;
/** Copy k of member i at i + 1 + k. */
extern const gab_scheme gab_scheme_ring;
/** No copies: only raised intents and errors can be survived, no death. */
extern const gab_scheme gab_scheme_none;

/** Adds a scheme of the user's to those that can be chosen by name. Before the configuration is read, the
 *  same on all processes. @param[in] scheme  borrowed for ever
 *  @return ::GAB_ERR_ARGUMENT if the name is taken or the table of schemes is full */
gab_status gab_scheme_register(const gab_scheme *scheme);
/** @return NULL with an error message that lists the names if there is none of that name */
const gab_scheme *gab_scheme_by_name(const char *name);
/** @return the index-th of all schemes, NULL behind the last */
const gab_scheme *gab_scheme_at(int index);

/** Copies that are really made among `count` members when `copies` are asked for. */
int gab_scheme_copies(const gab_scheme *scheme, int32_t count, int copies);

/** Who restores the part of `slot` of a snapshot made among `then`, now that only `now` are left: the slot
 *  itself if it lives, else its first living holder. Pure; everyone gets the same answer.
 *  @return GAB_NO_SLOT if all holders are gone */
gab_slot gab_scheme_restorer(const gab_scheme *scheme, int copies, const gab_members *then,
                             const gab_members *now, gab_slot slot);

#ifdef __cplusplus
}
#endif
#endif
