/** @file proxy.h
 *  @brief Proxy blocks: the grid as it is going to be, without any data (Schornbaum & Rüde 2018, section 3).
 *
 *  Refining, coarsening and balancing first happen to proxies: id, weight, neighbours, and where the data
 * will have to come from, a few hundred bytes each. Only when the grid and its distribution are decided does
 *  data move, once: gab_forest_follow() (blockforest/adapt.h). The same proxies let a laptop plan a run of
 * many processes, for which no data is ever made.
 *
 *  Proxies are distributed as blocks are: each process holds its own and knows of the neighbours of those the
 * id and the slot that holds them. Nothing grows with the number of all blocks or slots.
 *
 *  Tier: extender header.
 */
#ifndef GABION_BLOCKFOREST_PROXY_H
#define GABION_BLOCKFOREST_PROXY_H

#include "blockforest/forest.h"
#include "blockforest/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_proxies gab_proxies;

/** Where the data of a block that a proxy stands for is going to come from. */
typedef enum gab_origin {
  GAB_ORIGIN_NONE = 0, /**< from nowhere: created and initialised */
  GAB_ORIGIN_SELF,     /**< the block of the same id */
  GAB_ORIGIN_PARENT,   /**< split from the block one level up */
  GAB_ORIGIN_CHILDREN  /**< merged from the blocks one level down */
} gab_origin;

typedef struct gab_proxy {
  gab_block_id id;
  uint64_t weight;           /**< > 0; gab_forest_options.weight, or what the caller has set */
  gab_neighbour *neighbours; /**< in the order of direction, then id; owner: who holds that proxy now */
  size_t neighbour_count, neighbour_capacity;
  gab_origin origin;
  gab_slot sources[GAB_CHILDREN_MAX]; /**< who has the data: one, or one per child */
} gab_proxy;

/** Proxies of the root blocks that exist, an equal piece of the root grid on each process. Collective.
 *  @param[in] options  copied; weight and exists are asked */
gab_status gab_proxies_create(gab_world *world, const gab_forest_options *options, gab_proxies **proxies);
/** Proxies of the blocks of a forest as it is, each where its block is (origin: self). Collective. */
gab_status gab_proxies_of_forest(gab_forest *forest, gab_proxies **proxies);
void gab_proxies_destroy(gab_proxies **proxies);

size_t gab_proxies_count(const gab_proxies *proxies); /**< local */
/** Local proxies are ordered by id. The pointer holds until the next call that changes them. The caller may
 *  change the weight, nothing else. */
gab_proxy *gab_proxies_get(gab_proxies *proxies, size_t index);
gab_world *gab_proxies_world(const gab_proxies *proxies);
const gab_forest_options *gab_proxies_options(const gab_proxies *proxies);
const gab_topology *gab_proxies_topology(const gab_proxies *proxies);
int gab_proxies_level(const gab_proxies *proxies, gab_block_id id);
/** Bytes that the local proxies take. */
size_t gab_proxies_bytes(const gab_proxies *proxies);

/** What a block wants to become. */
typedef enum gab_mark { GAB_MARK_COARSEN = -1, GAB_MARK_KEEP = 0, GAB_MARK_REFINE = 1 } gab_mark;

typedef struct gab_refine_report {
  uint64_t split, merged; /**< blocks split; blocks that came out of merging */
  uint64_t forced;        /**< split although not marked: for 2:1 */
  uint64_t refused;       /**< marked to coarsen, but siblings or neighbours were against it */
  uint64_t blocks;        /**< of all slots, afterwards */
  int rounds;             /**< of messages between neighbours until 2:1 was reached */
} gab_refine_report;

/** Changes levels by at most one per block. Refinement always wins: a block beside one that becomes two
 * levels finer is split too, whatever its mark. A block is coarsened only if all its siblings want it and no
 * neighbour forbids it. Decided by messages between neighbours only. The merged block's proxy goes to who
 * holds the first child's; the split ones stay. Splitting the place of a block makes all children that exist.
 *  Weights of new proxies: gab_forest_options.weight. Collective.
 *  @param[in] marks  one gab_mark per local proxy
 *  @param[in] max_level  no finer; at most gab_root_grid_max_level()
 *  @param[out] report  of all processes; may be NULL
 *  @return ::GAB_ERR_INPUT for a level beyond the id's room */
gab_status gab_proxies_refine(gab_proxies *proxies, const gab_mark *marks, int max_level,
                              gab_refine_report *report);

/** Hands proxy i to targets[i], any living slot; tables follow. Collective. */
gab_status gab_proxies_move(gab_proxies *proxies, const gab_slot *targets);

/** Expensive check of the local part: unique, complete, 2:1, tables possible. @return false with an error
 *  message */
bool gab_proxies_are_valid(const gab_proxies *proxies);

#ifdef __cplusplus
}
#endif
#endif
