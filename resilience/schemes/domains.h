/* SPDX-License-Identifier: Apache-2.0 */
/** @file domains.h
 * @brief Failure domains: which ranks share a node, a chassis or an island, and so are likely to fail together.
 *
 * Stored as an order of all ranks in which every node, chassis and island is a contiguous range of *places*, and the sizes
 * of these ranges. Both are compressed into runs: memory grows with the irregularity of the placement, not with the number
 * of processes (contract 7). Block or cyclic placement of ranks on nodes is one run each. The root gathers all names once,
 * compresses and broadcasts.
 *
 * Names come, in this order, from the user's file, from the environment variable GABION_NODE, or from the host name and, if
 * hwloc reports it, the chassis. A name is a path "island/chassis/node", "chassis/node" or "node"; an omitted level has one
 * domain.
 *
 * Stability: extender. */
#ifndef GABION_RESILIENCE_DOMAINS_H
#define GABION_RESILIENCE_DOMAINS_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of domains. Every node lies in one chassis, every chassis in one island. */
typedef enum gab_domain_kind {
  GAB_DOMAIN_UNSET = 0, /**< not chosen by the user */
  GAB_DOMAIN_NONE,      /**< each rank is a domain; as a place to stay within: the whole machine */
  GAB_DOMAIN_NODE,
  GAB_DOMAIN_CHASSIS,
  GAB_DOMAIN_ISLAND,
  GAB_DOMAIN_COUNT
} gab_domain_kind;

typedef struct gab_domains gab_domains;

/** A range of places [first, first + count). */
typedef struct gab_places {
  int32_t first, count;
} gab_places;

/** The same from a file. Local. */
gab_status gab_domains_load(const char *path, int32_t ranks, int32_t spares, gab_domains **domains);
/** Regular domains: `per_node` ranks on each node, `per_island` nodes in each island (0: one island). Local. */
gab_status gab_domains_regular(int32_t ranks, int32_t per_node, int32_t per_island, gab_domains **domains);
void gab_domains_destroy(gab_domains **domains);

/** Number of domains of a kind; for NONE the number of ranks. */
int32_t gab_domains_number(const gab_domains *domains, gab_domain_kind kind);
/** Place of a rank in the order, and the inverse. Time: logarithm of the runs. */
int32_t gab_domains_place(const gab_domains *domains, gab_rank rank);
gab_rank gab_domains_rank(const gab_domains *domains, int32_t place);
/** The domain of a kind that contains a place. */
gab_places gab_domains_range(const gab_domains *domains, gab_domain_kind kind, int32_t place);
/** True if two ranks share a domain of that kind; for NONE only if they are equal. */
bool gab_domains_together(const gab_domains *domains, gab_domain_kind kind, gab_rank a, gab_rank b);

/** Called for maximal sequences of adjacent domains of equal size: `count` domains of `size` places each from place `first`
 * on. Finds the largest domain without a loop over all. */
typedef void (*gab_domains_fn)(void *user, int32_t first, int32_t size, int32_t count);

#ifdef __cplusplus
}
#endif
#endif
