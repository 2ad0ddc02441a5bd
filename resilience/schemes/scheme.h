/* SPDX-License-Identifier: Apache-2.0 */
/** @file scheme.h
 *  @brief Redundancy schemes: tables that define which ranks store each rank's checkpoint copies or parities.
 *
 *  Two kinds. *Copies*: other ranks store whole images (Kohl et al. 2017, section 5.2.1). *Groups*: the images of a group
 *  of ranks are divided into pieces, and parities of the pieces are distributed over the group, as in RAID 5: with n
 *  members and k parities each member stores k/(n - k) of an image in addition to its own, and any k members can be lost. A
 *  scheme is a pure function of *places* on a *ring* (below); resilience/schemes/placement.h maps places to ranks. All
 *  ranks evaluate it with the same result, so restoring copies needs no communication about their holders.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_SCHEME_H
#define GABION_RESILIENCE_SCHEME_H

#include "resilience/schemes/domains.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The members that share redundancy: those of a snapshot (or, kept within islands, of one island) in the order of their
 * failure domains, so that every domain is a contiguous range of places. Two places at least `largest` apart, both ways
 * around the ring, are in different domains. */
typedef struct gab_scheme_places {
  int32_t count;
  int32_t largest; /**< places of the largest domain; 1 if domains do not matter */
  int32_t big;     /**< first place of that domain */
} gab_scheme_places;

typedef enum gab_scheme_kind { GAB_SCHEME_COPIES = 0, GAB_SCHEME_GROUPS } gab_scheme_kind;

typedef struct gab_scheme {
  const char *name;
  const char *doc;
  gab_scheme_kind kind;
  /** Copies: maximum useful number among `count` members; further copies are not made. */
  int (*most_copies)(int32_t count);
  /** Copies: distance in places, in [1, count), from a member to the holder of its copy number `copy` in [0, copies);
   * different for each copy. Holders then follow without communication. If one domain has more than half of all places and
   * domains matter, shifts cannot leave it: its members are then distributed over the others. */
  int32_t (*shift)(const gab_scheme_places *places, int copy, int copies);
  /** Copies, instead of shift: the place of a copy of the image of `place`; any pure function. The copies of a holder are
   * then found by evaluating it for every member. A place named twice, or the place itself, gets no second copy. */
  int32_t (*holder)(const gab_scheme_places *places, int32_t place, int copy, int copies);
  /** Groups: parities per stripe for `losses` tolerated losses. */
  int (*parities)(int losses);
} gab_scheme;

/** Copies as far apart as possible: copy k of R at i + (k + 1) N / (R + 1); with one copy the pairs of Kohl et al. 2017,
 * figure 1 and algorithm 1. */
extern const gab_scheme gab_scheme_pairwise;
/** Copies at the next places: i + 1 + k, or in steps of the largest domain. */
extern const gab_scheme gab_scheme_ring;
/** Groups with one parity (exclusive or). */
extern const gab_scheme gab_scheme_parity;
/** Groups with one parity per tolerated loss. */
extern const gab_scheme gab_scheme_reed_solomon;
/** No copies: survives abort requests and errors, but no death. */
extern const gab_scheme gab_scheme_none;

/** Registers a user-defined scheme that can be chosen by name. Call before the configuration is read, identically on all
 * processes. @param[in] scheme  borrowed until the process ends @return ::GAB_ERR_ARGUMENT if the name is taken, callbacks
 * are missing or the table of schemes is full */
gab_status gab_scheme_register(const gab_scheme *scheme);
/** @return NULL if there is no such scheme, with an error message that lists the names */
const gab_scheme *gab_scheme_by_name(const char *name);
/** @return scheme number `index`, NULL after the last */
const gab_scheme *gab_scheme_at(int index);

#ifdef __cplusplus
}
#endif
#endif
