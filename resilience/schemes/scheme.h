/* SPDX-License-Identifier: Apache-2.0 */
/** @file scheme.h
 *  @brief Redundancy schemes: tables that say who keeps what of whose image.
 *
 *  Two kinds. *Copies*: whole images lie at other ranks (Kohl et al. 2017, section 5.2.1). *Groups*: the images
 *  of a group of ranks are cut into pieces, and parities of the pieces lie spread over the group, as RAID 5
 *  does with disks: with n members and k parities each member keeps k/(n - k) of an image beside its own, and
 *  any k members can be lost. A scheme is a pure function of *places* on a *circle* (below);
 *  resilience/schemes/placement.h turns it into answers about ranks. Everyone evaluates it alike, so nobody has to be
 *  asked after a fault, and copies restore without communication.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_SCHEME_H
#define GABION_RESILIENCE_SCHEME_H

#include "resilience/schemes/domains.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Those among whom a scheme spreads redundancy: the members of a snapshot (or, kept within islands, those of
 *  one island) in the order of their failure domains, so that every domain is a contiguous range of places.
 *  Two places that are at least `largest` apart, both ways around, lie in different domains. */
typedef struct gab_scheme_places {
  int32_t count;
  int32_t largest; /**< places of the largest domain; 1 if domains do not matter */
  int32_t big;     /**< first place of that one */
} gab_scheme_places;

typedef enum gab_scheme_kind { GAB_SCHEME_COPIES = 0, GAB_SCHEME_GROUPS } gab_scheme_kind;

typedef struct gab_scheme {
  const char *name;
  const char *doc;
  gab_scheme_kind kind;
  /** Copies: most that make sense among `count` members; copies asked for beyond are not made. */
  int (*most_copies)(int32_t count);
  /** Copies: by how many places, in [1, count), copy number `copy` in [0, copies) lies further around the
   * ring. Different for each copy. Who keeps whose copies then follows without asking around. Where one
   * domain holds more than half of all places and domains matter, shifts cannot keep copies out of it: then
   * its members are dealt out to the others. */
  int32_t (*shift)(const gab_scheme_places *places, int copy, int copies);
  /** Copies, instead of shift: the place of a copy of the image of `place`, any pure function. Who keeps
   * whose is then found by asking for every member. A place named twice, or the place itself, gets no second
   * copy. */
  int32_t (*holder)(const gab_scheme_places *places, int32_t place, int copy, int copies);
  /** Groups: parities per stripe when `losses` are asked for. */
  int (*parities)(int losses);
} gab_scheme;

/** Copies as far away as can be: copy k of R at i + (k + 1) N / (R + 1); with one copy the pairs of Kohl et
 *  al. 2017, figure 1 and algorithm 1. */
extern const gab_scheme gab_scheme_pairwise;
/** Copies at the next ones: i + 1 + k, or in steps of the largest domain. */
extern const gab_scheme gab_scheme_ring;
/** Groups with one parity (exclusive or). */
extern const gab_scheme gab_scheme_parity;
/** Groups with as many parities as losses are to be survived. */
extern const gab_scheme gab_scheme_reed_solomon;
/** No copies: only abort requests and errors can be survived, no death. */
extern const gab_scheme gab_scheme_none;

/** Adds a scheme of the user's to those that can be chosen by name. Before the configuration is read, the
 *  same on all processes. @param[in] scheme  borrowed for ever
 *  @return ::GAB_ERR_ARGUMENT if the name is taken, callbacks are missing or the table of schemes is full */
gab_status gab_scheme_register(const gab_scheme *scheme);
/** @return NULL with an error message that lists the names if there is none of that name */
const gab_scheme *gab_scheme_by_name(const char *name);
/** @return the index-th of all schemes, NULL behind the last */
const gab_scheme *gab_scheme_at(int index);

#ifdef __cplusplus
}
#endif
#endif
